/* SPDX-License-Identifier: MIT */
/* What `weir explain` prints and writes: the verdict of the connection that loses most, and a line for each other. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

#define MOST_LINES 20

void wr_report_socket_take(struct wr_report_socket *line, const char *local, const char *peer, const char *program,
			   bool far, const struct wr_verdict *verdict)
{
	const struct wr_finding *first = verdict->n_causes ? &verdict->causes[0] : NULL;

	snprintf(line->local, sizeof line->local, "%s", local);
	snprintf(line->peer, sizeof line->peer, "%s", peer);
	snprintf(line->program, sizeof line->program, "%s", program);
	line->side = far ? WR_SIDE_FAR : WR_SIDE_NEAR;
	if (first) {
		line->cause = first->cause;
		line->cause_side = first->side;
		line->share_ratio = first->share_ratio;
		line->confidence = first->confidence;
	}
	line->verdict = wr_verdict_to_json(verdict);
}

void wr_report_socket_drop(struct wr_report_socket *line)
{
	json_decref(line->verdict);
	line->verdict = NULL;
}

json_t *wr_report_explained_json(const struct wr_report_explained *report)
{
	json_t *object = wr_report_head_json(&report->head, NULL), *sockets = json_array();

	for (size_t i = 0; i < report->n_sockets; i++) {
		const struct wr_report_socket *line = &report->sockets[i];

		/* The counters of hosts are no socket. */
		if (line->local[0] == '\0')
			continue;
		json_array_append_new(sockets, json_pack("{s:s,s:s,s:s,s:O}", "local", line->local, "peer", line->peer,
							 "side", wr_side_name(line->side), "verdict", line->verdict));
	}
	json_object_set_new(object, "sockets", sockets);
	json_object_set_new(object, "verdict", wr_verdict_to_json(report->verdict));
	if (report->interval_s > 0)
		json_object_set_new(object, "interval_s", json_real(round(report->interval_s * 1e3) / 1e3));
	if (report->bounded)
		json_object_set_new(object, "interval_at_least", json_true());
	json_object_set_new(object, "skipped_lines", json_integer((json_int_t)report->n_skipped));
	json_object_set_new(object, "next", json_string(report->verdict->next));
	return object;
}

static const char *name_of(const struct wr_report_socket *line, char *out, size_t n_out)
{
	if (line->local[0] == '\0')
		snprintf(out, n_out, "the hosts' counters");
	else if (line->program[0])
		snprintf(out, n_out, "%s -> %s (%s, %s)", line->local, line->peer, wr_side_name(line->side),
			 line->program);
	else
		snprintf(out, n_out, "%s -> %s (%s)", line->local, line->peer, wr_side_name(line->side));
	return out;
}

static void print_advice(FILE *out, const struct wr_verdict *verdict)
{
	bool begun = false;

	for (size_t i = 0; i < verdict->n_advice; i++) {
		const struct wr_advice *advice = &verdict->advice[i];

		if (!advice->apply[0])
			continue;
		fprintf(out, "%s%s%s%s%s\n", begun ? "          " : "Do this   ", advice->alternative ? "or " : "",
			advice->side == WR_SIDE_PATH ? "" : "on ",
			advice->side == WR_SIDE_PATH ? "" : wr_side_name(advice->side),
			advice->side == WR_SIDE_PATH ? "on the path:" : ":");
		if (advice->key[0])
			fprintf(out, "            %s%s%s%s%s%s\n", advice->key, advice->value[0] ? " = " : "",
				advice->value, advice->current[0] ? " (now " : "", advice->current,
				advice->current[0] ? ")" : "");
		fprintf(out, "            %s\n", advice->apply);
		if (advice->why[0])
			fprintf(out, "            %s\n", advice->why);
		if (advice->cost[0])
			fprintf(out, "            costs: %s\n", advice->cost);
		begun = true;
	}
}

static void print_refusals(FILE *out, const struct wr_verdict *verdict)
{
	/* The two buffers are refused for the same reason; report's verdict text has said it. */
	for (size_t i = 0; i < verdict->n_refused; i++) {
		if (strcmp(verdict->refused[i].knob, "sndbuf") != 0 && strcmp(verdict->refused[i].knob, "rcvbuf") != 0)
			fprintf(out, "Nor this  %s: %s\n", verdict->refused[i].knob, verdict->refused[i].why);
	}
}

static void print_others(FILE *out, const struct wr_report_explained *report)
{
	static const char *const confidences[] = {", low confidence", ", medium confidence", ""};
	size_t n = 0, n_more = 0;

	for (size_t i = 0; i < report->n_sockets; i++) {
		const struct wr_report_socket *line = &report->sockets[i];
		char name[240];

		if (i == report->chosen || line->local[0] == '\0')
			continue;
		if (n == MOST_LINES) {
			n_more++;
			continue;
		}
		fprintf(out, "%s%s: %s%s%s, %.0f %%%s\n", n ? "          " : "Others    ",
			name_of(line, name, sizeof name), line->cause, line->cause_side == WR_SIDE_PATH ? "" : " on ",
			line->cause_side == WR_SIDE_PATH ? "" : wr_side_name(line->cause_side), 100 * line->share_ratio,
			confidences[line->confidence]);
		n++;
	}
	if (n_more)
		fprintf(out, "          and %zu more; --json has them all\n", n_more);
}

void wr_report_explained_text(FILE *out, const struct wr_report_explained *report)
{
	const struct wr_verdict *verdict = report->verdict;
	char name[240], apart[WR_UNIT_TEXT] = "";

	fprintf(out, "weir explain   %zu file%s: %s\n", report->n_files, report->n_files == 1 ? "" : "s",
		report->kinds[0] ? report->kinds : "nothing that is understood");
	if (report->interval_s > 0)
		fprintf(out, "Snapshots %s%s apart%s\n", report->bounded ? "at least " : "",
			wr_time_text(apart, report->interval_s * 1e9),
			report->bounded ? ", by the sockets' own clocks (--interval says it)" : "");
	if (report->n_sockets)
		fprintf(out, "Socket    %s\n", name_of(&report->sockets[report->chosen], name, sizeof name));
	wr_report_verdict_text(out, verdict);
	print_refusals(out, verdict);
	print_advice(out, verdict);
	if (verdict->next[0])
		fprintf(out, "Next      %s\n", verdict->next);
	print_others(out, report);
	if (report->n_skipped)
		fprintf(out, "Skipped   %zu of %zu lines are of no kind that is understood\n", report->n_skipped,
			report->n_lines);
}
