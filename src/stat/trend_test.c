/* SPDX-License-Identifier: MIT */
/* Trends by hand and by simulation: how often chance alone is taken for one, and a real one is found. */
#include "stat/series.h"
#include "stat/testing.h"
#include "stat/trend.h"

#define N 30
#define N_TRIALS 4000

static void centre(double *values, size_t n)
{
	double mean = 0;

	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		values[i] -= mean;
}

/* R: summary(lm(c(-2,-1,1,0,2) ~ c(1:5))): slope 0.9, p = 0.03739 with 3 degrees of freedom. */
static void a_line_by_hand(void **state)
{
	const double values[] = {-2, -1, 1, 0, 2}, times[] = {1, 2, 3, 4, 5};
	struct wr_stat_trend trend = wr_stat_trend(values, times, 5, 1);

	(void)state;
	assert_true(fabs(trend.change - 0.9 * 4) < 1e-12);
	assert_true(fabs(trend.p - 0.03738607) < 1e-6);
	assert_true(isnan(wr_stat_trend(values, times, 3, 1).p));
}

/* Shares of false alarms at 5 %, of @slope over the whole when there is one. */
static void simulate(double drift, double dependence, double *trends, double *lags)
{
	struct wr_stat_random random;
	int n_trends = 0, n_lags = 0;

	wr_stat_random_init(&random, 11);
	for (int trial = 0; trial < N_TRIALS; trial++) {
		double values[N], times[N], before = 0;

		for (size_t i = 0; i < N; i++) {
			before = dependence * before + random_normal(&random);
			times[i] = (double)i;
			values[i] = before + drift * (double)i / (N - 1);
		}
		centre(values, N);
		n_trends += wr_stat_trend(values, times, N, 1).p < 0.05;
		n_lags += wr_stat_lag1_p(wr_stat_lag1(values, N), N) < 0.05;
	}
	*trends = (double)n_trends / N_TRIALS;
	*lags = (double)n_lags / N_TRIALS;
}

static void chance_is_seldom_taken_for_more(void **state)
{
	double trends, lags;

	(void)state;
	simulate(0, 0, &trends, &lags);
	assert_true(trends > 0.04 && trends < 0.06);
	assert_true(lags > 0.03 && lags < 0.065);
}

static void what_is_there_is_found(void **state)
{
	double trends, lags;

	(void)state;
	simulate(3, 0, &trends, &lags);
	assert_true(trends > 0.95);
	simulate(0, 0.6, &trends, &lags);
	assert_true(lags > 0.75);
}

static void what_says_nothing(void **state)
{
	(void)state;
	assert_true(isnan(wr_stat_lag1_p(NAN, 10)) && isnan(wr_stat_lag1_p(0.5, 7)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_by_hand), cmocka_unit_test(chance_is_seldom_taken_for_more),
		cmocka_unit_test(what_is_there_is_found), cmocka_unit_test(what_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
