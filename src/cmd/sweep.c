/* SPDX-License-Identifier: MIT */
/* weir sweep: the grid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/stop.h"
#include "cmd/sweep.h"
#include "os/clock.h"
#include "os/facts.h"
#include "report/sweep.h"
#include "sweep/sweep.h"
#include "transport/transport.h"

/* What the callbacks of a sweep need. */
struct showing {
	const struct wr_sweep_choice *choice;
	double best_bps;
	size_t best;
	bool terminal;
};

static void span_text(char *out, double seconds)
{
	if (seconds < 100)
		snprintf(out, WR_UNIT_TEXT, "%.0f s", seconds);
	else
		snprintf(out, WR_UNIT_TEXT, "%.0f min", seconds / 60);
}

static void on_begin(void *context, const struct wr_grid *grid, size_t cell, size_t n_left, double left_s)
{
	struct showing *showing = context;
	char text[160], span[WR_UNIT_TEXT], best[160] = "", rate[WR_UNIT_TEXT];

	if (!showing->terminal)
		return;
	wr_grid_cell_text(&grid->plan, cell, text, sizeof text);
	span_text(span, left_s);
	if (showing->best_bps > 0)
		wr_grid_cell_text(&grid->plan, showing->best, best, sizeof best);
	fprintf(stderr, "\r\033[K[%zu runs done, %zu left, %s] %.70s%s%.70s%s%s", grid->n_runs, n_left, span, text,
		best[0] ? "; fastest so far: " : "", best, best[0] ? " " : "", best[0] ? wr_rate_text(rate, showing->best_bps) : "");
}

static void on_done(void *context, const struct wr_grid *grid)
{
	const struct wr_grid_run *last = &grid->runs[grid->n_runs - 1];
	struct showing *showing = context;

	if (last->throughput_bps > showing->best_bps) {
		showing->best_bps = last->throughput_bps;
		showing->best = last->cell;
	}
	if (showing->choice->measuring.json_stream)
		wr_report_line(wr_report_sweep_run_json(grid, last), stdout);
}

static void say_start(const struct wr_sweep_choice *choice, const struct wr_grid *grid, double rtt_s)
{
	char span[WR_UNIT_TEXT];

	if (choice->measuring.quiet)
		return;
	span_text(span, wr_sweep_expected_s(&grid->plan, grid->n_cells, rtt_s) *
				(1 - (double)grid->n_runs / (double)(grid->n_cells * grid->plan.repeats)));
	fprintf(stderr, "weir sweep: %zu cells x %llu runs, about %s; seed %llu%s\n", grid->n_cells,
		(unsigned long long)grid->plan.repeats, span, (unsigned long long)grid->plan.seed,
		grid->n_runs ? "; going on with an interrupted one" : "");
}

/* The text as it stands in the archive, whatever was asked to be printed; to be freed. NULL with @err. */
static char *text_of(const struct wr_sweep_choice *choice, const struct wr_report_head *head, const struct wr_grid *grid,
		     struct weir_err *err)
{
	char *text = NULL;
	size_t n_text;
	FILE *out = open_memstream(&text, &n_text);

	if (!out) {
		wr_err_memory(err, "report");
		return NULL;
	}
	wr_sweep_text.write(out, head, grid, wr_sweep_face_find(choice->face), NULL);
	if (fclose(out) == 0)
		return text;
	free(text);
	wr_err_memory(err, "report");
	return NULL;
}

static int show(const struct wr_sweep_choice *choice, const struct wr_report_head *head, const struct wr_grid *grid,
		struct weir_err *err)
{
	const struct wr_sweep_writer *writer = choice->measuring.json ? &wr_sweep_json : wr_sweep_writer_find(choice->format);
	wr_auto_free char *text = text_of(choice, head, grid, err);
	json_t *result;
	int64_t id;
	int rc = 0;

	if (!text)
		return -1;
	result = wr_report_sweep_json(head, grid);
	if (writer == &wr_sweep_text || writer == &wr_sweep_json || choice->measuring.json_stream) {
		struct wr_measuring how = choice->measuring;

		how.json = how.json || writer == &wr_sweep_json;
		wr_measuring_deliver(&wr_command_sweep, &how, result, text, NULL);
		return 0;
	}
	rc = writer->write(stdout, head, grid, wr_sweep_face_find(choice->face), err);
	fflush(stdout);
	id = wr_archive_save(&wr_command_sweep, &choice->measuring.archive, result, NULL, text);
	if (id && !choice->measuring.quiet)
		fprintf(stderr, "weir sweep: saved as run %lld\n", (long long)id);
	json_decref(result);
	return rc;
}

/* Return: 0; -1, with the part that was measured shown nevertheless. */
static int measure(const struct wr_sweep_choice *choice, const char *target, struct wr_grid *grid, struct weir_err *err)
{
	struct wr_facts facts;
	struct wr_report_head head = {.schema = "weir.sweep/1", .command = "sweep", .target = target, .facts = &facts};
	struct showing showing = {.choice = choice, .terminal = isatty(STDERR_FILENO) && !choice->measuring.quiet &&
							       !choice->measuring.json_stream};
	struct wr_sweep_watch watch = {on_begin, on_done, &showing};
	int64_t began_ns = wr_clock_ns();
	struct wr_peer peer;
	int rc;

	wr_report_time(head.started);
	wr_facts_gather(&facts);
	if (wr_peer_open(&peer, target, &grid->plan.base, &wr_stop_signal, err) < 0)
		return -1;
	say_start(choice, grid, (double)peer.rtt_ns / 1e9);
	if (choice->measuring.json_stream)
		wr_report_line(wr_report_sweep_start_json(&head, grid), stdout);
	rc = wr_sweep(&peer, grid, &watch, err);
	wr_peer_close(&peer);
	if (showing.terminal)
		fputs("\r\033[K", stderr);
	if (rc < 0 && grid->n_runs == 0)
		return -1;
	head.complete = rc == 0 && grid->complete;
	head.duration_s = (double)(wr_clock_ns() - began_ns) / 1e9;
	if (show(choice, &head, grid, rc < 0 ? NULL : err) < 0 || rc < 0)
		return -1;
	return 0;
}

