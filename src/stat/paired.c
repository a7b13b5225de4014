/* SPDX-License-Identifier: MIT */
/*
 * Paired comparison on the logarithm of the ratio, so that doubling and halving weigh the same and
 * swapping the two settings inverts every figure. d is ln b - ln a and not ln(b / a): then the swap
 * is exact in floating point and ties stay ties.
 */
#include "stat/paired.h"

#include <math.h>

#include "stat/random.h"
#include "stat/rank.h"

#define LEVEL 0.95
#define POWER_FACTOR 2.8 /* z(0.975) + z(0.8) */
#define N_RANDOM_FLIPS 19999

/* Sums closer than this share of the sum of sizes are equal: rounding must not lower p. */
#define SUM_TOLERANCE 1e-9

/*
 * All patterns in Gray-code order, one flip each; the last sign stays, since a pattern and its
 * mirror count alike.
 */
static double all_flips(const double *differences, size_t n, double sum, double limit)
{
	uint32_t n_patterns = UINT32_C(1) << (n - 1), n_extreme = 0, gray = 0;

	for (uint32_t i = 1; i <= n_patterns; i++) {
		int bit = __builtin_ctz(i);

		n_extreme += fabs(sum) >= limit;
		gray ^= UINT32_C(1) << bit;
		sum += (gray >> bit & 1 ? -2 : 2) * differences[bit];
	}
	return (double)n_extreme / n_patterns;
}

static double random_flips(const double *differences, size_t n, double limit, uint64_t seed)
{
	struct wr_stat_random random;
	unsigned n_extreme = 1; /* the pattern seen */

	wr_stat_random_init(&random, seed);
	for (unsigned i = 0; i < N_RANDOM_FLIPS; i++) {
		uint64_t bits = 0;
		double sum = 0;

		for (size_t k = 0; k < n; k++) {
			bits = k % 64 ? bits >> 1 : wr_stat_random_next(&random);
			sum += bits & 1 ? differences[k] : -differences[k];
		}
		n_extreme += fabs(sum) >= limit;
	}
	return (double)n_extreme / (N_RANDOM_FLIPS + 1);
}

double wr_stat_sign_flip_p(const double *differences, size_t n_samples, uint64_t seed)
{
	double sum = 0, size_sum = 0, limit;

	if (n_samples == 0)
		return 1;
	for (size_t i = 0; i < n_samples; i++) {
		sum += differences[i];
		size_sum += fabs(differences[i]);
	}
	limit = fabs(sum) - SUM_TOLERANCE * size_sum;
	if (n_samples <= WR_STAT_SIGN_FLIP_EXACT_MAX)
		return all_flips(differences, n_samples, sum, limit);
	return random_flips(differences, n_samples, limit, seed);
}

static struct wr_stat_interval interval_exp(struct wr_stat_interval ci)
{
	return (struct wr_stat_interval){exp(ci.low), exp(ci.high), ci.coverage_ratio};
}

static int log_ratios(double *d, const double *baseline, const double *changed, size_t n_pairs)
{
	for (size_t i = 0; i < n_pairs; i++) {
		if (!(baseline[i] > 0 && changed[i] > 0 && isfinite(baseline[i]) &&
		      isfinite(changed[i])))
			return WR_STAT_NOT_POSITIVE;
		d[i] = log(changed[i]) - log(baseline[i]);
	}
	return WR_STAT_DONE;
}

int wr_stat_paired(struct wr_stat_paired *out, const double *baseline, const double *changed,
		   size_t n_pairs, uint64_t seed, double *scratch)
{
	const struct wr_stat_interval none = {NAN, NAN, 0};
	double *d = scratch, *room;
	struct wr_stat_interval log_ci;

	*out = (struct wr_stat_paired){n_pairs, NAN, none, NAN, NAN, false, NAN, NAN, NAN, none};
	if (n_pairs == 0)
		return WR_STAT_TOO_FEW;
	room = scratch + n_pairs;
	if (log_ratios(d, baseline, changed, n_pairs) != WR_STAT_DONE)
		return WR_STAT_NOT_POSITIVE;
	out->ratio = exp(wr_stat_mean(d, n_pairs));
	wr_stat_mean_interval(&log_ci, d, n_pairs, LEVEL);
	out->ratio_ci95 = interval_exp(log_ci);
	out->sd_log = wr_stat_sd(d, n_pairs);
	out->min_effect_ratio = POWER_FACTOR * out->sd_log / sqrt((double)n_pairs);
	out->sign_flip_p = wr_stat_sign_flip_p(d, n_pairs, seed);
	out->sign_flip_exact = n_pairs <= WR_STAT_SIGN_FLIP_EXACT_MAX;
	out->wilcoxon_p = wr_stat_wilcoxon_p(d, n_pairs, room);
	out->median_ratio = exp(wr_stat_median(d, n_pairs, room));
	wr_stat_median_interval(&log_ci, d, n_pairs, LEVEL, room);
	out->median_ratio_interval = interval_exp(log_ci);
	return n_pairs < 2 ? WR_STAT_TOO_FEW : WR_STAT_DONE;
}
