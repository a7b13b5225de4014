/* SPDX-License-Identifier: MIT */
/* Writers of a comparison. */
#ifndef WR_REPORT_COMPARE_H
#define WR_REPORT_COMPARE_H

#include <stdio.h>

#include "model/comparison.h"

/*
 * wr_report_compare_text - the two sides, each figure of both, what differs between them
 * @names: the two sides as they were given
 *
 * Return: 0; -1 out of memory.
 */
int wr_report_compare_text(FILE *out, const struct wr_comparison *comparison, const char *const names[2], struct weir_err *err);

#endif
