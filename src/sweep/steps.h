/* SPDX-License-Identifier: MIT */
/* What the ways to measure a block share: a sweep that is going on. Inside this folder only. */
#ifndef WR_SWEEP_STEPS_H
#define WR_SWEEP_STEPS_H

#include "sweep/sweep.h"

/*
 * @remembers: the kernel's memory of the path could not be dropped
 * @misfit: why cells have no runs: their messages are larger than their buffers take, "" none
 * @sizes: what became of sizes beyond a limit: SO_SNDBUF, SO_RCVBUF; below the least: the same
 */
struct wr_sweep_steps {
	struct wr_peer *peer;
	struct wr_grid *grid;
	const struct wr_sweep_watch *watch;
	int64_t began_ns;
	bool remembers;
	char sizes[4][WR_NOTE_TEXT], misfit[WR_NOTE_TEXT];
};

double wr_sweep_elapsed_s(const struct wr_sweep_steps *steps);

/* wr_sweep_cell_plan - as wr_grid_cell_plan, with what every run of a sweep has. Return: 0; -1. */
int wr_sweep_cell_plan(const struct wr_sweep_steps *steps, size_t cell, struct wr_plan *plan, struct weir_err *err);

/* wr_sweep_measure - one run of one cell on a connection of its own. Return: 0; 1 stopped, nothing was added; 2 the budget; -1. */
int wr_sweep_measure(struct wr_sweep_steps *steps, size_t cell, size_t block, struct weir_err *err);

/* wr_sweep_add - keep a run and tell the watch. Return: 0; -1. */
int wr_sweep_add(struct wr_sweep_steps *steps, const struct wr_grid_run *run, struct weir_err *err);

/* wr_sweep_stairs_block - one block by staircase. @order: of all cells. Return: 0; 1 stopped; 2 the budget; -1. */
int wr_sweep_stairs_block(struct wr_sweep_steps *steps, size_t block, const uint32_t *order, struct weir_err *err);

#endif
