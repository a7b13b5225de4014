/* SPDX-License-Identifier: MIT */
/* Lists and ranges of an axis: what is taken, what is refused and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/axis.h"

static const struct wr_option *row(const char *name)
{
	const struct wr_option *found = wr_option_find(wr_plan_options, name);

	assert_non_null(found);
	return found;
}

static void assert_values(const char *name, const char *text, const char *const *expected, size_t n_expected)
{
	struct wr_axis axis;
	struct weir_err err = {0};

	assert_int_equal(wr_axis_parse(&axis, row(name), text, &err), 0);
	assert_int_equal(axis.n_values, n_expected);
	for (size_t i = 0; i < n_expected; i++)
		assert_string_equal(axis.values[i].text, expected[i]);
}

static void lists_and_ranges(void **state)
{
	(void)state;
	assert_values("sndbuf", "16K,unset,1M", (const char *const[]){"16K", "unset", "1M"}, 3);
	assert_values("sndbuf", "16K..64K", (const char *const[]){"16K", "32K", "64K"}, 3);
	assert_values("sndbuf", "16K..4M:x4", (const char *const[]){"16K", "64K", "256K", "1M", "4M"}, 5);
	assert_values("sndbuf", "16K..100K:x2", (const char *const[]){"16K", "32K", "64K"}, 3);
	assert_values("length", "1K..4K:+1K,128K", (const char *const[]){"1K", "2K", "3K", "4K", "128K"}, 5);
	assert_values("parallel", "1..8:+3", (const char *const[]){"1", "4", "7"}, 3);
	assert_values("congestion", "cubic,bbr", (const char *const[]){"cubic", "bbr"}, 2);
	assert_values("nodelay", "off,on", (const char *const[]){"off", "on"}, 2);
	assert_values("set", "TCP_NOTSENT_LOWAT=16384,65536,unset",
		      (const char *const[]){"TCP_NOTSENT_LOWAT=16384", "TCP_NOTSENT_LOWAT=65536", "unset"}, 3);
	assert_values("bitrate", "10mbit,20mbit", (const char *const[]){"10mbit", "20mbit"}, 2);
}

static void assert_refused(const char *name, const char *text, const char *part)
{
	struct wr_axis axis;
	struct weir_err err = {0};

	assert_int_equal(wr_axis_parse(&axis, row(name), text, &err), -1);
	assert_int_equal(err.code, WEIR_ERR_USAGE);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static void refusals(void **state)
{
	(void)state;
	assert_refused("sndbuf", "", "empty");
	assert_refused("sndbuf", "16K,,1M", "empty");
	assert_refused("sndbuf", "16K,16384", "twice");
	assert_refused("sndbuf", "unset,unset", "twice");
	assert_refused("sndbuf", "2G", "outside");
	assert_refused("sndbuf", "1M..16K", "does not rise");
	assert_refused("sndbuf", "16K..1M:y2", "no step");
	assert_refused("sndbuf", "16K..1M:x1", "no step");
	assert_refused("sndbuf", "1..1M:+1", "more than 64");
	assert_refused("sndbuf", "unset..1M", "one number");
	assert_refused("parallel", "unset,2", "default");
	assert_refused("nodelay", "yes", "off and on");
	assert_refused("congestion", "a..b", "no range");
	assert_refused("congestion", "a-name-that-is-much-longer-than-any-value-may-be,x", "too long");
}

static void unset_comes_first(void **state)
{
	struct wr_axis axis;

	(void)state;
	assert_int_equal(wr_axis_parse(&axis, row("sndbuf"), "1M,2M", NULL), 0);
	assert_int_equal(wr_axis_include_unset(&axis, NULL), 0);
	assert_int_equal(axis.n_values, 3);
	assert_true(axis.values[0].unset);
	assert_string_equal(axis.values[1].text, "1M");
	assert_int_equal(wr_axis_include_unset(&axis, NULL), 0);
	assert_int_equal(axis.n_values, 3);
}

static void values_go_into_plans(void **state)
{
	struct wr_plan plan;
	struct wr_axis axis;

	(void)state;
	wr_option_defaults(wr_plan_options, &plan);
	assert_int_equal(wr_axis_parse(&axis, row("sndbuf"), "unset,1M", NULL), 0);
	wr_axis_apply(&axis, 1, &plan);
	assert_int_equal(plan.sndbuf_bytes, 1 << 20);
	wr_axis_apply(&axis, 0, &plan);
	assert_true(plan.sndbuf_bytes == WR_UNSET);
	assert_int_equal(wr_axis_parse(&axis, row("nodelay"), "off,on", NULL), 0);
	wr_axis_apply(&axis, 1, &plan);
	assert_true(plan.nodelay);
	wr_axis_apply(&axis, 0, &plan);
	assert_false(plan.nodelay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_and_ranges), cmocka_unit_test(refusals), cmocka_unit_test(unset_comes_first),
		cmocka_unit_test(values_go_into_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
