/* SPDX-License-Identifier: MIT */
/* The small histogram against known quantiles, and the difference of two copies. */
#include "stat/octaves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void quantiles_are_within_a_sixteenth(void **state)
{
	struct wr_stat_octaves octaves = {0};

	(void)state;
	assert_int_equal(wr_stat_octaves_quantile(&octaves, 0.5), 0);
	for (uint64_t ns = 1; ns <= 100000; ns++)
		wr_stat_octaves_add(&octaves, ns, 1);
	assert_in_range(wr_stat_octaves_quantile(&octaves, 0.5), 50000, 53200);
	assert_in_range(wr_stat_octaves_quantile(&octaves, 0.99), 99000, 100000);
	assert_int_equal(wr_stat_octaves_quantile(&octaves, 1), 100000);
	wr_stat_octaves_add(&octaves, UINT64_MAX, 1);
	assert_true(octaves.max == UINT64_MAX);
}

static void what_came_between_two_copies_is_theirs(void **state)
{
	struct wr_stat_octaves before = {0}, after, between;

	(void)state;
	for (int i = 0; i < 1000; i++)
		wr_stat_octaves_add(&before, 30000000, 1);
	after = before;
	assert_true(wr_stat_octaves_since(&before, &after, &between));
	assert_int_equal(between.n, 0);
	assert_int_equal(wr_stat_octaves_quantile(&between, 0.99), 0);
	for (uint64_t ns = 1; ns <= 100000; ns++)
		wr_stat_octaves_add(&after, ns, 1);
	assert_true(wr_stat_octaves_since(&before, &after, &between));
	assert_int_equal(between.n, 100000);
	assert_in_range(wr_stat_octaves_quantile(&between, 0.99), 99000, 106000);
	assert_in_range(wr_stat_octaves_quantile(&between, 1), 100000, 106000);
}

static void copies_that_do_not_belong_together_are_refused(void **state)
{
	struct wr_stat_octaves before = {0}, after = {0}, between;

	(void)state;
	wr_stat_octaves_add(&before, 5, 2);
	wr_stat_octaves_add(&after, 5, 1);
	wr_stat_octaves_add(&after, 7, 9);
	assert_false(wr_stat_octaves_since(&before, &after, &between));
	before.buckets[5] = 0;
	after.buckets[3] = UINT64_MAX;
	assert_false(wr_stat_octaves_since(&before, &after, &between));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_within_a_sixteenth),
		cmocka_unit_test(what_came_between_two_copies_is_theirs),
		cmocka_unit_test(copies_that_do_not_belong_together_are_refused),
	};

	return cmocka_run_group_tests_name("stat_octaves", tests, NULL, NULL);
}
