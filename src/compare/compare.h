/* SPDX-License-Identifier: MIT */
/*
 * Comparing results that are finished: pure, from JSON as any weir wrote it, which is checked. Runs of one kind on
 * each side: run, sweep or tune.
 */
#ifndef WR_COMPARE_COMPARE_H
#define WR_COMPARE_COMPARE_H

#include "model/comparison.h"

/*
 * wr_compare - compare two sets of results
 * @sides: of each an array of results; several on a side are runs of the same thing
 * @out: wr_comparison_deinit it; its sources are left to the caller
 *
 * Return: 0; -1 (WEIR_ERR_USAGE) they are of different kinds, of a kind that can't be compared, or too large.
 */
int wr_compare(struct wr_comparison *out, json_t *const sides[2], struct weir_err *err);

/* wr_compare_comparable - whether @result is of a kind that wr_compare takes. */
bool wr_compare_comparable(const json_t *result);

#endif
