/* SPDX-License-Identifier: MIT */
/* Cells in mixed radix, the plan through JSON and back, and runs that a file may hold. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/grid.h"

static struct wr_grid_plan *plan_new(void)
{
	struct wr_grid_plan *plan = calloc(1, sizeof *plan);

	wr_option_defaults(wr_plan_options, &plan->base);
	plan->repeats = 6;
	plan->seed = 42;
	plan->budget_ns = WR_UNSET;
	assert_int_equal(wr_axis_parse(&plan->axes[0], wr_option_find(wr_plan_options, "length"), "1K,8K,128K", NULL), 0);
	assert_int_equal(wr_axis_parse(&plan->axes[1], wr_option_find(wr_plan_options, "sndbuf"), "unset,64K", NULL), 0);
	assert_int_equal(wr_axis_parse(&plan->axes[2], wr_option_find(wr_plan_options, "nodelay"), "off,on", NULL), 0);
	plan->n_axes = 3;
	return plan;
}

static void cells_have_places(void **state)
{
	struct wr_grid_plan *plan = plan_new();
	size_t n_cells, place[WR_MAX_AXES];
	struct wr_plan one;

	(void)state;
	assert_int_equal(wr_grid_plan_cells(plan, &n_cells, NULL), 0);
	assert_int_equal(n_cells, 12);
	for (size_t cell = 0; cell < n_cells; cell++) {
		wr_grid_place(plan, cell, place);
		assert_int_equal(wr_grid_cell_at(plan, place), cell);
	}
	assert_int_equal(wr_grid_cell_plan(plan, 7, &one, NULL), 0); /* 8K, 64K, on */
	assert_int_equal(one.len_bytes, 8192);
	assert_int_equal(one.sndbuf_bytes, 65536);
	assert_true(one.nodelay);
	free(plan);
}

static void plan_survives_json(void **state)
{
	struct wr_grid_plan *plan = plan_new(), *back = calloc(1, sizeof *back);
	json_t *object = wr_grid_plan_to_json(plan), *again;

	(void)state;
	assert_int_equal(wr_grid_plan_from_json(back, object, NULL), 0);
	again = wr_grid_plan_to_json(back);
	assert_true(json_equal(object, again));
	assert_int_equal(back->seed, 42);
	assert_string_equal(back->axes[1].values[0].text, "unset");
	json_decref(object);
	json_decref(again);
	wr_plan_deinit(&back->base);
	free(back);
	free(plan);
}

static void refused_plan(const char *text)
{
	struct wr_grid_plan *plan = calloc(1, sizeof *plan);
	json_t *object = json_loads(text, 0, NULL);
	struct weir_err err = {0};

	assert_non_null(object);
	assert_int_equal(wr_grid_plan_from_json(plan, object, &err), -1);
	assert_true(err.text[0] != '\0');
	wr_plan_deinit(&plan->base);
	json_decref(object);
	free(plan);
}

static void bad_plans_are_refused(void **state)
{
	(void)state;
	refused_plan("{}");
	refused_plan("{\"axes\": []}");
	refused_plan("{\"axes\": {\"nothing\": [\"1\"]}}");
	refused_plan("{\"axes\": {\"sndbuf\": []}}");
	refused_plan("{\"axes\": {\"sndbuf\": [1]}}");
	refused_plan("{\"axes\": {\"sndbuf\": [\"16K..1M\"]}}");
	refused_plan("{\"axes\": {\"sndbuf\": [\"1K\", \"1K\"]}}");
	refused_plan("{\"axes\": {}, \"repeat\": 0}");
	refused_plan("{\"axes\": {}, \"repeat\": 1e9}");
}

static void runs_survive_json(void **state)
{
	struct wr_grid_run run = {.cell = 3, .block = 2, .started_s = 1.5, .transfer_s = 1, .wall_s = 1.1, .throughput_bps = 1e8,
				  .rtt_us = NAN, .retrans_segs = 4, .near_other_cpu_ratio = 0.25, .far_other_cpu_ratio = NAN,
				  .bytes = 12500000, .sndbuf_eff_bytes = 131072, .rcvbuf_eff_bytes = WR_UNSET, .ramping = true};
	json_t *object = wr_grid_run_to_json(&run);
	struct wr_grid_run back;
	struct weir_err err = {0};

	(void)state;
	assert_int_equal(wr_grid_run_from_json(&back, object, 4, NULL), 0);
	assert_int_equal(back.cell, 3);
	assert_true(back.throughput_bps == 1e8 && isnan(back.rtt_us) && back.near_other_cpu_ratio == 0.25);
	assert_true(back.sndbuf_eff_bytes == 131072 && back.rcvbuf_eff_bytes == WR_UNSET && back.ramping);
	assert_int_equal(wr_grid_run_from_json(&back, object, 3, &err), -1); /* no such cell */
	json_object_set_new(object, "throughput_bps", json_string("fast"));
	assert_int_equal(wr_grid_run_from_json(&back, object, 4, &err), -1);
	json_decref(object);
}

static void too_many_cells(void **state)
{
	struct wr_grid_plan *plan = plan_new();
	struct weir_err err = {0};
	size_t n_cells;

	(void)state;
	assert_int_equal(wr_axis_parse(&plan->axes[3], wr_option_find(wr_plan_options, "rcvbuf"), "1K..63K:+1K", NULL), 0);
	assert_int_equal(wr_axis_parse(&plan->axes[4], wr_option_find(wr_plan_options, "parallel"), "1,2", NULL), 0);
	plan->n_axes = 5;
	assert_int_equal(wr_grid_plan_cells(plan, &n_cells, &err), -1);
	assert_non_null(strstr(err.text, "1024 cells"));
	free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_have_places), cmocka_unit_test(plan_survives_json), cmocka_unit_test(bad_plans_are_refused),
		cmocka_unit_test(runs_survive_json), cmocka_unit_test(too_many_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