static int check_names(const struct wr_sweep_choice *choice, struct weir_err *err)
{
	if (!wr_sweep_face_find(choice->face)) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "--cell: there is no '%.40s'", choice->face);
		return wr_err_hint(err, "all, median, mean, ci, cv, rtt, time, messages or latency");
	}
	if (!wr_sweep_writer_find(choice->format)) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "--format: there is no '%.40s'", choice->format);
		return wr_err_hint(err, "text, json, csv or markdown");
	}
	return 0;
}

/* What the data runs over and what it is, checked before the first run; a transport as an axis is part of the cells. */
static int check_data(struct wr_grid *grid, const char *target, struct weir_err *err)
{
	const struct wr_transport *transport;
	struct wr_plan cell;

	if (!wr_grid_plan_axis(&grid->plan, "transport")) {
		if (wr_transport_choose(&transport, NULL, target, &grid->plan.base, err) < 0)
			return -1;
		grid->plan.base.transport = transport->name;
	}
	for (size_t i = 0; i < grid->n_cells; i++) {
		if (wr_grid_cell_plan(&grid->plan, i, &cell, err) < 0 || wr_measuring_check(&cell, err) < 0)
			return -1;
	}
	return 0;
}

/* The grid and the target, from the options or from a file. Return: 0; -1. */
static int prepare(const struct wr_sweep_choice *choice, int argc, char **argv, int first, struct wr_grid *grid, char *target,
		   size_t n_target, struct weir_err *err)
{
	wr_auto_free struct wr_grid_plan *plan = calloc(1, sizeof *plan);
	const char *file, *named = NULL;

	if (!plan)
		return wr_err_memory(err, "plan");
	if (check_names(choice, err) < 0 || wr_sweep_file(choice, &file, err) < 0)
		return -1;
	if (file && wr_sweep_read(file, choice->resume != NULL, grid, target, n_target, err) < 0)
		return -1;
	if (!file) {
		if (wr_sweep_plan(choice, plan, err) < 0)
			return -1;
		if (!plan->base.congestion && !wr_grid_plan_axis(plan, "congestion"))
			plan->base.congestion = wr_measuring_congestion(&wr_command_sweep, first < argc ? argv[first] : "");
		if (wr_grid_init(grid, plan, err) < 0)
			return -1;
	}
	if (first < argc || !target[0]) {
		if (choice->save_plan && first == argc)
			return 0;
		if (wr_measuring_target(argc, argv, first, &named, err) < 0)
			return -1;
		snprintf(target, n_target, "%s", named);
	}
	return check_data(grid, target, err);
}

static int run(int argc, char **argv)
{
	static struct wr_sweep_choice choice;
	wr_auto_free struct wr_grid *grid = calloc(1, sizeof *grid);
	char target[256] = "";
	struct weir_err err = {0};
	int first, rc = wr_command_options(&wr_command_sweep, &choice, argc, argv, false, &first);

	if (rc)
		return rc == 1 ? 0 : rc;
	wr_stop_catch();
	rc = grid ? prepare(&choice, argc, argv, first, grid, target, sizeof target, &err) : wr_err_memory(&err, "grid");
	if (rc == 0 && choice.save_plan)
		rc = wr_sweep_save_plan(choice.save_plan, &grid->plan, target, &err);
	else if (rc == 0)
		rc = measure(&choice, target, grid, &err);
	if (rc < 0)
		rc = wr_command_fail(&wr_command_sweep, &err, choice.measuring.json || choice.measuring.json_stream);
	else
		rc = wr_stop_status();
	if (grid) {
		wr_plan_deinit(&grid->plan.base);
		wr_grid_deinit(grid);
	}
	if (wr_measuring_flush(&wr_command_sweep) < 0 && rc == 0)
		rc = WEIR_ERR_HOST;
	return rc;
}

const struct wr_command wr_command_sweep = {
	.name = "sweep",
	.summary = "a grid of buffers, message sizes and options, with statistics",
	.usage = "TARGET [OPTIONS]",
	.about = "Measures every combination of the values given, each once a block, in a random order, on fresh connections, and says\n"
		 "which can be told apart. Values are lists and ranges: --sndbuf 64K,1M, --sndbuf 16K..4M:x2, -l 1K..9K:+2K, -P 1,4,\n"
		 "-C cubic,bbr, --vary nodelay. A buffer axis has `unset` (autotuning) among its values.",
	.example = "  weir sweep far.example --sndbuf 64K..4M:x4 -l 1K,128K -t 2s\n"
		   "      10 cells, 6 runs each: minimum, maximum, mean and median of each, and where the knee is",
	.options = wr_sweep_options,
	.init = wr_sweep_options_init,
	.run = run,
};
