/* SPDX-License-Identifier: MIT */
/*
 * Comparisons with a known truth: differences that are there are found, others are not more often than promised; what
 * can't be known is not said; results of any content are refused or compared.
 */
#include "compare/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stat/distribution.h"
#include "stat/random.h"

/* -- results by hand -- */

static json_t *run_of(double throughput_bps)
{
	return json_pack("{s:s,s:s,s:s,s:f,s:{s:f}}", "schema", "weir.run/1", "command", "run", "target", "far", "throughput_bps",
			 throughput_bps, "path", "rtt_min_us", 20000.0);
}

/* @runs: n_cells x n of them, a cell after the other */
static json_t *sweep_of(const double *runs, size_t n_cells, size_t n, int seed)
{
	json_t *cells = json_array(), *values = json_array(), *rows = json_array();

	for (size_t i = 0; i < n_cells; i++) {
		json_t *runs_bps = json_array();

		for (size_t k = 0; k < n; k++) {
			json_array_append_new(runs_bps, json_real(runs[i * n + k]));
			json_array_append_new(rows, json_pack("{s:I,s:I}", "cell", (json_int_t)i, "block", (json_int_t)k));
		}
		json_array_append_new(values, json_integer((json_int_t)(i + 1) * 1024));
		json_array_append_new(cells, json_pack("{s:I,s:o}", "sndbuf_req_bytes", (json_int_t)(i + 1) * 1024, "runs_bps", runs_bps));
	}
	return json_pack("{s:s,s:i,s:{s:o},s:o,s:o}", "schema", "weir.sweep/1", "seed", seed, "axes", "sndbuf_req_bytes", values, "cells",
			 cells, "runs", rows);
}

/* Compare two results, which are taken over. */
static int compare_two(struct wr_comparison *out, json_t *a, json_t *b, struct weir_err *err)
{
	json_t *sides[2] = {json_pack("[o]", a), json_pack("[o]", b)};
	int rc = wr_compare(out, sides, err);

	json_decref(sides[0]);
	json_decref(sides[1]);
	return rc;
}

/* -- what is said -- */

static void one_run_each_has_no_interval(void **state)
{
	struct wr_comparison out;

	(void)state;
	assert_int_equal(compare_two(&out, run_of(2e8), run_of(1e8), NULL), 0);
	assert_int_equal(out.n_compared, 2);
	assert_string_equal(out.compared[0].figure, "throughput_bps");
	assert_true(fabs(out.compared[0].ratio - 0.5) < 1e-12);
	assert_true(isnan(out.compared[0].ci95_ratio[0]) && isnan(out.compared[0].p));
	assert_int_equal(out.compared[0].outcome, WR_OUTCOME_SINGLE);
	assert_true(wr_compared_is_worse(&out.compared[0], 0.2));
	assert_false(wr_compared_is_worse(&out.compared[0], 0.6));
	assert_false(wr_compared_is_worse(&out.compared[1], 0));
	wr_comparison_deinit(&out);
}

static void several_runs_are_one_sample_each(void **state)
{
	json_t *sides[2] = {json_array(), json_array()};
	struct wr_comparison out;

	(void)state;
	for (int i = 0; i < 4; i++) {
		json_array_append_new(sides[0], run_of(1e8 + 1e5 * i));
		json_array_append_new(sides[1], run_of(0.9e8 + 1e5 * i));
	}
	assert_int_equal(wr_compare(&out, sides, NULL), 0);
	assert_int_equal(out.compared[0].n[0], 4);
	assert_int_equal(out.compared[0].outcome, WR_OUTCOME_LOWER);
	assert_true(out.compared[0].ci95_ratio[0] < 0.9 && out.compared[0].ci95_ratio[1] > 0.9 && out.compared[0].p < 0.001);
	assert_true(wr_compared_is_worse(&out.compared[0], 0.05));
	assert_false(wr_compared_is_worse(&out.compared[0], 0.15)); /* lower, but not by that much */
	wr_comparison_deinit(&out);
	json_decref(sides[0]);
	json_decref(sides[1]);
}

/* By hand: d = ln 1.1, ln 1.1, ln 1.21 has the mean 1.3333 ln 1.1, sd 0.57735 ln 1.1, and t(0.975, 2) = 4.30265. */
static void a_grid_measured_again_is_paired(void **state)
{
	const double a[] = {1e8, 2e8, 4e8}, b[] = {1.1e8, 2.2e8, 4.84e8};
	const double mean = 4.0 / 3 * log(1.1), half = 4.30265 * 0.57735 * log(1.1) / sqrt(3);
	struct wr_comparison out;

	(void)state;
	assert_int_equal(compare_two(&out, sweep_of(a, 1, 3, 7), sweep_of(b, 1, 3, 7), NULL), 0);
	assert_true(out.compared[0].paired);
	assert_true(fabs(log(out.compared[0].ratio) - mean) < 1e-9);
	assert_true(fabs(log(out.compared[0].ci95_ratio[0]) - (mean - half)) < 1e-4);
	assert_true(fabs(log(out.compared[0].ci95_ratio[1]) - (mean + half)) < 1e-4);
	wr_comparison_deinit(&out);
	/* Another seed, another order: then the spread from run to run counts, which is far larger. */
	assert_int_equal(compare_two(&out, sweep_of(a, 1, 3, 7), sweep_of(b, 1, 3, 8), NULL), 0);
	assert_false(out.compared[0].paired);
	assert_int_equal(out.compared[0].outcome, WR_OUTCOME_UNDECIDED);
	wr_comparison_deinit(&out);
}

