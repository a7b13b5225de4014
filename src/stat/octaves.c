/* SPDX-License-Identifier: MIT */
/* Log-linear buckets, so that adding costs two shifts. */
#include "stat/octaves.h"

#define SUB_BITS 4
#define N_SUB (1u << SUB_BITS)

/* Values below N_SUB have a bucket each; above, the octave and its next four bits pick one. */
static uint32_t bucket_of(uint64_t value)
{
	uint32_t octave;

	if (value < N_SUB)
		return (uint32_t)value;
	octave = 63 - (uint32_t)__builtin_clzll(value);
	return (octave - SUB_BITS + 1) * N_SUB + ((uint32_t)(value >> (octave - SUB_BITS)) & (N_SUB - 1));
}

static uint64_t upper_edge(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < N_SUB)
		return bucket;
	shift = bucket / N_SUB - 1;
	return (((uint64_t)(bucket % N_SUB) + N_SUB + 1) << shift) - 1;
}

void wr_stat_octaves_add(struct wr_stat_octaves *octaves, uint64_t value, uint64_t n)
{
	uint32_t bucket = bucket_of(value);

	octaves->buckets[bucket < WR_STAT_OCTAVES_BUCKETS ? bucket : WR_STAT_OCTAVES_BUCKETS - 1] += n;
	octaves->n += n;
	if (value > octaves->max)
		octaves->max = value;
}

uint64_t wr_stat_octaves_quantile(const struct wr_stat_octaves *octaves, double q)
{
	uint64_t seen = 0, wanted = (uint64_t)(q * (double)octaves->n);

	for (uint32_t i = 0; i < WR_STAT_OCTAVES_BUCKETS; i++) {
		seen += octaves->buckets[i];
		if (seen > wanted || (seen == octaves->n && seen > 0))
			return upper_edge(i) < octaves->max ? upper_edge(i) : octaves->max;
	}
	return 0;
}

bool wr_stat_octaves_since(const struct wr_stat_octaves *before, const struct wr_stat_octaves *after, struct wr_stat_octaves *out)
{
	out->n = out->max = 0;
	for (uint32_t i = 0; i < WR_STAT_OCTAVES_BUCKETS; i++) {
		out->buckets[i] = after->buckets[i] - before->buckets[i];
		if (after->buckets[i] < before->buckets[i] || __builtin_add_overflow(out->n, out->buckets[i], &out->n))
			return false;
		if (out->buckets[i])
			out->max = upper_edge(i);
	}
	return true;
}
