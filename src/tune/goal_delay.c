/* SPDX-License-Identifier: MIT */
/* The goal is delay: the path is full and a queue stands. The smallest send buffer that keeps the rate, proved. */
#include "base/mem.h"
#include "explain/explain.h"
#include "tune/tune.h"

/* Of BDP / WR_IN_FLIGHT_PER_REQUEST. */
static const double multiples[] = {3.0, 2.0, 1.6, 1.4, 1.25, 1.1, 1.0, 0.8};

static int prove(struct wr_tuner *tuner, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_ab_proof *proof = &tuning->proof;
	struct wr_settings after = {.plan = tuner->options->plan};
	int rc;

	if (!wr_tuner_affords(tuner, wr_tune_proof_seconds(tuner))) {
		tuning->cut = true;
		wr_tuning_leave_out(tuning, "the proof of the smaller buffer, which needs %.0f s", wr_tune_proof_seconds(tuner));
		return 0;
	}
	wr_tuner_knob(&after.plan, tuning->knee.knob, tuning->knee.side, tuning->knee.req_bytes);
	wr_tune_list_settings(tuner, &after);
	rc = wr_tune_prove(tuner, &after, err);
	if (proof->pairs > 0)
		wr_tuner_baseline(tuner, proof->before_runs_bps, proof->pairs);
	if (rc != 0)
		return rc;
	tuning->baseline_rtt_us = proof->before_rtt_us;
	/* The rate is kept when the interval excludes a loss of more than twice the tolerance. */
	proof->holds = proof->ci95_ratio[0] > 1 - 2 * tuning->knee.tolerance_ratio &&
		       proof->after_rtt_us < 0.75 * proof->before_rtt_us;
	if (wr_explain_noise(&tuning->verdict, tuning->runs_bps, tuning->n_runs))
		proof->holds = false;
	if (proof->holds)
		wr_tune_advise_delay(tuner);
	return 0;
}

int wr_tune_for_delay(struct wr_tuner *tuner, const struct wr_trial *unset, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_curve_request request = {.knob = WR_KNOB_SNDBUF, .side = tuner->sender_side, .other_bytes = WR_UNSET};
	int rc;

	wr_tune_sizes(tuner, &request, multiples, WR_N_ELEMENTS(multiples),
		      wr_tuner_per_stream(tuner, tuning->bdp_bytes) / WR_IN_FLIGHT_PER_REQUEST);
	rc = wr_tune_knee(tuner, &request, WR_GOAL_DELAY, unset, err);
	if (rc == 2)
		tuning->knee.goal = WR_GOAL_NONE;
	return rc == 0 ? prove(tuner, err) : rc == 2 ? 0 : rc;
}
