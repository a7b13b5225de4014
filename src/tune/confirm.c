/* SPDX-License-Identifier: MIT */
/*
 * A cause is believed when the change that would end it changes the rate, and only then: a larger buffer must carry more, an
 * unbound program too; on a full path a writer that is held to less than it carries must take the queue away. A loss-limited
 * connection is not alone in its losses: several together carry more, which those on a full path don't.
 */
#include "tune/confirm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "explain/explain.h"
#include "measure/staircase.h"

#define RAISE 4
#define MOST_BUFFER_BYTES (32ULL << 20)
/* A gain that is one, and one that is none. */
#define GAIN_RATIO 1.1
#define NO_GAIN_RATIO 1.03
/* What a full path is held to, how near to it the rate must come, and what must be left of the queue's delay. */
#define PACE_RATIO 0.8
#define PACE_BAND 0.08
#define QUEUE_LEFT_RATIO 0.6
#define LEAST_QUEUE_US 2000
/* Connections that share a lossy path, and how much more they must carry together. */
#define COMPANY 3
#define COMPANY_RATIO 1.5
#define WARM_S 1.0
#define WARM_RTTS 30

enum outcome { UNCLEAR, HOLDS, FAILS };

/* What an experiment is made of. */
struct attempt {
	struct wr_peer *peer;
	const struct wr_plan *plan;
	const struct wr_evidence *evidence;
	struct wr_trial_effect effect;
	char what[160];
};

static double warm_s(const struct wr_peer *peer)
{
	return fmax(WARM_S, WARM_RTTS * (double)peer->rtt_ns / 1e9);
}

static struct wr_trial_change change_of(const struct attempt *attempt, const char *knob, bool at_sender, uint64_t value)
{
	const struct wr_end *sender = wr_evidence_sender(attempt->evidence);

	return (struct wr_trial_change){
		.knob = knob, .far = at_sender == attempt->plan->reverse, .value = value, .warm_s = warm_s(attempt->peer),
		.bbr = sender->n_connections && strncmp(sender->connections[0].congestion, "bbr", 3) == 0,
	};
}

static const char *side_of(const struct wr_trial_change *change)
{
	return change->far ? "far" : "near";
}

static int make(struct attempt *attempt, const struct wr_trial_change *change, struct weir_err *err)
{
	struct wr_plan plan = *attempt->plan;

	plan.force = true;
	return wr_measure_change(attempt->peer, &plan, change, &attempt->effect, err);
}

static enum outcome gain(const struct attempt *attempt)
{
	double ratio = attempt->effect.after_bps / attempt->effect.before_bps;

	return ratio >= GAIN_RATIO ? HOLDS : ratio < NO_GAIN_RATIO ? FAILS : UNCLEAR;
}

/* What the buffer of an end is set with; "" nothing that can be set while data move. */
static const char *option_of(const struct wr_end *end, bool receive)
{
	const struct wr_connection *first = end->n_connections ? &end->connections[0] : NULL;
	const char *option = !first ? "" : receive ? first->rcvbuf_option : first->sndbuf_option;

	return strncmp(option, "SO_", 3) == 0 ? option : "";
}

/* Half of the effective size is what was asked; the knob asks anew. */
static int raise_buffer(struct attempt *attempt, bool receive, enum outcome *outcome, struct weir_err *err)
{
	const struct wr_end *end = receive ? wr_evidence_receiver(attempt->evidence) : wr_evidence_sender(attempt->evidence);
	const struct wr_sample *last = end->n_connections ? wr_series_at(&end->connections[0].series, INT64_MAX) : NULL;
	double eff = last ? wr_sample_get(last, receive ? WR_M_RCVBUF_BYTES : WR_M_SNDBUF_BYTES, 0) : 0;
	uint64_t asked = (uint64_t)(RAISE * eff / 2), most = attempt->peer->max_buffer_bytes;
	struct wr_trial_change change;
	char size[WR_UNIT_TEXT];
	int rc;

	most = most && most < MOST_BUFFER_BYTES ? most : MOST_BUFFER_BYTES;
	if (asked == 0 || !option_of(end, receive)[0])
		return 0;
	change = change_of(attempt, receive ? "rcvbuf" : "sndbuf", !receive, asked < most ? asked : most);
	snprintf(attempt->what, sizeof attempt->what, "%s on %s raised to %s on the live connection", option_of(end, receive),
		 side_of(&change), wr_size_text(size, (double)change.value));
	rc = make(attempt, &change, err);
	if (rc == 0)
		*outcome = gain(attempt);
	return rc;
}

