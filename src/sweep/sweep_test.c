/* SPDX-License-Identifier: MIT */
/* The order of a sweep, and the figures that follow from runs alone: cells, knees, disturbed runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sweep/sweep.h"

#define N_CELLS 12

static void a_block_holds_every_cell_once(void **state)
{
	uint32_t order[N_CELLS], again[N_CELLS], other[N_CELLS];
	bool seen[N_CELLS] = {false};

	(void)state;
	wr_sweep_order(7, 3, N_CELLS, order);
	wr_sweep_order(7, 3, N_CELLS, again);
	wr_sweep_order(7, 4, N_CELLS, other);
	for (size_t i = 0; i < N_CELLS; i++) {
		assert_true(order[i] < N_CELLS && !seen[order[i]]);
		seen[order[i]] = true;
	}
	assert_memory_equal(order, again, sizeof order);
	assert_memory_not_equal(order, other, sizeof order);
}

/* Each cell must come first equally often: a cell's place in a block is where the host's state differs. */
static void no_cell_has_a_favoured_place(void **state)
{
	uint32_t order[4];
	int first[4] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		for (size_t block = 0; block < 10; block++) {
			wr_sweep_order(seed, block, 4, order);
			first[order[0]]++;
		}
	}
	/* 4000 draws, a quarter each: a standard deviation is 27. */
	for (size_t i = 0; i < 4; i++)
		assert_in_range(first[i], 1000 - 140, 1000 + 140);
}

static struct wr_grid *grid_new(const char *sizes, const char *lengths)
{
	struct wr_grid *grid = calloc(1, sizeof *grid);
	struct wr_grid_plan *plan = calloc(1, sizeof *plan);

	wr_option_defaults(wr_plan_options, &plan->base);
	plan->repeats = 6;
	plan->budget_ns = WR_UNSET;
	assert_int_equal(wr_axis_parse(&plan->axes[0], wr_option_find(wr_plan_options, "sndbuf"), sizes, NULL), 0);
	plan->n_axes = 1;
	if (lengths) {
		assert_int_equal(wr_axis_parse(&plan->axes[1], wr_option_find(wr_plan_options, "length"), lengths, NULL), 0);
		plan->n_axes = 2;
	}
	assert_int_equal(wr_grid_init(grid, plan, NULL), 0);
	free(plan);
	return grid;
}

static void grid_free(struct wr_grid *grid)
{
	wr_grid_deinit(grid);
	free(grid);
}

/* Six blocks in which each cell's runs spread by 1 % about its rate. */
static void fill(struct wr_grid *grid, const double *rates)
{
	for (uint32_t block = 0; block < 6; block++) {
		for (uint32_t cell = 0; cell < grid->n_cells; cell++) {
			struct wr_grid_run run = {.cell = cell, .block = block, .started_s = block, .transfer_s = 1, .wall_s = 1.1,
						  .throughput_bps = rates[cell] * (0.995 + 0.002 * ((block * 5 + cell) % 6)),
						  .rtt_us = 1000, .near_other_cpu_ratio = 0.1, .far_other_cpu_ratio = NAN,
						  .bytes = 1, .sndbuf_eff_bytes = 1, .rcvbuf_eff_bytes = WR_UNSET};

			assert_int_equal(wr_grid_add(grid, &run, NULL), 0);
		}
	}
}

static void cells_and_knee(void **state)
{
	struct wr_grid *grid = grid_new("unset,64K,128K,256K,512K", NULL);

	(void)state;
	fill(grid, (const double[]){94e6, 25e6, 50e6, 93.9e6, 94e6});
	assert_int_equal(wr_sweep_figures(grid, NULL), 0);
	assert_int_equal(grid->cells[2].bps.n_samples, 6);
	assert_true(fabs(grid->cells[2].bps.median - 50e6) < 0.5e6);
	assert_true(grid->cells[2].ci95.low >= grid->cells[2].bps.min && grid->cells[2].ci95.high <= grid->cells[2].bps.max);
	assert_int_equal(grid->cells[2].grade, WR_STAT_GRADE_GOOD);
	assert_int_equal(grid->n_knees, 1);
	assert_int_equal(grid->knees[0].cell, 3);
	assert_false(grid->knees[0].climbing);
	assert_true(fabs(grid->transfer_s - 30) < 1e-9);
	grid_free(grid);
}

static void a_curve_that_still_climbs_has_no_knee(void **state)
{
	struct wr_grid *grid = grid_new("64K,128K,256K", NULL);

	(void)state;
	fill(grid, (const double[]){25e6, 50e6, 94e6});
	assert_int_equal(wr_sweep_figures(grid, NULL), 0);
	assert_int_equal(grid->n_knees, 1);
	assert_true(grid->knees[0].climbing);
	grid_free(grid);
}

/* Autotuning, which may go further, carries no more: the largest size is where the curve levels out. */
static void autotuning_shows_the_plateau(void **state)
{
	struct wr_grid *grid = grid_new("unset,64K,128K,256K", NULL);

	(void)state;
	fill(grid, (const double[]){94e6, 25e6, 50e6, 94e6});
	assert_int_equal(wr_sweep_figures(grid, NULL), 0);
	assert_int_equal(grid->knees[0].cell, 3);
	assert_false(grid->knees[0].climbing);
	grid_free(grid);
}

static void each_place_of_the_other_axes_has_a_knee(void **state)
{
	struct wr_grid *grid = grid_new("64K,128K,256K", "1K,128K");

	(void)state;
	fill(grid, (const double[]){25e6, 50e6, 25e6, 94e6, 25e6, 94e6});
	assert_int_equal(wr_sweep_figures(grid, NULL), 0);
	assert_int_equal(grid->n_knees, 2);
	assert_int_equal(grid->knees[0].cell, 0); /* 1K: every size carries 25 Mbit/s */
	assert_int_equal(grid->knees[1].cell, 3); /* 128K: from 128K on */
	grid_free(grid);
}

static void a_busy_host_is_noticed(void **state)
{
	struct wr_grid *grid = grid_new("64K,128K,256K", NULL);

	(void)state;
	fill(grid, (const double[]){25e6, 50e6, 94e6});
	grid->runs[4].near_other_cpu_ratio = 0.6;
	assert_int_equal(wr_sweep_figures(grid, NULL), 0);
	assert_true(grid->runs[4].disturbed);
	assert_int_equal(grid->cells[grid->runs[4].cell].n_disturbed, 1);
	assert_non_null(strstr(grid->notes[0], "1 of 18 runs"));
	grid_free(grid);
}

static void an_empty_grid_has_no_figures(void **state)
{
	struct wr_grid *grid = grid_new("64K,128K,256K", NULL);

	(void)state;
	assert_int_equal(wr_sweep_figures(grid, NULL), 0);
	assert_true(isnan(grid->cells[0].bps.median));
	assert_int_equal(grid->n_knees, 0);
	assert_false(wr_sweep_narrow(grid, 0));
	grid_free(grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_holds_every_cell_once), cmocka_unit_test(no_cell_has_a_favoured_place),
		cmocka_unit_test(cells_and_knee), cmocka_unit_test(a_curve_that_still_climbs_has_no_knee),
		cmocka_unit_test(autotuning_shows_the_plateau), cmocka_unit_test(each_place_of_the_other_axes_has_a_knee),
		cmocka_unit_test(a_busy_host_is_noticed), cmocka_unit_test(an_empty_grid_has_no_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
