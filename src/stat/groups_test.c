/* SPDX-License-Identifier: MIT */
/*
 * Comparisons against R's, and by simulation: how often equal cells are told apart, and how often cells that differ by
 * what the grid should see.
 */
#include "stat/groups.h"

#include <stdbool.h>

#include "stat/testing.h"

#define MAX_CELLS 16
#define MAX_RUNS 10
#define EFFECTS_EVERY 40

/* R's chickwts without meatmeal and soybean: casein, horsebean, linseed, sunflower. */
static const struct wr_stat_run chicks[] = {
	{0, 368}, {0, 390}, {0, 379}, {0, 260}, {0, 404}, {0, 318}, {0, 352}, {0, 359}, {0, 216}, {0, 222}, {0, 283},
	{0, 332}, {1, 179}, {1, 160}, {1, 136}, {1, 227}, {1, 217}, {1, 168}, {1, 108}, {1, 124}, {1, 143}, {1, 140},
	{2, 309}, {2, 229}, {2, 181}, {2, 141}, {2, 260}, {2, 203}, {2, 148}, {2, 169}, {2, 213}, {2, 257}, {2, 244},
	{2, 271}, {3, 423}, {3, 340}, {3, 392}, {3, 339}, {3, 341}, {3, 226}, {3, 320}, {3, 295}, {3, 334}, {3, 322},
	{3, 297}, {3, 318},
};

#define N_CHICKS (sizeof chicks / sizeof chicks[0])

/* pairwise.t.test(log(weight), feed, pool.sd = FALSE, p.adjust = "holm"), R 4.2 */
static void pairs_are_those_of_r(void **state)
{
	static const struct {
		size_t a, b;
		double p;
	} rows[] = {
		{1, 0, 3.744910661e-06}, {2, 0, 1.153746149e-03}, {3, 0, 7.380185688e-01},
		{2, 1, 1.474976622e-02}, {1, 3, 2.612213679e-06}, {3, 2, 3.285942688e-04},
	};
	struct wr_stat_cell cells[4];
	struct wr_stat_pair pairs[WR_STAT_N_PAIRS(4)];

	(void)state;
	wr_stat_cells(cells, 4, chicks, N_CHICKS);
	assert_near(cells[0].mean_log, 5.759283750, 1e-9);
	assert_near(cells[1].var_log, 0.05563179888, 1e-11);
	assert_int_equal(cells[1].n_runs, 10);
	assert_int_equal(wr_stat_pairs(pairs, cells, 4, 0), 6);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_near(wr_stat_pair_p(pairs, 4, rows[i].a, rows[i].b) / rows[i].p, 1, 1e-8);
	assert_near(wr_stat_pair_p(pairs, 4, 2, 2), 1, 0);
}

/* exp(t.test(log(casein), log(linseed), conf.level = ...)$conf.int) with 0.95 and 1 - 0.05 / 6 */
static void ratios_are_those_of_r(void **state)
{
	struct wr_stat_interval interval;
	struct wr_stat_cell cells[4];

	(void)state;
	wr_stat_cells(cells, 4, chicks, N_CHICKS);
	assert_near(wr_stat_cells_ratio(&interval, &cells[0], &cells[2], 1, 0.95),
		    exp(5.759283750 - 5.360414508), 1e-8);
	assert_near(interval.low, 1.223415171, 1e-8);
	assert_near(interval.high, 1.815012245, 1e-8);
	wr_stat_cells_ratio(&interval, &cells[0], &cells[2], 6, 0.95);
	assert_near(interval.low, 1.130883631, 1e-8);
	assert_near(interval.high, 1.963520786, 1e-8);
}

