/* SPDX-License-Identifier: MIT */
/* Cells are numbers in mixed radix, so that an order, a file and a table all speak of the same ones. */
#include "model/grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/option_json.h"

#define FIELD(field) offsetof(struct wr_grid_plan, field)
#define MAX_REPEATS 1000

/* What a grid has beside the plan and its axes. */
static const struct wr_option own_rows[] = {
	{"repeat", 0, WR_OPTION_COUNT, FIELD(repeats), "N", "6", 1, MAX_REPEATS, NULL, "runs a cell", NULL},
	{"seed", 0, WR_OPTION_COUNT, FIELD(seed), "N", "1", 0, 0, NULL, "of the order", NULL},
	{"until", 0, WR_OPTION_SHARE, FIELD(until_ratio), "SHARE", NULL, 0, 1, NULL, "width of an interval", NULL},
	{"budget", 0, WR_OPTION_TIME, FIELD(budget_ns), "TIME", NULL, 1e9, 0, NULL, "of the whole", NULL},
	{"staircase", 0, WR_OPTION_FLAG, FIELD(staircase), NULL, NULL, 0, 0, NULL, "one connection a curve", NULL},
	{0},
};

const struct wr_axis *wr_grid_plan_axis(const struct wr_grid_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_axes; i++) {
		if (strcmp(plan->axes[i].row->name, name) == 0)
			return &plan->axes[i];
	}
	return NULL;
}

void wr_grid_place(const struct wr_grid_plan *plan, size_t cell, size_t place[WR_MAX_AXES])
{
	for (size_t i = plan->n_axes; i-- > 0;) {
		place[i] = cell % plan->axes[i].n_values;
		cell /= plan->axes[i].n_values;
	}
}

size_t wr_grid_cell_at(const struct wr_grid_plan *plan, const size_t place[WR_MAX_AXES])
{
	size_t cell = 0;

	for (size_t i = 0; i < plan->n_axes; i++)
		cell = cell * plan->axes[i].n_values + place[i];
	return cell;
}

/* -w sets what the four separate options leave open, so that it must be in the plan before they are looked at. */
int wr_grid_cell_plan(const struct wr_grid_plan *plan, size_t cell, struct wr_plan *out, struct weir_err *err)
{
	size_t place[WR_MAX_AXES];

	*out = plan->base;
	wr_grid_place(plan, cell, place);
	for (size_t i = 0; i < plan->n_axes; i++)
		wr_axis_apply(&plan->axes[i], place[i], out);
	return wr_plan_finish(out, err);
}

int wr_grid_plan_cells(const struct wr_grid_plan *plan, size_t *n_cells, struct weir_err *err)
{
	struct wr_plan scratch;

	*n_cells = 1;
	for (size_t i = 0; i < plan->n_axes; i++) {
		*n_cells *= plan->axes[i].n_values;
		if (*n_cells > WR_MAX_CELLS || *n_cells == 0)
			return wr_err_set(err, WEIR_ERR_USAGE, "grid", "the axes have more than %d cells", WR_MAX_CELLS);
	}
	for (size_t cell = 0; cell < *n_cells; cell++) {
		if (wr_grid_cell_plan(plan, cell, &scratch, err) < 0)
			return -1;
	}
	return 0;
}

void wr_grid_cell_text(const struct wr_grid_plan *plan, size_t cell, char *out, size_t n_out)
{
	size_t place[WR_MAX_AXES], used = 0;
	char value[WR_UNIT_TEXT];

	out[0] = '\0';
	wr_grid_place(plan, cell, place);
	for (size_t i = 0; i < plan->n_axes && used + 1 < n_out; i++) {
		int n = snprintf(out + used, n_out - used, "%s%s %s", i ? ", " : "", wr_axis_title(&plan->axes[i]),
				 wr_axis_value_text(value, &plan->axes[i], place[i]));

		used += n > 0 ? (size_t)n : 0;
	}
	if (plan->n_axes == 0)
		snprintf(out, n_out, "nothing varied");
}

