/* SPDX-License-Identifier: MIT */
/* Figures of samples in time: how much each resembles the one before, and their mean over time. */
#ifndef WR_STAT_SERIES_H
#define WR_STAT_SERIES_H

#include <stddef.h>
#include <stdint.h>

/*
 * wr_stat_lag1 - lag-1 autocorrelation
 * @samples: @n_samples values at even distances, oldest first
 *
 * Return: -1..1; above about 0.2 the samples aren't independent and an interval computed from them
 * is too narrow; NaN for fewer than 3 samples or equal ones.
 * Source: Box, Jenkins and Reinsel, "Time Series Analysis", 2.1.5 (r_1, divisor n in both sums).
 */
double wr_stat_lag1(const double *samples, size_t n_samples);

/*
 * wr_stat_time_mean - the mean over time of a quantity sampled at uneven distances
 * @t_ns: @n_samples times, ascending
 * @values: @n_samples values at these times, any unit
 *
 * The value moves in a straight line between two samples (trapezoid rule).
 *
 * Return: the mean from the first to the last sample; the plain mean if no time passes between
 * them; NaN for no samples.
 */
double wr_stat_time_mean(const uint64_t *t_ns, const double *values, size_t n_samples);

#endif
