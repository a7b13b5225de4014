/* SPDX-License-Identifier: MIT */
/* Schedules of rates: what is read, what is refused with its line, and that the server follows one to the nanosecond. */
#include "lab/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stat/random.h"

static int parse(const char *text, struct wr_lab_rate_schedule *schedule, struct weir_err *err)
{
	char copy[512];

	snprintf(copy, sizeof copy, "%s", text);
	return wr_lab_schedule_parse("file", copy, schedule, err);
}

static void lines_comments_and_repeat(void **state)
{
	struct wr_lab_rate_schedule schedule;

	(void)state;
	assert_int_equal(parse("# a cell\n0 10mbit\n\n 1.5s\t1gbit # fast\r\n2s 0\n3s repeat\n", &schedule, NULL), 0);
	assert_int_equal(schedule.n_steps, 3);
	assert_int_equal(schedule.repeat_ns, 3000000000);
	assert_int_equal(schedule.steps[1].from_ns, 1500000000);
	assert_int_equal(schedule.steps[1].rate_bps, 1000000000);
	assert_int_equal(wr_lab_schedule_most_bps(&schedule), 1000000000);
	wr_lab_schedule_deinit(&schedule);
}

static void nonsense_is_refused_with_its_line(void **state)
{
	static const char *const wrong[][2] = {
		{"", "no line"},	  {"1s 10mbit", "file:1: the first"},	{"0 10mbit\n0 20mbit", "file:2: times"},
		{"0", "file:1: a line"}, {"0 1mbit x", "file:1: a line"},	{"0 fast", "file:1: rate 'fast'"},
		{"x 1mbit", "file:1: time 'x'"}, {"0 1mbit\n1s 0", "for ever"}, {"0 0\n1s repeat", "for ever"},
		{"0 repeat", "file:1: there is no rate"}, {"0 1mbit\n1s repeat\n2s 1mbit", "file:3: nothing"},
		{"0 1bit", "file:1: a rate is"}, {"0 1mbit\n999us 2mbit", "file:2: times"}, {"0 1mbit\n1ns repeat", "file:2: times"},
		{"0 1mbit\n1ms 1mbit\n1.5ms 2mbit", "file:3: times"},
	};

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(wrong); i++) {
		struct wr_lab_rate_schedule schedule;
		struct weir_err err = {0};

		assert_int_equal(parse(wrong[i][0], &schedule, &err), -1);
		if (!strstr(err.text, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], err.text);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
	}
}

/* 10 Mbit/s for a second, 0 for one, 30 Mbit/s for one, again and again: 5 MB a round of three seconds. */
static void a_server_follows_it_exactly(void **state)
{
	struct wr_lab_rate_schedule schedule;
	struct wr_lab_server server = {.rate_bps = 30000000, .origin_ns = 77, .schedule = &schedule};

	(void)state;
	assert_int_equal(parse("0 10mbit\n1s 0\n2s 30mbit\n3s repeat", &schedule, NULL), 0);
	for (int i = 0; i < 5000; i++)
		wr_lab_server_serve(&server, 77, 5000);
	assert_int_equal(server.busy_until_ns, 77 + 5 * 3000000000ull);
	assert_int_equal(wr_lab_server_backlog_bytes(&server, 77), 25000000);
	assert_int_equal(wr_lab_server_backlog_bytes(&server, 77 + 500000000), 25000000 - 625000);
	assert_int_equal(wr_lab_server_backlog_bytes(&server, 77 + 2000000000), 25000000 - 1250000);
	assert_int_equal(wr_lab_server_backlog_bytes(&server, 77 + 3000000000), 20000000);
	wr_lab_server_serve(&server, 77 + 3000000000, 1250000);
	assert_int_equal(server.busy_until_ns, 77 + 16000000000ull);
	assert_int_equal(wr_lab_server_backlog_bytes(&server, 77 + 16000000000ull), 0);
	wr_lab_schedule_deinit(&schedule);
}

static void equal_rates_are_one_step(void **state)
{
	struct wr_lab_rate_schedule schedule;

	(void)state;
	assert_int_equal(parse("0 0\n1ms 0\n2ms 1kbit\n3ms 1kbit\n4ms 0\n5ms 0\n6ms repeat", &schedule, NULL), 0);
	assert_int_equal(schedule.n_steps, 3);
	assert_int_equal(schedule.steps[1].from_ns, 2000000);
	assert_int_equal(schedule.steps[2].from_ns, 4000000);
	assert_int_equal(schedule.repeat_ns, 6000000);
	wr_lab_schedule_deinit(&schedule);
}

/* A bit every four years: the queue's end stays where a clock can say it. */
static void what_leaves_in_ages_never_does(void **state)
{
	struct wr_lab_rate_schedule schedule;
	struct wr_lab_server server = {.rate_bps = 1000, .schedule = &schedule};

	(void)state;
	assert_int_equal(parse("0 1kbit\n1ms 0\n36000h repeat", &schedule, NULL), 0);
	for (int i = 0; i < 3; i++)
		wr_lab_server_serve(&server, 0, 1538);
	assert_true(server.busy_until_ns > UINT64_MAX / 4 && server.busy_until_ns < UINT64_MAX / 2);
	assert_int_equal(wr_lab_server_backlog_bytes(&server, 1), 3 * 1538 - 1);
	wr_lab_schedule_deinit(&schedule);
}

/* Whatever stands in the file, it is read or refused. Run under asan this is a fuzz of the parser. */
static void any_text_is_read_or_refused(void **state)
{
	static const char *const words[] = {"0", " ", "\n", "1s", "2s", "10mbit", "repeat", "#", "\t", "-1", "1e9", "9999999999999999999s",
					    "\r\n", "0 1mbit\n", "3s 0\n", "gbit", "."};
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 3);
	for (int round = 0; round < 50000; round++) {
		struct wr_lab_rate_schedule schedule;
		char text[256] = "";

		for (size_t n = wr_stat_random_below(&random, 12); n > 0; n--)
			strcat(text, words[wr_stat_random_below(&random, WR_N_ELEMENTS(words))]);
		if (parse(text, &schedule, NULL) == 0) {
			assert_true(schedule.n_steps > 0 && wr_lab_schedule_most_bps(&schedule) > 0);
			wr_lab_schedule_deinit(&schedule);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_comments_and_repeat),
		cmocka_unit_test(nonsense_is_refused_with_its_line),
		cmocka_unit_test(a_server_follows_it_exactly),
		cmocka_unit_test(equal_rates_are_one_step),
		cmocka_unit_test(what_leaves_in_ages_never_does),
		cmocka_unit_test(any_text_is_read_or_refused),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
