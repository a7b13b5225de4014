/* SPDX-License-Identifier: MIT */
/*
 * A small histogram: sixteen buckets an octave keep a value to 6 % in 8 KB, so that every packet can be counted and the
 * whole be copied. Where 0.1 % matters there is stat/histogram.h.
 */
#ifndef WR_STAT_OCTAVES_H
#define WR_STAT_OCTAVES_H

#include <stdbool.h>
#include <stdint.h>

#define WR_STAT_OCTAVES_BUCKETS (60 * 16)

struct wr_stat_octaves {
	uint64_t n, max;
	uint64_t buckets[WR_STAT_OCTAVES_BUCKETS];
};

/* wr_stat_octaves_add - @value, @n times */
void wr_stat_octaves_add(struct wr_stat_octaves *octaves, uint64_t value, uint64_t n);

/* wr_stat_octaves_quantile - the upper edge of the bucket that holds quantile @q (0..1). Return: 0 when empty. */
uint64_t wr_stat_octaves_quantile(const struct wr_stat_octaves *octaves, double q);

/*
 * wr_stat_octaves_since - what came between two copies of a histogram that somebody adds to meanwhile
 * @out: its max is that of the buckets' edges
 *
 * Return: whether @after can come after @before: no bucket has shrunk, and their sum is a count.
 */
bool wr_stat_octaves_since(const struct wr_stat_octaves *before, const struct wr_stat_octaves *after, struct wr_stat_octaves *out);

#endif
