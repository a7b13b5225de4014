/* SPDX-License-Identifier: MIT */
/* Intervals by hand, and how often they hold a truth that is known. */
#include "stat/interval.h"

#include <stdbool.h>

#include "stat/testing.h"

#define N_TRIALS 20000

static void mean_interval_by_hand(void **state)
{
	static const double samples[] = {1, 2, 3, 4, 5, 6};
	struct wr_stat_interval ci;

	(void)state;
	assert_int_equal(wr_stat_mean_interval(&ci, samples, 6, 0.95), WR_STAT_DONE);
	assert_near(ci.low, 3.5 - 2.570581836 * sqrt(3.5 / 6), 1e-8); /* variance 3.5 */
	assert_near(ci.high, 3.5 + 2.570581836 * sqrt(3.5 / 6), 1e-8);
	assert_near(ci.coverage_ratio, 0.95, 0);
}

static void mean_interval_of_few_or_equal(void **state)
{
	static const double samples[] = {4, 4, 4};
	struct wr_stat_interval ci;

	(void)state;
	for (size_t n = 0; n < 2; n++) {
		assert_int_equal(wr_stat_mean_interval(&ci, samples, n, 0.95), WR_STAT_TOO_FEW);
		assert_nan(ci.low);
		assert_nan(ci.high);
		assert_near(ci.coverage_ratio, 0, 0);
	}
	assert_int_equal(wr_stat_mean_interval(&ci, samples, 2, 0.95), WR_STAT_DONE);
	assert_near(ci.low, 4, 0);
	assert_near(ci.high, 4, 0);
}

/* The usual table of the sign test, 95 % (Conover, "Practical Nonparametric Statistics"). */
static void median_interval_ranks_of_the_tables(void **state)
{
	static const struct {
		size_t n_samples, rank;
		double coverage_ratio;
	} rows[] = {
		{6, 1, 0.96875},      {7, 1, 0.984375}, {8, 1, 0.9921875}, {9, 2, 0.9609375},
		{10, 2, 0.978515625}, {12, 3, 0.9614},	{15, 4, 0.9648},   {20, 6, 0.9586},
		{25, 8, 0.9567},      {30, 10, 0.9572},
	};
	double samples[30], scratch[30];
	struct wr_stat_interval ci;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		samples[i] = (double)(i + 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t n = rows[i].n_samples;

		assert_int_equal(wr_stat_median_interval(&ci, samples, n, 0.95, scratch),
				 WR_STAT_DONE);
		assert_near(ci.low, (double)rows[i].rank, 0);
		assert_near(ci.high, (double)(n + 1 - rows[i].rank), 0);
		assert_near(ci.coverage_ratio, rows[i].coverage_ratio, 5e-5);
	}
}

static void median_interval_of_few(void **state)
{
	static const double samples[] = {5, 1, 4, 2, 3};
	static const double coverages[] = {0, 0.5, 0.75, 0.875, 0.9375};
	struct wr_stat_interval ci;
	double scratch[5];

	(void)state;
	assert_int_equal(wr_stat_median_interval(&ci, NULL, 0, 0.95, NULL), WR_STAT_TOO_FEW);
	assert_nan(ci.low);
	for (size_t n = 1; n <= 5; n++) {
		assert_int_equal(wr_stat_median_interval(&ci, samples, n, 0.95, scratch),
				 WR_STAT_TOO_FEW);
		assert_near(ci.coverage_ratio, coverages[n - 1], 1e-12);
		assert_near(ci.low, n == 1 ? 5 : 1, 0);
		assert_near(ci.high, 5, 0);
	}
	assert_int_equal(wr_stat_median_interval(&ci, samples, 5, 0.9, scratch), WR_STAT_DONE);
}

/*
 * Minitab's example of a sign interval (1-Sample Sign, % chromium, 12 values, of which its output
 * names the 3rd, 4th, 9th and 10th): 95 % from 17.4263 to 18.7632.
 */
static void interpolated_interval_of_minitab(void **state)
{
	static const double samples[] = {18.1, 17.4, 17.5, 17, 19, 17.1, 17.6, 17.7, 17.7, 18, 19.5, 20};
	struct wr_stat_interval ci;
	double scratch[12];

	(void)state;
	assert_int_equal(wr_stat_median_interval_interpolated(&ci, samples, 12, 0.95, scratch), WR_STAT_DONE);
	assert_near(ci.low, 17.4263, 5e-5);
	assert_near(ci.high, 18.7632, 5e-5);
	assert_near(ci.coverage_ratio, 0.95, 0);
}

/* Of 1..n: n = 6 by hand, lambda = 5 x 0.1 / (1 + 4 x 0.1); the others from the formula in R. */
static void interpolated_interval_by_hand(void **state)
{
	static const struct {
		size_t n_samples;
		double level, low;
	} rows[] = {
		{6, 0.95, 1 + 5.0 / 14}, {7, 0.95, 1.7333333333}, {10, 0.95, 2.6576576577},
		{30, 0.95, 10.2287114987}, {6, 0.90, 1.7432432432}, {4, 0.5, 1.9}, {2, 0.5, 1},
	};
	double samples[30], scratch[30];
	struct wr_stat_interval ci;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		samples[i] = (double)(i + 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double n = (double)rows[i].n_samples;

		assert_int_equal(wr_stat_median_interval_interpolated(&ci, samples, rows[i].n_samples,
								      rows[i].level, scratch),
				 WR_STAT_DONE);
		assert_near(ci.low, rows[i].low, 1e-9);
		assert_near(ci.high, n + 1 - rows[i].low, 1e-9);
	}
	for (size_t n = 0; n < 6; n++) {
		assert_int_equal(wr_stat_median_interval_interpolated(&ci, samples, n, 0.95, scratch),
				 WR_STAT_TOO_FEW);
		assert_nan(ci.low);
		assert_nan(ci.high);
		assert_near(ci.coverage_ratio, 0, 0);
	}
}

