/* SPDX-License-Identifier: MIT */
/*
 * From results to samples. The unit is the connection: a run is one sample, however many seconds it had. Results may
 * be anybody's, so counts are bounded and what is no number above or at 0 is left out.
 */
#include "compare/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/option_json.h"
#include "model/axis.h"
#include "model/comparison.h"

#define MAX_RUNS 65536 /* of one row and side, as of a sweep (model/grid.h) */
#define MAX_AXES 16

static const struct wr_figure run_figures[] = {
	{"throughput_bps", "Throughput", NULL, true},
	{"workload.messages_per_s", "Messages", NULL, true},
	{"workload.latency_us.p50", "Latency p50", NULL, false},
	{"workload.latency_us.p99", "Latency p99", NULL, false},
	{"path.rtt_min_us", "RTT idle", NULL, false},
	{"path.rtt_loaded_us", "RTT under load", NULL, false},
	{"near.cpu_ratio", "CPU on near", NULL, false},
	{"far.cpu_ratio", "CPU on far", NULL, false},
	{"near.sndbuf_eff_bytes", "SO_SNDBUF effective on near", NULL, false},
	{"far.rcvbuf_eff_bytes", "SO_RCVBUF effective on far", NULL, false},
	{NULL, NULL, NULL, false},
};

static const struct wr_figure tune_figures[] = {
	{"baseline.throughput_bps", "Baseline", "baseline.runs_bps", true},
	{"proof.after_bps", "With the advice", "proof.after_runs_bps", true},
	{"proof.ratio", "Gain of the advice", NULL, false},
	{"path.capacity_bps", "Capacity", NULL, false},
	{"path.rtt_min_us", "RTT idle", NULL, false},
	{"baseline.rtt_loaded_us", "RTT under load", NULL, false},
	{"proof.after_rtt_us", "RTT with the advice", NULL, false},
	{"knee.req_bytes", "Knee", NULL, false},
	{NULL, NULL, NULL, false},
};

static const struct wr_figure cell_figure = {"throughput_bps", "Throughput", NULL, true};

const json_t *wr_json_at(const json_t *object, const char *path)
{
	char key[64];

	while (object && *path) {
		size_t n = strcspn(path, ".");

		if (n >= sizeof key)
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		object = json_object_get(object, key);
		path += n + (path[n] == '.');
	}
	return object;
}

/* -- rows -- */

void wr_samples_deinit(struct wr_sample_table *table)
{
	for (size_t i = 0; i < table->n_rows; i++) {
		for (int side = 0; side < 2; side++) {
			free(table->rows[i].sides[side].values);
			free(table->rows[i].sides[side].blocks);
		}
		json_decref(table->rows[i].cell);
	}
	free(table->rows);
	json_decref(table->index);
	*table = (struct wr_sample_table){0};
}

static int runs_add(struct wr_runs *runs, const json_t *value, uint32_t block, struct weir_err *err)
{
	double number = json_number_value(value);

	if (!json_is_number(value) || !isfinite(number) || number < 0)
		return 0;
	if (runs->n == MAX_RUNS)
		return wr_err_set(err, WEIR_ERR_USAGE, "compare", "more than %d runs of one thing", MAX_RUNS);
	if (runs->n == runs->room) {
		size_t room = 2 * runs->room + 8;
		double *values = realloc(runs->values, room * sizeof *values);
		uint32_t *blocks;

		if (!values)
			return wr_err_memory(err, "compare");
		runs->values = values;
		blocks = realloc(runs->blocks, room * sizeof *blocks);
		if (!blocks)
			return wr_err_memory(err, "compare");
		runs->blocks = blocks;
		runs->room = room;
	}
	runs->values[runs->n] = number;
	runs->blocks[runs->n++] = block;
	return 0;
}

/* A row of @figure and @cell, which is taken over. NULL with @err. */
static struct wr_samples *row_add(struct wr_sample_table *table, const struct wr_figure *figure, json_t *cell, struct weir_err *err)
{
	if (table->n_rows == table->room) {
		size_t room = 2 * table->room + 16;
		struct wr_samples *rows = room > 2 * WR_MAX_COMPARED ? NULL : realloc(table->rows, room * sizeof *rows);

		if (!rows) {
			json_decref(cell);
			wr_err_set(err, WEIR_ERR_USAGE, "compare", "more than %d cells to compare, or no memory for them", WR_MAX_COMPARED);
			return NULL;
		}
		table->rows = rows;
		table->room = room;
	}
	table->rows[table->n_rows] = (struct wr_samples){.figure = figure, .cell = cell};
	return &table->rows[table->n_rows++];
}

/* -- runs and tunings -- */

static int figure_collect(struct wr_sample_table *table, const struct wr_figure *figure, json_t *const sides[2], struct weir_err *err)
{
	struct wr_samples *row = row_add(table, figure, NULL, err);

	if (!row)
		return -1;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < json_array_size(sides[side]); i++) {
			const json_t *result = json_array_get(sides[side], i);
			const json_t *runs = figure->runs ? wr_json_at(result, figure->runs) : NULL;

			if (!runs && runs_add(&row->sides[side], wr_json_at(result, figure->path), 0, err) < 0)
				return -1;
			for (size_t k = 0; k < json_array_size(runs); k++) {
				if (runs_add(&row->sides[side], json_array_get(runs, k), 0, err) < 0)
					return -1;
			}
		}
	}
	return 0;
}

