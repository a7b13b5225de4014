/* SPDX-License-Identifier: MIT */
/* Recorded evidence for tests: load it, look at the verdict in a few lines. */
#ifndef WR_TESTS_GOLDEN_H
#define WR_TESTS_GOLDEN_H

#include <stdio.h>

#include "explain/explain.h"

/* golden_load - the evidence in the file of @path. Return: 0; -1 it can't be read, which was said on stderr. */
int golden_load(struct wr_evidence *evidence, const char *path);

/* golden_print - what a verdict decides, without its words and figures: a line a cause, the refusals, the advice. */
void golden_print(FILE *out, const struct wr_verdict *verdict);

#endif
