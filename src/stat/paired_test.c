/* SPDX-License-Identifier: MIT */
/* Paired ratios by hand, exact p values, their symmetry, and the coverage of the interval. */
#include "stat/paired.h"

#include "stat/rank.h"
#include "stat/testing.h"

#define N_TRIALS 20000

static void six_pairs_by_hand(void **state)
{
	static const double baseline[] = {100, 100, 100, 100, 100, 100};
	static const double changed[] = {110, 120, 130, 140, 150, 160};
	struct wr_stat_paired p;
	double scratch[12], mean = 0, squares = 0, half;

	(void)state;
	for (size_t i = 0; i < 6; i++)
		mean += log(changed[i] / 100) / 6;
	for (size_t i = 0; i < 6; i++)
		squares += pow(log(changed[i] / 100) - mean, 2);
	half = 2.570581836 * sqrt(squares / 5 / 6);
	assert_int_equal(wr_stat_paired(&p, baseline, changed, 6, 1, scratch), WR_STAT_DONE);
	assert_int_equal(p.n_pairs, 6);
	assert_near(p.ratio, exp(mean), 1e-12);
	assert_near(p.sd_log, sqrt(squares / 5), 1e-12);
	assert_near(p.ratio_ci95.low, exp(mean - half), 1e-9);
	assert_near(p.ratio_ci95.high, exp(mean + half), 1e-9);
	assert_near(p.ratio_ci95.coverage_ratio, 0.95, 0);
	assert_near(p.min_effect_ratio, 2.8 * sqrt(squares / 5) / sqrt(6), 1e-12);
	assert_near(p.sign_flip_p, 0.03125, 0);
	assert_true(p.sign_flip_exact);
	assert_near(p.wilcoxon_p, 0.03125, 0);
	assert_near(p.median_ratio, sqrt(1.3 * 1.4), 1e-12);
	assert_near(p.median_ratio_interval.low, 1.1, 1e-12);
	assert_near(p.median_ratio_interval.high, 1.6, 1e-12);
	assert_near(p.median_ratio_interval.coverage_ratio, 0.96875, 1e-12);
}

static void least_p_halves_with_each_pair(void **state)
{
	double baseline[25], changed[25], scratch[50];
	struct wr_stat_paired p;

	(void)state;
	for (size_t n = 1; n <= 20; n++) {
		baseline[n - 1] = (double)n;
		changed[n - 1] = (double)n * (1.5 + 0.01 * (double)n);
		wr_stat_paired(&p, baseline, changed, n, 1, scratch);
		assert_near(p.sign_flip_p, ldexp(1, 1 - (int)n), 0);
		assert_near(p.wilcoxon_p, ldexp(1, 1 - (int)n), 0);
	}
}

static void swapping_inverts(void **state)
{
	static const double a[] = {3, 5, 2, 8, 7.7, 6.1, 4.2}, b[] = {4, 5, 1, 9, 9.9, 6.3, 4.7};
	struct wr_stat_paired there, back;
	double scratch[14];

	(void)state;
	wr_stat_paired(&there, a, b, 7, 1, scratch);
	wr_stat_paired(&back, b, a, 7, 1, scratch);
	assert_near(there.ratio * back.ratio, 1, 1e-12);
	assert_near(there.ratio_ci95.low * back.ratio_ci95.high, 1, 1e-12);
	assert_near(there.median_ratio_interval.low * back.median_ratio_interval.high, 1, 1e-12);
	assert_near(there.sign_flip_p, back.sign_flip_p, 0);
	assert_near(there.wilcoxon_p, back.wilcoxon_p, 0);
}

/* Darwin's maize (Fisher, The Design of Experiments, 21): 1726 of 2^15 patterns as extreme. */
static void sign_flips_of_darwins_maize(void **state)
{
	static const double eighths[] = {49, -67, 8,  16, 6,  23, 28, 41,
					 14, 29,  56, 24, 75, 60, -48};

	(void)state;
	assert_near(wr_stat_sign_flip_p(eighths, 15, 1), 1726.0 / 32768, 1e-12);
	/* R's wilcox.test(exact = TRUE): V = 96 of 120, p = 0.04126 */
	assert_near(wr_stat_wilcoxon_p(eighths, 15, (double[15]){0}), 0.04126, 5e-6);
}

static void random_flips_agree_with_all(void **state)
{
	double d[21], exact;
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 3);
	for (size_t i = 0; i < 20; i++)
		d[i] = 0.4 + random_normal(&random);
	d[20] = 0; /* changes no sum, but the method */
	exact = wr_stat_sign_flip_p(d, 20, 1);
	assert_in_range((int)(exact * 1000), 10, 900);
	assert_near(wr_stat_sign_flip_p(d, 21, 1), exact, 0.015);
	assert_near(wr_stat_sign_flip_p(d, 21, 1), wr_stat_sign_flip_p(d, 21, 1), 0);
}

