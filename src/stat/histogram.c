/* SPDX-License-Identifier: MIT */
/* Quantiles by walking the buckets; a bucket's middle stands for what is in it. */
#include "stat/histogram.h"

#include <math.h>

void wr_stat_histogram_add(struct wr_stat_histogram *into, const struct wr_stat_histogram *from)
{
	for (uint32_t i = 0; i < WR_STAT_HISTOGRAM_BUCKETS; i++)
		into->counts[i] += from->counts[i];
	into->n += from->n;
	into->sum += from->sum;
	into->max = from->max > into->max ? from->max : into->max;
}

static double middle(uint32_t bucket)
{
	uint32_t octave = bucket >> WR_STAT_HISTOGRAM_BITS, shift = octave > 0 ? octave - 1 : 0;
	uint64_t first = (uint64_t)(bucket - (shift << WR_STAT_HISTOGRAM_BITS)) << shift;

	return (double)first + (double)((UINT64_C(1) << shift) - 1) / 2;
}

double wr_stat_histogram_quantile(const struct wr_stat_histogram *histogram, double probability)
{
	double rank = ceil(probability * (double)histogram->n);
	uint64_t seen = 0;
	uint32_t i = 0;

	if (histogram->n == 0)
		return NAN;
	if (rank >= (double)histogram->n)
		return (double)histogram->max;
	while ((seen += histogram->counts[i]) == 0 || (double)seen < rank)
		i++;
	/* No value of the last bucket in use is larger than the largest. */
	return fmin(middle(i), (double)histogram->max);
}
