/* SPDX-License-Identifier: MIT */
/* Autocorrelation, and the mean of a quantity read at uneven times (tcp_info under load). */
#include "stat/series.h"

#include <math.h>

#include "stat/summary.h"

double wr_stat_lag1(const double *samples, size_t n_samples)
{
	double mean, squares = 0, products = 0;

	if (n_samples < 3)
		return NAN;
	mean = wr_stat_mean(samples, n_samples);
	for (size_t i = 0; i < n_samples; i++) {
		squares += (samples[i] - mean) * (samples[i] - mean);
		if (i > 0)
			products += (samples[i] - mean) * (samples[i - 1] - mean);
	}
	return squares > 0 ? products / squares : NAN;
}

double wr_stat_time_mean(const uint64_t *t_ns, const double *values, size_t n_samples)
{
	double area = 0, span_ns;

	if (n_samples == 0)
		return NAN;
	span_ns = (double)(t_ns[n_samples - 1] - t_ns[0]);
	if (!(span_ns > 0))
		return wr_stat_mean(values, n_samples);
	for (size_t i = 1; i < n_samples; i++)
		area += (values[i] + values[i - 1]) / 2 * (double)(t_ns[i] - t_ns[i - 1]);
	return area / span_ns;
}
