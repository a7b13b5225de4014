/* SPDX-License-Identifier: MIT */
/* Plans: what the command line fills, JSON carries whole; contradictions are refused on both ways. */
#include "model/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A plan from a command line. @line: cut in place */
static int parse(struct wr_plan *plan, char *line, struct weir_err *err)
{
	char *argv[40] = {"run"};
	int argc = 1, first;

	memset(plan, 0, sizeof *plan);
	memset(err, 0, sizeof *err);
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	if (wr_option_parse(wr_plan_options, plan, argc, argv, false, &first, err) != 0)
		return -1;
	return wr_plan_finish(plan, err);
}

static void the_rows_are_sound(void **state)
{
	(void)state;
	for (const struct wr_option *row = wr_plan_options; row->name; row++) {
		assert_true(row->help && row->help[0]);
		assert_true((row->kind == WR_OPTION_FLAG) == !row->metavar);
		assert_true(row->offset < sizeof(struct wr_plan));
		for (const struct wr_option *other = wr_plan_options; other < row; other++) {
			assert_string_not_equal(row->name, other->name);
			assert_true(!row->letter || row->letter != other->letter);
			assert_true(row->offset != other->offset);
		}
	}
}

static void window_is_all_four(void **state)
{
	char line[] = "-w 100K --far-sndbuf 5K";
	struct wr_plan plan;
	struct weir_err err;

	(void)state;
	assert_int_equal(parse(&plan, line, &err), 0);
	assert_int_equal(wr_plan_sndbuf(&plan, false), 102400);
	assert_int_equal(wr_plan_rcvbuf(&plan, false), 102400);
	assert_int_equal(wr_plan_sndbuf(&plan, true), 5120);
	assert_int_equal(wr_plan_rcvbuf(&plan, true), 102400);
}

static void unset_stays_unset(void **state)
{
	char line[] = "";
	struct wr_plan plan;
	struct weir_err err;

	(void)state;
	assert_int_equal(parse(&plan, line, &err), 0);
	assert_true(wr_plan_sndbuf(&plan, false) == WR_UNSET && wr_plan_rcvbuf(&plan, true) == WR_UNSET);
	assert_true(plan.bytes == WR_UNSET && plan.duration_ns == WR_UNSET && plan.write_bps == WR_UNSET);
	assert_int_equal(plan.streams, 1);
	assert_true(!plan.congestion && !plan.cpu);
}

static void contradictions_are_refused(void **state)
{
	static const char *const lines[] = {
		"--read-rate 1mbit", "-R --far-read-rate 1mbit", "-C sixteen-letters--", "--cpu x", "--cpu 1,", "--cpu ,1",
		"--cpu -1", "--cpu 1,2,3", "-4 -6", "-n 1 -t 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		char line[64];
		struct wr_plan plan;
		struct weir_err err;

		snprintf(line, sizeof line, "%s", lines[i]);
		if (parse(&plan, line, &err) == 0)
			fail_msg("%s was taken", lines[i]);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
	}
}

static void json_carries_it_whole(void **state)
{
	char line[] = "-R -t 3 -P 4 -l 1000 --sndbuf 64K --rcvbuf 32K --far-sndbuf 16K --far-rcvbuf 8K -C reno -N -b 5mbit "
		      "--read-rate 9mbit -6 -B ::1 --connect-timeout 2 -i 0.5 --cpu 1,0 --write-exact -p 77";
	struct wr_plan plan, back;
	struct weir_err err;
	json_t *object, *again;

	(void)state;
	assert_int_equal(parse(&plan, line, &err), 0);
	plan.force = true;
	object = wr_plan_to_json(&plan);
	assert_int_equal(wr_plan_from_json(&back, object, &err), 0);
	again = wr_plan_to_json(&back);
	assert_true(json_equal(object, again));
	json_decref(object);
	json_decref(again);
	/* Its texts outlive the object that it came from. */
	assert_string_equal(back.congestion, "reno");
	assert_string_equal(back.bind, "::1");
	assert_string_equal(back.cpu, "1,0");
	assert_true(back.force && back.reverse && back.nodelay && back.write_exact && back.v6 && !back.v4);
	assert_int_equal(back.streams, 4);
	assert_int_equal(back.duration_ns, 3000000000);
	assert_int_equal(back.far_rcvbuf_bytes, 8192);
	assert_int_equal(back.write_bps, 5000000);
	wr_plan_deinit(&back);
	wr_plan_deinit(&back);
	assert_null(back.texts);
}

static void json_is_checked_as_the_command_line_is(void **state)
{
	static const char *const texts[] = {
		"[]", "null", "\"plan\"", "{\"parallel\":0}", "{\"parallel\":129}", "{\"parallel\":\"4\"}",
		"{\"sndbuf_bytes\":1073741824}", "{\"interval_ns\":1}", "{\"time_ns\":0}", "{\"read_rate_bps\":5000000}",
		"{\"reverse\":true,\"far_read_rate_bps\":5000000}", "{\"cpu\":\"all\"}", "{\"congestion\":\"sixteen-letters--\"}",
		"{\"force\":1}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		json_t *object = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		struct wr_plan plan;
		struct weir_err err = {0};

		if (wr_plan_from_json(&plan, object, &err) == 0)
			fail_msg("%s was taken", texts[i]);
		assert_true(err.text[0]);
		wr_plan_deinit(&plan);
		json_decref(object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rows_are_sound),
		cmocka_unit_test(window_is_all_four),
		cmocka_unit_test(unset_stays_unset),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(json_carries_it_whole),
		cmocka_unit_test(json_is_checked_as_the_command_line_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
