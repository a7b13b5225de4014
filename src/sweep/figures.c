/* SPDX-License-Identifier: MIT */
/*
 * From runs to figures. Everything is computed anew from the runs each time, so a grid that was interrupted, read
 * from a file and continued has the figures of one that was not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "stat/groups.h"
#include "stat/knee.h"
#include "stat/series.h"
#include "stat/trend.h"
#include "sweep/sweep.h"

#define TOLERANCE_RATIO 0.02
/* A host whose other processes took that much more of all its CPUs than usual for the cell did something else. */
#define DISTURBED_RATIO 0.15
#define MIN_FOR_INTERVAL 6
/* Differences up to it don't matter to anybody, however surely they can be seen. */
#define MARGIN_RATIO 0.01
#define ERROR_RATE 0.05
/* A drift or a dependence is said from here on. */
#define SUSPECT_P 0.01
#define LEAST_DEPENDENCE 0.2

/* Room for a figure of every run, and for sorting them. */
struct room {
	double *values, *scratch;
};

/* One figure of each run of a cell, in the order in which they were measured. NaN is left out. Return: how many. */
static size_t collect(const struct wr_grid *grid, size_t cell, size_t offset, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < grid->n_runs; i++) {
		double value;

		if (grid->runs[i].cell != cell)
			continue;
		memcpy(&value, (const char *)&grid->runs[i] + offset, sizeof value);
		if (isfinite(value))
			values[n++] = value;
	}
	return n;
}

#define COLLECT(grid, cell, field, room) collect(grid, cell, offsetof(struct wr_grid_run, field), (room)->values)

/* A run beside which other processes used much more CPU than beside the cell's other runs. */
static void mark_disturbed(struct wr_grid *grid, size_t cell, size_t offset, struct room *room)
{
	size_t n = collect(grid, cell, offset, room->values);
	double usual = wr_stat_median(room->values, n, room->scratch), value;

	for (size_t i = 0; i < grid->n_runs && n > 1; i++) {
		if (grid->runs[i].cell != cell)
			continue;
		memcpy(&value, (const char *)&grid->runs[i] + offset, sizeof value);
		if (value > usual + DISTURBED_RATIO)
			grid->runs[i].disturbed = true;
	}
}

static void cell_figures(struct wr_grid *grid, size_t index, struct room *room)
{
	struct wr_grid_cell *cell = &grid->cells[index];
	size_t n = COLLECT(grid, index, rtt_us, room);

	*cell = (struct wr_grid_cell){.ci95 = {NAN, NAN, 0}, .group = -1, .sndbuf_eff_bytes = WR_UNSET,
				      .rcvbuf_eff_bytes = WR_UNSET};
	cell->rtt_us = wr_stat_median(room->values, n, room->scratch);
	n = COLLECT(grid, index, transfer_s, room);
	cell->transfer_s = wr_stat_median(room->values, n, room->scratch);
	n = COLLECT(grid, index, messages_per_s, room);
	cell->messages_per_s = wr_stat_median(room->values, n, room->scratch);
	n = COLLECT(grid, index, latency_p99_us, room);
	cell->latency_p99_us = wr_stat_median(room->values, n, room->scratch);
	n = COLLECT(grid, index, throughput_bps, room);
	(void)wr_stat_summarise(&cell->bps, room->values, n, room->scratch);
	cell->grade = wr_stat_grade(cell->bps.cv);
	if (n >= MIN_FOR_INTERVAL)
		(void)wr_stat_median_interval_interpolated(&cell->ci95, room->values, n, 0.95, room->scratch);
	for (size_t i = 0; i < grid->n_runs; i++) {
		const struct wr_grid_run *run = &grid->runs[i];

		if (run->cell != index)
			continue;
		cell->n_ramping += run->ramping;
		cell->n_disturbed += run->disturbed;
		cell->sndbuf_eff_bytes = run->sndbuf_eff_bytes;
		cell->rcvbuf_eff_bytes = run->rcvbuf_eff_bytes;
	}
	cell->stopped_early = grid->plan.until_ratio > 0 && wr_sweep_narrow(grid, index);
}

bool wr_sweep_narrow(const struct wr_grid *grid, size_t cell)
{
	const struct wr_grid_cell *figures = &grid->cells[cell];

	return wr_stat_interval_is_narrow(&figures->ci95, figures->bps.median, grid->plan.until_ratio);
}

/* -- groups -- */

/* What the comparison of cells needs. */
struct comparison {
	struct wr_stat_run *runs;
	struct wr_stat_cell *cells;
	struct wr_stat_pair *pairs;
	int *groups;
	size_t *scratch;
};

static void comparison_deinit(struct comparison *comparison)
{
	free(comparison->runs);
	free(comparison->cells);
	free(comparison->pairs);
	free(comparison->groups);
	free(comparison->scratch);
}

