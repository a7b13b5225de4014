/* SPDX-License-Identifier: MIT */
/* A lab's page: what is one, what it says between two copies, and what is not believed. */
#include "model/lateness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

static void the_worse_direction_counts(void **state)
{
	struct wr_lateness before, after;

	(void)state;
	wr_lateness_begin(&before);
	wr_stat_octaves_add(&before.ways[0], 900 * WR_NS_PER_MS, 1000);
	after = before;
	assert_true(wr_lateness_p99_ns(&before, &after) == WR_UNSET);
	wr_stat_octaves_add(&after.ways[0], 100 * WR_NS_PER_US, 1000);
	wr_stat_octaves_add(&after.ways[1], 100 * WR_NS_PER_US, 1000);
	wr_stat_octaves_add(&after.ways[1], 30 * WR_NS_PER_MS, 20);
	assert_in_range(wr_lateness_p99_ns(&before, &after), 30 * WR_NS_PER_MS, 32 * WR_NS_PER_MS);
}

static void one_in_a_thousand_is_not_the_99th_percentile(void **state)
{
	struct wr_lateness before, after;

	(void)state;
	wr_lateness_begin(&before);
	after = before;
	wr_stat_octaves_add(&after.ways[0], 100 * WR_NS_PER_US, 999);
	wr_stat_octaves_add(&after.ways[0], 30 * WR_NS_PER_MS, 1);
	assert_in_range(wr_lateness_p99_ns(&before, &after), 100 * WR_NS_PER_US, 107 * WR_NS_PER_US);
}

static void what_is_no_page_is_told(void **state)
{
	struct wr_lateness page;

	(void)state;
	wr_lateness_begin(&page);
	assert_true(wr_lateness_is(&page, sizeof page));
	assert_false(wr_lateness_is(&page, sizeof page - 1));
	page.version++;
	assert_false(wr_lateness_is(&page, sizeof page));
	wr_lateness_begin(&page);
	page.n_ways = 3;
	assert_false(wr_lateness_is(&page, sizeof page));
	memset(&page, 0xff, sizeof page);
	assert_false(wr_lateness_is(&page, sizeof page));
}

/* Counts that go back or run over are no lateness, and no crash. */
static void foreign_counts_say_nothing(void **state)
{
	struct wr_lateness before, after;

	(void)state;
	wr_lateness_begin(&before);
	wr_lateness_begin(&after);
	memset(before.ways, 0xff, sizeof before.ways);
	assert_true(wr_lateness_p99_ns(&before, &after) == WR_UNSET);
	assert_true(wr_lateness_p99_ns(&after, &before) == WR_UNSET);
	assert_true(wr_lateness_p99_ns(&before, &before) == WR_UNSET);
	wr_lateness_begin(&before);
	after.ways[1].buckets[WR_STAT_OCTAVES_BUCKETS - 1] = UINT64_MAX;
	assert_true(wr_lateness_p99_ns(&before, &after) > WR_NS_PER_S);
}

static void the_bound_grows_with_the_round_trip(void **state)
{
	(void)state;
	assert_int_equal(wr_lateness_bound_ns(0), 2 * WR_NS_PER_MS);
	assert_int_equal(wr_lateness_bound_ns(100 * WR_NS_PER_MS), 4 * WR_NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worse_direction_counts),
		cmocka_unit_test(one_in_a_thousand_is_not_the_99th_percentile),
		cmocka_unit_test(what_is_no_page_is_told),
		cmocka_unit_test(foreign_counts_say_nothing),
		cmocka_unit_test(the_bound_grows_with_the_round_trip),
	};

	return cmocka_run_group_tests_name("model_lateness", tests, NULL, NULL);
}
