/* SPDX-License-Identifier: MIT */
/*
 * Rank tests against the published critical values and examples, and their size on data without a
 * difference.
 */
#include "stat/rank.h"

#include "stat/summary.h"
#include "stat/testing.h"

#define N_MAX 40
#define N_TRIALS 20000

/* n differences of ranks 1..n, of which the negative ones have the rank sum @w. */
static double wilcoxon_of(size_t n, size_t w)
{
	double differences[N_MAX], scratch[N_MAX];

	for (size_t rank = n; rank > 0; rank--) {
		bool negative = rank <= w;

		w -= negative ? rank : 0;
		differences[rank - 1] = negative ? -(double)rank : (double)rank;
	}
	return wr_stat_wilcoxon_p(differences, n, scratch);
}

/* The usual table, 5 % two-sided: the largest rank sum that is still significant. */
static void wilcoxon_critical_values(void **state)
{
	static const size_t criticals[] = {0,  2,  3,  5,  8,  10, 13, 17, 21, 25,
					   29, 34, 40, 46, 52, 58, 65, 73, 81, 89};

	(void)state;
	for (size_t i = 0; i < sizeof criticals / sizeof criticals[0]; i++) {
		assert_true(wilcoxon_of(6 + i, criticals[i]) <= 0.05);
		assert_true(wilcoxon_of(6 + i, criticals[i] + 1) > 0.05);
	}
	assert_near(wilcoxon_of(5, 0), 0.0625, 0);
	assert_near(wilcoxon_of(10, 8), 50.0 / 1024,
		    1e-12); /* Hollander and Wolfe, table A.4: 0.024 one-sided */
}

/* Hollander and Wolfe, example 3.1, depression scores: one-sided p 0.0195 (R: V = 40, 0.01953). */
static void wilcoxon_depression_scores(void **state)
{
	static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
	static const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
	double differences[9], scratch[9];

	(void)state;
	for (size_t i = 0; i < 9; i++)
		differences[i] = after[i] - before[i];
	assert_near(wr_stat_wilcoxon_p(differences, 9, scratch), 20.0 / 512, 1e-12);
}

static void wilcoxon_ties_and_zeros(void **state)
{
	/*
	 * Sizes 1 1 1 4: ranks 2 2 2 4. Positive sum 8 of 10: patterns with a sum <= 2: {}, three
	 * times {2}.
	 */
	static const double tied[] = {1, -1, 0, 1, 4, 0};
	double scratch[6];

	(void)state;
	assert_near(wr_stat_wilcoxon_p(tied, 6, scratch), 2 * 4.0 / 16, 1e-12);
	assert_near(wr_stat_wilcoxon_p((const double[]){0, 0}, 2, scratch), 1, 0);
	assert_near(wr_stat_wilcoxon_p((const double[]){3}, 1, scratch), 1, 0);
	assert_near(wr_stat_wilcoxon_p((const double[]){3, 3}, 2, scratch), 0.5, 0);
	assert_near(wr_stat_wilcoxon_p(NULL, 0, NULL), 1, 0);
}

/* Beyond 25 the approximation, against the exact p, counted for this test in Python. */
static void wilcoxon_large(void **state)
{
	(void)state;
	assert_near(wilcoxon_of(26, 98), 0.049347, 0.0015);
	assert_near(wilcoxon_of(40, 264), 0.049761, 0.001);
	assert_true(wilcoxon_of(40, 0) < 1e-6);
}

/* n values each, of which those of the second set exceed @u of the pairs. */
static void mann_whitney_of(struct wr_stat_mann_whitney *out, size_t n_first, size_t n_second,
			    size_t u)
{
	double first[N_MAX], second[N_MAX], scratch[2 * N_MAX];

	for (size_t i = 0; i < n_first; i++)
		first[i] = (double)(i + 1);
	for (size_t i = 0; i < n_second; i++) {
		size_t n_exceeded = u < n_first ? u : n_first;

		second[i] = (double)n_exceeded + 0.5 + 0.001 * (double)i;
		u -= n_exceeded;
	}
	assert_int_equal(wr_stat_mann_whitney(out, first, n_first, second, n_second, scratch),
			 WR_STAT_DONE);
}

/*
 * The usual table (Mann and Whitney 1947, Auble 1953), 5 % two-sided: the largest U that is
 * significant.
 */
static void mann_whitney_critical_values(void **state)
{
	static const size_t rows[][3] = {
		{2, 8, 0},     {3, 5, 0},     {3, 10, 3},   {4, 4, 0},	  {4, 6, 2},
		{5, 5, 2},     {5, 10, 8},    {6, 6, 5},    {7, 7, 8},	  {8, 8, 13},
		{9, 9, 17},    {10, 10, 23},  {10, 20, 55}, {12, 12, 37}, {15, 15, 64},
		{19, 19, 113}, {20, 20, 127},
	};
	struct wr_stat_mann_whitney mw;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		mann_whitney_of(&mw, rows[i][0], rows[i][1], rows[i][2]);
		assert_true(mw.exact);
		assert_near(mw.u, (double)rows[i][2], 0);
		assert_true(mw.p <= 0.05);
		mann_whitney_of(&mw, rows[i][1], rows[i][0], rows[i][2]);
		assert_true(mw.p <= 0.05);
		mann_whitney_of(&mw, rows[i][0], rows[i][1], rows[i][2] + 1);
		assert_true(mw.p > 0.05);
	}
}

