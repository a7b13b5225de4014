/* SPDX-License-Identifier: MIT */
/* weir sweep's options, and how a grid's plan comes from them or from a file. */
#ifndef WR_CMD_SWEEP_H
#define WR_CMD_SWEEP_H

#include "cmd/measuring.h"
#include "model/grid.h"

/*
 * @lists: by row of wr_sweep_options: the text of an option that can be an axis, NULL not given
 * @vary: flags that are measured off and on
 * @resume, @again, @plan_file: at most one, a file that brings the plan
 */
struct wr_sweep_choice {
	struct wr_measuring measuring;
	const char *lists[WR_MAX_OPTIONS];
	uint64_t repeats, seed, budget_ns;
	double until_ratio;
	bool no_unset, staircase;
	const char *vary, *face, *format, *plan_file, *save_plan, *again, *resume;
};

/* The rows, put together by wr_sweep_options_init. */
extern struct wr_option wr_sweep_options[];
void wr_sweep_options_init(void);

/* wr_sweep_plan - the grid that the options ask for. @choice must outlive it. Return: 0; -1 usage. */
int wr_sweep_plan(const struct wr_sweep_choice *choice, struct wr_grid_plan *plan, struct weir_err *err);

/* wr_sweep_chosen - the file that brings the plan, with its option's name; NULL none. Return: 0; -1 two of them, or axes beside one. */
int wr_sweep_file(const struct wr_sweep_choice *choice, const char **file, struct weir_err *err);

/*
 * wr_sweep_read - a plan, a result, or the lines of a stream
 * @target: out: what it was measured against, or "" ; @n_target bytes
 * @grid: out: with its plan, and with its runs if @with_runs; wr_grid_deinit it and wr_plan_deinit its plan's base
 *
 * Return: 0; -1 with @err naming file and line or key.
 */
int wr_sweep_read(const char *file, bool with_runs, struct wr_grid *grid, char *target, size_t n_target, struct weir_err *err);

/* wr_sweep_save_plan - write @plan and @target to @file, "-" is stdout. Return: 0; -1. */
int wr_sweep_save_plan(const char *file, const struct wr_grid_plan *plan, const char *target, struct weir_err *err);

#endif
