/* SPDX-License-Identifier: MIT */
/*
 * The engine. Each cause is judged by itself; then shares are made to fit (a CPU that is used up leaves the others
 * what remains), causes are ranked by share, and buffers are refused wherever they would not help.
 */
#include "explain/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "explain/cause.h"
#include "model/lateness.h"
#include "explain/phases.h"
#include "explain/remedy.h"
#include "stat/grade.h"
#include "stat/summary.h"

/* Below this share a cause is not worth a line. */
#define LEAST_SHARE 0.05

const struct wr_finding *wr_finding_find(const struct wr_verdict *verdict, const char *cause)
{
	for (size_t i = 0; i < verdict->n_causes; i++) {
		if (strcmp(verdict->causes[i].cause, cause) == 0)
			return &verdict->causes[i];
	}
	return NULL;
}

/* The first causes judged keep their shares; later ones get what is left of the time. */
static void fit_share(const struct wr_verdict *verdict, struct wr_finding *finding)
{
	double left = 1;

	for (size_t i = 0; i < verdict->n_causes; i++)
		left -= verdict->causes[i].companion ? 0 : verdict->causes[i].share_ratio;
	finding->share_ratio = fmin(finding->share_ratio, fmax(left, 0));
}

/* Of weir's own connections those without tcp_info have rules of their own; of others, what each cause is of. */
static int (*eval_of(const struct wr_case *judged, const struct wr_cause *cause))(const struct wr_case *, const struct wr_verdict *,
										  struct wr_finding *)
{
	unsigned protocols = cause->protocols ? cause->protocols : 1U << WR_TCP;

	if (!judged->evidence->outside && !judged->tcp)
		return cause->eval_plain;
	return protocols & 1U << judged->evidence->protocol ? cause->eval : NULL;
}

static void judge(const struct wr_case *judged, struct wr_verdict *verdict)
{
	for (size_t i = 0; wr_causes[i] && verdict->n_causes < WR_MAX_FINDINGS; i++) {
		struct wr_finding finding = {.cause = wr_causes[i]->name};
		int (*eval)(const struct wr_case *, const struct wr_verdict *, struct wr_finding *) =
			eval_of(judged, wr_causes[i]);

		if (!eval || !eval(judged, verdict, &finding))
			continue;
		if (!wr_causes[i]->companion)
			fit_share(verdict, &finding);
		if (finding.share_ratio >= LEAST_SHARE || finding.companion)
			verdict->causes[verdict->n_causes++] = finding;
	}
}

static bool is(const struct wr_finding *finding, const char *cause)
{
	return strcmp(finding->cause, cause) == 0;
}

/*
 * A cause that says the same time in better words than others leads, and makes them its companions. @always: also when
 * its share is the smaller one, because it explains theirs.
 */
static const struct {
	const char *leader;
	bool always;
	const char *followers[4];
} leaders[] = {
	{"sysctl-capped", false, {"sndbuf-limited", "rcvbuf-limited", "udp-rcvbuf-overflow"}},
	{"bufferbloat", false, {"path-limited"}},
	{"idle-restart", true, {"writer-limited", "ramp-limited"}},
	{"nagle-delack", true, {"writer-limited"}},
	{"cork", true, {"writer-limited"}},
	{"rcv-collapse", true, {"reader-limited"}},
	{"deadlock", true, {"reader-limited"}},
	{"device-queue", true, {"loss-limited", "path-limited"}},
};

static bool follows(size_t leader, const struct wr_finding *finding)
{
	for (size_t i = 0; i < 4 && leaders[leader].followers[i]; i++) {
		if (is(finding, leaders[leader].followers[i]))
			return true;
	}
	return false;
}

static double rank(const struct wr_case *judged, const struct wr_finding *finding)
{
	if (finding->companion)
		return -1;
	for (size_t i = 0; i < WR_N_ELEMENTS(leaders); i++) {
		if (is(finding, leaders[i].leader))
			return finding->share_ratio + (leaders[i].always && finding->confidence > WR_CONFIDENCE_LOW ? 1 : 1e-3);
	}
	/* Of the two that a sender can't tell apart, a window that was shut or changes points to the reader. */
	if (is(finding, "rcvbuf-limited") && !judged->in && !judged->features.zero_window && !judged->features.window_varies)
		return finding->share_ratio + 1e-3;
	return finding->share_ratio;
}

static void order(const struct wr_case *judged, struct wr_verdict *verdict)
{
	for (size_t i = 1; i < verdict->n_causes; i++) {
		struct wr_finding moving = verdict->causes[i];
		size_t j = i;

		for (; j > 0 && rank(judged, &verdict->causes[j - 1]) < rank(judged, &moving); j--)
			verdict->causes[j] = verdict->causes[j - 1];
		verdict->causes[j] = moving;
	}
}