static void cells_are_matched_by_their_values(void **state)
{
	const double runs[] = {1e8, 1.01e8, 2e8, 2.01e8, 3e8, 3.02e8};
	json_t *plan = json_pack("{s:i}", "sndbuf_bytes", 2048), *alone = json_object();
	json_t *b = json_pack("{s:s,s:o,s:{s:[i]},s:[{s:i,s:[f,f]}]}", "schema", "weir.sweep/1", "plan", plan, "axes", "len_bytes", 100,
			      "cells", "len_bytes", 100, "runs_bps", 2e8, 2.02e8);
	json_t *a = sweep_of(runs, 3, 2, 1);
	struct wr_comparison out;

	(void)state;
	/* A varies the buffer, B has one in its plan and varies the length, which A has in its plan. */
	json_object_set_new(a, "plan", json_pack("{s:i}", "length_bytes", 100));
	assert_int_equal(compare_two(&out, a, b, NULL), 0);
	assert_int_equal(out.n_compared, 1);
	assert_int_equal(json_integer_value(json_object_get(out.compared[0].cell, "sndbuf_req_bytes")), 2048);
	assert_int_equal(json_integer_value(json_object_get(out.compared[0].cell, "len_bytes")), 100);
	assert_true(fabs(out.compared[0].ratio - 1.0025) < 0.01);
	assert_int_equal(json_array_size(out.only[0]), 2);
	assert_int_equal(json_array_size(out.only[1]), 0);
	wr_comparison_deinit(&out);
	json_decref(alone);
}

static const struct wr_difference *difference_of(const struct wr_comparison *out, const char *where, const char *key)
{
	for (size_t i = 0; i < out->n_differences; i++) {
		if (strcmp(out->differences[i].where, where) == 0 && strcmp(out->differences[i].key, key) == 0)
			return &out->differences[i];
	}
	return NULL;
}

static void what_else_differs_is_told(void **state)
{
	json_t *a = run_of(1e8), *b = run_of(1e8);
	struct wr_comparison out;

	(void)state;
	json_object_set_new(a, "plan", json_pack("{s:i,s:b,s:s}", "sndbuf_bytes", 65536, "nodelay", 0, "congestion", "cubic"));
	json_object_set_new(b, "plan", json_pack("{s:b,s:s,s:b}", "nodelay", 1, "congestion", "cubic", "cork", 0));
	json_object_set_new(a, "host", json_pack("{s:s,s:[{s:s,s:i},{s:s}]}", "kernel", "6.1", "nics", "name", "eth0", "mtu_bytes", 1500, "name", "gone0"));
	json_object_set_new(b, "host", json_pack("{s:s,s:[{s:s},{s:s,s:i}]}", "kernel", "6.18", "nics", "name", "new0", "name", "eth0", "mtu_bytes", 9000));
	assert_int_equal(compare_two(&out, a, b, NULL), 0);
	assert_int_equal(out.n_differences, 6);
	assert_null(difference_of(&out, "plan", "sndbuf_bytes")->values[1]);
	assert_true(json_is_true(difference_of(&out, "plan", "nodelay")->values[1]));
	assert_string_equal(json_string_value(difference_of(&out, "host", "kernel")->values[0]), "6.1");
	assert_int_equal(json_integer_value(difference_of(&out, "host", "eth0.mtu_bytes")->values[1]), 9000);
	assert_null(difference_of(&out, "host", "gone0")->values[1]);
	assert_null(difference_of(&out, "host", "new0")->values[0]);
	wr_comparison_deinit(&out);
}

static void differences_are_bounded(void **state)
{
	json_t *a = run_of(1e8), *b = run_of(1e8), *plan = json_object();
	struct wr_comparison out;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char key[200];

		snprintf(key, sizeof key, "%0*d", 150, i);
		json_object_set_new(plan, key, json_integer(i));
	}
	json_object_set_new(a, "plan", plan);
	assert_int_equal(compare_two(&out, a, b, NULL), 0);
	assert_int_equal(out.n_differences, WR_MAX_DIFFERENCES);
	assert_int_equal(out.n_differences_left_out, 1000 - WR_MAX_DIFFERENCES);
	wr_comparison_deinit(&out);
}

static void what_has_nothing_in_common_is_refused(void **state)
{
	static const char *const texts[] = {"{}", "[]", "3", "{\"schema\": \"weir.lab/1\"}", "{\"schema\": 5}", "{\"schema\": \"weir.tune/1\"}"};
	struct wr_comparison out;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct weir_err err = {0};

		assert_int_equal(compare_two(&out, run_of(1e8), json_loads(texts[i], JSON_DECODE_ANY, NULL), &err), -1);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
		assert_true(err.text[0]);
	}
}

