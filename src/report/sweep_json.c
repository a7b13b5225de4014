/* SPDX-License-Identifier: MIT */
/* weir.sweep/1: the plan, each cell's figures, the knees, and every run in the order in which it was made. */
#include <math.h>
#include <string.h>

#include "report/sweep.h"

static void set_rate(json_t *object, const char *key, double value)
{
	if (isfinite(value) && value >= 0)
		json_object_set_new(object, key, json_integer(llround(value)));
}

static void set_ratio(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(object, key, json_real(round(value * 1e6) / 1e6));
}

static void set_size(json_t *object, const char *key, uint64_t bytes)
{
	if (bytes != WR_UNSET)
		json_object_set_new(object, key, json_integer((json_int_t)bytes));
}

static void set_place(json_t *object, const struct wr_grid_plan *plan, size_t cell)
{
	size_t place[WR_MAX_AXES];
	char key[64];

	wr_grid_place(plan, cell, place);
	for (size_t i = 0; i < plan->n_axes; i++)
		json_object_set_new(object, wr_axis_key(&plan->axes[i], key, sizeof key),
				    wr_axis_value_json(&plan->axes[i], place[i]));
}

static json_t *axes_json(const struct wr_grid_plan *plan)
{
	json_t *axes = json_object();
	char key[64];

	for (size_t i = 0; i < plan->n_axes; i++) {
		json_t *values = json_array();

		for (size_t j = 0; j < plan->axes[i].n_values; j++)
			json_array_append_new(values, wr_axis_value_json(&plan->axes[i], j));
		json_object_set_new(axes, wr_axis_key(&plan->axes[i], key, sizeof key), values);
	}
	return axes;
}

static json_t *runs_bps(const struct wr_grid *grid, size_t cell)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < grid->n_runs; i++) {
		if (grid->runs[i].cell == cell)
			json_array_append_new(runs, json_integer((json_int_t)llround(grid->runs[i].throughput_bps)));
	}
	return runs;
}

static json_t *cell_json(const struct wr_grid *grid, size_t index)
{
	const struct wr_grid_cell *cell = &grid->cells[index];
	json_t *object = json_object(), *rates = json_object();

	set_place(object, &grid->plan, index);
	json_object_set_new(object, "n", json_integer((json_int_t)cell->bps.n_samples));
	set_rate(rates, "min", cell->bps.min);
	set_rate(rates, "max", cell->bps.max);
	set_rate(rates, "mean", cell->bps.mean);
	set_rate(rates, "median", cell->bps.median);
	if (isfinite(cell->ci95.low))
		json_object_set_new(rates, "ci95", json_pack("[I,I]", (json_int_t)llround(cell->ci95.low),
							     (json_int_t)llround(cell->ci95.high)));
	set_ratio(rates, "cv_ratio", cell->bps.cv);
	json_object_set_new(object, "throughput_bps", rates);
	json_object_set_new(object, "runs_bps", runs_bps(grid, index));
	if (cell->bps.n_samples > 1)
		json_object_set_new(object, "grade", json_string(wr_stat_grade_name(cell->grade)));
	if (cell->group >= 0)
		json_object_set_new(object, "group", json_integer(cell->group));
	set_rate(object, "rtt_loaded_us", cell->rtt_us);
	set_ratio(object, "transfer_s", cell->transfer_s);
	set_ratio(object, "messages_per_s", cell->messages_per_s);
	set_rate(object, "latency_p99_us", cell->latency_p99_us);
	set_size(object, "sndbuf_eff_bytes", cell->sndbuf_eff_bytes);
	set_size(object, "rcvbuf_eff_bytes", cell->rcvbuf_eff_bytes);
	json_object_set_new(object, "ramping", json_integer((json_int_t)cell->n_ramping));
	json_object_set_new(object, "disturbed", json_integer((json_int_t)cell->n_disturbed));
	if (grid->plan.until_ratio > 0)
		json_object_set_new(object, "stopped_early", json_boolean(cell->stopped_early));
	return object;
}

static json_t *knee_json(const struct wr_grid *grid, const struct wr_grid_knee *knee)
{
	json_t *object = json_object();
	char key[64];

	json_object_set_new(object, "axis", json_string(wr_axis_key(&grid->plan.axes[knee->axis], key, sizeof key)));
	set_place(object, &grid->plan, knee->cell);
	set_rate(object, "throughput_bps", grid->cells[knee->cell].bps.median);
	set_rate(object, "plateau_bps", knee->plateau_bps);
	json_object_set_new(object, "climbing", json_boolean(knee->climbing));
	json_object_set_new(object, "monotone", json_boolean(knee->monotone));
	return object;
}

json_t *wr_report_sweep_run_json(const struct wr_grid *grid, const struct wr_grid_run *run)
{
	json_t *object = wr_grid_run_to_json(run);

	set_place(object, &grid->plan, run->cell);
	return object;
}

static void put_checks(json_t *object, const struct wr_grid *grid)
{
	json_t *drift = json_object(), *dependence = json_object();

	set_ratio(object, "mde_ratio", grid->mde_ratio);
	set_ratio(drift, "ratio", grid->drift_ratio);
	set_ratio(drift, "p", grid->drift_p);
	json_object_set_new(object, "drift", drift);
	set_ratio(dependence, "lag1", grid->dependence);
	set_ratio(dependence, "p", grid->dependence_p);
	json_object_set_new(object, "dependence", dependence);
	json_object_set_new(object, "cost", json_pack("{s:I,s:f,s:f}", "runs", (json_int_t)grid->n_runs, "transfer_s",
						      round(grid->transfer_s * 1e3) / 1e3, "wall_s",
						      round(grid->wall_s * 1e3) / 1e3));
}

static json_t *head_json(const struct wr_report_head *head, const struct wr_grid *grid)
{
	json_t *object = wr_report_head_json(head, &grid->plan.base);

	json_object_set_new(object, "plan", wr_grid_plan_to_json(&grid->plan));
	json_object_set_new(object, "axes", axes_json(&grid->plan));
	json_object_set_new(object, "seed", json_integer((json_int_t)grid->plan.seed));
	return object;
}

json_t *wr_report_sweep_start_json(const struct wr_report_head *head, const struct wr_grid *grid)
{
	return head_json(head, grid);
}

json_t *wr_report_sweep_json(const struct wr_report_head *head, const struct wr_grid *grid)
{
	json_t *object = head_json(head, grid), *cells = json_array(), *knees = json_array(), *runs = json_array();
	json_t *notes = json_array();

	for (size_t i = 0; i < grid->n_cells; i++)
		json_array_append_new(cells, cell_json(grid, i));
	for (size_t i = 0; i < grid->n_knees; i++)
		json_array_append_new(knees, knee_json(grid, &grid->knees[i]));
	for (size_t i = 0; i < grid->n_runs; i++)
		json_array_append_new(runs, wr_grid_run_to_json(&grid->runs[i]));
	for (size_t i = 0; i < grid->n_notes; i++)
		json_array_append_new(notes, json_string(grid->notes[i]));
	json_object_set_new(object, "cells", cells);
	json_object_set_new(object, "knees", knees);
	put_checks(object, grid);
	json_object_set_new(object, "notes", notes);
	json_object_set_new(object, "runs", runs);
	return object;
}

static int write_json(FILE *out, const struct wr_report_head *head, const struct wr_grid *grid,
		      const struct wr_sweep_face *face, struct weir_err *err)
{
	(void)face;
	(void)err;
	wr_report_print(wr_report_sweep_json(head, grid), out);
	return 0;
}

const struct wr_sweep_writer wr_sweep_json = {"json", "one object, weir.sweep/1", write_json};
