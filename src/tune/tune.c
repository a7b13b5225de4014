/* SPDX-License-Identifier: MIT */
/*
 * The procedure. A default probe gives the verdict. Where a buffer is the limit: both buffers large for the
 * plateau, a curve of the limiting one, its knee, three fresh connections that confirm it, interleaved pairs that
 * prove the whole advice. Where the path is full and a queue stands: the smallest buffer that keeps the rate.
 * Everywhere else: repeats that tell noise from limits, and a refusal.
 */
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "explain/explain.h"
#include "os/clock.h"
#include "tune/confirm.h"

#define REPEATS 3
/* RTT of a quarter over the one before from which a queue still grows; how much longer the probe is then. */
#define GROWING_RATIO 1.1
#define LONG_PROBE 4
/* A run that is still in its ramp goes on for a while. */
#define EXPECTED_MARGIN 1.1
#define STANDING_QUEUE_RATIO 1.5
#define STANDING_QUEUE_US 5000


static double probe_s(const struct wr_tuner *tuner)
{
	return 3 + 10 * tuner->rtt_s;
}

/* -- probe and baseline -- */

static bool full_path(const struct wr_verdict *verdict)
{
	return wr_verdict_is(verdict, "path-limited") || wr_verdict_is(verdict, "bufferbloat");
}

static int probe_once(struct wr_tuner *tuner, double seconds, struct wr_evidence *evidence, struct wr_trial *trial,
		      struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_result result;
	int rc;

	wr_tuner_say(tuner, "probe: one transfer as it is, %.0f s", seconds);
	rc = wr_tuner_try(tuner, &tuner->options->plan, seconds, trial, evidence, err);
	if (rc < 0)
		return -1;
	if (wr_measure_result(evidence, &result, err) < 0 || wr_explain(evidence, &tuning->verdict, err) < 0) {
		wr_evidence_deinit(evidence);
		return -1;
	}
	snprintf(tuning->congestion, sizeof tuning->congestion, "%s",
		 wr_evidence_sender(evidence)->connections[0].congestion);
	tuning->rtt_min_us = result.rtt_min_us;
	tuning->mss_bytes = result.mss_bytes;
	tuning->capacity_bps = trial->bps;
	tuning->capacity_known = full_path(&tuning->verdict);
	tuning->bdp_bytes = trial->bps * result.rtt_min_us / 8e6;
	tuning->baseline_rtt_us = trial->rtt_us;
	tuning->baseline_eff_bytes[WR_KNOB_SNDBUF] = trial->sndbuf_eff_bytes;
	tuning->baseline_eff_bytes[WR_KNOB_RCVBUF] = trial->rcvbuf_eff_bytes;
	wr_tuner_baseline(tuner, &trial->bps, 1);
	tuner->rate_bps = trial->bps;
	tuner->window_per_eff_ratio = wr_tuner_window_ratio(evidence);
	return rc;
}

/* A long queue fills slowly: its delay is judged when it has stopped growing. */
static bool queue_grows(const struct wr_tuner *tuner, const struct wr_evidence *evidence)
{
	int64_t end = evidence->steady_to_ns, quarter = (end - evidence->steady_from_ns) / 4;

	return full_path(&tuner->tuning->verdict) &&
	       wr_measure_rtt_us(evidence, end - quarter, end) >
		       GROWING_RATIO * wr_measure_rtt_us(evidence, end - 2 * quarter, end - quarter);
}

static int probe(struct wr_tuner *tuner, struct wr_evidence *evidence, struct wr_trial *trial, struct weir_err *err)
{
	int rc = probe_once(tuner, probe_s(tuner), evidence, trial, err);

	if (rc != 0 || !queue_grows(tuner, evidence) || !wr_tuner_affords(tuner, LONG_PROBE * probe_s(tuner)))
		return rc;
	wr_evidence_deinit(evidence);
	return probe_once(tuner, LONG_PROBE * probe_s(tuner), evidence, trial, err);
}

/* -- no buffer helps -- */

static void say_trial(void *context, const char *text)
{
	wr_tuner_say(context, "%s", text);
}

/* Where a buffer is blamed the curve and the proof are the experiment; any other first cause gets one of its own. */
static int confirm(struct wr_tuner *tuner, const struct wr_evidence *evidence, struct weir_err *err)
{
	double seconds = wr_confirm_seconds(tuner->peer, &tuner->tuning->verdict);

	if (seconds <= 0)
		return 0;
	if (!wr_tuner_affords(tuner, seconds)) {
		wr_tuning_leave_out(tuner->tuning, "the experiment that would refute the verdict");
		return 0;
	}
	wr_tuner_account(tuner, (uint64_t)(seconds * tuner->rate_bps / 8));
	return wr_confirm(tuner->peer, &tuner->options->plan, evidence, &tuner->tuning->verdict, say_trial, tuner, err);
}