/* 12 pairs that vary by 5 % show 4.0 %. */
static void min_effect_of_the_table(void **state)
{
	double baseline[12], changed[12], scratch[24];
	struct wr_stat_paired p;

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		baseline[i] = 1;
		changed[i] = exp(i % 2 ? 0.05 : -0.05);
	}
	wr_stat_paired(&p, baseline, changed, 12, 1, scratch);
	assert_near(p.min_effect_ratio, 2.8 * 0.05 * sqrt(12.0 / 11) / sqrt(12), 1e-12);
	assert_near(p.min_effect_ratio, 0.040, 0.003);
	assert_near(p.ratio, 1, 1e-12);
}

static void few_and_equal_pairs(void **state)
{
	static const double a[] = {2, 3, 4}, b[] = {3, 3, 4};
	struct wr_stat_paired p;
	double scratch[6];

	(void)state;
	assert_int_equal(wr_stat_paired(&p, NULL, NULL, 0, 1, NULL), WR_STAT_TOO_FEW);
	assert_nan(p.ratio);
	assert_nan(p.median_ratio);
	assert_int_equal(wr_stat_paired(&p, a, b, 1, 1, scratch), WR_STAT_TOO_FEW);
	assert_near(p.ratio, 1.5, 1e-12);
	assert_near(p.median_ratio, 1.5, 1e-12);
	assert_nan(p.ratio_ci95.low);
	assert_nan(p.min_effect_ratio);
	assert_near(p.sign_flip_p, 1, 0);
	assert_int_equal(wr_stat_paired(&p, a, b, 2, 1, scratch), WR_STAT_DONE);
	assert_near(p.ratio, sqrt(1.5), 1e-12);
	assert_int_equal(wr_stat_paired(&p, a, a, 3, 1, scratch), WR_STAT_DONE);
	assert_near(p.ratio, 1, 0);
	assert_near(p.ratio_ci95.low, 1, 0);
	assert_near(p.ratio_ci95.high, 1, 0);
	assert_near(p.sign_flip_p, 1, 0);
	assert_near(p.wilcoxon_p, 1, 0);
	assert_near(p.min_effect_ratio, 0, 0);
}

static void zero_has_no_ratio(void **state)
{
	static const double good[] = {2, 3};
	static const double bad[][2] = {{1, 0}, {-1, 2}, {1, NAN}, {INFINITY, 1}};
	struct wr_stat_paired p;
	double scratch[4];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(wr_stat_paired(&p, good, bad[i], 2, 1, scratch),
				 WR_STAT_NOT_POSITIVE);
		assert_int_equal(wr_stat_paired(&p, bad[i], good, 2, 1, scratch),
				 WR_STAT_NOT_POSITIVE);
		assert_int_equal(p.n_pairs, 2);
		assert_nan(p.ratio);
		assert_nan(p.sign_flip_p);
	}
}

static void draw_pairs(struct wr_stat_random *random, double *baseline, double *changed,
		       double log_ratio)
{
	for (size_t i = 0; i < 6; i++) {
		double path = exp(0.3 * random_normal(random)); /* shared, so pairing removes it */

		baseline[i] = path * exp(0.03 * random_normal(random));
		changed[i] = path * exp(log_ratio + 0.03 * random_normal(random));
	}
}

static void the_interval_covers(void **state)
{
	unsigned n_held = 0, n_median = 0, n_flip = 0, n_wilcoxon = 0;
	double baseline[6], changed[6], scratch[12];
	struct wr_stat_random random;
	struct wr_stat_paired p;

	(void)state;
	wr_stat_random_init(&random, 4);
	for (unsigned trial = 0; trial < N_TRIALS; trial++) {
		draw_pairs(&random, baseline, changed, 0);
		wr_stat_paired(&p, baseline, changed, 6, 1, scratch);
		n_held += p.ratio_ci95.low <= 1 && 1 <= p.ratio_ci95.high;
		n_median += p.median_ratio_interval.low <= 1 && 1 <= p.median_ratio_interval.high;
		n_flip += p.sign_flip_p < 0.05;
		n_wilcoxon += p.wilcoxon_p < 0.05;
	}
	assert_near((double)n_held / N_TRIALS, 0.95, 0.005);
	assert_near((double)n_median / N_TRIALS, 0.96875, 0.005);
	assert_near((double)n_flip / N_TRIALS, 0.03125, 0.005); /* an exact test's size at n = 6 */
	assert_near((double)n_wilcoxon / N_TRIALS, 0.03125, 0.005);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_pairs_by_hand),
		cmocka_unit_test(least_p_halves_with_each_pair),
		cmocka_unit_test(swapping_inverts),
		cmocka_unit_test(sign_flips_of_darwins_maize),
		cmocka_unit_test(random_flips_agree_with_all),
		cmocka_unit_test(min_effect_of_the_table),
		cmocka_unit_test(few_and_equal_pairs),
		cmocka_unit_test(zero_has_no_ratio),
		cmocka_unit_test(the_interval_covers),
	};

	return cmocka_run_group_tests_name("paired", tests, NULL, NULL);
}