/* What repeats another cause's share and does not lead accompanies it, so that the shares of the others add up to 1 at most. */
static bool demote(struct wr_verdict *verdict)
{
	double sum = 0;

	for (size_t i = 0; i < verdict->n_causes; i++)
		sum += verdict->causes[i].companion ? 0 : verdict->causes[i].share_ratio;
	for (size_t i = verdict->n_causes; sum > 1.0005 && i-- > 1;) {
		if (verdict->causes[i].companion)
			continue;
		verdict->causes[i].companion = true;
		return true;
	}
	return false;
}

static void sort(const struct wr_case *judged, struct wr_verdict *verdict)
{
	order(judged, verdict);
	for (size_t l = 0; verdict->n_causes && l < WR_N_ELEMENTS(leaders); l++) {
		if (!is(&verdict->causes[0], leaders[l].leader))
			continue;
		for (size_t i = 1; i < verdict->n_causes; i++)
			verdict->causes[i].companion |= follows(l, &verdict->causes[i]);
	}
	while (demote(verdict))
		;
	order(judged, verdict);
}

static void summarize(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_features *f = &judged->features;
	const struct wr_finding *first = verdict->n_causes ? &verdict->causes[0] : NULL;
	char in_flight[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], product[WR_UNIT_TEXT], measured[WR_UNIT_TEXT];
	double n = (double)judged->sender->n_connections;

	if (!first)
		return;
	if (judged->evidence->outside && !(f->in_flight_bytes > 0 && f->rtt_us > 0 && f->goodput_bps > 0)) {
		snprintf(verdict->summary, sizeof verdict->summary, "%s%s%s", first->cause, first->side == WR_SIDE_PATH ? "" : " on ",
			 first->side == WR_SIDE_PATH ? "" : wr_side_name(first->side));
		return;
	}
	if (!judged->tcp || is(first, "reader-limited") || is(first, "writer-limited") || is(first, "cpu-limited") || is(first, "unknown")) {
		snprintf(verdict->summary, sizeof verdict->summary, "%s%s%s, %.0f %% of the time; measured %s", first->cause,
			 first->side == WR_SIDE_PATH ? "" : " on ", first->side == WR_SIDE_PATH ? "" : wr_side_name(first->side),
			 100 * first->share_ratio, wr_rate_text(measured, f->goodput_bps));
		return;
	}
	snprintf(verdict->summary, sizeof verdict->summary,
		 "%s on %s, %.0f %% of the time: %s%s in flight / %s = %s; measured %s", first->cause,
		 wr_side_name(first->side), 100 * first->share_ratio, n > 1 ? "per connection " : "",
		 wr_size_text(in_flight, f->in_flight_bytes), wr_time_text(rtt, f->rtt_us * 1e3),
		 wr_rate_text(product, n * 8e6 * f->in_flight_bytes / f->rtt_us), wr_rate_text(measured, f->goodput_bps));
}

int wr_explain_first(const struct wr_evidence *evidence, struct wr_finding *first, struct weir_err *err)
{
	struct wr_verdict verdict = {0};
	struct wr_case judged;

	*first = (struct wr_finding){0};
	if (wr_case_init(&judged, evidence, err) < 0)
		return -1;
	judge(&judged, &verdict);
	sort(&judged, &verdict);
	if (verdict.n_causes)
		*first = verdict.causes[0];
	return 0;
}

/* The later end's view of a lab's link, when it was late enough to change what was measured; else 0. */
static uint64_t link_late_ns(const struct wr_case *judged)
{
	const struct wr_end *ends[] = {&judged->evidence->near, &judged->evidence->far};
	double rtt_us = judged->features.min_rtt_us;
	uint64_t late_ns = 0;

	for (int i = 0; i < 2; i++) {
		if (ends[i]->link_late_p99_ns != WR_UNSET && ends[i]->link_late_p99_ns > late_ns)
			late_ns = ends[i]->link_late_p99_ns;
	}
	return late_ns > wr_lateness_bound_ns(isnan(rtt_us) ? 0 : (uint64_t)(rtt_us * 1e3)) ? late_ns : 0;
}

/* The one place where a late link costs confidence: a step. The line stands where it is read, with the first cause. */
static void doubt(const struct wr_verdict *verdict, struct wr_finding *finding)
{
	char late[WR_UNIT_TEXT];

	if (verdict->link_late_ns == 0)
		return;
	if (finding->confidence > WR_CONFIDENCE_LOW)
		finding->confidence--;
	if (finding != &verdict->causes[0])
		return;
	finding->n_proofs -= finding->n_proofs == WR_MAX_PROOFS;
	wr_finding_prove(finding, "link_late_us", (double)verdict->link_late_ns / 1e3, "us",
			 "the emulated link was late by %s (p99) during this run: less confidence",
			 wr_time_text(late, (double)verdict->link_late_ns));
}

