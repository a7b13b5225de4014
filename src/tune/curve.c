/* SPDX-License-Identifier: MIT */
/*
 * From a request to a confirmed knee: "unset" as a point, the curve by the chosen strategy, the smallest size on its
 * plateau, and fresh connections that confirm it - else a step up.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "stat/knee.h"
#include "stat/summary.h"
#include "tune/tune.h"

#define CONFIRMATIONS 3
#define STEP_UP 1.1
#define MAX_STEPS_UP 4
#define LEAST_SIZES 3

double wr_tune_confirm_seconds(const struct wr_tuner *tuner)
{
	return CONFIRMATIONS * (tuner->run_s + wr_tuner_overhead_s(tuner));
}

static void point_add(struct wr_tuner *tuner, enum wr_knob knob, enum wr_side side, uint64_t req_bytes,
		      const struct wr_trial *trial)
{
	struct wr_tuning *tuning = tuner->tuning;

	if (tuning->n_curve == WR_MAX_CURVE)
		return;
	tuning->curve[tuning->n_curve++] = (struct wr_curve_point){
		.knob = knob, .side = side, .req_bytes = req_bytes,
		.eff_bytes = knob == WR_KNOB_SNDBUF ? trial->sndbuf_eff_bytes : trial->rcvbuf_eff_bytes,
		.throughput_bps = trial->bps, .rtt_loaded_us = trial->rtt_us,
	};
}

uint64_t wr_tuner_most_bytes(const struct wr_tuner *tuner, enum wr_knob knob, enum wr_side side)
{
	/* The climb ends here: 32 MiB in flight is 1 Gbit/s over 250 ms. */
	uint64_t most = 32U << 20, core = WR_UNSET;
	const struct wr_end *end = side == WR_SIDE_FAR ? &tuner->peer->host : &tuner->near_host;

	if (side == WR_SIDE_FAR && tuner->peer->max_buffer_bytes < most)
		most = tuner->peer->max_buffer_bytes;
	if (!end->may_force)
		core = knob == WR_KNOB_SNDBUF ? end->core_wmem_max_bytes : end->core_rmem_max_bytes;
	return core < most ? core : most;
}

void wr_tuner_note_cap(struct wr_tuner *tuner, enum wr_knob knob, enum wr_side side, uint64_t wanted_bytes)
{
	uint64_t most = wr_tuner_most_bytes(tuner, knob, side);
	const struct wr_end *end = side == WR_SIDE_FAR ? &tuner->peer->host : &tuner->near_host;
	char cap[WR_UNIT_TEXT];

	if (wanted_bytes <= most)
		return;
	wr_size_text(cap, (double)most);
	if (end->may_force)
		wr_tuning_leave_out(tuner->tuning, "%s above %s on %s: the largest that is tried%s", wr_knob_option(knob), cap,
				    wr_side_name(side), side == WR_SIDE_FAR ? " (weir serve --max-buffer)" : "");
	else
		wr_tuning_leave_out(tuner->tuning, "%s above %s on %s: net.core.%s forbids it; raise that, or run as root there",
				    wr_knob_option(knob), cap, wr_side_name(side),
				    knob == WR_KNOB_SNDBUF ? "wmem_max" : "rmem_max");
}

