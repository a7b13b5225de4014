/* SPDX-License-Identifier: MIT */
/* The smallest buffer that still carries nearly all of a path's throughput, read off a curve. */
#ifndef WR_STAT_KNEE_H
#define WR_STAT_KNEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One point of a curve: what a buffer of this size carried. */
struct wr_stat_point {
	uint64_t size_bytes;
	double throughput_bps;
};

/* What wr_stat_knee() returns. */
enum wr_stat_knee_outcome {
	WR_STAT_KNEE_FOUND = 0,
	WR_STAT_KNEE_CLIMBING = 1, /* only the largest size reaches the plateau: try larger ones */
	WR_STAT_KNEE_NONE = 2, /* no points, or nothing moved at any size */
};

/*
 * The knee of a curve.
 *
 * @index: the chosen point; n_points for NONE
 * @plateau_bps: what the curve levels out at
 * @n_plateau: points at or above (1 - tolerance) x plateau
 * @monotone: no point lies more than the tolerance below the largest one before it; if false the
 * path changed or larger buffers harm it, and the curve should be measured again
 * @worst_drop_ratio: the deepest such fall, 0.04 for 4 %; 0 for none
 * @worst_drop_index: its point; 0 for none
 */
struct wr_stat_knee {
	size_t index;
	double plateau_bps;
	size_t n_plateau;
	bool monotone;
	double worst_drop_ratio;
	size_t worst_drop_index;
};

/*
 * wr_stat_knee - the smallest size within a tolerance of the plateau
 * @out: filled whatever the outcome
 * @points: @n_points points, size strictly ascending, throughput >= 0
 * @tolerance_ratio: the throughput one is ready to give up, 0..1; 0.02 for 2 %
 *
 * The plateau is the median of the three highest throughputs, so that one lucky step doesn't raise
 * it; but the highest itself where the three don't make a plateau: fewer than three points, the
 * third more than 10 % below the first, or the largest size leading the second highest by more than
 * the tolerance (still climbing). A point estimate: confirm the chosen size on fresh connections.
 *
 * Return: an enum wr_stat_knee_outcome.
 */
int wr_stat_knee(struct wr_stat_knee *out, const struct wr_stat_point *points, size_t n_points,
		 double tolerance_ratio);

#endif
