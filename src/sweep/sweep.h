/* SPDX-License-Identifier: MIT */
/* The grid, measured: every cell once a block, in an order drawn anew for each, on fresh connections. */
#ifndef WR_SWEEP_SWEEP_H
#define WR_SWEEP_SWEEP_H

#include "measure/measure.h"
#include "model/grid.h"

/*
 * What a caller wants to know while a sweep goes on; each may be NULL.
 *
 * @begin: before a run: its place in the sweep, and what is expected to be left
 * @done: after each run, which is the last of grid->runs
 */
struct wr_sweep_watch {
	void (*begin)(void *context, const struct wr_grid *grid, size_t cell, size_t n_left, double left_s);
	void (*done)(void *context, const struct wr_grid *grid);
	void *context;
};

/* wr_sweep_order - the cells of @block in the order in which they are measured. @order: room for @n_cells. */
void wr_sweep_order(uint64_t seed, size_t block, size_t n_cells, uint32_t *order);

/*
 * wr_sweep - measure what @grid does not hold yet, then its figures
 * @grid: from wr_grid_init, with the runs of an interrupted sweep, or none
 *
 * Return: 0 complete, or as far as the budget went (grid->complete); 1 stopped by the user; -1 an error, with what was
 * measured until then in @grid and its figures made.
 */
int wr_sweep(struct wr_peer *peer, struct wr_grid *grid, const struct wr_sweep_watch *watch, struct weir_err *err);

/* wr_sweep_expected_s - what the whole will take at most, from the plan alone. */
double wr_sweep_expected_s(const struct wr_grid_plan *plan, size_t n_cells, double rtt_s);

/* wr_sweep_stairs_check - whether @plan can be measured by staircase: one buffer axis. Return: 0; -1 usage. */
int wr_sweep_stairs_check(const struct wr_grid_plan *plan, struct weir_err *err);

/* wr_sweep_figures - cells, groups, knees and checks from grid->runs. Return: 0; -1 out of memory. */
int wr_sweep_figures(struct wr_grid *grid, struct weir_err *err);

/* wr_sweep_narrow - whether @cell needs no further run for grid->plan.until_ratio. */
bool wr_sweep_narrow(const struct wr_grid *grid, size_t cell);

#endif
