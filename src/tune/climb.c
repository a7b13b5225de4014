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
	return wr_stairs_settle_s(tuner->rtt_s, is_bbr(tuner));
}

double wr_tuner_measure_s(const struct wr_tuner *tuner)
{
	return wr_stairs_measure_s(tuner->rtt_s, is_bbr(tuner));
}

int wr_tuner_wait(struct wr_tuner *tuner, struct wr_run *run, double seconds, struct weir_err *err)
{
	int64_t until = wr_run_now_ns(run) + (int64_t)(seconds * 1e9);
	int rc;

	do
		rc = wr_run_wait(run, until, err);
	while (rc == 1 && wr_tuner_within(tuner, wr_stairs_received(run).bytes));
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

static int wait(void *context, struct wr_run *run, double seconds, struct weir_err *err)
{
	return wr_tuner_wait(context, run, seconds, err);
}

struct wr_stairs wr_tuner_stairs(struct wr_tuner *tuner)
{
	return (struct wr_stairs){.bbr = is_bbr(tuner), .rtt_s = tuner->rtt_s, .wait = wait, .context = tuner};
}

int wr_tuner_rate(struct wr_tuner *tuner, struct wr_run *run, double *bps, struct weir_err *err)
{
	struct wr_stairs stairs = wr_tuner_stairs(tuner);

	return wr_stairs_rate(&stairs, run, bps, err);
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
		if (wr_run_set(run, tuner->sender_side == WR_SIDE_FAR, "sndbuf", bytes, &eff_bytes, err) < 0)
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
	moved_bytes = wr_stairs_received(&run).bytes;
	if (wr_run_stop(&run, &evidence, err) < 0)
		return -1;
	read_end(tuner, plateau, &evidence);
	wr_tuner_account(tuner, moved_bytes);
	wr_evidence_deinit(&evidence);
	return rc;
}
