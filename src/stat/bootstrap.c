/* SPDX-License-Identifier: MIT */
/*
 * Percentile and BCa bootstrap. BCa moves the two quantiles by z0 (how far the figure lies from the
 * middle of its resamples) and by a (the skewness of the jackknife), Efron and Tibshirani (14.9) to
 * (14.15).
 */
#include "stat/bootstrap.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "stat/distribution.h"

double wr_stat_figure_mean(const double *samples, size_t n_samples, double *scratch)
{
	(void)scratch;
	return wr_stat_mean(samples, n_samples);
}

/* z0. Equal values count half; no share is 0 or 1, whose quantile is infinite. */
static double bias_correction(const double *resampled, size_t n_resamples, double figure)
{
	double below = 0.5;

	for (size_t i = 0; i < n_resamples; i++)
		below += resampled[i] < figure ? 1 : resampled[i] == figure ? 0.5 : 0;
	return wr_stat_normal_quantile(below / ((double)n_resamples + 1));
}

/*
 * a, from the figures of all samples but one. @copy starts as the samples without the first;
 * putting back sample i - 1 at place i - 1 removes sample i. Two passes instead of n figures kept.
 */
static double acceleration(const double *samples, size_t n, wr_stat_figure *figure, double *copy,
			   double *scratch)
{
	double mean = 0, squares = 0, cubes = 0;

	for (int pass = 0; pass < 2; pass++) {
		memcpy(copy, samples + 1, (n - 1) * sizeof *samples);
		for (size_t i = 0; i < n; i++) {
			double value;

			if (i > 0)
				copy[i - 1] = samples[i - 1];
			value = figure(copy, n - 1, scratch);
			if (pass == 0) {
				mean += value / (double)n;
			} else {
				squares += (mean - value) * (mean - value);
				cubes += (mean - value) * (mean - value) * (mean - value);
			}
		}
	}
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

static double moved_probability(double probability, double z0, double a)
{
	double z = z0 + wr_stat_normal_quantile(probability);
	double scale = 1 - a * z;

	/* Beyond the pole the correction has lost its meaning: the outermost resample. */
	if (scale <= 0)
		return probability < 0.5 ? 0 : 1;
	return wr_stat_normal_cdf(z0 + z / scale);
}

/*
 * The k-th of B resamples stands for probability k / (B + 1) (Davison and Hinkley 1997, 5.2.1):
 * definition 7 would make an interval from 250 resamples miss by 1 % too often.
 */
static double resample_quantile(const double *resampled, size_t n_resamples, double probability)
{
	double n = (double)n_resamples, position = (n + 1) * probability - 1;

	return wr_stat_quantile_sorted(resampled, n_resamples,
				       fmin(1, fmax(0, position / fmax(1, n - 1))));
}

int wr_stat_bootstrap(struct wr_stat_interval *out, const double *samples, size_t n_samples,
		      wr_stat_figure *figure, enum wr_stat_bootstrap_method method, double level,
		      size_t n_resamples, struct wr_stat_random *random, double *scratch)
{
	double *copy = scratch, *room = scratch + n_samples, *resampled = scratch + 2 * n_samples;
	double low = (1 - level) / 2, high = 1 - low;

	assert(level > 0 && level < 1 && n_resamples > 0);
	*out = (struct wr_stat_interval){NAN, NAN, 0};
	if (n_samples < 2)
		return WR_STAT_TOO_FEW;
	for (size_t i = 0; i < n_resamples; i++) {
		for (size_t k = 0; k < n_samples; k++)
			copy[k] = samples[wr_stat_random_below(random, n_samples)];
		resampled[i] = figure(copy, n_samples, room);
	}
	wr_stat_sort(resampled, n_resamples);
	if (method == WR_STAT_BOOTSTRAP_BCA) {
		double value = figure(samples, n_samples, room);
		double z0 = bias_correction(resampled, n_resamples, value);
		double a = acceleration(samples, n_samples, figure, copy, room);

		low = moved_probability(low, z0, a);
		high = moved_probability(high, z0, a);
	}
	*out = (struct wr_stat_interval){resample_quantile(resampled, n_resamples, low),
					 resample_quantile(resampled, n_resamples, high), level};
	return n_samples < WR_STAT_BOOTSTRAP_MIN_SAMPLES ? WR_STAT_TOO_FEW : WR_STAT_DONE;
}
