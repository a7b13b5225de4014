/* SPDX-License-Identifier: MIT */
/*
 * What a set of samples looks like: count, extremes, mean, median, standard deviation, coefficient
 * of variation and quantiles. Nothing here allocates: where samples must be sorted the caller gives
 * the room. What isn't defined (the mean of nothing, the deviation of one sample) is NaN, never 0.
 * All functions of this folder are reentrant and expect finite samples.
 */
#ifndef WR_STAT_SUMMARY_H
#define WR_STAT_SUMMARY_H

#include <stddef.h>

/* Outcomes shared by the functions of this folder; each function says which it returns. */
enum wr_stat_outcome {
	WR_STAT_DONE = 0,
	WR_STAT_TOO_FEW = 1, /* fewer samples than the figure needs */
	WR_STAT_NOT_POSITIVE = 2, /* a value that must be above 0 and finite isn't */
};

/*
 * The figures of one set of samples, in the samples' unit.
 *
 * @n_samples: how many
 * @min, @max, @mean, @median: NaN for no samples
 * @sd: sample standard deviation (divisor n - 1); NaN for fewer than 2
 * @cv: sd / |mean|, a ratio; NaN where sd is NaN or the mean is 0
 */
struct wr_stat_summary {
	size_t n_samples;
	double min, max, mean, median, sd, cv;
};

/* -- sorting and quantiles -- */

/* wr_stat_sort - sort @n_samples @samples in place, ascending */
void wr_stat_sort(double *samples, size_t n_samples);

/*
 * wr_stat_quantile_sorted - a quantile of sorted samples, by linear interpolation
 * @sorted: @n_samples values, ascending
 * @probability: 0..1; 0.5 is the median, 0.99 the 99th percentile
 *
 * Return: the quantile; NaN for no samples.
 * Source: Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician
 * 50(4), 1996, definition 7 (the default of R and NumPy).
 */
double wr_stat_quantile_sorted(const double *sorted, size_t n_samples, double probability);

/*
 * wr_stat_quantile - the same of samples in any order
 * @samples: @n_samples values; unchanged
 * @scratch: room for @n_samples; holds the sorted samples afterwards, so further quantiles are
 * cheap
 */
double wr_stat_quantile(const double *samples, size_t n_samples, double probability,
			double *scratch);

/* -- single figures -- */

/* wr_stat_mean - Return: the arithmetic mean; NaN for no samples. */
double wr_stat_mean(const double *samples, size_t n_samples);

/* wr_stat_sd - Return: the sample standard deviation (divisor n - 1); NaN for fewer than 2. */
double wr_stat_sd(const double *samples, size_t n_samples);

/* wr_stat_median - Return: the median; NaN for no samples. @scratch: as in wr_stat_quantile(). */
double wr_stat_median(const double *samples, size_t n_samples, double *scratch);

/* -- all at once -- */

/*
 * wr_stat_summarise - all figures of struct wr_stat_summary
 * @out: filled whatever the outcome, with NaN where a figure isn't defined
 * @samples: @n_samples values in any order; unchanged
 * @scratch: room for @n_samples; holds the sorted samples afterwards
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW for fewer than 2 samples (no sd and no cv).
 */
int wr_stat_summarise(struct wr_stat_summary *out, const double *samples, size_t n_samples,
		      double *scratch);

#endif
