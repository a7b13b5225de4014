/* SPDX-License-Identifier: MIT */
/*
 * Intervals of a mean and of a median. The number of samples below the true median is that of
 * heads in n throws, so the pair (k-th smallest, k-th largest) misses it with twice the probability
 * of fewer than k heads.
 */
#include "stat/interval.h"

#include <assert.h>
#include <math.h>

#include "stat/distribution.h"

int wr_stat_mean_interval(struct wr_stat_interval *out, const double *samples, size_t n_samples,
			  double level)
{
	double mean, half;

	*out = (struct wr_stat_interval){NAN, NAN, 0};
	if (n_samples < 2)
		return WR_STAT_TOO_FEW;
	mean = wr_stat_mean(samples, n_samples);
	half = wr_stat_t_quantile(level, (double)(n_samples - 1)) * wr_stat_sd(samples, n_samples) /
	       sqrt((double)n_samples);
	*out = (struct wr_stat_interval){mean - half, mean + half, level};
	return WR_STAT_DONE;
}

/*
 * The innermost rank k whose pair of samples covers @level, or 1 when none does.
 *
 * @covered: what it covers; @covered_next: what the next pair inside does
 */
static size_t median_rank(size_t n_samples, double level, double *covered, double *covered_next)
{
	double missed = 2 * wr_stat_coin_pmf(0, n_samples), next;
	size_t rank = 1;

	for (;;) {
		next = fmin(1, missed + 2 * wr_stat_coin_pmf(rank, n_samples));
		if (2 * (rank + 1) > n_samples || 1 - next < level)
			break;
		missed = next;
		rank++;
	}
	*covered = fmax(0, 1 - missed);
	*covered_next = 1 - next;
	return rank;
}

int wr_stat_median_interval(struct wr_stat_interval *out, const double *samples, size_t n_samples,
			    double level, double *scratch)
{
	double covered, covered_next;
	size_t rank;

	assert(level > 0 && level < 1);
	*out = (struct wr_stat_interval){NAN, NAN, 0};
	if (n_samples == 0)
		return WR_STAT_TOO_FEW;
	wr_stat_median(samples, n_samples, scratch);
	rank = median_rank(n_samples, level, &covered, &covered_next);
	*out = (struct wr_stat_interval){scratch[rank - 1], scratch[n_samples - rank], covered};
	return covered < level ? WR_STAT_TOO_FEW : WR_STAT_DONE;
}

int wr_stat_median_interval_interpolated(struct wr_stat_interval *out, const double *samples,
					 size_t n_samples, double level, double *scratch)
{
	double covered, covered_next, n = (double)n_samples, k, part, inward;
	const double *low = scratch, *high;
	size_t rank;

	assert(level >= 0.5 && level < 1);
	*out = (struct wr_stat_interval){NAN, NAN, 0};
	if (n_samples < 2)
		return WR_STAT_TOO_FEW;
	rank = median_rank(n_samples, level, &covered, &covered_next);
	if (covered < level)
		return WR_STAT_TOO_FEW;
	wr_stat_median(samples, n_samples, scratch);
	k = (double)rank;
	part = (covered - level) / (covered - covered_next);
	inward = (n - k) * part / (k + (n - 2 * k) * part);
	low += rank - 1;
	high = scratch + n_samples - rank;
	*out = (struct wr_stat_interval){low[0] + inward * (low[1] - low[0]),
					 high[0] + inward * (high[-1] - high[0]), level};
	return WR_STAT_DONE;
}

bool wr_stat_interval_is_narrow(const struct wr_stat_interval *interval, double centre,
				double target_ratio)
{
	double most = target_ratio * centre;

	return interval->high - centre <= most && centre - interval->low <= most;
}
