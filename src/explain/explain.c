/* SPDX-License-Identifier: MIT */
/*
 * The engine. Each cause is judged by itself; then shares are made to fit (a CPU that is used up leaves the others
 * what remains), causes are ranked by share, and buffers are refused wherever they would not help.
 */
#include "explain/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "explain/cause.h"
#include "model/lateness.h"
#include "explain/phases.h"
#include "stat/grade.h"
#include "stat/summary.h"

/* Below this share a cause is not worth a line. */
#define LEAST_SHARE 0.05
/* From here on a buffer that is not the first cause is worth raising; a CPU that is used up leaves 0.1 at most. */
#define WORTH_SHARE 0.15

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

static void judge(const struct wr_case *judged, struct wr_verdict *verdict)
{
	for (size_t i = 0; wr_causes[i] && verdict->n_causes < WR_MAX_FINDINGS; i++) {
		struct wr_finding finding = {.cause = wr_causes[i]->name};
		int (*eval)(const struct wr_case *, const struct wr_verdict *, struct wr_finding *) =
			judged->tcp ? wr_causes[i]->eval : wr_causes[i]->eval_plain;

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

/* sysctl-capped and bufferbloat, when no companions, say the same share in better words, so they lead. */
static double rank(const struct wr_finding *finding)
{
	if (finding->companion)
		return -1;
	return finding->share_ratio + (is(finding, "sysctl-capped") || is(finding, "bufferbloat") ? 1e-3 : 0);
}

static void sort(struct wr_verdict *verdict)
{
	for (size_t i = 1; i < verdict->n_causes; i++) {
		struct wr_finding moving = verdict->causes[i];
		size_t j = i;

		for (; j > 0 && rank(&verdict->causes[j - 1]) < rank(&moving); j--)
			verdict->causes[j] = verdict->causes[j - 1];
		verdict->causes[j] = moving;
	}
	/* A leading cause that repeats another's share turns that one into its companion, so that shares add up. */
	for (size_t i = 1; i < verdict->n_causes; i++) {
		const struct wr_finding *first = &verdict->causes[0];

		if ((is(first, "sysctl-capped") && (is(&verdict->causes[i], "sndbuf-limited") ||
						    is(&verdict->causes[i], "rcvbuf-limited"))) ||
		    (is(first, "bufferbloat") && is(&verdict->causes[i], "path-limited")))
			verdict->causes[i].companion = true;
	}
}

/* A thread works for most of the time and waits for the buffer in the rest, which a larger one would save. */
static bool helps_too(const struct wr_verdict *verdict)
{
	const struct wr_finding *buffer = wr_finding_find(verdict, "sndbuf-limited");

	if (!buffer)
		buffer = wr_finding_find(verdict, "vsock-credit");
	return is(&verdict->causes[0], "cpu-limited") && buffer && buffer->share_ratio >= WORTH_SHARE;
}

/* Why no buffer would help with a cause, and what would: somebody else's program, or the path. */
static void refuse(struct wr_verdict *verdict)
{
	static const struct {
		const char *cause, *why, *action, *helps;
	} rows[] = {
		{"reader-limited", "the reading program is the limit; it would only hold more unread data", "program",
		 "let the reading program read faster: it waits for something else (a disk, a lock, a slow consumer)"},
		{"writer-limited", "the writing program is the limit; not even the present buffer is filled", "program",
		 "let the writing program write sooner or more at once"},
		{"path-limited", "the path is full; it would only add delay", "path",
		 "a faster path, or less traffic beside this transfer"},
		{"bufferbloat", "the path is full and its queue long; it would only add delay", "path",
		 "an AQM at the bottleneck (fq_codel, cake); weir tune finds the smallest send buffer that keeps the rate"},
		{"loss-limited", "losses keep the congestion window small; it would stay unused", "path",
		 "find where segments are lost; another congestion control may bear it better: compare with -C bbr"},
		{"cpu-limited", "a CPU is used up; it would make nothing faster", "program",
		 "larger writes (-l, or batch= of records), more connections on other CPUs (-P), offloads"},
		{"ramp-limited", "the transfer ends in its ramp; it would stay unused", "program",
		 "keep connections open and use them again, or move more on each"},
		{"unix-queue", "the reader's queue is full by the number of its messages, whatever their bytes", "program",
		 "put more into a message (-l), connect the reader back to its writer, or raise net.unix.max_dgram_qlen before sockets are made"},
		{"unknown", "the evidence does not point to a buffer", "none", "measure longer (-t), and the other direction (-R)"},
		{"noisy", "repeats differ too much to tell one size from another", "none",
		 "measure at a quieter time, or find what else uses the path and the CPUs"},
	};

	if (verdict->n_causes == 0 || helps_too(verdict))
		return;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct wr_advice *advice;

		if (!is(&verdict->causes[0], rows[i].cause))
			continue;
		wr_verdict_refuse(verdict, "sndbuf", "%s", rows[i].why);
		wr_verdict_refuse(verdict, "rcvbuf", "%s", rows[i].why);
		verdict->n_advice = 0;
		advice = wr_verdict_advise(verdict, rows[i].action, verdict->causes[0].side);
		snprintf(advice->why, sizeof advice->why, "%s", rows[i].helps);
	}
}

static void summarize(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_features *f = &judged->features;
	const struct wr_finding *first = verdict->n_causes ? &verdict->causes[0] : NULL;
	char in_flight[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], product[WR_UNIT_TEXT], measured[WR_UNIT_TEXT];
	double n = (double)judged->sender->n_connections;

	if (!first)
		return;
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
	sort(&verdict);
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

int wr_explain(const struct wr_evidence *evidence, struct wr_verdict *verdict, struct weir_err *err)
{
	struct wr_case judged;

	memset(verdict, 0, sizeof *verdict);
	if (evidence->near.n_connections == 0 || evidence->far.n_connections == 0) {
		verdict->causes[verdict->n_causes++] = (struct wr_finding){.cause = "unknown", .side = WR_SIDE_PATH,
									   .share_ratio = 1};
		refuse(verdict);
		return 0;
	}
	if (wr_case_init(&judged, evidence, err) < 0)
		return -1;
	judge(&judged, verdict);
	sort(verdict);
	verdict->link_late_ns = link_late_ns(&judged);
	for (size_t i = 0; i < verdict->n_causes; i++)
		doubt(verdict, &verdict->causes[i]);
	refuse(verdict);
	summarize(&judged, verdict);
	return wr_explain_phases(evidence, verdict, err);
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
	refuse(verdict);
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
	refuse(verdict);
	snprintf(verdict->summary, sizeof verdict->summary, "path-limited: larger buffers brought nothing, %s to %s", before, after);
}

bool wr_explain_buffer_helps(const struct wr_verdict *verdict)
{
	return wr_verdict_is(verdict, "sndbuf-limited") || wr_verdict_is(verdict, "rcvbuf-limited") ||
	       wr_verdict_is(verdict, "sysctl-capped");
}