static void mann_whitney_least_p(void **state)
{
	struct wr_stat_mann_whitney mw;

	(void)state;
	mann_whitney_of(&mw, 3, 3, 0);
	assert_near(mw.p, 0.1, 1e-12);
	mann_whitney_of(&mw, 4, 4, 16);
	assert_near(mw.p, 2.0 / 70, 1e-12);
	assert_near(mw.superiority_ratio, 1, 0);
	mann_whitney_of(&mw, 1, 1, 0);
	assert_near(mw.p, 1, 0);
	mann_whitney_of(&mw, 20, 20, 0);
	assert_near(mw.p * 137846528820.0, 2, 1e-9);
}

/* Hollander and Wolfe, example 4.1, membrane permeability: one-sided p 0.1272 (R: W = 35). */
static void mann_whitney_permeability(void **state)
{
	static const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
	static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};
	struct wr_stat_mann_whitney mw;
	double scratch[15];

	(void)state;
	wr_stat_mann_whitney(&mw, early, 5, term, 10, scratch);
	assert_near(mw.u, 35, 0);
	assert_near(mw.p, 0.2544, 5e-5);
	assert_near(mw.superiority_ratio, 0.7, 1e-12);
}

static void mann_whitney_ties(void **state)
{
	static const double first[] = {1, 2, 2, 3}, second[] = {2, 3, 4, 5}, same[] = {6, 6, 6, 6};
	struct wr_stat_mann_whitney mw;
	double scratch[8], sd = sqrt(16.0 / 12 * (9 - 30.0 / 56));

	(void)state;
	wr_stat_mann_whitney(&mw, first, 4, second, 4, scratch);
	assert_false(mw.exact);
	assert_near(mw.u, 13.5, 0);
	assert_near(mw.p, erfc(5 / sd / M_SQRT2), 1e-12);
	wr_stat_mann_whitney(&mw, same, 4, same, 3, scratch);
	assert_near(mw.u, 6, 0);
	assert_near(mw.p, 1, 0);
	wr_stat_mann_whitney(&mw, same, 1, same, 1, scratch);
	assert_near(mw.p, 1, 0);
	assert_int_equal(wr_stat_mann_whitney(&mw, same, 4, NULL, 0, scratch), WR_STAT_TOO_FEW);
	assert_nan(mw.p);
	assert_int_equal(wr_stat_mann_whitney(&mw, NULL, 0, NULL, 0, NULL), WR_STAT_TOO_FEW);
}

/* As above: the exact p of both comes from counting in Python. */
static void mann_whitney_large(void **state)
{
	struct wr_stat_mann_whitney mw;

	(void)state;
	mann_whitney_of(&mw, 20, 20, 127);
	assert_true(mw.exact);
	assert_near(mw.p, 0.049090, 5e-7);
	mann_whitney_of(&mw, 21, 21, 142);
	assert_false(mw.exact);
	assert_near(mw.p, 0.049009, 0.001);
}

/*
 * Without a difference an exact test says "p <= 0.05" no more often than that; measured against its
 * own size.
 */
static void tests_keep_their_size(void **state)
{
	unsigned n_wilcoxon = 0, n_mann_whitney = 0;
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 6);
	for (unsigned trial = 0; trial < N_TRIALS; trial++) {
		double samples[16], scratch[16];
		struct wr_stat_mann_whitney mw;

		for (size_t i = 0; i < 16; i++)
			samples[i] = random_normal(&random);
		n_wilcoxon += wr_stat_wilcoxon_p(samples, 10, scratch) <= 0.05;
		wr_stat_mann_whitney(&mw, samples, 8, samples + 8, 8, scratch);
		n_mann_whitney += mw.p <= 0.05;
	}
	assert_near((double)n_wilcoxon / N_TRIALS, wilcoxon_of(10, 8), 0.005);
	assert_near((double)n_mann_whitney / N_TRIALS, 0.0499, 0.005); /* U <= 13: 0.0499 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wilcoxon_critical_values),
		cmocka_unit_test(wilcoxon_depression_scores),
		cmocka_unit_test(wilcoxon_ties_and_zeros),
		cmocka_unit_test(wilcoxon_large),
		cmocka_unit_test(mann_whitney_critical_values),
		cmocka_unit_test(mann_whitney_least_p),
		cmocka_unit_test(mann_whitney_permeability),
		cmocka_unit_test(mann_whitney_ties),
		cmocka_unit_test(mann_whitney_large),
		cmocka_unit_test(tests_keep_their_size),
	};

	return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