static int repeat_baseline(struct wr_tuner *tuner, double first_bps, struct weir_err *err)
{
	double runs_bps[REPEATS] = {first_bps};
	size_t n = 1;

	for (; n < REPEATS; n++) {
		struct wr_trial trial;
		int rc;

		if (!wr_tuner_affords(tuner, tuner->run_s + wr_tuner_overhead_s(tuner))) {
			wr_tuning_leave_out(tuner->tuning, "repeats that would tell noise from limits");
			break;
		}
		wr_tuner_say(tuner, "repeating the transfer as it is, %zu of %d", n + 1, REPEATS);
		rc = wr_tuner_try(tuner, &tuner->options->plan, tuner->run_s, &trial, NULL, err);
		if (rc != 0)
			return rc;
		runs_bps[n] = trial.bps;
	}
	wr_tuner_baseline(tuner, runs_bps, n);
	(void)wr_explain_noise(&tuner->tuning->verdict, runs_bps, n);
	return 0;
}

static bool queue_stands(const struct wr_tuning *tuning)
{
	return full_path(&tuning->verdict) &&
	       tuning->baseline_rtt_us > STANDING_QUEUE_RATIO * tuning->rtt_min_us &&
	       tuning->baseline_rtt_us - tuning->rtt_min_us > STANDING_QUEUE_US;
}

static double expected_s(const struct wr_tuner *tuner)
{
	const struct wr_strategy *strategy = wr_strategy_find(tuner->options->strategy);

	return probe_s(tuner) + wr_tuner_overhead_s(tuner) + wr_tune_climb_seconds(tuner) +
	       strategy->seconds(tuner, WR_TYPICAL_CURVE) + wr_tune_confirm_seconds(tuner) +
	       wr_tune_proof_seconds(tuner);
}

static void announce(struct wr_tuner *tuner)
{
	double left_s = expected_s(tuner) - wr_tuner_elapsed_s(tuner);
	char bytes[WR_UNIT_TEXT];

	if (!wr_explain_buffer_helps(&tuner->tuning->verdict) && !queue_stands(tuner->tuning))
		return;
	wr_tuner_say(tuner, "%s; about %.0f s more and at least %s", tuner->tuning->verdict.causes[0].cause, fmax(left_s, 1),
		     wr_size_text(bytes, left_s * tuner->rate_bps / 8));
}

int wr_tune(struct wr_peer *peer, const struct wr_tune_options *options, struct wr_tuning *tuning,
	    struct weir_err *err)
{
	double rtt_s = (double)peer->rtt_ns / 1e9;
	struct wr_tuner tuner = {
		.peer = peer, .options = options, .tuning = tuning, .began_ns = wr_clock_ns(), .rtt_s = rtt_s,
		/* Slow start to a large BDP takes about 14 round trips; the rest is measured. */
		.run_s = 14 * rtt_s + fmax(1.5, 15 * rtt_s),
		.sender_side = options->plan.reverse ? WR_SIDE_FAR : WR_SIDE_NEAR,
		.receiver_side = options->plan.reverse ? WR_SIDE_NEAR : WR_SIDE_FAR,
	};
	struct wr_evidence evidence;
	struct wr_trial trial;
	int rc;

	memset(tuning, 0, sizeof *tuning);
	if (wr_end_init(&tuner.near_host, 0, err) < 0)
		return -1;
	wr_host_limits(&tuner.near_host);
	tuner.near_host.may_force = wr_socket_may_force();
	tuning->plan = options->plan;
	tuning->expected_s = EXPECTED_MARGIN * expected_s(&tuner);
	wr_tuner_say(&tuner, "expects to spend up to %.0f s; the bytes follow from the first transfer's rate", tuning->expected_s);
	rc = probe(&tuner, &evidence, &trial, err);
	if (rc == 0 && !wr_explain_buffer_helps(&tuning->verdict))
		rc = confirm(&tuner, &evidence, err);
	if (rc >= 0)
		wr_evidence_deinit(&evidence);
	if (rc == 0) {
		announce(&tuner);
		if (wr_explain_buffer_helps(&tuning->verdict))
			rc = wr_tune_for_rate(&tuner, &trial, err);
		else if (queue_stands(tuning))
			rc = wr_tune_for_delay(&tuner, &trial, err);
		else
			rc = repeat_baseline(&tuner, trial.bps, err);
	}
	wr_end_deinit(&tuner.near_host);
	if (options->max_rate_bps != WR_UNSET && wr_verdict_is(&tuning->verdict, "writer-limited"))
		wr_tuning_leave_out(tuning, "rates above --max-rate: what limits the path beyond it was not seen");
	tuning->wall_s = wr_tuner_elapsed_s(&tuner);
	tuning->complete = rc == 0;
	return rc;
}