static void groups_of_chicks(void **state)
{
	static const int expected[] = {0, 2, 1, 0};
	struct wr_stat_cell cells[4];
	struct wr_stat_pair pairs[WR_STAT_N_PAIRS(4)];
	size_t best, scratch[4];
	int groups[4];

	(void)state;
	wr_stat_cells(cells, 4, chicks, N_CHICKS);
	wr_stat_pairs(pairs, cells, 4, 0);
	assert_int_equal(wr_stat_groups(groups, &best, cells, 4, pairs, 0.05, scratch), 3);
	assert_memory_equal(groups, expected, sizeof expected);
	assert_int_equal(best, 3);
	/* 0.0147 of horsebean and linseed isn't below 0.01 */
	assert_int_equal(wr_stat_groups(groups, NULL, cells, 4, pairs, 0.01, scratch), 2);
	assert_int_equal(groups[1], 1);
	/* With a margin of 30 % linseed is not worse than sunflower, by 53 %, but horsebean is, by 108 %. */
	wr_stat_pairs(pairs, cells, 4, 0.30);
	wr_stat_groups(groups, NULL, cells, 4, pairs, 0.05, scratch);
	assert_int_equal(groups[2], 0);
	assert_int_equal(groups[1], 1);
}

/* Cells without runs, with one, with runs that moved nothing, and with runs that are all the same. */
static void cells_of_few_or_equal_runs(void **state)
{
	static const struct wr_stat_run runs[] = {
		{0, 100}, {0, 100}, {1, 90}, {1, 90}, {2, 500}, {3, 0}, {3, 80}, {3, NAN}, {3, 80}, {5, 100}, {5, 100},
	};
	static const int expected[] = {0, 1, WR_STAT_NOT_RANKED, 2, WR_STAT_NOT_RANKED, 0};
	struct wr_stat_cell cells[6];
	struct wr_stat_pair pairs[WR_STAT_N_PAIRS(6)];
	struct wr_stat_interval interval;
	size_t best, scratch[6];
	int groups[6];

	(void)state;
	wr_stat_cells(cells, 6, runs, sizeof runs / sizeof runs[0]);
	assert_int_equal(cells[2].n_runs, 1);
	assert_nan(cells[2].var_log);
	assert_int_equal(cells[3].n_runs, 2);
	assert_int_equal(cells[4].n_runs, 0);
	assert_nan(cells[4].mean_log);
	assert_int_equal(wr_stat_pairs(pairs, cells, 6, 0), 6);
	assert_near(wr_stat_pair_p(pairs, 6, 0, 1), 0, 0);
	assert_near(wr_stat_pair_p(pairs, 6, 5, 0), 1, 0);
	assert_near(wr_stat_pair_p(pairs, 6, 2, 0), 1, 0);
	assert_int_equal(wr_stat_groups(groups, &best, cells, 6, pairs, 0.05, scratch), 3);
	assert_memory_equal(groups, expected, sizeof expected);
	assert_near(wr_stat_min_effect(cells, 6, 6, 0, 0.05), 0, 0);
	wr_stat_cells_ratio(&interval, &cells[0], &cells[2], 6, 0.95);
	assert_nan(interval.low);
	assert_near(interval.coverage_ratio, 0, 0);
}

static void grids_of_one_cell_or_none(void **state)
{
	static const struct wr_stat_run runs[] = {{0, 100}, {0, 101}};
	struct wr_stat_cell cells[1];
	size_t best, scratch[1];
	int groups[1];

	(void)state;
	assert_int_equal(wr_stat_pairs(NULL, NULL, 0, 0), 0);
	assert_int_equal(wr_stat_groups(NULL, &best, NULL, 0, NULL, 0.05, NULL), 0);
	assert_int_equal(best, 0);
	wr_stat_cells(cells, 1, runs, 2);
	assert_int_equal(wr_stat_pairs(NULL, cells, 1, 0), 0);
	assert_int_equal(wr_stat_groups(groups, &best, cells, 1, NULL, 0.05, scratch), 1);
	assert_int_equal(groups[0], 0);
	assert_int_equal(best, 0);
	assert_nan(wr_stat_min_effect(cells, 1, 0, 0, 0.05));
}

/* -- along an axis -- */