void wr_explain_nothing(struct wr_verdict *verdict)
{
	memset(verdict, 0, sizeof *verdict);
	verdict->causes[verdict->n_causes++] = (struct wr_finding){.cause = "unknown", .side = WR_SIDE_PATH, .share_ratio = 1};
	wr_remedy_refuse(verdict);
}

int wr_explain(const struct wr_evidence *evidence, struct wr_verdict *verdict, struct weir_err *err)
{
	struct wr_case judged;

	memset(verdict, 0, sizeof *verdict);
	if (!evidence->outside && (evidence->near.n_connections == 0 || evidence->far.n_connections == 0)) {
		wr_explain_nothing(verdict);
		return 0;
	}
	if (wr_case_init(&judged, evidence, err) < 0)
		return -1;
	if (evidence->protocol != WR_TCP)
		wr_queue_init(&judged.queue, evidence);
	judge(&judged, verdict);
	sort(&judged, verdict);
	verdict->link_late_ns = link_late_ns(&judged);
	for (size_t i = 0; i < verdict->n_causes; i++)
		doubt(verdict, &verdict->causes[i]);
	wr_remedy_refuse(verdict);
	summarize(&judged, verdict);
	if (!evidence->outside)
		return wr_explain_phases(evidence, verdict, err);
	wr_remedy_advise(&judged, verdict);
	wr_remedy_next(&judged, verdict);
	return 0;
}

/* A new finding at @place, the last one making room when all is full. */
static struct wr_finding *finding_insert(struct wr_verdict *verdict, size_t place, const char *cause)
{
	struct wr_finding *finding;

	if (verdict->n_causes == WR_MAX_FINDINGS)
		verdict->n_causes--;
	place = place > verdict->n_causes ? verdict->n_causes : place;
	finding = &verdict->causes[place];
	memmove(finding + 1, finding, (verdict->n_causes - place) * sizeof *finding);
	verdict->n_causes++;
	*finding = (struct wr_finding){.cause = cause, .side = WR_SIDE_PATH, .share_ratio = 1,
				       .confidence = WR_CONFIDENCE_HIGH, .companion = place > 0};
	return finding;
}

static void noise_put(struct wr_verdict *verdict, size_t place, double cv_ratio, size_t n_runs)
{
	wr_finding_prove(finding_insert(verdict, place, "noisy"), "cv_ratio", cv_ratio, "ratio",
			 "%zu runs of the same setting differ by %.0f %% (coefficient of variation), more than 20 %%", n_runs,
			 100 * cv_ratio);
}

bool wr_explain_noise(struct wr_verdict *verdict, const double *runs_bps, size_t n_runs)
{
	double mean = wr_stat_mean(runs_bps, n_runs), sd = wr_stat_sd(runs_bps, n_runs);

	if (n_runs < 2 || wr_stat_grade(sd / mean) != WR_STAT_GRADE_UNRANKED)
		return false;
	/* Random loss makes rates differ by itself: it stays the cause, and noise accompanies it. */
	if (wr_verdict_is(verdict, "loss-limited")) {
		noise_put(verdict, verdict->n_causes, sd / mean, n_runs);
		return true;
	}
	noise_put(verdict, 0, sd / mean, n_runs);
	for (size_t i = 1; i < verdict->n_causes; i++)
		verdict->causes[i].companion = true;
	verdict->n_refused = 0;
	wr_remedy_refuse(verdict);
	return true;
}

void wr_explain_full_path(struct wr_verdict *verdict, double before_bps, double after_bps)
{
	struct wr_finding *first = finding_insert(verdict, 0, "path-limited");
	char before[WR_UNIT_TEXT], after[WR_UNIT_TEXT];

	wr_finding_prove(first, "plateau_bps", after_bps, "bit/s",
			 "larger buffers were tried and brought nothing: %s as it was, %s at most", wr_rate_text(before, before_bps),
			 wr_rate_text(after, after_bps));
	doubt(verdict, first);
	for (size_t i = 1; i < verdict->n_causes; i++)
		verdict->causes[i].companion = true;
	verdict->n_refused = 0;
	wr_remedy_refuse(verdict);
	snprintf(verdict->summary, sizeof verdict->summary, "path-limited: larger buffers brought nothing, %s to %s", before, after);
}

bool wr_explain_buffer_helps(const struct wr_verdict *verdict)
{
	return wr_verdict_is(verdict, "sndbuf-limited") || wr_verdict_is(verdict, "rcvbuf-limited") ||
	       wr_verdict_is(verdict, "sysctl-capped");
}
