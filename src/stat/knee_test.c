/* SPDX-License-Identifier: MIT */
/* Knees of measured and made-up curves. */
#include "stat/knee.h"

#include "stat/testing.h"

#define N_MAX 10

struct curve {
	const char *name;
	double throughputs[N_MAX];
	size_t n_points;
	int outcome;
	size_t index, n_plateau;
	double plateau;
	bool monotone;
};

enum { FOUND = WR_STAT_KNEE_FOUND, CLIMBING = WR_STAT_KNEE_CLIMBING, NONE = WR_STAT_KNEE_NONE };

static const struct curve curves[] = {
	/* 50 Mbit/s, 20 ms, receive buffer: grid measured in the lab */
	{"lab", {7.1, 18.8, 35.3, 42.6, 48.3, 48.3, 48.2, 48.3}, 8, FOUND, 4, 4, 48.3, true},
	{"first is enough", {940, 941, 939}, 3, FOUND, 0, 3, 940, true},
	{"a lucky step", {100, 200, 400, 1000, 946, 950, 941}, 7, FOUND, 3, 4, 950, false},
	{"an impossible step", {100, 400, 940, 1200, 946, 950}, 6, FOUND, 3, 1, 1200, false},
	{"climbing", {10, 20, 40, 80}, 4, CLIMBING, 3, 1, 80, true},
	{"climbing gently", {80, 85, 90, 95, 100}, 5, CLIMBING, 4, 1, 100, true},
	{"large buffers harm", {10, 50, 70, 95, 60, 40}, 6, FOUND, 3, 1, 95, false},
	{"a dip on the way", {10, 50, 20, 95, 95, 95}, 6, FOUND, 3, 3, 95, false},
	{"two points", {50, 100}, 2, CLIMBING, 1, 1, 100, true},
	{"two equal points", {100, 100}, 2, FOUND, 0, 2, 100, true},
	{"one point", {100}, 1, FOUND, 0, 1, 100, true},
	{"zeros then one", {0, 0, 100}, 3, CLIMBING, 2, 1, 100, true},
	{"nothing moved", {0, 0, 0}, 3, NONE, 3, 0, 0, true},
	{"no points", {0}, 0, NONE, 0, 0, 0, true},
};

static void curves_have_their_knee(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
		const struct curve *curve = &curves[i];
		struct wr_stat_point points[N_MAX];
		struct wr_stat_knee knee;

		for (size_t k = 0; k < curve->n_points; k++)
			points[k] = (struct wr_stat_point){4096u << k, curve->throughputs[k] * 1e6};
		print_message("%s\n", curve->name);
		assert_int_equal(wr_stat_knee(&knee, points, curve->n_points, 0.02),
				 curve->outcome);
		assert_int_equal(knee.index, curve->index);
		assert_int_equal(knee.n_plateau, curve->n_plateau);
		assert_near(knee.plateau_bps, curve->plateau * 1e6, 1);
		assert_int_equal(knee.monotone, curve->monotone);
	}
}

static void the_deepest_drop_is_named(void **state)
{
	static const struct wr_stat_point points[] = {
		{1, 100}, {2, 90}, {3, 120}, {4, 60}, {5, 110}};
	struct wr_stat_knee knee;

	(void)state;
	wr_stat_knee(&knee, points, 5, 0.02);
	assert_near(knee.worst_drop_ratio, 0.5, 1e-12);
	assert_int_equal(knee.worst_drop_index, 3);
	assert_false(knee.monotone);
	wr_stat_knee(&knee, points, 5, 0.5);
	assert_true(knee.monotone);
}

static void a_larger_tolerance_takes_a_smaller_size(void **state)
{
	static const struct wr_stat_point points[] = {{1, 50},	{2, 90},  {3, 97},
						      {4, 100}, {5, 100}, {6, 100}};
	static const struct {
		double tolerance_ratio;
		size_t index;
	} rows[] = {{0, 3}, {0.02, 3}, {0.03, 2}, {0.1, 1}, {0.5, 0}, {1, 0}};
	struct wr_stat_knee knee;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(wr_stat_knee(&knee, points, 6, rows[i].tolerance_ratio), 0);
		assert_int_equal(knee.index, rows[i].index);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(curves_have_their_knee),
		cmocka_unit_test(the_deepest_drop_is_named),
		cmocka_unit_test(a_larger_tolerance_takes_a_smaller_size),
	};

	return cmocka_run_group_tests_name("knee", tests, NULL, NULL);
}
