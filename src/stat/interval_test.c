/* SPDX-License-Identifier: MIT */
/* Intervals by hand, and how often they hold a truth that is known. */
#include "stat/interval.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_interval_by_hand),
		cmocka_unit_test(mean_interval_of_few_or_equal),
		cmocka_unit_test(median_interval_ranks_of_the_tables),
		cmocka_unit_test(median_interval_of_few),
		cmocka_unit_test(mean_interval_covers),
		cmocka_unit_test(median_interval_covers),
	};

	return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
