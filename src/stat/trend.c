/* SPDX-License-Identifier: MIT */
#include "stat/trend.h"

#include <math.h>

#include "stat/distribution.h"

#define LEAST_FOR_LAG 8

struct wr_stat_trend wr_stat_trend(const double *residuals, const double *times, size_t n_samples, size_t n_means)
{
	struct wr_stat_trend trend = {NAN, NAN};
	double mean_time = 0, xx = 0, xy = 0, yy = 0, first = INFINITY, last = -INFINITY, r, df;

	if (n_samples < n_means + 3)
		return trend;
	df = (double)(n_samples - n_means - 1);
	for (size_t i = 0; i < n_samples; i++) {
		mean_time += times[i] / (double)n_samples;
		first = fmin(first, times[i]);
		last = fmax(last, times[i]);
	}
	for (size_t i = 0; i < n_samples; i++) {
		xx += (times[i] - mean_time) * (times[i] - mean_time);
		xy += (times[i] - mean_time) * residuals[i];
		yy += residuals[i] * residuals[i];
	}
	if (!(xx > 0))
		return trend;
	trend.change = xy / xx * (last - first);
	r = yy > 0 ? xy / sqrt(xx * yy) : 0;
	trend.p = r * r < 1 ? wr_stat_t_tail(r * sqrt(df / (1 - r * r)), df) : 0;
	return trend;
}

double wr_stat_lag1_p(double lag1, size_t n_samples)
{
	double n = (double)n_samples;

	return n_samples < LEAST_FOR_LAG ? NAN : 2 * wr_stat_normal_cdf(-fabs(lag1 + 1 / n) * sqrt(n));
}
