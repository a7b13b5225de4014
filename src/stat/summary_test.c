/* SPDX-License-Identifier: MIT */
/* Summaries against values by hand and by R, and what becomes of no, one or equal samples. */
#include "stat/summary.h"

#include "stat/testing.h"

static void quantiles_are_type_7(void **state)
{
	/* R's quantile(c(1,3,4,8,10,15), c(0,.1,.25,.5,.75,.9,1)), type 7 */
	static const double samples[] = {8, 1, 15, 4, 10, 3};
	static const double rows[][2] = {{0, 1},      {0.1, 2},	   {0.25, 3.25}, {0.5, 6},
					 {0.75, 9.5}, {0.9, 12.5}, {1, 15}};
	double scratch[6];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_near(wr_stat_quantile(samples, 6, rows[i][0], scratch), rows[i][1], 1e-12);
		assert_near(wr_stat_quantile_sorted(scratch, 6, rows[i][0]), rows[i][1], 1e-12);
	}
}

/*
 * Definition 7: p_k = (k - 1) / (n - 1), so the k-th of n samples is the quantile of exactly that.
 */
static void samples_are_their_own_quantiles(void **state)
{
	double sorted[101];

	(void)state;
	for (size_t i = 0; i < 101; i++)
		sorted[i] = (double)(i * i);
	for (size_t i = 0; i < 101; i++)
		assert_near(wr_stat_quantile_sorted(sorted, 101, (double)i / 100), sorted[i], 1e-9);
}

static void figures_by_hand(void **state)
{
	static const double samples[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct wr_stat_summary s;
	double scratch[8];

	(void)state;
	assert_int_equal(wr_stat_summarise(&s, samples, 8, scratch), WR_STAT_DONE);
	assert_int_equal(s.n_samples, 8);
	assert_near(s.min, 2, 0);
	assert_near(s.max, 9, 0);
	assert_near(s.mean, 5, 1e-12);
	assert_near(s.median, 4.5, 1e-12);
	assert_near(s.sd, sqrt(32.0 / 7), 1e-12);
	assert_near(s.cv, sqrt(32.0 / 7) / 5, 1e-12);
}

/* NIST StRD NumAcc4: mean 10000000.2, sd 0.1; a one-pass formula gives no correct digit. */
static void large_values_keep_their_deviation(void **state)
{
	double samples[1001];

	(void)state;
	samples[0] = 10000000.2;
	for (size_t i = 1; i < 1001; i++)
		samples[i] = i % 2 ? 10000000.1 : 10000000.3;
	assert_near(wr_stat_mean(samples, 1001), 10000000.2, 1e-7);
	assert_near(wr_stat_sd(samples, 1001), 0.1, 1e-8);
}

static void few_samples_have_no_deviation(void **state)
{
	static const double samples[] = {3, 5};
	struct wr_stat_summary s;
	double scratch[2];

	(void)state;
	assert_int_equal(wr_stat_summarise(&s, NULL, 0, NULL), WR_STAT_TOO_FEW);
	assert_int_equal(s.n_samples, 0);
	assert_nan(s.min);
	assert_nan(s.max);
	assert_nan(s.mean);
	assert_nan(s.median);
	assert_nan(s.sd);
	assert_nan(s.cv);
	assert_int_equal(wr_stat_summarise(&s, samples, 1, scratch), WR_STAT_TOO_FEW);
	assert_near(s.min, 3, 0);
	assert_near(s.max, 3, 0);
	assert_near(s.median, 3, 0);
	assert_nan(s.sd);
	assert_nan(s.cv);
	assert_int_equal(wr_stat_summarise(&s, samples, 2, scratch), WR_STAT_DONE);
	assert_near(s.median, 4, 0);
	assert_near(s.sd, M_SQRT2, 1e-12);
}

static void equal_and_zero_samples(void **state)
{
	static const double same[] = {7, 7, 7}, zeros[] = {0, 0, 0}, negative[] = {-3, -5};
	struct wr_stat_summary s;
	double scratch[3];

	(void)state;
	assert_int_equal(wr_stat_summarise(&s, same, 3, scratch), WR_STAT_DONE);
	assert_near(s.sd, 0, 0);
	assert_near(s.cv, 0, 0);
	assert_int_equal(wr_stat_summarise(&s, zeros, 3, scratch), WR_STAT_DONE);
	assert_near(s.mean, 0, 0);
	assert_near(s.sd, 0, 0);
	assert_nan(s.cv);
	wr_stat_summarise(&s, negative, 2, scratch);
	assert_near(s.cv, M_SQRT2 / 4, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_type_7),
		cmocka_unit_test(samples_are_their_own_quantiles),
		cmocka_unit_test(figures_by_hand),
		cmocka_unit_test(large_values_keep_their_deviation),
		cmocka_unit_test(few_samples_have_no_deviation),
		cmocka_unit_test(equal_and_zero_samples),
	};

	return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