static int raise_sndbuf(struct attempt *attempt, enum outcome *outcome, struct weir_err *err)
{
	return raise_buffer(attempt, false, outcome, err);
}

static int raise_rcvbuf(struct attempt *attempt, enum outcome *outcome, struct weir_err *err)
{
	return raise_buffer(attempt, true, outcome, err);
}

/* A program whose speed weir itself bounds is let go. */
static int let_go(struct attempt *attempt, bool sender, uint64_t pace_bps, enum outcome *outcome, struct weir_err *err)
{
	struct wr_trial_change change = change_of(attempt, "speed", sender, 0);
	int rc;

	if (pace_bps == WR_UNSET)
		return 0;
	snprintf(attempt->what, sizeof attempt->what, "the %s on %s let go while it ran", sender ? "writer" : "reader", side_of(&change));
	rc = make(attempt, &change, err);
	if (rc == 0)
		*outcome = gain(attempt);
	return rc;
}

static int free_writer(struct attempt *attempt, enum outcome *outcome, struct weir_err *err)
{
	return let_go(attempt, true, attempt->plan->write_bps, outcome, err);
}

static int free_reader(struct attempt *attempt, enum outcome *outcome, struct weir_err *err)
{
	return let_go(attempt, false, attempt->plan->reverse ? attempt->plan->read_bps : attempt->plan->far_read_bps, outcome, err);
}

static enum outcome queue_gone(const struct attempt *attempt, double target_bps)
{
	const struct wr_trial_effect *effect = &attempt->effect;
	double least_us = (double)attempt->peer->rtt_ns / 1e3, before = effect->before_rtt_us - least_us;

	if (fabs(effect->after_bps / target_bps - 1) > PACE_BAND)
		return effect->after_bps < target_bps ? FAILS : UNCLEAR;
	if (!(before > LEAST_QUEUE_US))
		return UNCLEAR;
	return effect->after_rtt_us - least_us < QUEUE_LEFT_RATIO * before ? HOLDS : FAILS;
}

static int hold_back(struct attempt *attempt, enum outcome *outcome, struct weir_err *err)
{
	double target = PACE_RATIO * attempt->evidence->steady_bps;
	struct wr_trial_change change = change_of(attempt, "pace", true, (uint64_t)(target / (double)attempt->plan->streams));
	char rate[WR_UNIT_TEXT], before[WR_UNIT_TEXT], after[WR_UNIT_TEXT];
	int rc = make(attempt, &change, err);

	if (rc != 0)
		return rc;
	snprintf(attempt->what, sizeof attempt->what, "the sender held to %s while it ran, RTT %s -> %s", wr_rate_text(rate, target),
		 wr_time_text(before, attempt->effect.before_rtt_us * 1e3), wr_time_text(after, attempt->effect.after_rtt_us * 1e3));
	*outcome = queue_gone(attempt, target);
	return 0;
}

/* Fresh connections, since a transfer can't be given more of them. */
static int add_company(struct attempt *attempt, enum outcome *outcome, struct weir_err *err)
{
	struct wr_plan plan = *attempt->plan;
	struct wr_evidence evidence;

	plan.streams = plan.streams * COMPANY > WR_MAX_STREAMS ? WR_MAX_STREAMS : plan.streams * COMPANY;
	plan.bytes = WR_UNSET;
	plan.duration_ns = (uint64_t)(1e9 * (warm_s(attempt->peer) + 2));
	if (wr_measure_run(attempt->peer, &plan, NULL, &evidence, err) < 0)
		return -1;
	snprintf(attempt->what, sizeof attempt->what, "%llu connections at once", (unsigned long long)plan.streams);
	attempt->effect.before_bps = attempt->evidence->steady_bps;
	attempt->effect.after_bps = evidence.steady_bps;
	*outcome = evidence.steady_bps >= COMPANY_RATIO * attempt->evidence->steady_bps ? HOLDS : UNCLEAR;
	wr_evidence_deinit(&evidence);
	return 0;
}

