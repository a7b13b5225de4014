/* SPDX-License-Identifier: MIT */
/*
 * A histogram of durations that is recorded into while they are measured: fixed room, no allocation, a few
 * nanoseconds a value, and a relative error below 0.1 % from a nanosecond to over an hour.
 */
#ifndef WR_STAT_HISTOGRAM_H
#define WR_STAT_HISTOGRAM_H

#include <stdint.h>

/*
 * Each octave has 512 buckets of equal width, and a value is taken for the middle of its bucket: wrong by at most
 * 1/1024 of it. Values below 1024 have a bucket each.
 */
#define WR_STAT_HISTOGRAM_BITS 9
/* 2^42 ns are 73 minutes; what is longer counts as that, but for the largest value. */
#define WR_STAT_HISTOGRAM_MOST ((UINT64_C(1) << 42) - 1)
#define WR_STAT_HISTOGRAM_BUCKETS ((42 - WR_STAT_HISTOGRAM_BITS + 1) << WR_STAT_HISTOGRAM_BITS)

/* All zero is empty. @n: values; @sum, @max: exact; @counts: by bucket */
struct wr_stat_histogram {
	uint64_t n, sum, max;
	uint64_t counts[WR_STAT_HISTOGRAM_BUCKETS];
};

/* wr_stat_histogram_bucket - the place of @value in counts. */
static inline uint32_t wr_stat_histogram_bucket(uint64_t value)
{
	uint32_t shift;

	if (value > WR_STAT_HISTOGRAM_MOST)
		value = WR_STAT_HISTOGRAM_MOST;
	shift = value >> (WR_STAT_HISTOGRAM_BITS + 1) ? 63 - (uint32_t)__builtin_clzll(value) - WR_STAT_HISTOGRAM_BITS : 0;
	return (shift << WR_STAT_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

/* wr_stat_histogram_record - count @value @times times. */
static inline void wr_stat_histogram_record(struct wr_stat_histogram *histogram, uint64_t value, uint64_t times)
{
	histogram->counts[wr_stat_histogram_bucket(value)] += times;
	histogram->n += times;
	histogram->sum += value * times;
	if (value > histogram->max)
		histogram->max = value;
}

/* wr_stat_histogram_add - all of @from into @into. */
void wr_stat_histogram_add(struct wr_stat_histogram *into, const struct wr_stat_histogram *from);

/*
 * wr_stat_histogram_quantile - the smallest value that @probability (0 to 1) of all values don't exceed
 *
 * Return: in the values' unit, at most 0.1 % off; NaN of an empty histogram.
 * Source: Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996, definition 1; the buckets are those of
 * Tene's HdrHistogram.
 */
double wr_stat_histogram_quantile(const struct wr_stat_histogram *histogram, double probability);

#endif
