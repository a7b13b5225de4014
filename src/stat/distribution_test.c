/* SPDX-License-Identifier: MIT */
/* Quantiles against the published tables, closed forms, and each function against its inverse. */
#include "stat/distribution.h"

#include "stat/testing.h"

static void t_quantiles_of_the_tables(void **state)
{
	static const struct {
		double level, df, t, distance;
	} rows[] = {
		/* NIST/SEMATECH e-Handbook 1.3.6.7.2, Abramowitz and Stegun table 26.10 */
		{0.95, 1, 12.706, 5e-4},
		{0.95, 2, 4.303, 5e-4},
		{0.95, 3, 3.182, 5e-4},
		{0.95, 4, 2.776, 5e-4},
		{0.95, 5, 2.571, 5e-4},
		{0.95, 9, 2.262, 5e-4},
		{0.95, 10, 2.228, 5e-4},
		{0.95, 30, 2.042, 5e-4},
		{0.95, 60, 2.000, 5e-4},
		{0.95, 100, 1.984, 5e-4},
		{0.95, 120, 1.980, 5e-4},
		{0.90, 5, 2.015, 5e-4},
		{0.80, 5, 1.476, 5e-4},
		{0.98, 5, 3.365, 5e-4},
		{0.99, 5, 4.032, 5e-4},
		{0.998, 5, 5.893, 5e-4},
		{0.99, 1, 63.657, 5e-4},
		{0.999, 10, 4.587, 5e-4},
		{0.50, 5, 0.727, 5e-4},
		/* R's qt(), ten digits */
		{0.95, 5, 2.570581836, 1e-9},
		{0.95, 1, 12.70620474, 1e-8},
		{0.99, 10, 3.169272673, 1e-9},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_near(wr_stat_t_quantile(rows[i].level, rows[i].df), rows[i].t,
			    rows[i].distance);
}

/* df 1 is Cauchy: t = tan(pi level / 2). df 2: t = level sqrt(2 / (1 - level^2)). */
static void t_quantiles_in_closed_form(void **state)
{
	static const double levels[] = {1e-6, 0.1,    0.5,	0.9,	  0.95,
					0.99, 0.9999, 0.999999, 1 - 1e-10};

	(void)state;
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		double level = levels[i], cauchy = tan(M_PI_2 * level);
		double two = level * sqrt(2 / ((1 - level) * (1 + level)));

		/* 1 - level has few digits left at the end of the list */
		assert_near(wr_stat_t_quantile(level, 1) / cauchy, 1, 1e-6);
		assert_near(wr_stat_t_quantile(level, 2) / two, 1, 1e-6);
	}
}

static void t_tail_inverts_the_quantile(void **state)
{
	static const double levels[] = {0.01, 0.5, 0.8, 0.95, 0.999, 0.9999999};
	static const double dfs[] = {0.3, 1, 1.5, 2.7, 5, 29, 100.25, 4000, 999999, 1000001, 1e9};

	(void)state;
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		for (size_t k = 0; k < sizeof dfs / sizeof dfs[0]; k++) {
			double t = wr_stat_t_quantile(levels[i], dfs[k]);

			assert_near(wr_stat_t_tail(t, dfs[k]) / (1 - levels[i]), 1, 1e-6);
			assert_near(wr_stat_t_tail(-t, dfs[k]), wr_stat_t_tail(t, dfs[k]), 0);
		}
	}
	assert_near(wr_stat_t_tail(0, 5), 1, 0);
	assert_near(wr_stat_t_tail(INFINITY, 5), 0, 0);
	assert_near(wr_stat_t_quantile(0.95, 1e12), wr_stat_normal_quantile(0.975), 1e-9);
}

static void normal_quantiles(void **state)
{
	static const double rows[][2] = {
		{0.5, 0},
		{0.8, 0.8416212336},
		{0.95, 1.644853627},
		{0.975, 1.959963985},
		{0.995, 2.575829304},
		{0.999, 3.090232306},
		{1e-6, -4.753424309},
		{0.025, -1.959963985},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_near(wr_stat_normal_quantile(rows[i][0]), rows[i][1], 1e-9);
		assert_near(wr_stat_normal_cdf(wr_stat_normal_quantile(rows[i][0])), rows[i][0],
			    1e-14);
	}
	assert_near(wr_stat_normal_cdf(1.96), 0.9750021049, 1e-10);
}

static void coins_by_hand(void **state)
{
	double sum = 0;

	(void)state;
	assert_near(wr_stat_coin_pmf(0, 0), 1, 1e-15);
	assert_near(wr_stat_coin_pmf(0, 6), 1.0 / 64, 1e-15);
	assert_near(wr_stat_coin_pmf(2, 4), 0.375, 1e-14);
	assert_near(wr_stat_coin_pmf(5, 4), 0, 0);
	for (size_t i = 0; i <= 5000; i++)
		sum += wr_stat_coin_pmf(i, 5000);
	assert_near(sum, 1, 1e-9);
}

/* R 4.2: integrate() of the definition; pt(), which is inexact in the upper tail, agrees to 5 digits. */
static void power_of_t_tests(void **state)
{
	(void)state;
	assert_near(wr_stat_t_power(2.228139, 3, 10), 0.771401394, 1e-8);
	assert_near(wr_stat_t_power(4.5, 6, 10), 0.872544535, 1e-8);
	assert_near(wr_stat_t_power(4.5, -6, 10), 0.872544535, 1e-8);
	assert_near(wr_stat_t_power(12.706, 10, 1), 0.567313935, 1e-8);
	assert_near(wr_stat_t_power(1.98, 2.8, 1000), 0.793805117, 1e-8);
	/* power.t.test(n = 6, delta = 1, sd = 0.5, strict = TRUE) */
	assert_near(wr_stat_t_power(wr_stat_t_quantile(0.95, 10), 2 * sqrt(3), 10), 0.8764177714, 1e-8);
	for (double df = 1; df < 1e6; df *= 3)
		assert_near(wr_stat_t_power(3, 0, df), wr_stat_t_tail(3, df), 1e-8);
}

static void effects_of_a_power(void **state)
{
	(void)state;
	assert_near(wr_stat_t_effect(4.5, 0.8, 10), 5.57008146, 1e-7);
	/* power.t.test(n = 6, sd = 0.05, sig.level = 0.05 / 10, power = 0.8, strict = TRUE) */
	assert_near(wr_stat_t_effect(wr_stat_t_quantile(1 - 0.005, 10), 0.8, 10) * 0.05 / sqrt(3),
		    0.1317100817, 1e-8);
	assert_near(wr_stat_t_effect(wr_stat_t_quantile(0.95, 1e7), 0.8, 1e7), 1.959964 + 0.841621, 1e-5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t_quantiles_of_the_tables),
		cmocka_unit_test(t_quantiles_in_closed_form),
		cmocka_unit_test(t_tail_inverts_the_quantile),
		cmocka_unit_test(normal_quantiles),
		cmocka_unit_test(coins_by_hand),
		cmocka_unit_test(power_of_t_tests),
		cmocka_unit_test(effects_of_a_power),
	};

	return cmocka_run_group_tests_name("distribution", tests, NULL, NULL);
}
