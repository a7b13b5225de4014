/* SPDX-License-Identifier: MIT */
/*
 * Two ways to measure a curve: the staircase (measure/staircase.h), and the grid, a fresh connection a size, the form
 * that the staircase is checked against.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "tune/tune.h"

static double staircase_seconds(const struct wr_tuner *tuner, size_t n_sizes)
{
	return tuner->run_s + (double)n_sizes * (wr_tuner_settle_s(tuner) + wr_tuner_measure_s(tuner));
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

/* What a step is called, for the progress line. */
struct naming {
	struct wr_tuner *tuner;
	const struct wr_curve_request *request;
};

static void say_step(void *context, uint64_t bytes)
{
	const struct naming *naming = context;
	char size[WR_UNIT_TEXT];

	wr_tuner_say(naming->tuner, "curve: %s %s on %s", wr_knob_option(naming->request->knob), wr_size_text(size, (double)bytes),
		     wr_side_name(naming->request->side));
}

static int wait_step(void *context, struct wr_run *run, double seconds, struct weir_err *err)
{
	return wr_tuner_wait(((struct naming *)context)->tuner, run, seconds, err);
}

static int staircase_measure(struct wr_tuner *tuner, const struct wr_curve_request *request, struct weir_err *err)
{
	struct wr_plan plan = tuner->options->plan;
	struct naming naming = {tuner, request};
	struct wr_stairs stairs = wr_tuner_stairs(tuner);
	struct wr_stair points[WR_MAX_CURVE];
	uint64_t bytes;
	size_t n_points;
	int rc;

	wr_tuner_knob(&plan, request->knob, request->side, request->sizes[0]);
	wr_tuner_knob(&plan, request->knob == WR_KNOB_SNDBUF ? WR_KNOB_RCVBUF : WR_KNOB_SNDBUF,
		      request->side == tuner->sender_side ? tuner->receiver_side : tuner->sender_side, request->other_bytes);
	stairs.far = request->side == WR_SIDE_FAR;
	stairs.receive = request->knob == WR_KNOB_RCVBUF;
	stairs.sizes = request->sizes;
	stairs.n_sizes = request->n_sizes;
	stairs.top_s = tuner->run_s;
	stairs.wait = wait_step;
	stairs.say = say_step;
	stairs.context = &naming;
	rc = wr_stairs_walk(tuner->peer, &plan, &stairs, points, &n_points, &bytes, err);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < n_points; i++)
		append(tuner, request, request->sizes[i], points[i].eff_bytes, points[i].bps, points[i].rtt_us);
	wr_tuner_account(tuner, bytes);
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