/* Sizes 0..4: two below the plateau, one that can't be told from it, the fastest, one slower again. */
static void enough_is_where_the_plateau_begins(void **state)
{
	static const double rates[] = {100, 500, 938, 941, 930};
	static const size_t order[] = {0, 1, 2, 3, 4};
	struct wr_stat_run runs[30];
	struct wr_stat_cell cells[5];
	struct wr_stat_pair pairs[WR_STAT_N_PAIRS(5)];
	struct wr_stat_enough enough;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		runs[i] = (struct wr_stat_run){(uint32_t)(i % 5), rates[i % 5] * (1 + 0.002 * ((double)(i / 5) - 2.5))};
	wr_stat_cells(cells, 5, runs, 30);
	n = wr_stat_pairs(pairs, cells, 5, 0);
	assert_int_equal(wr_stat_enough(&enough, order, 5, cells, 5, pairs, n, 0.05), WR_STAT_DONE);
	assert_int_equal(enough.index, 2);
	assert_int_equal(enough.best_index, 3);
	assert_near(enough.gain_ratio, 941.0 / 938 - 1, 1e-12);
	assert_true(enough.gain_interval.low < 0 && enough.gain_interval.high > 0.003 && enough.gain_interval.high < 0.02);
	/* The first of two that differ; and of one there is nothing to say. */
	assert_int_equal(wr_stat_enough(&enough, order, 2, cells, 5, pairs, n, 0.05), WR_STAT_DONE);
	assert_int_equal(enough.index, 1);
	assert_near(enough.gain_ratio, 0, 0);
	assert_near(enough.gain_interval.high, 0, 0);
	assert_int_equal(wr_stat_enough(&enough, order, 1, cells, 5, pairs, n, 0.05), WR_STAT_TOO_FEW);
}

/* A small size that is too noisy to be told from the plateau isn't enough when a larger one is told from it. */
static void enough_has_no_holes(void **state)
{
	static const size_t order[] = {0, 1, 2};
	struct wr_stat_run runs[18];
	struct wr_stat_cell cells[3];
	struct wr_stat_pair pairs[WR_STAT_N_PAIRS(3)];
	struct wr_stat_enough enough;

	(void)state;
	for (size_t i = 0; i < 18; i++) {
		double off = (double)(i / 3) - 2.5;

		runs[i] = (struct wr_stat_run){(uint32_t)(i % 3), i % 3 == 0 ? 700 + 250 * off :
									       i % 3 == 1 ? 800 + off : 940 + off};
	}
	wr_stat_cells(cells, 3, runs, 18);
	wr_stat_pairs(pairs, cells, 3, 0);
	assert_true(wr_stat_pair_p(pairs, 3, 0, 2) > 0.05);
	assert_int_equal(wr_stat_enough(&enough, order, 3, cells, 3, pairs, 3, 0.05), WR_STAT_DONE);
	assert_int_equal(enough.index, 2);
}

/* -- by simulation -- */

/* ln value of a run of @cell; the mean is that of all cells. */
typedef double draw(struct wr_stat_random *random, size_t cell);

static double normal(struct wr_stat_random *random, size_t cell)
{
	(void)cell;
	return 0.05 * random_normal(random);
}

/* One noisy cell, one less so, and quiet ones. */
static double uneven(struct wr_stat_random *random, size_t cell)
{
	return (cell == 0 ? 0.2 : cell == 1 ? 0.05 : 0.001) * random_normal(random);
}

/* Mostly near the top, with deep dips: what a path does to throughput. */
static double dips(struct wr_stat_random *random, size_t cell)
{
	(void)cell;
	return 0.1 * log(1 - wr_stat_random_unit(random));
}

/* The values themselves exponential: skewed to the right, not lognormal. */
static double exponential(struct wr_stat_random *random, size_t cell)
{
	(void)cell;
	return log(-log(1 - wr_stat_random_unit(random)));
}

struct simulated {
	struct wr_stat_cell cells[MAX_CELLS];
	struct wr_stat_pair pairs[WR_STAT_N_PAIRS(MAX_CELLS)];
	size_t n_comparisons;
};

