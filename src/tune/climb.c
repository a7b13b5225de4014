/* SPDX-License-Identifier: MIT */
/*
 * The climb to the plateau. A connection whose buffers are simply made huge overshoots in slow start: more than the
 * path and its queue hold is in flight, thousands of segments are lost at once, and the recovery lasts longer than
 * the measurement. So the send buffer bounds what is in flight and is raised by halves until the rate stops
 * following; then at most about two BDP was ever in flight. The receive buffer is large from the start, because the
 * window scale is fixed in the handshake.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "tune/tune.h"

/* After a step the larger buffer's data must drain and the new window go round. */
#define SETTLE_RTTS 4
#define SETTLE_S 0.15
#define MEASURE_RTTS 6
#define MEASURE_S 0.5
/* bbr's bandwidth filter holds ten round trips, a cycle of its gains is eight (net/ipv4/tcp_bbr.c). */
#define BBR_SETTLE_RTTS 10
#define BBR_MEASURE_RTTS 16

#define STEP 1.5
/* A step that brings less than this is not followed: the path is full. */
#define FOLLOWS_RATIO 1.1
#define MAX_STEPS 16
#define TYPICAL_STEPS 4

static bool is_bbr(const struct wr_tuner *tuner)
{
	return strncmp(tuner->tuning->congestion, "bbr", 3) == 0;
}

double wr_tuner_settle_s(const struct wr_tuner *tuner)
{
	return fmax(SETTLE_S, SETTLE_RTTS * tuner->rtt_s) + (is_bbr(tuner) ? BBR_SETTLE_RTTS * tuner->rtt_s : 0);
}

double wr_tuner_measure_s(const struct wr_tuner *tuner)
{
	return fmax(MEASURE_S, (is_bbr(tuner) ? BBR_MEASURE_RTTS : MEASURE_RTTS) * tuner->rtt_s);
}

static struct wr_progress receiver_now(const struct wr_run *run)
{
	struct wr_progress now = run->far;

	if (!run->plan.reverse)
		return now;
	now = (struct wr_progress){.t_ns = wr_run_now_ns(run)};
	for (size_t i = 0; i < run->near.crew.n_streams; i++)
		now.bytes += wr_end_run_bytes(&run->near, i);
	return now;
}

int wr_tuner_wait(struct wr_tuner *tuner, struct wr_run *run, double seconds, struct weir_err *err)
{
	int64_t until = wr_run_now_ns(run) + (int64_t)(seconds * 1e9);
	int rc;

	do
		rc = wr_run_wait(run, until, err);
	while (rc == 1 && wr_tuner_within(tuner, receiver_now(run).bytes));
	if (rc == 1 || rc == 3)
		tuner->stopped = true;
	return rc < 0 ? -1 : tuner->stopped;
}

static double ramp_s(const struct wr_tuner *tuner)
{
	return 14 * tuner->rtt_s + 0.3;
}

double wr_tune_climb_seconds(const struct wr_tuner *tuner)
{
	return ramp_s(tuner) + TYPICAL_STEPS * (wr_tuner_settle_s(tuner) + wr_tuner_measure_s(tuner));
}

int wr_tuner_rate(struct wr_tuner *tuner, struct wr_run *run, double *bps, struct weir_err *err)
{
	int rc = wr_tuner_wait(tuner, run, wr_tuner_settle_s(tuner), err);
	struct wr_progress from = receiver_now(run), to;

	if (rc == 0)
		rc = wr_tuner_wait(tuner, run, wr_tuner_measure_s(tuner), err);
	to = receiver_now(run);
	*bps = to.t_ns > from.t_ns ? 8e9 * (double)(to.bytes - from.bytes) / (double)(to.t_ns - from.t_ns) : 0;
	return rc;
}

static int climb(struct wr_tuner *tuner, struct wr_run *run, uint64_t most_bytes, struct wr_plateau *plateau,
		 struct weir_err *err)
{
	int rc = wr_tuner_wait(tuner, run, ramp_s(tuner), err);

	if (rc == 0)
		rc = wr_tuner_rate(tuner, run, &plateau->bps, err);
	for (int step = 0; step < MAX_STEPS && rc == 0; step++) {
		uint64_t bytes = (uint64_t)(STEP * (double)plateau->sndbuf_bytes) & ~1023ULL, eff_bytes;
		char size[WR_UNIT_TEXT];
		double bps;

		if (plateau->sndbuf_bytes == most_bytes) {
			plateau->capped = true;
			return 0;
		}
		bytes = bytes > most_bytes ? most_bytes : bytes;
		wr_tuner_say(tuner, "plateau: SO_SNDBUF %s", wr_size_text(size, (double)bytes));
		if (wr_run_resize(run, tuner->sender_side == WR_SIDE_FAR, false, bytes, &eff_bytes, err) < 0)
			return -1;
		rc = wr_tuner_rate(tuner, run, &bps, err);
		if (rc != 0 || bps < plateau->bps)
			return rc;
		plateau->sndbuf_bytes = bytes;
		if (bps < FOLLOWS_RATIO * plateau->bps) {
			plateau->bps = bps;
			return 0;
		}
		plateau->bps = bps;
	}
	return rc;
}

static void read_end(struct wr_tuner *tuner, struct wr_plateau *plateau, const struct wr_evidence *evidence)
{
	int64_t end_ns = evidence->near.duration_ns;

	plateau->window_per_eff_ratio = fmax(tuner->window_per_eff_ratio, wr_tuner_window_ratio(evidence));
	plateau->rtt_us = wr_measure_rtt_us(evidence, end_ns - 500000000, end_ns);
}

int wr_tune_climb(struct wr_tuner *tuner, uint64_t first_bytes, uint64_t most_bytes, uint64_t rcvbuf_bytes,
		  struct wr_plateau *plateau, struct weir_err *err)
{
	struct wr_plan plan = tuner->options->plan;
	struct wr_evidence evidence;
	struct wr_run run;
	uint64_t moved_bytes;
	int rc;

	memset(plateau, 0, sizeof *plateau);
	plateau->sndbuf_bytes = first_bytes < most_bytes ? first_bytes : most_bytes;
	wr_tuner_knob(&plan, WR_KNOB_SNDBUF, tuner->sender_side, plateau->sndbuf_bytes);
	wr_tuner_knob(&plan, WR_KNOB_RCVBUF, tuner->receiver_side, rcvbuf_bytes);
	plan.bytes = WR_UNSET;
	plan.duration_ns = 120000000000ULL + (uint64_t)(400e9 * tuner->rtt_s);
	plan.interval_ns = 100000000;
	wr_tuner_say(tuner, "plateau: raising the send buffer until the rate stops following");
	if (wr_run_start(&run, tuner->peer, &plan, err) < 0)
		return -1;
	rc = climb(tuner, &run, most_bytes, plateau, err);
	if (rc < 0) {
		wr_run_abandon(&run);
		return -1;
	}
	moved_bytes = receiver_now(&run).bytes;
	if (wr_run_stop(&run, &evidence, err) < 0)
		return -1;
	read_end(tuner, plateau, &evidence);
	wr_tuner_account(tuner, moved_bytes);
	wr_evidence_deinit(&evidence);
	return rc;
}
