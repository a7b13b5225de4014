/* SPDX-License-Identifier: MIT */
/*
 * The staircase: one connection with a large buffer, so that window scale, clamp and congestion window are there, is
 * stepped down through sizes. A point costs a second and not a connection.
 */
#ifndef WR_MEASURE_STAIRCASE_H
#define WR_MEASURE_STAIRCASE_H

#include "measure/measure.h"

/*
 * How a staircase is walked.
 *
 * @far, @receive: which buffer
 * @sizes: descending, n_sizes of them, bytes as asked of setsockopt
 * @top_s: at the first size, before anything is measured
 * @rtt_s, @bbr: how long a step settles and is measured (wr_stairs_settle_s, wr_stairs_measure_s)
 * @wait: let the run go on for so long. Return: 0; 1 stopped; -1. NULL: nothing but the user ends it
 * @say: told each size before it is tried; may be NULL
 */
struct wr_stairs {
	bool far, receive, bbr;
	const uint64_t *sizes;
	size_t n_sizes;
	double top_s, rtt_s;
	int (*wait)(void *context, struct wr_run *run, double seconds, struct weir_err *err);
	void (*say)(void *context, uint64_t bytes);
	void *context;
};

/* What a size carried: the receiver's rate, the sender's median round trip (NaN unknown). */
struct wr_stair {
	uint64_t eff_bytes;
	double bps, rtt_us;
};

/*
 * wr_stairs_settle_s - how long a flow takes to follow a step of a live buffer: the larger buffer's data must drain and
 * the new window go round. wr_stairs_measure_s - how long it is measured then.
 */
double wr_stairs_settle_s(double rtt_s, bool bbr);
double wr_stairs_measure_s(double rtt_s, bool bbr);

/* wr_stairs_seconds - what the whole takes, at most about. */
double wr_stairs_seconds(const struct wr_stairs *stairs);

/* wr_stairs_received - bytes that the receiver of a running transfer has read, at an instant of its clock. */
struct wr_progress wr_stairs_received(const struct wr_run *run);

/* wr_stairs_wait - let the run go on for so long. Return: 0; 1 stopped; -1. */
int wr_stairs_wait(const struct wr_stairs *stairs, struct wr_run *run, double seconds, struct weir_err *err);

/* wr_stairs_rate - settle, then measure the receiver's rate. Return: 0; 1 stopped; -1. */
int wr_stairs_rate(const struct wr_stairs *stairs, struct wr_run *run, double *bps, struct weir_err *err);

/*
 * wr_stairs_walk - one connection down all sizes
 * @plan: both buffers set as they are to be at the top; its length is set here
 * @points: room for n_sizes; @n_points how many were measured whole
 * @bytes: out: moved in all
 *
 * Return: 0; 1 stopped, with the points until then; -1.
 */
int wr_stairs_walk(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_stairs *stairs, struct wr_stair *points,
		   size_t *n_points, uint64_t *bytes, struct weir_err *err);

#endif
