/* SPDX-License-Identifier: MIT */
/*
 * Two ways to measure a curve. The staircase: one connection with a large forced buffer, so that window scale,
 * clamp and congestion window are there, is stepped down through the sizes; a point costs a second and not a
 * connection. The grid: a fresh connection a size, the form that the staircase is checked against.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "tune/tune.h"

#define GROWTH_RATIO 1.03
#define MAX_WAITS 4

static double staircase_seconds(const struct wr_tuner *tuner, size_t n_sizes)
{
	return tuner->run_s + (double)n_sizes * (wr_tuner_settle_s(tuner) + wr_tuner_measure_s(tuner));
}

struct step {
	uint64_t eff_bytes;
	int64_t from_ns, to_ns;
};

/* At the top the congestion window may still be growing; the steps below it need it grown. Return: 0; 1; -1. */
static int wait_for_top(struct wr_tuner *tuner, struct wr_run *run, struct weir_err *err)
{
	double before, now;
	int rc = wr_tuner_wait(tuner, run, tuner->run_s / 2, err);

	if (rc == 0)
		rc = wr_tuner_rate(tuner, run, &now, err);
	for (int i = 0; i < MAX_WAITS && rc == 0; i++) {
		before = now;
		rc = wr_tuner_rate(tuner, run, &now, err);
		if (now < GROWTH_RATIO * before)
			break;
	}
	return rc;
}

static int walk_down(struct wr_tuner *tuner, struct wr_run *run, const struct wr_curve_request *request,
		     struct step *steps, size_t *n_steps, struct weir_err *err)
{
	int rc = wait_for_top(tuner, run, err);

	for (size_t i = 0; i < request->n_sizes && rc == 0; i++) {
		struct step *step = &steps[i];
		char size[WR_UNIT_TEXT];

		wr_tuner_say(tuner, "curve: %s %s on %s", wr_knob_option(request->knob),
			     wr_size_text(size, (double)request->sizes[i]), wr_side_name(request->side));
		if (wr_run_resize(run, request->side == WR_SIDE_FAR, request->knob == WR_KNOB_RCVBUF, request->sizes[i],
				  &step->eff_bytes, err) < 0)
			return -1;
		rc = wr_tuner_wait(tuner, run, wr_tuner_settle_s(tuner), err);
		step->from_ns = wr_run_now_ns(run);
		if (rc == 0)
			rc = wr_tuner_wait(tuner, run, wr_tuner_measure_s(tuner), err);
		step->to_ns = wr_run_now_ns(run);
		if (rc == 0)
			*n_steps = i + 1;
	}
	return rc;
}

static void append(struct wr_tuner *tuner, const struct wr_curve_request *request, uint64_t req_bytes, uint64_t eff_bytes,
		   double bps, double rtt_us)
{
	struct wr_tuning *tuning = tuner->tuning;

	if (tuning->n_curve < WR_MAX_CURVE && bps > 0)
		tuning->curve[tuning->n_curve++] = (struct wr_curve_point){
			.knob = request->knob, .side = request->side, .req_bytes = req_bytes, .eff_bytes = eff_bytes,
			.throughput_bps = bps, .rtt_loaded_us = rtt_us,
		};
}

static int staircase_measure(struct wr_tuner *tuner, const struct wr_curve_request *request, struct weir_err *err)
{
	struct wr_plan plan = tuner->options->plan;
	struct step steps[WR_MAX_CURVE];
	struct wr_evidence evidence;
	struct wr_run run;
	size_t n_steps = 0;
	int rc;

	wr_tuner_knob(&plan, request->knob, request->side, request->sizes[0]);
	wr_tuner_knob(&plan, request->knob == WR_KNOB_SNDBUF ? WR_KNOB_RCVBUF : WR_KNOB_SNDBUF,
		      request->side == tuner->sender_side ? tuner->receiver_side : tuner->sender_side, request->other_bytes);
	plan.bytes = WR_UNSET;
	plan.duration_ns = (uint64_t)(2e9 * staircase_seconds(tuner, request->n_sizes)) + 20000000000ULL;
	plan.interval_ns = 250000000;
	if (wr_run_start(&run, tuner->peer, &plan, err) < 0)
		return -1;
	rc = walk_down(tuner, &run, request, steps, &n_steps, err);
	if (rc < 0) {
		wr_run_abandon(&run);
		return -1;
	}
	if (wr_run_stop(&run, &evidence, err) < 0)
		return -1;
	for (size_t i = 0; i < n_steps; i++)
		append(tuner, request, request->sizes[i], steps[i].eff_bytes,
		       wr_measure_slope(&evidence, steps[i].from_ns, steps[i].to_ns),
		       wr_measure_rtt_us(&evidence, steps[i].from_ns, steps[i].to_ns));
	wr_tuner_account(tuner, (uint64_t)(wr_measure_rate(&evidence, 0, evidence.near.duration_ns) *
					   (double)evidence.near.duration_ns / 8e9));
	wr_evidence_deinit(&evidence);
	return rc;
}

static double grid_seconds(const struct wr_tuner *tuner, size_t n_sizes)
{
	return (double)n_sizes * (tuner->run_s + 6 * tuner->rtt_s);
}

static int grid_measure(struct wr_tuner *tuner, const struct wr_curve_request *request, struct weir_err *err)
{
	for (size_t i = 0; i < request->n_sizes; i++) {
		struct wr_plan plan = tuner->options->plan;
		struct wr_trial trial;
		char size[WR_UNIT_TEXT];
		int rc;

		wr_tuner_say(tuner, "grid: %s %s on %s", wr_knob_option(request->knob),
			     wr_size_text(size, (double)request->sizes[i]), wr_side_name(request->side));
		wr_tuner_knob(&plan, request->knob, request->side, request->sizes[i]);
		wr_tuner_knob(&plan, request->knob == WR_KNOB_SNDBUF ? WR_KNOB_RCVBUF : WR_KNOB_SNDBUF,
			      request->side == tuner->sender_side ? tuner->receiver_side : tuner->sender_side,
			      request->other_bytes);
		rc = wr_tuner_try(tuner, &plan, tuner->run_s, &trial, NULL, err);
		if (rc != 0)
			return rc;
		append(tuner, request, request->sizes[i],
		       request->knob == WR_KNOB_SNDBUF ? trial.sndbuf_eff_bytes : trial.rcvbuf_eff_bytes, trial.bps,
		       trial.rtt_us);
	}
	return 0;
}

static const struct wr_strategy staircase = {"staircase", "one connection stepped down through the sizes",
					     staircase_measure, staircase_seconds};
static const struct wr_strategy grid = {"grid", "a fresh connection for each size", grid_measure, grid_seconds};

const struct wr_strategy *const wr_strategies[] = {&staircase, &grid, NULL};

const struct wr_strategy *wr_strategy_find(const char *name)
{
	for (size_t i = 0; wr_strategies[i]; i++) {
		if (strcmp(wr_strategies[i]->name, name) == 0)
			return wr_strategies[i];
	}
	return NULL;
}
