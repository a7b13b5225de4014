/* SPDX-License-Identifier: MIT */
/* What else differs between two results: their plans, their hosts, what the verdict says. */
#ifndef WR_COMPARE_DIFFER_H
#define WR_COMPARE_DIFFER_H

#include "model/comparison.h"

/* wr_differ - add the differences of @a and @b to @out, up to WR_MAX_DIFFERENCES. */
void wr_differ(struct wr_comparison *out, const json_t *a, const json_t *b);

#endif