static void odd_results_do_no_harm(void **state)
{
	static const char *const texts[] = {
		"{\"schema\": \"weir.sweep/1\"}",
		"{\"schema\": \"weir.sweep/1\", \"axes\": 3, \"cells\": {\"a\": 1}, \"runs\": [1, {\"cell\": -1}, {\"cell\": 99, \"block\": 1}]}",
		"{\"schema\": \"weir.sweep/1\", \"axes\": {\"x\": null}, \"cells\": [7, {\"x\": {\"y\": []}, \"runs_bps\": [0, -1, \"a\", 1e300, 5]}]}",
		"{\"schema\": \"weir.sweep/1\", \"axes\": {\"sndbuf_req_bytes\": [1]}, \"cells\": [{\"sndbuf_req_bytes\": 1024, \"runs_bps\": [0, 0]}]}",
	};
	const double runs[] = {1e8, 1.1e8};
	struct wr_comparison out;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		json_t *object;

		assert_int_equal(compare_two(&out, sweep_of(runs, 1, 2, 1), json_loads(texts[i], 0, NULL), NULL), 0);
		object = wr_comparison_to_json(&out);
		assert_non_null(object);
		json_decref(object);
		wr_comparison_deinit(&out);
	}
}

/* -- how often it is right -- */

#define N_CELLS 8
#define N_RUNS 6

static double noise(struct wr_stat_random *random)
{
	double unit = wr_stat_random_unit(random);

	return wr_stat_normal_quantile(unit > 0 ? unit : 1e-9);
}

/*
 * Grids of cells with 1 to 8 % of noise; in the second, cell 0 is lower by @drop. @hits: out: of @n_trials, those in
 * which cell 0 is found lower; Return: those in which any other cell is said to differ.
 */
static int trials(int n_trials, double drop, int other_seed, int *hits, int *overall)
{
	struct wr_stat_random random;
	int wrong = 0;

	*hits = *overall = 0;
	wr_stat_random_init(&random, 42);
	for (int trial = 0; trial < n_trials; trial++) {
		double runs[2][N_CELLS * N_RUNS];
		struct wr_comparison out;
		bool differs = false;

		for (int side = 0; side < 2; side++) {
			for (int i = 0; i < N_CELLS * N_RUNS; i++)
				runs[side][i] = 1e8 * exp(0.01 * (1 + i / N_RUNS) * noise(&random)) * (side && i < N_RUNS ? 1 - drop : 1);
		}
		assert_int_equal(compare_two(&out, sweep_of(runs[0], N_CELLS, N_RUNS, 1), sweep_of(runs[1], N_CELLS, N_RUNS, 1 + other_seed), NULL), 0);
		for (size_t i = drop > 0; i < out.n_compared; i++)
			differs |= out.compared[i].outcome != WR_OUTCOME_UNDECIDED;
		wrong += differs;
		*hits += out.compared[0].outcome == WR_OUTCOME_LOWER;
		*overall += out.overall.outcome != WR_OUTCOME_UNDECIDED;
		wr_comparison_deinit(&out);
	}
	return wrong;
}

/*
 * Paired, then with another seed. The numbers of trials follow what they cost; @most: four deviations above the 5 %
 * that are promised. In 2000 of each it was 4.7 and 4.0 % by cells, 4.6 and 4.0 % as a whole.
 */
static const struct {
	int n_trials, most;
	double least_found;
} ways[] = {{1000, 77, 0.97}, {60, 10, 0.98}};

static void equal_grids_seldom_differ(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		int hits, overall, wrong = trials(ways[way].n_trials, 0, way, &hits, &overall);

		print_message("%d of %d equal grids differ in a cell, %d as a whole\n", wrong, ways[way].n_trials, overall);
		assert_true(wrong <= ways[way].most && overall <= ways[way].most);
	}
}

/* 1 % of noise and 6 runs: 5 % lower is found nearly always, and the other cells are left alone. */
static void a_difference_is_found(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		int hits, overall, wrong = trials(ways[way].n_trials, 0.05, way, &hits, &overall);

		print_message("5 %% less is found in %d of %d\n", hits, ways[way].n_trials);
		assert_true(hits >= ways[way].least_found * ways[way].n_trials);
		assert_true(wrong <= ways[way].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_each_has_no_interval),
		cmocka_unit_test(several_runs_are_one_sample_each),
		cmocka_unit_test(a_grid_measured_again_is_paired),
		cmocka_unit_test(cells_are_matched_by_their_values),
		cmocka_unit_test(what_else_differs_is_told),
		cmocka_unit_test(differences_are_bounded),
		cmocka_unit_test(what_has_nothing_in_common_is_refused),
		cmocka_unit_test(odd_results_do_no_harm),
		cmocka_unit_test(equal_grids_seldom_differ),
		cmocka_unit_test(a_difference_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