/* @lead: ln of what the first cell has more than the others */
static void simulate(struct simulated *out, struct wr_stat_random *random, draw *draw_log, size_t n_cells, size_t n_runs,
		     double lead)
{
	struct wr_stat_run runs[MAX_CELLS * MAX_RUNS];

	for (size_t i = 0; i < n_cells * n_runs; i++) {
		size_t cell = i % n_cells;

		runs[i].cell = (uint32_t)cell;
		runs[i].value = exp(draw_log(random, cell) + (cell == 0 ? lead : 0));
	}
	wr_stat_cells(out->cells, n_cells, runs, n_cells * n_runs);
	out->n_comparisons = wr_stat_pairs(out->pairs, out->cells, n_cells, 0);
}

/* The share of grids of equal cells in which some are told apart. */
static double error_rate(draw *draw_log, size_t n_cells, size_t n_runs, unsigned n_trials)
{
	struct wr_stat_random random;
	unsigned n_wrong = 0;

	wr_stat_random_init(&random, 5);
	for (unsigned trial = 0; trial < n_trials; trial++) {
		size_t scratch[MAX_CELLS];
		int groups[MAX_CELLS];
		struct simulated grid;

		simulate(&grid, &random, draw_log, n_cells, n_runs, 0);
		n_wrong += wr_stat_groups(groups, NULL, grid.cells, n_cells, grid.pairs, 0.05, scratch) > 1;
	}
	return (double)n_wrong / n_trials;
}

/* The bound is 5 %, and 1 % for the noise of a simulation of 4000 grids. */
static void equal_cells_stay_together(void **state)
{
	(void)state;
	assert_true(error_rate(normal, 5, 6, 4000) < 0.06);
	assert_true(error_rate(normal, 5, 3, 4000) < 0.06);
	assert_true(error_rate(normal, 5, 10, 4000) < 0.06);
	assert_true(error_rate(uneven, 5, 6, 4000) < 0.06);
	assert_true(error_rate(dips, 5, 6, 4000) < 0.06);
	assert_true(error_rate(exponential, 5, 6, 4000) < 0.06);
	assert_true(error_rate(normal, 16, 6, 1000) < 0.06);
}

/* A lead by the smallest effect that the grid should see is seen in 80 % of the grids. */
static void smallest_effects_are_seen(void **state)
{
	static const struct {
		size_t n_cells, n_runs;
		unsigned n_trials;
	} rows[] = {{2, 6, 4000}, {5, 6, 4000}, {5, 10, 4000}, {16, 6, 1000}};
	struct simulated grid = {.n_comparisons = 0};
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 6);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double effect, effects = 0, n_pairs = (double)WR_STAT_N_PAIRS(rows[i].n_cells);
		unsigned n_seen = 0;

		for (size_t cell = 0; cell < rows[i].n_cells; cell++)
			grid.cells[cell] = (struct wr_stat_cell){rows[i].n_runs, 0, 0.05 * 0.05};
		effect = wr_stat_min_effect(grid.cells, rows[i].n_cells, (size_t)n_pairs, 0, 0.05);
		for (unsigned trial = 0; trial < rows[i].n_trials; trial++) {
			simulate(&grid, &random, normal, rows[i].n_cells, rows[i].n_runs, log1p(effect));
			n_seen += grid.pairs[0].single_p < 0.05 / n_pairs;
			if (trial % EFFECTS_EVERY == 0)
				effects += wr_stat_min_effect(grid.cells, rows[i].n_cells, grid.n_comparisons, 0, 0.05);
		}
		assert_near((double)n_seen / rows[i].n_trials, 0.80, 0.03);
		/* A standard deviation of few degrees of freedom is a little low on the mean: 2.5 % with 10. */
		assert_near(effects * EFFECTS_EVERY / rows[i].n_trials / effect, 1, 0.07);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_those_of_r),
		cmocka_unit_test(ratios_are_those_of_r),
		cmocka_unit_test(groups_of_chicks),
		cmocka_unit_test(cells_of_few_or_equal_runs),
		cmocka_unit_test(grids_of_one_cell_or_none),
		cmocka_unit_test(enough_is_where_the_plateau_begins),
		cmocka_unit_test(enough_has_no_holes),
		cmocka_unit_test(equal_cells_stay_together),
		cmocka_unit_test(smallest_effects_are_seen),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
