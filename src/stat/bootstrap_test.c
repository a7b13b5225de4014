/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap intervals against Efron and Tibshirani's worked example, and their measured coverage.
 */
#include "stat/bootstrap.h"

#include "stat/testing.h"

#define N_TRIALS 2500 /* not 20000: each draws 8000 times, and 0.4 % is near enough here */

/* Efron and Tibshirani, table 14.1, the spatial test data, column A. */
static const double spatial[] = {48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6,
				 0,  33, 28, 34, 4,  32, 24, 47, 41, 24, 26, 30, 41};

/* Their figure: the plug-in variance (divisor n), biased downwards and skewed. */
static double variance(const double *samples, size_t n_samples, double *scratch)
{
	double sd = wr_stat_sd(samples, n_samples);

	(void)scratch;
	return sd * sd * (double)(n_samples - 1) / (double)n_samples;
}

/* Table 14.2, 90 %: percentile (100.8, 233.9), BCa (115.8, 259.6); theirs from 2000 resamples. */
static void spatial_data_of_the_book(void **state)
{
	static double scratch[WR_STAT_BOOTSTRAP_SCRATCH(26, 10000)];
	struct wr_stat_random random;
	struct wr_stat_interval ci;

	(void)state;
	assert_near(variance(spatial, 26, NULL), 171.5, 0.05);
	wr_stat_random_init(&random, 7);
	assert_int_equal(wr_stat_bootstrap(&ci, spatial, 26, variance, WR_STAT_BOOTSTRAP_PERCENTILE,
					   0.9, 10000, &random, scratch),
			 WR_STAT_DONE);
	assert_near(ci.low, 100.8, 4);
	assert_near(ci.high, 233.9, 4);
	assert_near(ci.coverage_ratio, 0.9, 0);
	assert_int_equal(wr_stat_bootstrap(&ci, spatial, 26, variance, WR_STAT_BOOTSTRAP_BCA, 0.9,
					   10000, &random, scratch),
			 WR_STAT_DONE);
	assert_near(ci.low, 115.8, 4);
	assert_near(ci.high, 259.6, 6);
}

static void the_seed_decides(void **state)
{
	double scratch[WR_STAT_BOOTSTRAP_SCRATCH(26, 500)];
	struct wr_stat_interval ci[3];
	struct wr_stat_random random;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		wr_stat_random_init(&random, i / 2);
		wr_stat_bootstrap(&ci[i], spatial, 26, wr_stat_figure_mean, WR_STAT_BOOTSTRAP_BCA,
				  0.95, 500, &random, scratch);
	}
	assert_memory_equal(&ci[0], &ci[1], sizeof ci[0]);
	assert_true(ci[2].low != ci[0].low);
}

static void few_and_equal_samples(void **state)
{
	static const double same[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
	double scratch[WR_STAT_BOOTSTRAP_SCRATCH(10, 100)];
	struct wr_stat_random random;
	struct wr_stat_interval ci;

	(void)state;
	wr_stat_random_init(&random, 8);
	for (int method = WR_STAT_BOOTSTRAP_PERCENTILE; method <= WR_STAT_BOOTSTRAP_BCA; method++) {
		for (size_t n = 0; n < 2; n++) {
			assert_int_equal(wr_stat_bootstrap(&ci, same, n, wr_stat_figure_mean,
							   method, 0.95, 100, &random, scratch),
					 WR_STAT_TOO_FEW);
			assert_nan(ci.low);
			assert_near(ci.coverage_ratio, 0, 0);
		}
		assert_int_equal(wr_stat_bootstrap(&ci, spatial, 2, wr_stat_median, method, 0.95,
						   100, &random, scratch),
				 WR_STAT_TOO_FEW);
		assert_true(ci.low >= 36 && ci.high <= 48);
		assert_int_equal(wr_stat_bootstrap(&ci, same, 10, wr_stat_median, method, 0.95, 100,
						   &random, scratch),
				 WR_STAT_DONE);
		assert_near(ci.low, 5, 0);
		assert_near(ci.high, 5, 0);
	}
}

static double coverage(wr_stat_figure *figure, enum wr_stat_bootstrap_method method, uint64_t seed)
{
	double samples[40], scratch[WR_STAT_BOOTSTRAP_SCRATCH(40, 200)];
	struct wr_stat_random random;
	struct wr_stat_interval ci;
	unsigned n_held = 0;

	wr_stat_random_init(&random, seed);
	for (unsigned trial = 0; trial < N_TRIALS; trial++) {
		for (size_t i = 0; i < 40; i++)
			samples[i] = 100 + 10 * random_normal(&random);
		wr_stat_bootstrap(&ci, samples, 40, figure, method, 0.95, 200, &random, scratch);
		n_held += ci.low <= 100 && 100 <= ci.high;
	}
	return (double)n_held / N_TRIALS;
}

static void intervals_cover(void **state)
{
	(void)state;
	assert_near(coverage(wr_stat_figure_mean, WR_STAT_BOOTSTRAP_PERCENTILE, 9), 0.95, 0.015);
	assert_near(coverage(wr_stat_figure_mean, WR_STAT_BOOTSTRAP_BCA, 10), 0.95, 0.015);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spatial_data_of_the_book),
		cmocka_unit_test(the_seed_decides),
		cmocka_unit_test(few_and_equal_samples),
		cmocka_unit_test(intervals_cover),
	};

	return cmocka_run_group_tests_name("bootstrap", tests, NULL, NULL);
}
