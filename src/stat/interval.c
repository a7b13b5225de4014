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

int wr_stat_median_interval(struct wr_stat_interval *out, const double *samples, size_t n_samples,
			    double level, double *scratch)
{
	double missed;
	size_t rank = 1;

	assert(level > 0 && level < 1);
	*out = (struct wr_stat_interval){NAN, NAN, 0};
	if (n_samples == 0)
		return WR_STAT_TOO_FEW;
	wr_stat_median(samples, n_samples, scratch);
	missed = 2 * wr_stat_coin_pmf(0, n_samples);
	while (2 * (rank + 1) <= n_samples) {
		double next = missed + 2 * wr_stat_coin_pmf(rank, n_samples);

		if (1 - next < level)
			break;
		missed = next;
		rank++;
	}
	*out = (struct wr_stat_interval){scratch[rank - 1], scratch[n_samples - rank],
					 fmax(0, 1 - missed)};
	return out->coverage_ratio < level ? WR_STAT_TOO_FEW : WR_STAT_DONE;
}
