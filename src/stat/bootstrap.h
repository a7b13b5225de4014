/* SPDX-License-Identifier: MIT */
/* Bootstrap intervals, for figures that have no formula; for 10 independent samples or more. */
#ifndef WR_STAT_BOOTSTRAP_H
#define WR_STAT_BOOTSTRAP_H

#include <stddef.h>

#include "stat/interval.h"
#include "stat/random.h"

/* With fewer samples the interval is too narrow by far; a t or order-statistic interval isn't. */
#define WR_STAT_BOOTSTRAP_MIN_SAMPLES 10

/* A figure of @n_samples > 0 samples; pure but for @scratch, which has room for @n_samples. */
typedef double wr_stat_figure(const double *samples, size_t n_samples, double *scratch);

/* Ready figures: the mean (leaves scratch alone); wr_stat_median() is one as it stands. */
double wr_stat_figure_mean(const double *samples, size_t n_samples, double *scratch);

/* How the interval is read off the resamples. */
enum wr_stat_bootstrap_method {
	WR_STAT_BOOTSTRAP_PERCENTILE, /* their quantiles */
	WR_STAT_BOOTSTRAP_BCA, /* quantiles corrected for bias and skewness */
};

/* The doubles that wr_stat_bootstrap() needs as scratch. */
#define WR_STAT_BOOTSTRAP_SCRATCH(n_samples, n_resamples) (2 * (n_samples) + (n_resamples))

/*
 * wr_stat_bootstrap - the bootstrap interval of a figure
 * @out: filled whatever the outcome; coverage_ratio is @level, the nominal one
 * @samples: @n_samples independent values (connections or blocks, not seconds), unchanged
 * @figure: wr_stat_figure_mean, wr_stat_median or the caller's own
 * @method: for the median prefer PERCENTILE: its jackknife, which BCA needs, is inconsistent
 * @level: above 0 and below 1
 * @n_resamples: how many; 2000 for a 95 % interval; above 0
 * @random: the generator, which moves on
 * @scratch: room for WR_STAT_BOOTSTRAP_SCRATCH(@n_samples, @n_resamples); the resampled figures
 * afterwards, sorted, in the last @n_resamples
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW for fewer than WR_STAT_BOOTSTRAP_MIN_SAMPLES (the interval
 * is there, but too narrow; for fewer than 2 it is NaN with coverage 0).
 * Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 13 and 14.
 */
int wr_stat_bootstrap(struct wr_stat_interval *out, const double *samples, size_t n_samples,
		      wr_stat_figure *figure, enum wr_stat_bootstrap_method method, double level,
		      size_t n_resamples, struct wr_stat_random *random, double *scratch);

#endif
