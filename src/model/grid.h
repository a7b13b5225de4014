/* SPDX-License-Identifier: MIT */
/*
 * A grid: what is to be measured (a plan and its axes), the runs that were, and the figures of each cell. A cell is
 * one value of every axis; a block measures every cell once, in an order of its own.
 */
#ifndef WR_MODEL_GRID_H
#define WR_MODEL_GRID_H

#include "model/axis.h"
#include "model/evidence.h"
#include "stat/grade.h"
#include "stat/interval.h"
#include "stat/summary.h"

#define WR_MAX_CELLS 1024
#define WR_MAX_GRID_RUNS 65536
#define WR_MAX_KNEES 64
#define WR_MAX_NOTES 12
#define WR_NOTE_TEXT 240

/*
 * @base: what all cells share
 * @repeats: runs of each cell
 * @seed: of the order
 * @until_ratio: go on until each cell's interval is at most that far from its median on either side; 0: not
 * @budget_ns: begin no run after it, WR_UNSET none
 * @staircase: one connection stepped down the sizes of the buffer axis, instead of one a cell
 */
struct wr_grid_plan {
	struct wr_plan base;
	struct wr_axis axes[WR_MAX_AXES];
	size_t n_axes;
	uint64_t repeats, seed, budget_ns;
	double until_ratio;
	bool staircase;
};

/*
 * One run of a cell. Rates in bit/s, times in us, ratios of all CPUs of a host; NaN where unknown.
 *
 * @started_s: since the sweep's start; @transfer_s: how long data moved, @wall_s: with all that is around it
 * @messages_per_s, @latency_p99_us: of a workload of messages
 * @sndbuf_eff_bytes, @rcvbuf_eff_bytes: sender's and receiver's at the end, WR_UNSET unknown
 * @ramping: it ended before its rate was steady; @disturbed: the host did something else meanwhile
 */
struct wr_grid_run {
	uint32_t cell, block;
	double started_s, transfer_s, wall_s;
	double throughput_bps, rtt_us, retrans_segs, messages_per_s, latency_p99_us;
	double near_other_cpu_ratio, far_other_cpu_ratio;
	uint64_t bytes, sndbuf_eff_bytes, rcvbuf_eff_bytes;
	bool ramping, disturbed;
};

/*
 * The figures of a cell, of throughput in bit/s.
 *
 * @ci95: of the median, NaN below 6 runs; @group: cells that can't be told apart share one, 0 holds the fastest,
 *	-1 not ranked
 * @rtt_us, @transfer_s, @messages_per_s, @latency_p99_us: medians, NaN unknown; @sndbuf_eff_bytes, @rcvbuf_eff_bytes: of the last run
 * @stopped_early: it has as many runs as its interval needed, so that this is narrower than it should be
 */
struct wr_grid_cell {
	struct wr_stat_summary bps;
	struct wr_stat_interval ci95;
	enum wr_stat_grade grade;
	int group;
	double rtt_us, transfer_s, messages_per_s, latency_p99_us;
	uint64_t sndbuf_eff_bytes, rcvbuf_eff_bytes;
	size_t n_ramping, n_disturbed;
	bool stopped_early;
};

/*
 * The smallest value of a buffer axis that carries what larger ones do, at one place of the other axes.
 *
 * @cell: the knee's; its value on @axis is the size
 * @plateau_bps: what the curve levels out at; @monotone: no larger size was slower by more than the tolerance
 * @climbing: the largest size was still the fastest, so there is none
 */
struct wr_grid_knee {
	size_t axis, cell;
	double plateau_bps;
	bool climbing, monotone;
};

/*
 * @n_blocks: that were begun; @complete: nothing of the plan is missing
 * @groups: their number; @mde_ratio: the least difference that the grid could have seen; NaN unknown
 * @drift_ratio: last block over first; @drift_p, @dependence_p: of their tests; NaN without
 * @transfer_s, @wall_s: sums over the runs
 * @notes: what a reader must know, a sentence each
 */
struct wr_grid {
	struct wr_grid_plan plan;
	struct wr_grid_run *runs;
	size_t n_runs, room;
	struct wr_grid_cell *cells;
	size_t n_cells;
	struct wr_grid_knee knees[WR_MAX_KNEES];
	size_t n_knees, n_blocks;
	int n_groups;
	double mde_ratio, drift_ratio, drift_p, dependence, dependence_p, transfer_s, wall_s;
	bool complete;
	char notes[WR_MAX_NOTES][WR_NOTE_TEXT];
	size_t n_notes;
};

/* wr_grid_plan_axis - the axis that varies @name; NULL when none does. */
const struct wr_axis *wr_grid_plan_axis(const struct wr_grid_plan *plan, const char *name);

/* wr_grid_plan_cells - how many cells @plan has. Return: 0; -1 (WEIR_ERR_USAGE) too many, or a cell contradicts itself. */
int wr_grid_plan_cells(const struct wr_grid_plan *plan, size_t *n_cells, struct weir_err *err);

/* wr_grid_place - which value of each axis @cell has. The first axis changes slowest. */
void wr_grid_place(const struct wr_grid_plan *plan, size_t cell, size_t place[WR_MAX_AXES]);
size_t wr_grid_cell_at(const struct wr_grid_plan *plan, const size_t place[WR_MAX_AXES]);

/* wr_grid_cell_plan - the plan of one run of @cell. Return: 0; -1 it contradicts itself. */
int wr_grid_cell_plan(const struct wr_grid_plan *plan, size_t cell, struct wr_plan *out, struct weir_err *err);

/* wr_grid_cell_text - the cell in words, "SO_SNDBUF 64.0 KiB, write 1.0 KiB". */
void wr_grid_cell_text(const struct wr_grid_plan *plan, size_t cell, char *out, size_t n_out);

/* The plan as JSON: the keys of a run's plan, axes{option: [texts]}, repeat, seed, ... */
json_t *wr_grid_plan_to_json(const struct wr_grid_plan *plan);

/* wr_grid_plan_from_json - the reverse, every value checked. @plan: wr_plan_deinit its base. Return: 0; -1. */
int wr_grid_plan_from_json(struct wr_grid_plan *plan, const json_t *object, struct weir_err *err);

/* wr_grid_init - room for the cells of @plan, which is copied. Return: 0; -1. */
int wr_grid_init(struct wr_grid *grid, const struct wr_grid_plan *plan, struct weir_err *err);
void wr_grid_deinit(struct wr_grid *grid);

/* wr_grid_add - append a run. Return: 0; -1 out of memory, or more than WR_MAX_GRID_RUNS. */
int wr_grid_add(struct wr_grid *grid, const struct wr_grid_run *run, struct weir_err *err);

/* wr_grid_has - whether @cell was measured in @block. */
bool wr_grid_has(const struct wr_grid *grid, size_t cell, size_t block);

/* wr_grid_note - add a sentence; beyond WR_MAX_NOTES they are left out. */
void wr_grid_note(struct wr_grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

json_t *wr_grid_run_to_json(const struct wr_grid_run *run);

/* wr_grid_run_from_json - @n_cells bounds the cell. Return: 0; -1 a key is missing, wrong or out of bounds. */
int wr_grid_run_from_json(struct wr_grid_run *run, const json_t *object, size_t n_cells, struct weir_err *err);

#endif
