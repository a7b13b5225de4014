/* SPDX-License-Identifier: MIT */
/* weir run: one measured transfer, and what limited it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/measuring.h"
#include "cmd/stop.h"
#include "explain/explain.h"
#include "measure/measure.h"
#include "os/clock.h"
#include "os/facts.h"
#include "report/report.h"
#include "tune/confirm.h"

static int evidence_write(const char *path, const struct wr_evidence *evidence, struct weir_err *err)
{
	json_t *object = wr_evidence_to_json(evidence);
	int rc = json_dump_file(object, path, JSON_COMPACT);

	json_decref(object);
	if (rc == 0)
		return 0;
	wr_err_set(err, WEIR_ERR_HOST, "write", "the evidence could not be written to %s", path);
	return wr_err_hint(err, "is there room on that disk, and may you write there?");
}

/* How far an interval's end may lie from where the next one is taken to begin. */
#define LEAST_INTERVAL_S 0.2

/* Where intervals go, and up to when they have gone there. */
struct intervals {
	const struct wr_measuring *chosen;
	double shown_s;
};

static bool on_interval(void *context, const struct wr_interval *interval, uint64_t bytes)
{
	struct intervals *intervals = context;
	const struct wr_measuring *chosen = intervals->chosen;

	(void)bytes;
	intervals->shown_s = interval->end_s;
	if (chosen->json_stream) {
		wr_report_line(wr_report_interval_json(interval), stdout);
	} else if (!chosen->json && !chosen->quiet) {
		wr_report_interval_text(stdout, interval);
		fflush(stdout);
	}
	return true;
}

/* The last one is shorter, and ends when both ends have stopped. */
static void show_rest(struct intervals *intervals, const struct wr_result *result)
{
	struct wr_interval last = result->n_intervals ? result->intervals[result->n_intervals - 1] : (struct wr_interval){0};

	if (last.end_s > last.start_s && last.start_s > intervals->shown_s - LEAST_INTERVAL_S)
		(void)on_interval(intervals, &last, result->bytes);
}

/* Print it, and keep it with what it was judged on. Return: 0; -1. */
static int deliver(const struct wr_measuring *chosen, const struct wr_report_head *head,
		   const struct wr_evidence *evidence, const struct wr_result *result, const struct wr_verdict *verdict,
		   struct weir_err *err)
{
	wr_auto_free char *text = NULL;
	size_t n_text;
	FILE *out = open_memstream(&text, &n_text);

	if (!out)
		return wr_err_memory(err, "report");
	wr_report_run_text(out, evidence, result, verdict, head->target);
	if (fclose(out) != 0)
		return wr_err_memory(err, "report");
	wr_measuring_deliver(&wr_command_run, chosen, wr_report_run_json(head, evidence, result, verdict), text,
			     chosen->archive.no_save ? NULL
						     : wr_evidence_to_json_within(evidence, WR_ARCHIVE_MAX_VALUES));
	return 0;
}

static void say(void *context, const char *text)
{
	const struct wr_measuring *chosen = context;

	if (!chosen->quiet && !chosen->json_stream)
		fprintf(stderr, "weir run: %s\n", text);
}

/* The verdict, and with --confirm what became of it on another connection. Return: 0; -1. */
static int explain(struct intervals *intervals, struct wr_peer *peer, const struct wr_evidence *evidence,
		   struct wr_verdict *verdict, struct weir_err *err)
{
	const struct wr_measuring *chosen = intervals->chosen;

	if (wr_explain(evidence, verdict, err) < 0)
		return -1;
	if (!chosen->confirm)
		return 0;
	return wr_confirm(peer, &chosen->plan, evidence, verdict, say, (void *)chosen, err) < 0 ? -1 : 0;
}

/* Return: 0; 1 the result is out but the evidence could not be stored, which was said; -1. */
static int report(struct intervals *intervals, struct wr_peer *peer, struct wr_report_head *head,
		  const struct wr_evidence *evidence, struct weir_err *err)
{
	const struct wr_measuring *chosen = intervals->chosen;
	struct wr_verdict verdict;
	struct wr_result *result = calloc(1, sizeof *result);
	int rc = -1;

	if (!result)
		return wr_err_memory(err, "result");
	if (explain(intervals, peer, evidence, &verdict, err) == 0 && wr_measure_result(evidence, result, err) == 0) {
		head->complete = evidence->complete;
		show_rest(intervals, result);
		rc = deliver(chosen, head, evidence, result, &verdict, err);
	}
	free(result);
	if (rc == 0 && chosen->evidence && evidence_write(chosen->evidence, evidence, err) < 0) {
		wr_command_fail(&wr_command_run, err, false);
		rc = 1;
	}
	return rc;
}

/* Return: as report() does. */
static int measure(const struct wr_measuring *chosen, const char *target, struct weir_err *err)
{
	struct wr_facts facts;
	struct wr_report_head head = {.schema = "weir.run/1", .command = "run", .target = target, .facts = &facts};
	struct intervals intervals = {.chosen = chosen};
	struct wr_measure_watch watch = {.progress = on_interval, .context = &intervals};
	struct wr_evidence evidence;
	struct wr_peer peer;
	int64_t began_ns = wr_clock_ns();
	int rc;

	wr_report_time(head.started);
	if (wr_peer_open(&peer, target, &chosen->plan, &wr_stop_signal, err) < 0)
		return -1;
	rc = wr_measure_run(&peer, &chosen->plan, &watch, &evidence, err);
	if (rc == 0) {
		head.duration_s = (double)(wr_clock_ns() - began_ns) / 1e9;
		wr_facts_gather(&facts);
		rc = report(&intervals, &peer, &head, &evidence, err);
		wr_evidence_deinit(&evidence);
	}
	wr_peer_close(&peer);
	return rc;
}

static int run(int argc, char **argv)
{
	struct wr_measuring chosen;
	struct weir_err err = {0};
	const char *target;
	int rc = wr_measuring_parse(&wr_command_run, &chosen, argc, argv, &target);

	if (rc)
		return rc == 1 ? 0 : rc;
	if (chosen.plan.len_bytes != WR_UNSET || chosen.plan.far_len_bytes != WR_UNSET)
		chosen.plan.write_exact = true;
	wr_stop_catch();
	rc = measure(&chosen, target, &err);
	if (rc < 0)
		rc = wr_command_fail(&wr_command_run, &err, chosen.json || chosen.json_stream);
	else
		rc = rc == 1 ? WEIR_ERR_HOST : wr_stop_status();
	if (wr_measuring_flush(&wr_command_run) < 0 && rc == 0)
		rc = WEIR_ERR_HOST;
	return rc;
}

const struct wr_command wr_command_run = {
	.name = "run",
	.summary = "one measured transfer, and what limited it",
	.usage = "TARGET [OPTIONS]",
	.about = "Sends data to (-R: fetches it from) TARGET, where `weir serve` runs, and says how fast it was, what limited\n"
		 "it and by which evidence. TARGET is HOST, HOST:PORT or [ADDRESS]:PORT. Sizes: 64K, 1M (1024); rates: 100mbit.",
	.example = "  weir run far.example --far-rcvbuf 64K\n"
		   "      a transfer with the far receive buffer pinned: rcvbuf-limited on far, and by how much",
	.options = wr_measuring_options,
	.run = run,
};