static void narrow_intervals(void **state)
{
	const struct wr_stat_interval ci = {97, 102, 0.95}, none = {NAN, NAN, 0};

	(void)state;
	assert_true(wr_stat_interval_is_narrow(&ci, 100, 0.03));
	assert_false(wr_stat_interval_is_narrow(&ci, 100, 0.029));
	assert_false(wr_stat_interval_is_narrow(&ci, 98, 0.03));
	assert_false(wr_stat_interval_is_narrow(&none, 100, 0.03));
	assert_false(wr_stat_interval_is_narrow(&ci, NAN, 0.03));
}

static void mean_interval_covers(void **state)
{
	static const size_t counts[] = {2, 3, 6, 20};
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 1);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		unsigned n_held = 0;

		for (unsigned trial = 0; trial < N_TRIALS; trial++) {
			struct wr_stat_interval ci;
			double samples[20];

			for (size_t k = 0; k < counts[i]; k++)
				samples[k] = 100 + 7 * random_normal(&random);
			wr_stat_mean_interval(&ci, samples, counts[i], 0.95);
			n_held += ci.low <= 100 && 100 <= ci.high;
		}
		assert_near((double)n_held / N_TRIALS, 0.95, 0.005);
	}
}

/* A skewed distribution (exponential, median ln 2): the order statistics don't mind. */
static void median_interval_covers(void **state)
{
	static const size_t counts[] = {6, 9, 20};
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 2);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		struct wr_stat_interval ci = {0};
		unsigned n_held = 0;

		for (unsigned trial = 0; trial < N_TRIALS; trial++) {
			double samples[20], scratch[20];

			for (size_t k = 0; k < counts[i]; k++)
				samples[k] = -log(1 - wr_stat_random_unit(&random));
			wr_stat_median_interval(&ci, samples, counts[i], 0.95, scratch);
			n_held += ci.low <= M_LN2 && M_LN2 <= ci.high;
		}
		assert_near((double)n_held / N_TRIALS, ci.coverage_ratio, 0.005);
	}
}

static double sample(struct wr_stat_random *random, bool skewed)
{
	double normal = random_normal(random);

	return skewed ? exp(0.5 * normal) : 1 + 0.05 * normal;
}

/* 93 to 98 % is what is promised; it is much closer. The median of both distributions is 1. */
static void interpolated_interval_covers(void **state)
{
	static const size_t counts[] = {6, 7, 10, 30};
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 3);
	for (size_t i = 0; i < 2 * sizeof counts / sizeof counts[0]; i++) {
		size_t n = counts[i / 2];
		unsigned n_held = 0;

		for (unsigned trial = 0; trial < N_TRIALS; trial++) {
			double samples[30], scratch[30];
			struct wr_stat_interval ci;

			for (size_t k = 0; k < n; k++)
				samples[k] = sample(&random, i % 2);
			wr_stat_median_interval_interpolated(&ci, samples, n, 0.95, scratch);
			n_held += ci.low <= 1 && 1 <= ci.high;
		}
		assert_near((double)n_held / N_TRIALS, 0.95, 0.01);
	}
}

/* How often an interval holds 1 that was looked at from the 6th run on until it was narrow, up to 30 runs. */
static double stopped_coverage(double sd, double target_ratio)
{
	struct wr_stat_random random;
	unsigned n_held = 0;

	wr_stat_random_init(&random, 4);
	for (unsigned trial = 0; trial < N_TRIALS / 4; trial++) {
		double samples[30], scratch[30];
		struct wr_stat_interval ci = {NAN, NAN, 0};

		for (size_t n = 1; n <= 30; n++) {
			samples[n - 1] = exp(sd * random_normal(&random));
			wr_stat_median_interval_interpolated(&ci, samples, n, 0.95, scratch);
			if (wr_stat_interval_is_narrow(&ci, wr_stat_median(samples, n, scratch), target_ratio))
				break;
		}
		n_held += ci.low <= 1 && 1 <= ci.high;
	}
	return (double)n_held / (N_TRIALS / 4);
}

/* Why such intervals are labelled: a lucky streak ends the repeating. */
static void stopping_early_costs_coverage(void **state)
{
	(void)state;
	assert_near(stopped_coverage(0.05, 0.03), 0.91, 0.015);
	assert_near(stopped_coverage(0.01, 0.03), 0.95, 0.015);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_interval_by_hand),
		cmocka_unit_test(mean_interval_of_few_or_equal),
		cmocka_unit_test(median_interval_ranks_of_the_tables),
		cmocka_unit_test(median_interval_of_few),
		cmocka_unit_test(mean_interval_covers),
		cmocka_unit_test(median_interval_covers),
		cmocka_unit_test(interpolated_interval_of_minitab),
		cmocka_unit_test(interpolated_interval_by_hand),
		cmocka_unit_test(narrow_intervals),
		cmocka_unit_test(interpolated_interval_covers),
		cmocka_unit_test(stopping_early_costs_coverage),
	};

	return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