json_t *wr_grid_plan_to_json(const struct wr_grid_plan *plan)
{
	json_t *object = wr_plan_to_json(&plan->base), *axes = json_object();

	for (size_t i = 0; i < plan->n_axes; i++) {
		json_t *texts = json_array();

		for (size_t j = 0; j < plan->axes[i].n_values; j++)
			json_array_append_new(texts, json_string(plan->axes[i].values[j].text));
		json_object_set_new(axes, plan->axes[i].row->name, texts);
	}
	json_object_set_new(object, "axes", axes);
	wr_options_to_json(own_rows, plan, object);
	return object;
}

/* The values joined as a command line would have them: one parser reads both. */
static int axis_from_json(struct wr_axis *axis, const char *name, const json_t *texts, struct weir_err *err)
{
	const struct wr_option *row = wr_option_find(wr_plan_options, name);
	char list[WR_MAX_AXIS_VALUES * WR_VALUE_TEXT];
	size_t i, used = 0;
	json_t *text;

	if (!row || json_array_size(texts) == 0 || json_array_size(texts) > WR_MAX_AXIS_VALUES)
		return wr_err_set(err, WEIR_ERR_USAGE, "plan", "'%.40s' is no axis with 1 to %d values", name,
				  WR_MAX_AXIS_VALUES);
	json_array_foreach((json_t *)texts, i, text) {
		const char *word = json_string_value(text);

		if (!word || strlen(word) >= WR_VALUE_TEXT || wr_axis_is_list(word))
			return wr_err_set(err, WEIR_ERR_USAGE, "plan", "axis '%s': value %zu is no short text", name, i + 1);
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? "," : "", word);
	}
	return wr_axis_parse(axis, row, list, err);
}

int wr_grid_plan_from_json(struct wr_grid_plan *plan, const json_t *object, struct weir_err *err)
{
	json_t *axes = json_object_get(object, "axes"), *texts;
	const char *name;

	memset(plan, 0, sizeof *plan);
	if (wr_plan_from_json(&plan->base, object, err) < 0 || wr_options_from_json(own_rows, plan, object, err) < 0)
		return -1;
	if (!json_is_object(axes) || json_object_size(axes) > WR_MAX_AXES)
		return wr_err_set(err, WEIR_ERR_USAGE, "plan", "the plan has no axes{}, or more than %d", WR_MAX_AXES);
	json_object_foreach(axes, name, texts) {
		if (axis_from_json(&plan->axes[plan->n_axes], name, texts, err) < 0)
			return -1;
		plan->n_axes++;
	}
	return 0;
}

int wr_grid_init(struct wr_grid *grid, const struct wr_grid_plan *plan, struct weir_err *err)
{
	memset(grid, 0, sizeof *grid);
	grid->plan = *plan;
	grid->mde_ratio = grid->drift_ratio = grid->drift_p = grid->dependence = grid->dependence_p = NAN;
	if (wr_grid_plan_cells(plan, &grid->n_cells, err) < 0)
		return -1;
	grid->cells = calloc(grid->n_cells, sizeof *grid->cells);
	return grid->cells ? 0 : wr_err_memory(err, "cells");
}

void wr_grid_deinit(struct wr_grid *grid)
{
	free(grid->runs);
	free(grid->cells);
	grid->runs = NULL;
	grid->cells = NULL;
	grid->n_runs = grid->room = grid->n_cells = 0;
}

int wr_grid_add(struct wr_grid *grid, const struct wr_grid_run *run, struct weir_err *err)
{
	if (grid->n_runs == WR_MAX_GRID_RUNS)
		return wr_err_set(err, WEIR_ERR_USAGE, "grid", "more than %d runs", WR_MAX_GRID_RUNS);
	if (grid->n_runs == grid->room) {
		size_t room = grid->room ? 2 * grid->room : 256;
		struct wr_grid_run *runs = realloc(grid->runs, room * sizeof *runs);

		if (!runs)
			return wr_err_memory(err, "runs");
		grid->runs = runs;
		grid->room = room;
	}
	grid->runs[grid->n_runs++] = *run;
	return 0;
}

bool wr_grid_has(const struct wr_grid *grid, size_t cell, size_t block)
{
	for (size_t i = 0; i < grid->n_runs; i++) {
		if (grid->runs[i].cell == cell && grid->runs[i].block == block)
			return true;
	}
	return false;
}