void wr_tune_sizes(struct wr_tuner *tuner, struct wr_curve_request *request, const double *multiples, size_t n,
		       double base_bytes)
{
	uint64_t max_bytes = wr_tuner_most_bytes(tuner, request->knob, request->side);

	if (tuner->options->n_sizes) {
		wr_tuner_note_cap(tuner, request->knob, request->side, tuner->options->sizes[0]);
		for (size_t i = 0; i < tuner->options->n_sizes; i++) {
			if (tuner->options->sizes[i] <= max_bytes)
				request->sizes[request->n_sizes++] = tuner->options->sizes[i];
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t bytes = (uint64_t)(multiples[i] * base_bytes) & ~1023ULL;

		if (i == 0)
			wr_tuner_note_cap(tuner, request->knob, request->side, bytes);
		bytes = bytes < 4096 ? 4096 : bytes > max_bytes ? max_bytes : bytes;
		if (request->n_sizes == 0 || bytes < request->sizes[request->n_sizes - 1])
			request->sizes[request->n_sizes++] = bytes;
	}
}

/* Points this near to the best one lie on the plateau, where there are enough of them. */
#define PLATEAU_RATIO 0.9
#define PLATEAU_POINTS 3

/*
 * One step that was lucky (a path that caught up after a stall) must not become the plateau: where only the largest
 * size seems to reach it, the median of all points near it counts.
 */
static double robust_plateau(const struct wr_stat_point *points, size_t n, double best_bps)
{
	double near_bps[WR_MAX_CURVE], scratch[WR_MAX_CURVE];
	size_t n_near = 0;

	for (size_t i = 0; i < n; i++) {
		if (points[i].throughput_bps >= PLATEAU_RATIO * best_bps)
			near_bps[n_near++] = points[i].throughput_bps;
	}
	return n_near >= PLATEAU_POINTS ? wr_stat_median(near_bps, n_near, scratch) : best_bps;
}

/* Return: 0 the knee's index in the curve; 1 none to be had. */
static int find_knee(const struct wr_tuner *tuner, size_t from, size_t *index, double *plateau_bps)
{
	const struct wr_tuning *tuning = tuner->tuning;
	double least_ratio = 1 - tuner->options->tolerance_ratio;
	struct wr_stat_point points[WR_MAX_CURVE];
	struct wr_stat_knee knee;
	size_t n = tuning->n_curve - from;
	int outcome;

	/* The curve is measured downwards, the knee is read upwards. */
	for (size_t i = 0; i < n; i++) {
		const struct wr_curve_point *point = &tuning->curve[tuning->n_curve - 1 - i];

		points[i] = (struct wr_stat_point){point->req_bytes, point->throughput_bps};
	}
	outcome = n < 3 ? WR_STAT_KNEE_NONE : wr_stat_knee(&knee, points, n, tuner->options->tolerance_ratio);
	if (outcome == WR_STAT_KNEE_NONE)
		return 1;
	if (outcome == WR_STAT_KNEE_CLIMBING) {
		knee.plateau_bps = robust_plateau(points, n, knee.plateau_bps);
		while (knee.index > 0 && points[knee.index - 1].throughput_bps >= least_ratio * knee.plateau_bps)
			knee.index--;
	}
	*index = tuning->n_curve - 1 - knee.index;
	*plateau_bps = knee.plateau_bps;
	return 0;
}

/* "unset" is a point of every curve: the probe itself, or, where the user's plan pins the buffer, a run without. */
static int measure_unset(struct wr_tuner *tuner, const struct wr_curve_request *request, const struct wr_trial *probed,
			 struct weir_err *err)
{
	bool far = request->side == WR_SIDE_FAR;
	struct wr_plan plan = tuner->options->plan;
	uint64_t pinned = request->knob == WR_KNOB_SNDBUF ? wr_plan_sndbuf(&plan, far) : wr_plan_rcvbuf(&plan, far);
	struct wr_trial trial = *probed;
	int rc = 0;

	if (pinned != WR_UNSET) {
		wr_tuner_say(tuner, "curve: %s unset on %s", wr_knob_option(request->knob), wr_side_name(request->side));
		wr_tuner_knob(&plan, request->knob, request->side, WR_UNSET);
		rc = wr_tuner_try(tuner, &plan, tuner->run_s, &trial, NULL, err);
	}
	if (rc == 0)
		point_add(tuner, request->knob, request->side, WR_UNSET, &trial);
	return rc;
}

static int measure_curve(struct wr_tuner *tuner, const struct wr_curve_request *request, struct weir_err *err)
{
	const struct wr_strategy *strategy = wr_strategy_find(tuner->options->strategy);
	double seconds = strategy->seconds(tuner, request->n_sizes);

	if (request->n_sizes < LEAST_SIZES) {
		wr_tuning_leave_out(tuner->tuning, "the curve: fewer than %d sizes may be set here", LEAST_SIZES);
		return 2;
	}
	if (!wr_tuner_affords(tuner, seconds)) {
		tuner->tuning->cut = true;
		wr_tuning_leave_out(tuner->tuning, "the curve of %zu sizes, which needs %.0f s", request->n_sizes, seconds);
		return 2;
	}
	return strategy->measure(tuner, request, err);
}

/* -- confirmation -- */

static int median_of(struct wr_tuner *tuner, const struct wr_plan *plan, size_t n, struct wr_trial *median,
		     struct weir_err *err)
{
	double bps[CONFIRMATIONS], rtt_us[CONFIRMATIONS], scratch[CONFIRMATIONS];

	for (size_t i = 0; i < n; i++) {
		int rc = wr_tuner_try(tuner, plan, tuner->run_s, median, NULL, err);

		if (rc != 0)
			return rc;
		bps[i] = median->bps;
		rtt_us[i] = median->rtt_us;
	}
	median->bps = wr_stat_median(bps, n, scratch);
	median->rtt_us = wr_stat_median(rtt_us, n, scratch);
	return 0;
}

/* The chosen size on fresh connections, else a step up. Return: 0 confirmed; 1 stopped; 2 not confirmed; -1. */
static int confirm(struct wr_tuner *tuner, const struct wr_curve_request *request, struct weir_err *err)
{
	struct wr_knee *knee = &tuner->tuning->knee;

	for (int step = 0; step <= MAX_STEPS_UP; step++) {
		struct wr_plan plan = tuner->options->plan;
		struct wr_trial trial;
		char size[WR_UNIT_TEXT];
		int rc;

		if (!wr_tuner_affords(tuner, wr_tune_confirm_seconds(tuner))) {
			tuner->tuning->cut = true;
			wr_tuning_leave_out(tuner->tuning, "confirming %s on fresh connections, which needs %.0f s",
					    wr_size_text(size, (double)knee->req_bytes), wr_tune_confirm_seconds(tuner));
			return 2;
		}
		wr_tuner_say(tuner, "confirming %s on %d fresh connections", wr_size_text(size, (double)knee->req_bytes),
			     CONFIRMATIONS);
		wr_tuner_knob(&plan, request->knob, request->side, knee->req_bytes);
		if (request->other_bytes != WR_UNSET)
			wr_tuner_knob(&plan, request->knob == WR_KNOB_SNDBUF ? WR_KNOB_RCVBUF : WR_KNOB_SNDBUF,
				      request->side == tuner->sender_side ? tuner->receiver_side : tuner->sender_side,
				      request->other_bytes);
		rc = median_of(tuner, &plan, CONFIRMATIONS, &trial, err);
		if (rc != 0)
			return rc;
		knee->throughput_bps = trial.bps;
		knee->rtt_loaded_us = trial.rtt_us;
		knee->eff_bytes = request->knob == WR_KNOB_SNDBUF ? trial.sndbuf_eff_bytes : trial.rcvbuf_eff_bytes;
		if (trial.bps >= (1 - knee->tolerance_ratio) * knee->plateau_bps)
			return 0;
		knee->req_bytes = (uint64_t)(STEP_UP * (double)knee->req_bytes) & ~1023ULL;
		if (knee->req_bytes > wr_tuner_most_bytes(tuner, request->knob, request->side))
			return 2;
	}
	return 2;
}

int wr_tune_knee(struct wr_tuner *tuner, const struct wr_curve_request *request, enum wr_goal goal,
		 const struct wr_trial *unset, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	size_t from, index;
	int rc = measure_unset(tuner, request, unset, err);

	if (rc != 0)
		return rc;
	from = tuning->n_curve;
	rc = measure_curve(tuner, request, err);
	if (rc != 0)
		return rc;
	tuning->knee = (struct wr_knee){.goal = goal, .knob = request->knob, .side = request->side,
					.tolerance_ratio = tuner->options->tolerance_ratio};
	if (find_knee(tuner, from, &index, &tuning->knee.plateau_bps)) {
		tuning->knee.goal = WR_GOAL_NONE;
		return 2;
	}
	tuning->knee.req_bytes = tuning->curve[index].req_bytes;
	return confirm(tuner, request, err);
}
