/* SPDX-License-Identifier: MIT */
/* Rank tests: they compare without assuming a distribution and aren't moved by one wild run. */
#ifndef WR_STAT_RANK_H
#define WR_STAT_RANK_H

#include <stdbool.h>
#include <stddef.h>

/* Up to here p is exact; beyond, by the normal approximation. */
#define WR_STAT_WILCOXON_EXACT_MAX 25
#define WR_STAT_MANN_WHITNEY_EXACT_MAX 20

/*
 * wr_stat_wilcoxon_p - Wilcoxon's signed-rank test of paired differences
 * @differences: @n_samples values, any unit; zeros are left out, equal sizes share their mean rank
 * @scratch: room for @n_samples
 *
 * Exact for at most WR_STAT_WILCOXON_EXACT_MAX differences that aren't 0, ties included (the
 * distribution is that of the shared ranks); else the normal approximation with tie and continuity
 * correction.
 *
 * Return: the two-sided p that the differences lie evenly about 0; 1 when all are 0 or there are
 * none.
 * Source: Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1(6), 1945;
 * Hollander and Wolfe, "Nonparametric Statistical Methods", 3.1.
 */
double wr_stat_wilcoxon_p(const double *differences, size_t n_samples, double *scratch);

/*
 * The comparison of two independent sets.
 *
 * @u: Mann-Whitney's U of the second set: pairs in which it is the larger one, ties counting 1/2
 * @p: two-sided; NaN when a set is empty
 * @exact: p is exact
 * @superiority_ratio: u / (n_first x n_second), the chance that a sample of the second set is
 * larger; 0.5 for no difference
 */
struct wr_stat_mann_whitney {
	double u, p;
	bool exact;
	double superiority_ratio;
};

/*
 * wr_stat_mann_whitney - the Mann-Whitney (Wilcoxon rank-sum) test
 * @out: filled whatever the outcome
 * @first: @n_first values in any order
 * @second: @n_second values in any order
 * @scratch: room for @n_first + @n_second
 *
 * Exact when both sets have at most WR_STAT_MANN_WHITNEY_EXACT_MAX samples and no two samples are
 * equal; else the normal approximation with tie and continuity correction.
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW when a set is empty.
 * Source: Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically
 * Larger than the Other", Annals of Mathematical Statistics 18(1), 1947.
 */
int wr_stat_mann_whitney(struct wr_stat_mann_whitney *out, const double *first, size_t n_first,
			 const double *second, size_t n_second, double *scratch);

#endif