void wr_grid_note(struct wr_grid *grid, const char *format, ...)
{
	va_list args;

	if (grid->n_notes == WR_MAX_NOTES)
		return;
	va_start(args, format);
	vsnprintf(grid->notes[grid->n_notes++], WR_NOTE_TEXT, format, args);
	va_end(args);
}

/* The figures of a run in a file: what is unknown is absent. */
static const struct {
	const char *key;
	size_t offset;
	bool required;
} run_figures[] = {
	{"started_s", offsetof(struct wr_grid_run, started_s), true},
	{"transfer_s", offsetof(struct wr_grid_run, transfer_s), true},
	{"wall_s", offsetof(struct wr_grid_run, wall_s), true},
	{"rtt_us", offsetof(struct wr_grid_run, rtt_us), false},
	{"retrans_segs", offsetof(struct wr_grid_run, retrans_segs), false},
	{"messages_per_s", offsetof(struct wr_grid_run, messages_per_s), false},
	{"latency_p99_us", offsetof(struct wr_grid_run, latency_p99_us), false},
	{"near_other_cpu_ratio", offsetof(struct wr_grid_run, near_other_cpu_ratio), false},
	{"far_other_cpu_ratio", offsetof(struct wr_grid_run, far_other_cpu_ratio), false},
};

json_t *wr_grid_run_to_json(const struct wr_grid_run *run)
{
	json_t *object = json_pack("{s:i,s:i,s:I,s:I,s:b}", "cell", (int)run->cell, "block", (int)run->block, "bytes",
				   (json_int_t)run->bytes, "throughput_bps", (json_int_t)llround(run->throughput_bps), "ramping",
				   run->ramping);

	for (size_t i = 0; i < sizeof run_figures / sizeof run_figures[0]; i++) {
		double value;

		memcpy(&value, (const char *)run + run_figures[i].offset, sizeof value);
		if (isfinite(value))
			json_object_set_new(object, run_figures[i].key, json_real(value));
	}
	if (run->sndbuf_eff_bytes != WR_UNSET)
		json_object_set_new(object, "sndbuf_eff_bytes", json_integer((json_int_t)run->sndbuf_eff_bytes));
	if (run->rcvbuf_eff_bytes != WR_UNSET)
		json_object_set_new(object, "rcvbuf_eff_bytes", json_integer((json_int_t)run->rcvbuf_eff_bytes));
	return object;
}

static uint64_t size_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) >= 0 ? (uint64_t)json_integer_value(value) : WR_UNSET;
}

int wr_grid_run_from_json(struct wr_grid_run *run, const json_t *object, size_t n_cells, struct weir_err *err)
{
	uint64_t cell = size_of(object, "cell"), block = size_of(object, "block"), bytes = size_of(object, "bytes");
	uint64_t bps = size_of(object, "throughput_bps");

	memset(run, 0, sizeof *run);
	if (cell >= n_cells || block >= MAX_REPEATS || bytes == WR_UNSET || bps > 1000000000000000ULL)
		return wr_err_set(err, WEIR_ERR_USAGE, "grid", "a run names no cell, block, bytes and throughput of this plan");
	run->cell = (uint32_t)cell;
	run->block = (uint32_t)block;
	run->bytes = bytes;
	run->throughput_bps = (double)bps;
	run->ramping = json_is_true(json_object_get(object, "ramping"));
	run->sndbuf_eff_bytes = size_of(object, "sndbuf_eff_bytes");
	run->rcvbuf_eff_bytes = size_of(object, "rcvbuf_eff_bytes");
	for (size_t i = 0; i < sizeof run_figures / sizeof run_figures[0]; i++) {
		const json_t *value = json_object_get(object, run_figures[i].key);
		double number = json_is_number(value) ? json_number_value(value) : NAN;

		if (run_figures[i].required && !(number >= 0 && number < 1e15))
			return wr_err_set(err, WEIR_ERR_USAGE, "grid", "a run has no usable %s", run_figures[i].key);
		memcpy((char *)run + run_figures[i].offset, &number, sizeof number);
	}
	return 0;
}
