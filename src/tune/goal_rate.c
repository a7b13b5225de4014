/* SPDX-License-Identifier: MIT */
/* The goal is rate: a buffer or window is the limit. Plateau, curve, knee, settings of both ends, proof. */
#include <stdio.h>

#include "base/mem.h"
#include "explain/explain.h"
#include "tune/tune.h"

/*
 * Of BDP / WR_IN_FLIGHT_PER_REQUEST. The first stays so small that with full super-packets (1.6 bytes in flight a byte
 * asked for) path and a queue of one BDP still hold it: a loss at the top would spoil every step below.
 */
static const double multiples[] = {1.4, 1.25, 1.1, 1.0, 0.9, 0.8, 0.7, 0.5, 0.25};

_Static_assert(WR_N_ELEMENTS(multiples) == WR_TYPICAL_CURVE, "what a curve is expected to cost");

static void refuse_unproved(struct wr_tuner *tuner, const char *why)
{
	wr_verdict_refuse(&tuner->tuning->verdict, "sndbuf", "%s", why);
	wr_verdict_refuse(&tuner->tuning->verdict, "rcvbuf", "%s", why);
}

/* Return: 0 proved or refused; 1 stopped; -1. */
static int prove(struct wr_tuner *tuner, const struct wr_settings *after, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_ab_proof *proof = &tuning->proof;
	double needed = wr_tune_proof_seconds(tuner);
	int rc;

	if (!wr_tuner_affords(tuner, needed)) {
		tuning->cut = true;
		wr_tuning_leave_out(tuning, "the proof with %llu pairs, which needs %.0f s; without it nothing is advised",
				    (unsigned long long)tuner->options->pairs, needed);
		return 0;
	}
	wr_tune_list_settings(tuner, after);
	rc = wr_tune_prove(tuner, after, err);
	if (proof->pairs > 0)
		wr_tuner_baseline(tuner, proof->before_runs_bps, proof->pairs);
	if (rc != 0)
		return rc;
	tuning->baseline_rtt_us = proof->before_rtt_us;
	proof->holds = proof->ci95_ratio[0] > 1 && proof->p < 0.05;
	if (wr_explain_noise(&tuning->verdict, tuning->runs_bps, tuning->n_runs))
		proof->holds = false;
	if (proof->holds)
		wr_tune_advise_rate(tuner, after);
	else
		refuse_unproved(tuner, "not proved: interleaved runs with the new sizes were not reliably faster");
	return 0;
}

/* Twice what was in flight as it was: the climb starts where the buffer still binds. */
static int take_plateau(struct wr_tuner *tuner, const struct wr_trial *unset, struct wr_plateau *plateau,
			struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	double in_flight = wr_tuner_per_stream(tuner, unset->bps * unset->rtt_us / 8e6);
	uint64_t first = (uint64_t)(2 * in_flight / WR_IN_FLIGHT_PER_REQUEST);
	int rc;

	if (!wr_tuner_affords(tuner, wr_tune_climb_seconds(tuner))) {
		tuning->cut = true;
		wr_tuning_leave_out(tuning, "the climb to the plateau, which needs %.0f s", wr_tune_climb_seconds(tuner));
		return 2;
	}
	rc = wr_tune_climb(tuner, first < 16384 ? 16384 : first & ~1023ULL,
			       wr_tuner_most_bytes(tuner, WR_KNOB_SNDBUF, tuner->sender_side),
			       wr_tuner_most_bytes(tuner, WR_KNOB_RCVBUF, tuner->receiver_side), plateau, err);

	if (rc != 0)
		return rc;
	if (plateau->capped)
		wr_tuner_note_cap(tuner, WR_KNOB_SNDBUF, tuner->sender_side, plateau->sndbuf_bytes + 1);
	if (plateau->bps > tuning->capacity_bps)
		tuning->capacity_bps = plateau->bps;
	tuning->bdp_bytes = tuning->capacity_bps * tuning->rtt_min_us / 8e6;
	tuner->rate_bps = tuning->capacity_bps;
	return 0;
}

int wr_tune_for_rate(struct wr_tuner *tuner, const struct wr_trial *unset, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	const struct wr_finding *first = &tuning->verdict.causes[0];
	bool at_sender = first->side == tuner->sender_side;
	struct wr_curve_request request = {.knob = at_sender ? WR_KNOB_SNDBUF : WR_KNOB_RCVBUF, .side = first->side};
	struct wr_plateau plateau;
	struct wr_settings after;
	double needed_bytes;
	int rc = take_plateau(tuner, unset, &plateau, err);

	if (rc != 0)
		return rc == 2 ? 0 : rc;
	/* The window bounds what is in flight when it is the one that is varied, so the send buffer may be ample. */
	request.other_bytes = at_sender ? wr_tuner_most_bytes(tuner, WR_KNOB_RCVBUF, tuner->receiver_side)
					: wr_tuner_most_bytes(tuner, WR_KNOB_SNDBUF, tuner->sender_side);
	if (!at_sender && request.other_bytes > 2 * plateau.sndbuf_bytes)
		request.other_bytes = 2 * plateau.sndbuf_bytes;
	needed_bytes = wr_tuner_per_stream(tuner, tuning->bdp_bytes);
	/* On loopback the BDP is no more than the clock's grain. */
	if (needed_bytes < 2 * tuning->mss_bytes)
		needed_bytes = (double)plateau.sndbuf_bytes * WR_IN_FLIGHT_PER_REQUEST;
	wr_tune_sizes(tuner, &request, multiples, WR_N_ELEMENTS(multiples),
		      needed_bytes / (at_sender ? WR_IN_FLIGHT_PER_REQUEST : 2 * plateau.window_per_eff_ratio));
	rc = wr_tune_knee(tuner, &request, WR_GOAL_RATE, unset, err);
	if (rc == 2 && !tuning->cut)
		refuse_unproved(tuner, "not proved: no size was found on the curve and confirmed by fresh connections");
	if (rc == 2)
		tuning->knee.goal = WR_GOAL_NONE;
	if (rc != 0)
		return rc == 2 ? 0 : rc;
	tuning->capacity_bps = tuning->knee.plateau_bps;
	tuning->capacity_known = true;
	tuning->bdp_bytes = tuning->capacity_bps * tuning->rtt_min_us / 8e6;
	if (tuning->knee.plateau_bps <= (1 + tuner->options->tolerance_ratio) * tuning->baseline_bps) {
		wr_explain_full_path(&tuning->verdict, tuning->baseline_bps, tuning->knee.plateau_bps);
		return 0;
	}
	wr_tune_settings(tuner, &after, plateau.window_per_eff_ratio);
	if (after.out_of_reach) {
		tuning->cut = true;
		return 0;
	}
	return prove(tuner, &after, err);
}