/* -- sweeps -- */

/* The axes of all results. Return: how many; -1 with @err. */
static int axes_collect(const char *axes[MAX_AXES], json_t *const sides[2], struct weir_err *err)
{
	int n = 0;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < json_array_size(sides[side]); i++) {
			const char *name;
			json_t *values, *object = json_object_get(json_array_get(sides[side], i), "axes");

			json_object_foreach(object, name, values) {
				int k = 0;

				while (k < n && strcmp(axes[k], name) != 0)
					k++;
				if (k == MAX_AXES)
					return wr_err_set(err, WEIR_ERR_USAGE, "compare", "the sweeps have more than %d axes", MAX_AXES);
				axes[k] = name;
				n = k == n ? n + 1 : n;
			}
		}
	}
	return n;
}

/* What @result's plan has for an axis that only another sweep varies; NULL where it was left unset. */
static json_t *fixed_value(const json_t *result, const char *axis)
{
	char key[64];

	for (const struct wr_option *row = wr_plan_options; row->name; row++) {
		if (strcmp(wr_axis_key(&(struct wr_axis){.row = row}, key, sizeof key), axis) == 0)
			return json_object_get(json_object_get(result, "plan"), wr_option_json_key(row, key, sizeof key));
	}
	return NULL;
}

static json_t *cell_values(const json_t *result, const json_t *cell, const char *const *axes, int n_axes)
{
	json_t *values = json_object();

	for (int i = 0; i < n_axes; i++) {
		json_t *own = json_object_get(cell, axes[i]), *value = own ? own : fixed_value(result, axes[i]);

		if (value)
			json_object_set(values, axes[i], value);
		else
			json_object_set_new(values, axes[i], json_string("unset"));
	}
	return values;
}

/* The row of a cell with these values, taken over; made where there is none. NULL with @err. */
static struct wr_samples *cell_row(struct wr_sample_table *table, json_t *values, struct weir_err *err)
{
	wr_auto_free char *name = json_dumps(values, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	const json_t *at = name ? json_object_get(table->index, name) : NULL;

	if (at) {
		json_decref(values);
		return &table->rows[json_integer_value(at)];
	}
	if (name)
		json_object_set_new(table->index, name, json_integer((json_int_t)table->n_rows));
	return row_add(table, &cell_figure, values, err);
}

/* Blocks of each cell's runs, in their order, from runs[]: an array of arrays. */
static json_t *blocks_by_cell(const json_t *result, size_t n_cells)
{
	json_t *by_cell = json_array(), *runs = json_object_get(result, "runs"), *run;
	size_t i;

	for (i = 0; i < n_cells; i++)
		json_array_append_new(by_cell, json_array());
	json_array_foreach(runs, i, run) {
		json_int_t cell = json_integer_value(json_object_get(run, "cell"));

		if (cell >= 0 && json_is_integer(json_object_get(run, "block")))
			json_array_append(json_array_get(by_cell, (size_t)cell), json_object_get(run, "block"));
	}
	return by_cell;
}

static int sweep_collect(struct wr_sample_table *table, int side, const json_t *result, const char *const *axes, int n_axes,
			 struct weir_err *err)
{
	const json_t *cells = json_object_get(result, "cells");
	json_t *blocks = blocks_by_cell(result, json_array_size(cells));
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_array_size(cells); i++) {
		const json_t *cell = json_array_get(cells, i), *runs = json_object_get(cell, "runs_bps");
		struct wr_samples *row = cell_row(table, cell_values(result, cell, axes, n_axes), err);

		for (size_t k = 0; row && rc == 0 && k < json_array_size(runs); k++) {
			const json_t *block = json_array_get(json_array_get(blocks, i), k);

			rc = runs_add(&row->sides[side], json_array_get(runs, k),
				      block ? (uint32_t)json_integer_value(block) : UINT32_MAX, err);
		}
		rc = row ? rc : -1;
	}
	json_decref(blocks);
	return rc;
}

static int sweeps_collect(struct wr_sample_table *table, json_t *const sides[2], struct weir_err *err)
{
	const char *axes[MAX_AXES + 1];
	int n_axes = axes_collect(axes, sides, err);

	table->index = json_object();
	if (n_axes < 0)
		return -1;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < json_array_size(sides[side]); i++) {
			if (sweep_collect(table, side, json_array_get(sides[side], i), axes, n_axes, err) < 0)
				return -1;
		}
	}
	return 0;
}

int wr_samples_collect(struct wr_sample_table *table, const char *schema, json_t *const sides[2], struct weir_err *err)
{
	const struct wr_figure *figures = strcmp(schema, "weir.tune/1") == 0 ? tune_figures : run_figures;

	*table = (struct wr_sample_table){0};
	if (strcmp(schema, "weir.sweep/1") == 0)
		return sweeps_collect(table, sides, err);
	for (; figures->path; figures++) {
		if (figure_collect(table, figures, sides, err) < 0)
			return -1;
	}
	return 0;
}
