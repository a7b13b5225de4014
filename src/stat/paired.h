/* SPDX-License-Identifier: MIT */
/*
 * The comparison of two settings measured in pairs, as the ratio changed / baseline: its interval,
 * whether the difference could be chance, and how small a difference these pairs could have shown
 * at all.
 */
#ifndef WR_STAT_PAIRED_H
#define WR_STAT_PAIRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stat/interval.h"

/* Up to here all sign patterns are tried (2^20); beyond, a random sample of them. */
#define WR_STAT_SIGN_FLIP_EXACT_MAX 20

/*
 * With fewer pairs no exact two-sided test can reach p < 0.05: 2^(1-5) = 0.0625, 2^(1-6) = 0.031.
 */
#define WR_STAT_PAIRED_PROOF_MIN 6

/*
 * What n pairs (baseline_i, changed_i) tell. With d_i = ln(changed_i / baseline_i):
 *
 * @n_pairs: how many
 * @ratio: exp(mean of d), the geometric mean of the ratios; 1.1 means that changed is 10 % larger
 * @ratio_ci95: its 95 % t interval; NaN for fewer than 2 pairs
 * @sd_log: standard deviation of d; NaN for fewer than 2 pairs
 * @sign_flip_p: two-sided p of the sign-flip permutation test of the mean of d; can't be below
 * 2^(1 - n)
 * @sign_flip_exact: all 2^n patterns were tried
 * @wilcoxon_p: two-sided p of Wilcoxon's signed-rank test, see wr_stat_wilcoxon_p()
 * @min_effect_ratio: 2.8 sd_log / sqrt n, the relative change that these pairs would have shown
 * with 80 % probability (0.057 is 5.7 %): print it beside every "no difference"; NaN for fewer than
 * 2 pairs
 * @median_ratio: exp(median of d)
 * @median_ratio_interval: its order-statistic interval and that one's own coverage
 */
struct wr_stat_paired {
	size_t n_pairs;
	double ratio;
	struct wr_stat_interval ratio_ci95;
	double sd_log;
	double sign_flip_p;
	bool sign_flip_exact;
	double wilcoxon_p;
	double min_effect_ratio;
	double median_ratio;
	struct wr_stat_interval median_ratio_interval;
};

/*
 * wr_stat_sign_flip_p - the permutation test of paired differences
 * @differences: @n_samples values, any unit
 * @seed: of the random sign patterns, used above WR_STAT_SIGN_FLIP_EXACT_MAX samples
 *
 * Return: the two-sided p: the share of sign patterns whose sum is at least as far from 0 as the
 * one seen (above the limit of 19999 random ones, the one seen counting along); 1 for no samples.
 * Source: Fisher, "The Design of Experiments", 1935, section 21; Phipson and Smyth, "Permutation
 * P-values Should Never Be Zero", Stat. Appl. Genet. Mol. Biol. 9(1), 2010.
 */
double wr_stat_sign_flip_p(const double *differences, size_t n_samples, uint64_t seed);

/*
 * wr_stat_paired - compare two settings measured in pairs
 * @out: filled whatever the outcome, with NaN where a figure isn't defined
 * @baseline: @n_pairs values, same unit as @changed, all above 0
 * @changed: @n_pairs values; the i-th was measured beside the i-th of @baseline
 * @seed: as in wr_stat_sign_flip_p()
 * @scratch: room for 2 x @n_pairs; holds the d_i first afterwards
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW for fewer than 2 pairs; WR_STAT_NOT_POSITIVE when a value
 * isn't above 0 and finite (a run that moved nothing has no ratio): only n_pairs is set then, the
 * rest NaN.
 * Source: min_effect_ratio: 1.96 + 0.84, the normal quantiles of 5 % two-sided and 80 % power
 * (Cohen, "Statistical Power Analysis", 1988). The t interval of ln ratios: Kalibera and Jones,
 * "Quantifying Performance Changes with Effect Size Confidence Intervals", 2012.
 */
int wr_stat_paired(struct wr_stat_paired *out, const double *baseline, const double *changed,
		   size_t n_pairs, uint64_t seed, double *scratch);

#endif
