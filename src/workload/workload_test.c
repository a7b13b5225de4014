/* SPDX-License-Identifier: MIT */
/* Workloads as text: each row is sound, what is written is what is meant, everything wrong is refused by name. */
#include "workload/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

static const struct wr_plan unset = {.bytes = WR_UNSET, .len_bytes = WR_UNSET};

static int parse(struct wr_work *work, const char *text, struct weir_err *err)
{
	struct wr_plan plan = unset;

	memset(err, 0, sizeof *err);
	plan.workload = text;
	return wr_work_parse(work, &plan, err);
}

static void rows_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; wr_workloads[i]; i++) {
		const struct wr_workload *row = wr_workloads[i];
		struct weir_err err;
		struct wr_work work;

		assert_true(row->name && row->summary && row->example && row->send && row->receive);
		assert_true(strlen(row->name) < WR_WORKLOAD_NAME_TEXT && !strpbrk(row->name, ":,="));
		assert_true(!row->keys || row->source);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(wr_workloads[j]->name, row->name);
		for (const struct wr_option *key = row->keys; key && key->name; key++) {
			assert_true(key->help && key->help[0] && key->offset < WR_WORKLOAD_KEYS_BYTES);
			assert_true(key->kind != WR_OPTION_TEXT || key->repeat);
			assert_true(key - row->keys < 32);
		}
		assert_int_equal(parse(&work, row->name, &err), 0);
		assert_int_equal(parse(&work, row->example, &err), 0);
		assert_ptr_equal(work.row, row);
	}
	assert_ptr_equal(wr_workloads[0], &wr_workload_stream);
}

static void nothing_asked_is_a_stream(void **state)
{
	struct wr_plan plan = unset;
	struct wr_work work;

	(void)state;
	assert_int_equal(wr_work_parse(&work, &plan, NULL), 0);
	assert_ptr_equal(work.row, &wr_workload_stream);
	assert_false(wr_work_ends(&plan));
	plan.bytes = 1;
	assert_true(wr_work_ends(&plan));
	plan.bytes = WR_UNSET;
	plan.workload = "records:count=3";
	assert_true(wr_work_ends(&plan));
	plan.workload = "records";
	assert_false(wr_work_ends(&plan));
	plan.workload = "no-such";
	assert_false(wr_work_ends(&plan));
}

static void a_write_is_as_long_as_asked(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{"records", 100},	 {"records:size=1K", 1024},		 {"records:size=20-100", 100},
		{"records:batch=80", 8004}, {"records:batch=3,size=10-20", 64}, {"records:wait=acked,size=7", 7},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct weir_err err;
		struct wr_work work;

		assert_int_equal(parse(&work, rows[i].text, &err), 0);
		assert_int_equal(work.row->write_bytes(work.keys), rows[i].bytes);
	}
}

static void wrong_ones_are_refused(void **state)
{
	/* text, what the words must name, what the hint must */
	static const char *const rows[][3] = {
		{"", "''", "weir list workloads"},
		{"recrods", "recrods", "stream, records"},
		{"stream:size=1", "no key 'size'", "no keys"},
		{"stream:", "no key ''", "no keys"},
		{"records:", "no key ''", "size, count, batch, wait"},
		{"records:sise=1", "no key 'sise'", "size, count, batch, wait"},
		{"records:size", "size needs a value", "weir list workloads"},
		{"records:size=", "size", "64K"},
		{"records:size=0", "size: 0 is outside 1 B to 1 MiB", "weir list workloads"},
		{"records:size=2M", "2M", ""},
		{"records:size=100-20", "100-20", ""},
		{"records:size=-5", "size", ""},
		{"records:size=5-", "size", ""},
		{"records:size=1-2-3", "size", ""},
		{"records:batch=1", "batch 1 is outside 2 to 10000", ""},
		{"records:batch=x", "'x' is not a whole number", ""},
		{"records:count=0", "count 0", ""},
		{"records:wait=never", "never", ""},
		{"records:size=5,size=6", "size stands there twice", ""},
		{"records:size=5,,batch=3", "no key ''", ""},
		{"records:size=1M,batch=10000", "9.77 GiB", ""},
	};
	struct wr_plan plan = unset;
	struct weir_err err;
	struct wr_work work;
	char text[2 * WR_WORKLOAD_MAX_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(parse(&work, rows[i][0], &err), -1);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
		if (!strstr(err.text, rows[i][1]) || !strstr(err.hint, rows[i][2]) || !err.hint[0] ||
		    strncmp(err.text, "--workload", 10) != 0)
			fail_msg("%s: \"%s\", \"%s\"", rows[i][0], err.text, err.hint);
	}
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_int_equal(parse(&work, text, &err), -1);
	plan.workload = "records";
	plan.len_bytes = 100;
	assert_int_equal(wr_work_parse(&work, &plan, &err), -1);
	assert_non_null(strstr(err.text, "it contradicts --length"));
	plan.len_bytes = WR_UNSET;
	plan.bytes = 100;
	assert_int_equal(wr_work_parse(&work, &plan, &err), -1);
	assert_non_null(strstr(err.text, "it contradicts --bytes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(nothing_asked_is_a_stream),
		cmocka_unit_test(a_write_is_as_long_as_asked),
		cmocka_unit_test(wrong_ones_are_refused),
	};

	return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
