/* SPDX-License-Identifier: MIT */
/* Whether repeated runs are what statistics takes them for: drawn from the same, and independent of each other. */
#ifndef WR_STAT_TREND_H
#define WR_STAT_TREND_H

#include <stddef.h>

/*
 * A straight line through values over time, and whether it could be chance.
 * @change: from the first time to the last, in the values' unit (of logarithms: ln of the ratio)
 * @p: two-sided, of the slope's t test; both NaN for fewer than 2 degrees of freedom or times that don't differ
 */
struct wr_stat_trend {
	double change, p;
};

/*
 * wr_stat_trend - the drift of residuals
 * @residuals: @n_samples, each a value less the mean of its cell; @times: when each was measured, any unit
 * @n_means: how many means were taken off, which cost as many degrees of freedom
 *
 * Source: least squares; the correlation's t test with n - n_means - 1 degrees of freedom.
 */
struct wr_stat_trend wr_stat_trend(const double *residuals, const double *times, size_t n_samples, size_t n_means);

/*
 * wr_stat_lag1_p - whether an autocorrelation could be chance
 * @lag1: of @n_samples values in the order in which they were measured, from wr_stat_lag1()
 *
 * Return: the two-sided p; NaN for fewer than 8 samples, for which the normal approximation is poor.
 * Source: Bartlett, "On the Theoretical Specification and Sampling Properties of Autocorrelated Time-Series", Suppl. JRSS
 * 8(1), 1946; its bias of -1 / n is taken off.
 */
double wr_stat_lag1_p(double lag1, size_t n_samples);

#endif
