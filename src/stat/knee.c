/* SPDX-License-Identifier: MIT */
/*
 * The knee of a throughput curve. Below it throughput is proportional to the buffer, above it flat,
 * so the plateau and a threshold are enough; curvature methods (Kneedle) need smooth, evenly spaced
 * curves.
 */
#include "stat/knee.h"

#include <assert.h>

/* Further apart than this the three highest points aren't one plateau measured three times. */
#define PLATEAU_SPREAD 0.10

static double plateau(const struct wr_stat_point *points, size_t n_points, double tolerance_ratio)
{
	double top[3] = {0, 0, 0}; /* descending */

	for (size_t i = 0; i < n_points; i++) {
		double bps = points[i].throughput_bps;

		if (bps > top[0]) {
			top[2] = top[1];
			top[1] = top[0];
			top[0] = bps;
		} else if (bps > top[1]) {
			top[2] = top[1];
			top[1] = bps;
		} else if (bps > top[2]) {
			top[2] = bps;
		}
	}
	if (top[2] < (1 - PLATEAU_SPREAD) * top[0])
		return top[0];
	if (points[n_points - 1].throughput_bps == top[0] &&
	    top[1] < (1 - tolerance_ratio) * top[0])
		return top[0];
	return top[1];
}

static void find_drop(struct wr_stat_knee *out, const struct wr_stat_point *points, size_t n_points)
{
	double highest = 0;

	for (size_t i = 0; i < n_points; i++) {
		double bps = points[i].throughput_bps;

		if (bps >= highest) {
			highest = bps;
		} else if (1 - bps / highest > out->worst_drop_ratio) {
			out->worst_drop_ratio = 1 - bps / highest;
			out->worst_drop_index = i;
		}
	}
}

int wr_stat_knee(struct wr_stat_knee *out, const struct wr_stat_point *points, size_t n_points,
		 double tolerance_ratio)
{
	double enough;

	assert(tolerance_ratio >= 0 && tolerance_ratio <= 1);
	*out = (struct wr_stat_knee){.index = n_points, .monotone = true};
	if (n_points == 0)
		return WR_STAT_KNEE_NONE;
	for (size_t i = 1; i < n_points; i++)
		assert(points[i].size_bytes > points[i - 1].size_bytes);
	find_drop(out, points, n_points);
	out->monotone = out->worst_drop_ratio <= tolerance_ratio;
	out->plateau_bps = plateau(points, n_points, tolerance_ratio);
	if (!(out->plateau_bps > 0))
		return WR_STAT_KNEE_NONE;
	enough = (1 - tolerance_ratio) * out->plateau_bps;
	for (size_t i = n_points; i-- > 0;) {
		if (points[i].throughput_bps < enough)
			continue;
		out->index = i;
		out->n_plateau++;
	}
	return n_points > 1 && out->index == n_points - 1 ? WR_STAT_KNEE_CLIMBING
							  : WR_STAT_KNEE_FOUND;
}