static int comparison_init(struct comparison *comparison, const struct wr_grid *grid, struct weir_err *err)
{
	comparison->runs = calloc(grid->n_runs + 1, sizeof *comparison->runs);
	comparison->cells = calloc(grid->n_cells, sizeof *comparison->cells);
	comparison->pairs = calloc(WR_STAT_N_PAIRS(grid->n_cells) + 1, sizeof *comparison->pairs);
	comparison->groups = calloc(grid->n_cells, sizeof *comparison->groups);
	comparison->scratch = calloc(grid->n_cells, sizeof *comparison->scratch);
	if (!comparison->runs || !comparison->cells || !comparison->pairs || !comparison->groups || !comparison->scratch)
		return wr_err_memory(err, "comparison");
	for (size_t i = 0; i < grid->n_runs; i++)
		comparison->runs[i] = (struct wr_stat_run){grid->runs[i].cell, grid->runs[i].throughput_bps};
	return 0;
}

/* Cells that can't be told apart, and how small a difference could have been. */
static int groups(struct wr_grid *grid, struct weir_err *err)
{
	struct comparison comparison = {NULL, NULL, NULL, NULL, NULL};
	size_t n_pairs;
	int rc = comparison_init(&comparison, grid, err);

	if (rc == 0) {
		wr_stat_cells(comparison.cells, grid->n_cells, comparison.runs, grid->n_runs);
		n_pairs = wr_stat_pairs(comparison.pairs, comparison.cells, grid->n_cells, MARGIN_RATIO);
		grid->n_groups = wr_stat_groups(comparison.groups, NULL, comparison.cells, grid->n_cells, comparison.pairs, ERROR_RATE,
						comparison.scratch);
		grid->mde_ratio = wr_stat_min_effect(comparison.cells, grid->n_cells, n_pairs, MARGIN_RATIO, ERROR_RATE);
		for (size_t i = 0; i < grid->n_cells; i++)
			grid->cells[i].group = comparison.groups[i];
	}
	comparison_deinit(&comparison);
	return rc;
}

/* -- are the runs what they are taken for -- */

/*
 * Each run's logarithm less its cell's mean, in the order in which they were made: a trend over time is a drift, and a
 * likeness of neighbours a dependence. Runs of a staircase share connections and are not asked.
 */
static int checks(struct wr_grid *grid, struct weir_err *err)
{
	wr_auto_free double *memory = calloc(2 * grid->n_runs + 3 * grid->n_cells + 1, sizeof *memory);
	double *residuals = memory, *times = memory + grid->n_runs, *sums = times + grid->n_runs, *counts = sums + grid->n_cells;
	struct wr_stat_trend trend;
	size_t n = 0, n_means = 0;

	grid->drift_ratio = grid->drift_p = grid->dependence = grid->dependence_p = NAN;
	if (!memory)
		return wr_err_memory(err, "checks");
	if (grid->plan.staircase)
		return 0;
	for (size_t i = 0; i < grid->n_runs; i++) {
		if (grid->runs[i].throughput_bps > 0) {
			sums[grid->runs[i].cell] += log(grid->runs[i].throughput_bps);
			counts[grid->runs[i].cell]++;
		}
	}
	for (size_t i = 0; i < grid->n_cells; i++)
		n_means += counts[i] > 0;
	for (size_t i = 0; i < grid->n_runs; i++) {
		const struct wr_grid_run *run = &grid->runs[i];

		if (!(run->throughput_bps > 0))
			continue;
		residuals[n] = log(run->throughput_bps) - sums[run->cell] / counts[run->cell];
		times[n++] = run->started_s;
	}
	trend = wr_stat_trend(residuals, times, n, n_means);
	grid->drift_ratio = exp(trend.change);
	grid->drift_p = trend.p;
	grid->dependence = wr_stat_lag1(residuals, n);
	grid->dependence_p = wr_stat_lag1_p(grid->dependence, n);
	return 0;
}

static void note_checks(struct wr_grid *grid)
{
	if (grid->drift_p < SUSPECT_P && fabs(log(grid->drift_ratio)) > MARGIN_RATIO)
		wr_grid_note(grid, "rates %s by %.0f %% from the first run to the last (p %.4f): something changed meanwhile; each block "
				   "holds all cells, so their order stands, their figures are of no one moment",
			     grid->drift_ratio < 1 ? "fell" : "rose", 100 * fabs(grid->drift_ratio - 1), grid->drift_p);
	if (grid->dependence_p < SUSPECT_P && grid->dependence > LEAST_DEPENDENCE)
		wr_grid_note(grid, "runs depend on the ones before them (autocorrelation %.2f, p %.4f): a token bucket, a cache or a neighbour; "
				   "intervals are too narrow, rests between runs or other hours would tell", grid->dependence,
			     grid->dependence_p);
}

/* -- knees -- */

