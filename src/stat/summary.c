/* SPDX-License-Identifier: MIT */
/*
 * Descriptive statistics. The deviation is computed in two passes: the one-pass formula loses all
 * digits on throughputs of 10^9 bit/s that differ by a few bit/s.
 */
#include "stat/summary.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void wr_stat_sort(double *samples, size_t n_samples)
{
	if (n_samples > 1)
		qsort(samples, n_samples, sizeof *samples, ascending);
}

double wr_stat_quantile_sorted(const double *sorted, size_t n_samples, double probability)
{
	double position;
	size_t below;

	assert(probability >= 0 && probability <= 1);
	if (n_samples == 0)
		return NAN;
	position = probability * (double)(n_samples - 1);
	below = (size_t)position;
	if (below + 1 >= n_samples)
		return sorted[n_samples - 1];
	return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

static void sorted_copy(double *scratch, const double *samples, size_t n_samples)
{
	if (n_samples == 0)
		return;
	memcpy(scratch, samples, n_samples * sizeof *samples);
	wr_stat_sort(scratch, n_samples);
}

double wr_stat_quantile(const double *samples, size_t n_samples, double probability,
			double *scratch)
{
	sorted_copy(scratch, samples, n_samples);
	return wr_stat_quantile_sorted(scratch, n_samples, probability);
}

double wr_stat_mean(const double *samples, size_t n_samples)
{
	double sum = 0;

	if (n_samples == 0)
		return NAN;
	for (size_t i = 0; i < n_samples; i++)
		sum += samples[i];
	return sum / (double)n_samples;
}

double wr_stat_sd(const double *samples, size_t n_samples)
{
	double mean, squares = 0;

	if (n_samples < 2)
		return NAN;
	mean = wr_stat_mean(samples, n_samples);
	for (size_t i = 0; i < n_samples; i++)
		squares += (samples[i] - mean) * (samples[i] - mean);
	return sqrt(squares / (double)(n_samples - 1));
}

double wr_stat_median(const double *samples, size_t n_samples, double *scratch)
{
	return wr_stat_quantile(samples, n_samples, 0.5, scratch);
}

int wr_stat_summarise(struct wr_stat_summary *out, const double *samples, size_t n_samples,
		      double *scratch)
{
	out->n_samples = n_samples;
	out->median = wr_stat_median(samples, n_samples, scratch);
	out->min = n_samples ? scratch[0] : NAN;
	out->max = n_samples ? scratch[n_samples - 1] : NAN;
	out->mean = wr_stat_mean(samples, n_samples);
	out->sd = wr_stat_sd(samples, n_samples);
	out->cv = out->mean != 0 ? out->sd / fabs(out->mean) : NAN;
	return n_samples < 2 ? WR_STAT_TOO_FEW : WR_STAT_DONE;
}
