/* SPDX-License-Identifier: MIT */
/* Confidence intervals of the mean (Student's t) and of the median (order statistics). */
#ifndef WR_STAT_INTERVAL_H
#define WR_STAT_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "stat/summary.h"

/*
 * An interval, in the samples' unit.
 *
 * @low, @high: its ends; NaN where there is none
 * @coverage_ratio: how often such an interval holds the truth, 0.95 for 95 %
 */
struct wr_stat_interval {
	double low, high;
	double coverage_ratio;
};

/*
 * wr_stat_mean_interval - the t interval of the mean of independent, roughly normal samples
 * @out: filled whatever the outcome
 * @samples: @n_samples values in any order; the unit for claims is the connection, not the second
 * @level: above 0 and below 1
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW for fewer than 2 samples (ends NaN, coverage 0).
 * Source: Student, "The Probable Error of a Mean", Biometrika 6(1), 1908.
 */
int wr_stat_mean_interval(struct wr_stat_interval *out, const double *samples, size_t n_samples,
			  double level);

/*
 * wr_stat_median_interval - an interval of the median that assumes no distribution
 * @out: the narrowest pair of samples, k-th smallest and k-th largest, that covers @level or more,
 * and its own coverage: 6 samples give minimum to maximum and 96.9 %
 * @samples: @n_samples values in any order; unchanged
 * @level: above 0 and below 1
 * @scratch: room for @n_samples; holds the sorted samples afterwards
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW when not even minimum to maximum reaches @level (5 samples
 * reach 93.75 %): then that is the interval, with the coverage it has (no samples: NaN, 0).
 * Source: David and Nagaraja, "Order Statistics", 3rd edition, 7.1.
 */
int wr_stat_median_interval(struct wr_stat_interval *out, const double *samples, size_t n_samples,
			    double level, double *scratch);

/*
 * wr_stat_median_interval_interpolated - the same between two pairs of samples, so that it covers
 * @level and not a step more: of 6 samples it begins 36 % of the way from the smallest to the second
 * @out: filled whatever the outcome; coverage_ratio is @level: nearly kept whatever the
 * distribution, 94.5 to 95.5 % in our simulations of normal and lognormal samples
 * @samples: @n_samples values in any order; unchanged
 * @level: from 0.5 and below 1
 * @scratch: room for @n_samples; holds the sorted samples afterwards
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW when not even minimum to maximum reaches @level (95 % needs
 * 6 samples): ends NaN, coverage 0.
 * Source: Hettmansperger and Sheather, "Confidence Intervals Based on Interpolated Order
 * Statistics", Statistics & Probability Letters 4(2), 1986.
 */
int wr_stat_median_interval_interpolated(struct wr_stat_interval *out, const double *samples,
					 size_t n_samples, double level, double *scratch);

/*
 * wr_stat_interval_is_narrow - whether both ends lie within @target_ratio of @centre: a rule to stop
 * repeating
 * @centre: what the interval is of, > 0; @target_ratio: 0.03 for 3 %
 *
 * An interval that was looked at again and again until it was narrow covers less than it says, since
 * a lucky streak stops it: with 3 % from the 6th run on, up to 30 runs, 91 % instead of 95. Label it.
 *
 * Return: false also for an interval with a NaN.
 * Source: of the harm: Anscombe, "Fixed-Sample-Size Analysis of Sequential Observations", Biometrics
 * 10(1), 1954.
 */
bool wr_stat_interval_is_narrow(const struct wr_stat_interval *interval, double centre,
				double target_ratio);

#endif
