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

#include "base/err.h"
#include "base/units.h"
#include "explain/explain.h"
#include "os/clock.h"
#include "stat/interval.h"
#include "stat/knee.h"
#include "stat/summary.h"

/* Payload in flight over the size asked of SO_SNDBUF or SO_RCVBUF, from measurements at 20 to 100 ms. */
#define IN_FLIGHT_PER_REQUEST 1.26
#define CONFIRMATIONS 3
#define REPEATS 3
#define STEP_UP 1.1
#define MAX_STEPS_UP 4
/* Margins on what a path needs in flight: below the first a limit is the next one, the second is advised. */
#define ENOUGH_RATIO 1.1
#define HEADROOM_RATIO 1.25
#define STANDING_QUEUE_RATIO 1.5
#define STANDING_QUEUE_US 5000

/*
 * Of BDP / IN_FLIGHT_PER_REQUEST. The first stays so small that with full super-packets (1.6 bytes in flight a byte
 * asked for) path and a queue of one BDP still hold it: a loss at the top would spoil every step below.
 */
static const double rate_multiples[] = {1.4, 1.25, 1.1, 1.0, 0.9, 0.8, 0.7, 0.5, 0.25};
static const double delay_multiples[] = {3.0, 2.0, 1.6, 1.4, 1.25, 1.1, 1.0, 0.8};

/* -- sizes of things -- */

static double overhead_s(const struct wr_tuner *tuner)
{
	return 6 * tuner->rtt_s + 0.02;
}

static double proof_seconds(const struct wr_tuner *tuner)
{
	return 2 * (double)tuner->options->pairs * (tuner->run_s + overhead_s(tuner));
}

static double confirm_seconds(const struct wr_tuner *tuner)
{
	return CONFIRMATIONS * (tuner->run_s + overhead_s(tuner));
}

static double probe_s(const struct wr_tuner *tuner)
{
	return 3 + 10 * tuner->rtt_s;
}

static double elapsed_s(const struct wr_tuner *tuner)
{
	return (double)(wr_clock_ns() - tuner->began_ns) / 1e9;
}

static double per_stream(const struct wr_tuner *tuner, double bytes)
{
	return bytes / (double)tuner->options->plan.streams;
}

/* -- probe and baseline -- */

static void take_baseline(struct wr_tuner *tuner, const double *runs_bps, size_t n)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_stat_interval interval;
	double scratch[WR_MAX_PAIRS];

	memmove(tuning->runs_bps, runs_bps, n * sizeof *runs_bps);
	tuning->n_runs = n;
	tuning->baseline_bps = wr_stat_median(runs_bps, n, scratch);
	if (wr_stat_mean_interval(&interval, runs_bps, n, 0.95) == WR_STAT_DONE) {
		tuning->baseline_ci95_bps[0] = interval.low;
		tuning->baseline_ci95_bps[1] = interval.high;
	}
}

static int probe(struct wr_tuner *tuner, struct wr_evidence *evidence, struct wr_trial *trial, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_result result;
	int rc;

	wr_tuner_say(tuner, "probe: one transfer as it is");
	rc = wr_tuner_try(tuner, &tuner->options->plan, probe_s(tuner), trial, evidence, err);
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
	tuning->bdp_bytes = trial->bps * result.rtt_min_us / 8e6;
	tuning->baseline_rtt_us = trial->rtt_us;
	tuning->baseline_eff_bytes[WR_KNOB_SNDBUF] = trial->sndbuf_eff_bytes;
	tuning->baseline_eff_bytes[WR_KNOB_RCVBUF] = trial->rcvbuf_eff_bytes;
	take_baseline(tuner, &trial->bps, 1);
	tuner->rate_bps = trial->bps;
	return rc;
}

/* -- the curve -- */

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

/* The largest size that a buffer of this end may get: far's own cap, and without privilege the sysctl's. */
static uint64_t most_bytes(const struct wr_tuner *tuner, enum wr_knob knob, enum wr_side side)
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