/* The sizes of a buffer axis at one place of the others, ascending. Return: how many have figures. */
static size_t curve(const struct wr_grid *grid, size_t axis, const size_t place[WR_MAX_AXES], struct wr_stat_point *points,
		    size_t *cells)
{
	const struct wr_axis *varied = &grid->plan.axes[axis];
	size_t at[WR_MAX_AXES], n = 0;

	memcpy(at, place, sizeof at);
	for (size_t j = 0; j < varied->n_values; j++) {
		size_t cell, i = n;

		at[axis] = j;
		cell = wr_grid_cell_at(&grid->plan, at);
		if (varied->values[j].unset || grid->cells[cell].bps.n_samples == 0)
			continue;
		for (; i > 0 && points[i - 1].size_bytes > varied->values[j].number; i--) {
			points[i] = points[i - 1];
			cells[i] = cells[i - 1];
		}
		points[i] = (struct wr_stat_point){varied->values[j].number, grid->cells[cell].bps.median};
		cells[i] = cell;
		n++;
	}
	return n;
}

/* What autotuning carries at the same place; NaN when that is no cell. */
static double unset_bps(const struct wr_grid *grid, size_t axis, const size_t place[WR_MAX_AXES])
{
	size_t at[WR_MAX_AXES];

	memcpy(at, place, sizeof at);
	for (at[axis] = 0; at[axis] < grid->plan.axes[axis].n_values; at[axis]++) {
		if (grid->plan.axes[axis].values[at[axis]].unset)
			return grid->cells[wr_grid_cell_at(&grid->plan, at)].bps.median;
	}
	return NAN;
}

/*
 * A largest size that alone reaches the plateau is no knee, unless autotuning, which may go further, carries no more:
 * then it is the plateau.
 */
static void knee_at(struct wr_grid *grid, size_t axis, const size_t place[WR_MAX_AXES])
{
	struct wr_stat_point points[WR_MAX_AXIS_VALUES];
	size_t cells[WR_MAX_AXIS_VALUES], n = curve(grid, axis, place, points, cells);
	struct wr_stat_knee found;
	int outcome;

	if (n < 3 || grid->n_knees == WR_MAX_KNEES)
		return;
	outcome = wr_stat_knee(&found, points, n, TOLERANCE_RATIO);
	if (outcome == WR_STAT_KNEE_NONE)
		return;
	if (outcome == WR_STAT_KNEE_CLIMBING &&
	    unset_bps(grid, axis, place) <= points[n - 1].throughput_bps * (1 + TOLERANCE_RATIO))
		outcome = WR_STAT_KNEE_FOUND;
	grid->knees[grid->n_knees++] = (struct wr_grid_knee){
		.axis = axis, .cell = cells[found.index], .plateau_bps = found.plateau_bps,
		.climbing = outcome == WR_STAT_KNEE_CLIMBING, .monotone = found.monotone,
	};
}

/* A knee for every place of the other axes: those cells whose value on the axis is its first. */
static void knees(struct wr_grid *grid)
{
	size_t place[WR_MAX_AXES];

	grid->n_knees = 0;
	for (size_t axis = 0; axis < grid->plan.n_axes; axis++) {
		if (!wr_axis_is_buffer(&grid->plan.axes[axis]))
			continue;
		for (size_t cell = 0; cell < grid->n_cells; cell++) {
			wr_grid_place(&grid->plan, cell, place);
			if (place[axis] == 0)
				knee_at(grid, axis, place);
		}
	}
}

static void note_host(struct wr_grid *grid)
{
	size_t n_disturbed = 0, n_ramping = 0;

	for (size_t i = 0; i < grid->n_runs; i++) {
		n_disturbed += grid->runs[i].disturbed;
		n_ramping += grid->runs[i].ramping;
	}
	if (n_disturbed)
		wr_grid_note(grid, "a host was busy with something else during %zu of %zu runs: repeat the grid at a quieter time "
				   "before small differences are believed", n_disturbed, grid->n_runs);
	if (n_ramping)
		wr_grid_note(grid, "%zu of %zu runs ended before their rate was steady; their figure is the whole run's: longer runs "
				   "(-t) would tell", n_ramping, grid->n_runs);
}

int wr_sweep_figures(struct wr_grid *grid, struct weir_err *err)
{
	wr_auto_free double *memory = calloc(2 * grid->n_runs + 2, sizeof *memory);
	struct room room = {memory, memory ? memory + grid->n_runs + 1 : NULL};

	if (!memory)
		return wr_err_memory(err, "figures");
	grid->transfer_s = grid->wall_s = 0;
	for (size_t i = 0; i < grid->n_runs; i++) {
		grid->runs[i].disturbed = false;
		grid->transfer_s += grid->runs[i].transfer_s;
		grid->wall_s += grid->runs[i].wall_s;
	}
	for (size_t cell = 0; cell < grid->n_cells; cell++) {
		mark_disturbed(grid, cell, offsetof(struct wr_grid_run, near_other_cpu_ratio), &room);
		mark_disturbed(grid, cell, offsetof(struct wr_grid_run, far_other_cpu_ratio), &room);
		cell_figures(grid, cell, &room);
	}
	knees(grid);
	note_host(grid);
	if (checks(grid, err) < 0)
		return -1;
	note_checks(grid);
	return groups(grid, err);
}
