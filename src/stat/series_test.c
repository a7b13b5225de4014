/* SPDX-License-Identifier: MIT */
/* Autocorrelation of series that have a known one, and means over uneven times. */
#include "stat/series.h"

#include "stat/testing.h"

static void lag1_by_hand(void **state)
{
	static const double rising[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; /* R: acf(1:10) gives 0.7 */
	static const double swinging[] = {1, -1, 1, -1, 1, -1, 1, -1};

	(void)state;
	assert_near(wr_stat_lag1(rising, 10), 0.7, 1e-12);
	assert_near(wr_stat_lag1(swinging, 8), -7.0 / 8, 1e-12);
}

static void lag1_of_a_known_process(void **state)
{
	static const double coefficients[] = {0, 0.5, 0.95, -0.6};
	static double samples[20000];
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 5);
	for (size_t i = 0; i < sizeof coefficients / sizeof coefficients[0]; i++) {
		samples[0] = random_normal(&random);
		for (size_t k = 1; k < 20000; k++)
			samples[k] = coefficients[i] * samples[k - 1] + random_normal(&random);
		assert_near(wr_stat_lag1(samples, 20000), coefficients[i], 0.02);
	}
}

static void lag1_needs_a_change(void **state)
{
	static const double same[] = {4, 4, 4, 4};

	(void)state;
	assert_nan(wr_stat_lag1(NULL, 0));
	assert_nan(wr_stat_lag1((const double[]){1, 2}, 2));
	assert_nan(wr_stat_lag1(same, 4));
	assert_near(wr_stat_lag1((const double[]){1, 2, 3}, 3), 0, 1e-12);
}

static void time_counts_and_not_samples(void **state)
{
	static const uint64_t t_ns[] = {1000, 1001, 1002, 1003, 1103};
	static const double values[] = {10, 10, 10, 10, 20};

	(void)state;
	assert_near(wr_stat_time_mean(t_ns, values, 5), (3 * 10 + 100 * 15) / 103.0, 1e-12);
	assert_near(wr_stat_time_mean(t_ns, values, 4), 10, 1e-12);
	assert_near(wr_stat_time_mean(t_ns, values, 1), 10, 0);
	assert_nan(wr_stat_time_mean(NULL, NULL, 0));
}

static void no_time_between(void **state)
{
	static const uint64_t t_ns[] = {7, 7, 7};
	static const double values[] = {1, 2, 6};

	(void)state;
	assert_near(wr_stat_time_mean(t_ns, values, 3), 3, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lag1_by_hand),
		cmocka_unit_test(lag1_of_a_known_process),
		cmocka_unit_test(lag1_needs_a_change),
		cmocka_unit_test(time_counts_and_not_samples),
		cmocka_unit_test(no_time_between),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