/* A cause, the experiment, and what its outcome says. Return of @make: 0; 1 stopped; -1. @outcome stays UNCLEAR without one. */
static const struct experiment {
	const char *cause;
	int (*make)(struct attempt *attempt, enum outcome *outcome, struct weir_err *err);
	const char *words;
	bool buffer;
} experiments[] = {
	{"sndbuf-limited", raise_sndbuf, "a larger send buffer", true},
	{"rcvbuf-limited", raise_rcvbuf, "a larger receive buffer", true},
	{"vsock-credit", raise_rcvbuf, "more credit", true},
	{"reader-limited", free_reader, "a faster reader", false},
	{"writer-limited", free_writer, "a faster writer", false},
	{"path-limited", hold_back, "less than the path carries", false},
	{"bufferbloat", hold_back, "less than the path carries", false},
	{"loss-limited", add_company, "more connections", false},
};

static const struct experiment *experiment_of(const struct wr_verdict *verdict)
{
	for (size_t i = 0; verdict->n_causes && i < WR_N_ELEMENTS(experiments); i++) {
		if (wr_verdict_is(verdict, experiments[i].cause))
			return &experiments[i];
	}
	return NULL;
}

double wr_confirm_seconds(const struct wr_peer *peer, const struct wr_verdict *verdict)
{
	double rtt_s = (double)peer->rtt_ns / 1e9;

	return experiment_of(verdict) ? warm_s(peer) + 2 * wr_stairs_settle_s(rtt_s, true) + 4 * wr_stairs_measure_s(rtt_s, true) + 0.5 : 0;
}

static void conclude(const struct experiment *experiment, const struct attempt *attempt, enum outcome outcome,
		     struct wr_verdict *verdict)
{
	static const char *const says[] = {"which settles nothing", "as this cause would have it", "which this cause would not have"};
	char before[WR_UNIT_TEXT], after[WR_UNIT_TEXT];
	struct wr_finding *first = &verdict->causes[0];

	if (outcome == HOLDS)
		first->confidence = WR_CONFIDENCE_HIGH;
	else if (outcome == FAILS)
		first->confidence = WR_CONFIDENCE_LOW;
	wr_rate_text(before, attempt->effect.before_bps);
	wr_rate_text(after, attempt->effect.after_bps);
	wr_finding_prove(first, "confirmed_ratio", attempt->effect.after_bps / attempt->effect.before_bps, "ratio",
			 "%s: %s, %s -> %s, %s", outcome == HOLDS ? "confirmed" : outcome == FAILS ? "refuted" : "tried",
			 attempt->what, before, after, says[outcome]);
	if (outcome == FAILS && experiment->buffer && wr_plan_is_tcp(attempt->plan))
		wr_explain_full_path(verdict, attempt->effect.before_bps, attempt->effect.after_bps);
}

int wr_confirm(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_evidence *evidence,
	       struct wr_verdict *verdict, void (*say)(void *context, const char *text), void *context, struct weir_err *err)
{
	const struct experiment *experiment = experiment_of(verdict);
	struct attempt attempt = {.peer = peer, .plan = plan, .evidence = evidence, .effect = {NAN, NAN, NAN, NAN}};
	enum outcome outcome = UNCLEAR;
	char text[160];
	int rc;

	if (!experiment || !evidence->complete)
		return 0;
	snprintf(text, sizeof text, "trying to refute %s with %s", experiment->cause, experiment->words);
	if (say)
		say(context, text);
	rc = experiment->make(&attempt, &outcome, err);
	if (rc == 0 && attempt.effect.before_bps > 0 && isfinite(attempt.effect.after_bps))
		conclude(experiment, &attempt, outcome, verdict);
	return rc;
}