static void note_cap(struct wr_tuner *tuner, enum wr_knob knob, enum wr_side side, uint64_t wanted_bytes)
{
	uint64_t most = most_bytes(tuner, knob, side);
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

static void sizes_fill(struct wr_tuner *tuner, struct wr_curve_request *request, const double *multiples, size_t n,
		       double base_bytes)
{
	uint64_t max_bytes = most_bytes(tuner, request->knob, request->side);

	if (tuner->options->n_sizes) {
		memcpy(request->sizes, tuner->options->sizes, sizeof request->sizes);
		request->n_sizes = tuner->options->n_sizes;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t bytes = (uint64_t)(multiples[i] * base_bytes) & ~1023ULL;

		if (i == 0)
			note_cap(tuner, request->knob, request->side, bytes);
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

	if (!wr_tuner_affords(tuner, seconds)) {
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

		if (!wr_tuner_affords(tuner, confirm_seconds(tuner))) {
			wr_tuning_leave_out(tuner->tuning, "confirming %s on fresh connections, which needs %.0f s",
					    wr_size_text(size, (double)knee->req_bytes), confirm_seconds(tuner));
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
	}
	return 2;
}

/* -- the goal is rate: a buffer is the limit -- */

static void limit_text(char *out, const char *current, uint64_t max_bytes)
{
	unsigned long long low = 4096, middle = 16384;

	(void)sscanf(current, "%llu %llu", &low, &middle);
	snprintf(out, WR_NAME_TEXT, "%llu %llu %llu", low, middle, (unsigned long long)max_bytes);
}

/*
 * What must be in force together: the limiting end's ceiling from the knee, the other's from the same arithmetic
 * if it is the next limit.
 */
static void settings_fill(struct wr_tuner *tuner, struct wr_settings *after, double window_per_eff)
{
	const struct wr_knee *knee = &tuner->tuning->knee;
	const struct wr_end *ends[2] = {&tuner->near_host, &tuner->peer->host};
	const struct wr_end *sender = ends[tuner->sender_side], *receiver = ends[tuner->receiver_side];
	double bdp = per_stream(tuner, tuner->tuning->bdp_bytes);
	double wmem = 2 * bdp / IN_FLIGHT_PER_REQUEST, rmem = bdp / window_per_eff;

	memset(after, 0, sizeof *after);
	after->plan = tuner->options->plan;
	after->sysctls = tuner->peer->lab;
	wr_tuner_knob(&after->plan, WR_KNOB_SNDBUF, tuner->sender_side, WR_UNSET);
	wr_tuner_knob(&after->plan, WR_KNOB_RCVBUF, tuner->receiver_side, WR_UNSET);
	if (knee->knob == WR_KNOB_SNDBUF)
		wmem = fmax(wmem, 2 * (double)knee->req_bytes);
	else
		rmem = fmax(rmem, 2 * (double)knee->req_bytes);
	if ((double)sender->tcp_wmem_max_bytes < ENOUGH_RATIO * wmem) {
		uint64_t bytes = wr_tune_round((uint64_t)(HEADROOM_RATIO * wmem));

		limit_text(after->limits.wmem[tuner->sender_side], sender->tcp_wmem, bytes);
		if (!after->sysctls)
			wr_tuner_knob(&after->plan, WR_KNOB_SNDBUF, tuner->sender_side, bytes / 2);
	}
	if ((double)receiver->tcp_rmem_max_bytes < ENOUGH_RATIO * rmem) {
		uint64_t bytes = wr_tune_round((uint64_t)(HEADROOM_RATIO * rmem));

		limit_text(after->limits.rmem[tuner->receiver_side], receiver->tcp_rmem, bytes);
		if (!after->sysctls)
			wr_tuner_knob(&after->plan, WR_KNOB_RCVBUF, tuner->receiver_side, bytes / 2);
	}
	snprintf(after->before.wmem[tuner->sender_side], WR_NAME_TEXT, "%s", sender->tcp_wmem);
	snprintf(after->before.rmem[tuner->receiver_side], WR_NAME_TEXT, "%s", receiver->tcp_rmem);
	if (!after->limits.wmem[tuner->sender_side][0])
		after->before.wmem[tuner->sender_side][0] = '\0';
	if (!after->limits.rmem[tuner->receiver_side][0])
		after->before.rmem[tuner->receiver_side][0] = '\0';
}

static void add_buffer(struct wr_tuner *tuner, const struct wr_settings *after, enum wr_knob knob, enum wr_side side)
{
	bool far = side == WR_SIDE_FAR, send = knob == WR_KNOB_SNDBUF;
	const struct wr_plan *before = &tuner->options->plan;
	uint64_t was = send ? wr_plan_sndbuf(before, far) : wr_plan_rcvbuf(before, far);
	uint64_t is = send ? wr_plan_sndbuf(&after->plan, far) : wr_plan_rcvbuf(&after->plan, far);
	char texts[2][24] = {"unset", "unset"};

	if (was == is)
		return;
	if (was != WR_UNSET)
		snprintf(texts[0], sizeof texts[0], "%llu", (unsigned long long)was);
	if (is != WR_UNSET)
		snprintf(texts[1], sizeof texts[1], "%llu", (unsigned long long)is);
	wr_proof_setting_add(&tuner->tuning->proof, side, wr_knob_option(knob), texts[0], texts[1]);
}

static void settings_list(struct wr_tuner *tuner, const struct wr_settings *after)
{
	for (int side = 0; side < 2 && after->sysctls; side++) {
		if (after->limits.wmem[side][0])
			wr_proof_setting_add(&tuner->tuning->proof, side, "net.ipv4.tcp_wmem", after->before.wmem[side],
					     after->limits.wmem[side]);
		if (after->limits.rmem[side][0])
			wr_proof_setting_add(&tuner->tuning->proof, side, "net.ipv4.tcp_rmem", after->before.rmem[side],
					     after->limits.rmem[side]);
	}
	add_buffer(tuner, after, WR_KNOB_SNDBUF, tuner->sender_side);
	add_buffer(tuner, after, WR_KNOB_RCVBUF, tuner->receiver_side);
}

static void refuse_unproved(struct wr_tuner *tuner, const char *why)
{
	wr_verdict_refuse(&tuner->tuning->verdict, "sndbuf", "%s", why);
	wr_verdict_refuse(&tuner->tuning->verdict, "rcvbuf", "%s", why);
}

/* Return: 0 proved or refused; 1 stopped; -1. */
static int prove_rate(struct wr_tuner *tuner, const struct wr_settings *after, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_ab_proof *proof = &tuning->proof;
	double needed = proof_seconds(tuner);
	int rc;

	if (!wr_tuner_affords(tuner, needed)) {
		wr_tuning_leave_out(tuning, "the proof with %llu pairs, which needs %.0f s; without it nothing is advised",
				    (unsigned long long)tuner->options->pairs, needed);
		refuse_unproved(tuner, "not proved: the bounds left no room for the interleaved pairs");
		return 0;
	}
	settings_list(tuner, after);
	rc = wr_tune_prove(tuner, after, err);
	if (proof->pairs > 0)
		take_baseline(tuner, proof->before_runs_bps, proof->pairs);
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
	double in_flight = per_stream(tuner, unset->bps * unset->rtt_us / 8e6);
	uint64_t first = (uint64_t)(2 * in_flight / IN_FLIGHT_PER_REQUEST);
	int rc = wr_tune_climb(tuner, first < 16384 ? 16384 : first & ~1023ULL,
			       most_bytes(tuner, WR_KNOB_SNDBUF, tuner->sender_side),
			       most_bytes(tuner, WR_KNOB_RCVBUF, tuner->receiver_side), plateau, err);

	if (rc != 0)
		return rc;
	if (plateau->capped)
		note_cap(tuner, WR_KNOB_SNDBUF, tuner->sender_side, plateau->sndbuf_bytes + 1);
	if (plateau->bps > tuning->capacity_bps)
		tuning->capacity_bps = plateau->bps;
	tuning->bdp_bytes = tuning->capacity_bps * tuning->rtt_min_us / 8e6;
	tuner->rate_bps = tuning->capacity_bps;
	return 0;
}

static int search_rate(struct wr_tuner *tuner, const struct wr_trial *unset, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	const struct wr_finding *first = &tuning->verdict.causes[0];
	bool at_sender = first->side == tuner->sender_side;
	struct wr_curve_request request = {.knob = at_sender ? WR_KNOB_SNDBUF : WR_KNOB_RCVBUF, .side = first->side};
	struct wr_plateau plateau;
	struct wr_settings after;
	size_t from, index;
	int rc = take_plateau(tuner, unset, &plateau, err);

	if (rc != 0)
		return rc;
	request.other_bytes =
		at_sender ? most_bytes(tuner, WR_KNOB_RCVBUF, tuner->receiver_side) : plateau.sndbuf_bytes;
	sizes_fill(tuner, &request, rate_multiples, sizeof rate_multiples / sizeof rate_multiples[0],
		   per_stream(tuner, tuning->bdp_bytes) /
			   (at_sender ? IN_FLIGHT_PER_REQUEST : 2 * plateau.window_per_eff_ratio));
	rc = measure_unset(tuner, &request, unset, err);
	if (rc != 0)
		return rc;
	from = tuning->n_curve;
	rc = measure_curve(tuner, &request, err);
	if (rc != 0)
		return rc == 2 ? 0 : rc;
	tuning->knee = (struct wr_knee){.goal = WR_GOAL_RATE, .knob = request.knob, .side = request.side,
					.tolerance_ratio = tuner->options->tolerance_ratio};
	if (find_knee(tuner, from, &index, &tuning->knee.plateau_bps)) {
		tuning->knee.goal = WR_GOAL_NONE;
		refuse_unproved(tuner, "the curve shows no knee: no size that was tried carries more than the others");
		return 0;
	}
	tuning->knee.req_bytes = tuning->curve[index].req_bytes;
	tuning->capacity_bps = tuning->knee.plateau_bps;
	tuning->bdp_bytes = tuning->capacity_bps * tuning->rtt_min_us / 8e6;
	rc = confirm(tuner, &request, err);
	if (rc == 2) {
		refuse_unproved(tuner, "fresh connections did not confirm the size that the curve shows");
		return 0;
	}
	if (rc != 0)
		return rc;
	settings_fill(tuner, &after, plateau.window_per_eff_ratio);
	return prove_rate(tuner, &after, err);
}

/* -- the goal is delay: the path is full and a queue stands -- */

static int prove_delay(struct wr_tuner *tuner, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_ab_proof *proof = &tuning->proof;
	struct wr_settings after = {.plan = tuner->options->plan};
	int rc;

	if (!wr_tuner_affords(tuner, proof_seconds(tuner))) {
		wr_tuning_leave_out(tuning, "the proof of the smaller buffer, which needs %.0f s", proof_seconds(tuner));
		return 0;
	}
	wr_tuner_knob(&after.plan, tuning->knee.knob, tuning->knee.side, tuning->knee.req_bytes);
	settings_list(tuner, &after);
	rc = wr_tune_prove(tuner, &after, err);
	if (proof->pairs > 0)
		take_baseline(tuner, proof->before_runs_bps, proof->pairs);
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

static int search_delay(struct wr_tuner *tuner, const struct wr_trial *unset, struct weir_err *err)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_curve_request request = {.knob = WR_KNOB_SNDBUF, .side = tuner->sender_side, .other_bytes = WR_UNSET};
	size_t from, index;
	int rc;

	sizes_fill(tuner, &request, delay_multiples, sizeof delay_multiples / sizeof delay_multiples[0],
		   per_stream(tuner, tuning->bdp_bytes) / IN_FLIGHT_PER_REQUEST);
	rc = measure_unset(tuner, &request, unset, err);
	if (rc != 0)
		return rc;
	from = tuning->n_curve;
	rc = measure_curve(tuner, &request, err);
	if (rc != 0)
		return rc == 2 ? 0 : rc;
	tuning->knee = (struct wr_knee){.goal = WR_GOAL_DELAY, .knob = request.knob, .side = request.side,
					.tolerance_ratio = tuner->options->tolerance_ratio};
	if (find_knee(tuner, from, &index, &tuning->knee.plateau_bps)) {
		tuning->knee.goal = WR_GOAL_NONE;
		return 0;
	}
	tuning->knee.req_bytes = tuning->curve[index].req_bytes;
	rc = confirm(tuner, &request, err);
	if (rc == 2)
		tuning->knee.goal = WR_GOAL_NONE;
	if (rc != 0)
		return rc == 2 ? 0 : rc;
	return prove_delay(tuner, err);
}

/* -- no buffer helps -- */

static int repeat_baseline(struct wr_tuner *tuner, double first_bps, struct weir_err *err)
{
	double runs_bps[REPEATS] = {first_bps};
	size_t n = 1;

	for (; n < REPEATS; n++) {
		struct wr_trial trial;
		int rc;

		if (!wr_tuner_affords(tuner, tuner->run_s + overhead_s(tuner))) {
			wr_tuning_leave_out(tuner->tuning, "repeats that would tell noise from limits");
			break;
		}
		wr_tuner_say(tuner, "repeating the transfer as it is, %zu of %d", n + 1, REPEATS);
		rc = wr_tuner_try(tuner, &tuner->options->plan, tuner->run_s, &trial, NULL, err);
		if (rc != 0)
			return rc;
		runs_bps[n] = trial.bps;
	}
	take_baseline(tuner, runs_bps, n);
	(void)wr_explain_noise(&tuner->tuning->verdict, runs_bps, n);
	return 0;
}

static bool queue_stands(const struct wr_tuning *tuning)
{
	return (wr_verdict_is(&tuning->verdict, "path-limited") || wr_verdict_is(&tuning->verdict, "bufferbloat")) &&
	       tuning->baseline_rtt_us > STANDING_QUEUE_RATIO * tuning->rtt_min_us &&
	       tuning->baseline_rtt_us - tuning->rtt_min_us > STANDING_QUEUE_US;
}

static double expected_s(const struct wr_tuner *tuner)
{
	const struct wr_strategy *strategy = wr_strategy_find(tuner->options->strategy);

	return probe_s(tuner) + overhead_s(tuner) + wr_tune_climb_seconds(tuner) +
	       strategy->seconds(tuner, sizeof rate_multiples / sizeof rate_multiples[0]) + confirm_seconds(tuner) +
	       proof_seconds(tuner);
}

static void announce(struct wr_tuner *tuner)
{
	double left_s = expected_s(tuner) - elapsed_s(tuner);
	char bytes[WR_UNIT_TEXT];

	if (!wr_explain_buffer_helps(&tuner->tuning->verdict) && !queue_stands(tuner->tuning))
		return;
	wr_tuner_say(tuner, "%s; about %.0f s and %s more", tuner->tuning->verdict.causes[0].cause, fmax(left_s, 1),
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
	tuning->expected_s = expected_s(&tuner);
	wr_tuner_say(&tuner, "expects to spend up to %.0f s; the bytes follow from the first transfer's rate", tuning->expected_s);
	rc = probe(&tuner, &evidence, &trial, err);
	if (rc >= 0)
		wr_evidence_deinit(&evidence);
	if (rc == 0) {
		announce(&tuner);
		if (wr_explain_buffer_helps(&tuning->verdict))
			rc = search_rate(&tuner, &trial, err);
		else if (queue_stands(tuning))
			rc = search_delay(&tuner, &trial, err);
		else
			rc = repeat_baseline(&tuner, trial.bps, err);
	}
	wr_end_deinit(&tuner.near_host);
	if (options->max_rate_bps != WR_UNSET && wr_verdict_is(&tuning->verdict, "writer-limited"))
		wr_tuning_leave_out(tuning, "rates above --max-rate: what limits the path beyond it was not seen");
	tuning->wall_s = elapsed_s(&tuner);
	tuning->complete = rc == 0;
	return rc;
}
