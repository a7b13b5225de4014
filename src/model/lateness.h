/* SPDX-License-Identifier: MIT */
/*
 * How late an emulated link was: all that it tells of itself to who measures over it. A lab keeps this page, and a run
 * copies it before and after; what came between is the run's.
 */
#ifndef WR_MODEL_LATENESS_H
#define WR_MODEL_LATENESS_H

#include <stddef.h>

#include "stat/octaves.h"

#define WR_LATENESS_MAGIC "weirlate"
#define WR_LATENESS_VERSION 1
#define WR_LATENESS_WAYS 2

/* The file's content, in the byte order of the host. @ways: ns that each packet left after it was due, by direction. */
struct wr_lateness {
	char magic[8];
	uint32_t version, n_ways;
	struct wr_stat_octaves ways[WR_LATENESS_WAYS];
};

/* wr_lateness_begin - a page without packets */
void wr_lateness_begin(struct wr_lateness *page);

/* wr_lateness_is - whether @n_bytes at @page are a page of this version */
bool wr_lateness_is(const struct wr_lateness *page, size_t n_bytes);

/*
 * wr_lateness_p99_ns - the 99th percentile of what came between two copies of a page, of the direction that was worse
 * Return: ns; WR_UNSET when no packet came, or the copies don't belong together.
 */
uint64_t wr_lateness_p99_ns(const struct wr_lateness *before, const struct wr_lateness *after);

/* wr_lateness_bound_ns - lateness beyond it changes what is measured on a path of this round trip */
uint64_t wr_lateness_bound_ns(uint64_t rtt_ns);

#endif
