/* SPDX-License-Identifier: MIT */
/* Scenarios as files: what is read, what is refused with its line, and what counts as found. */
#include "lab/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/units.h"
#include "stat/random.h"

struct target {
	uint64_t rate_bps;
	const char *loss;
	bool flag;
	char sysctls[256];
};

static const struct wr_option options[] = {
	{"rate", 0, WR_OPTION_RATE, offsetof(struct target, rate_bps), "RATE", NULL, 1e3, 1e12, NULL, "", NULL},
	{"loss", 0, WR_OPTION_TEXT, offsetof(struct target, loss), "SHARE", NULL, 0, 0, NULL, "", NULL},
	{"strip", 0, WR_OPTION_FLAG, offsetof(struct target, flag), NULL, NULL, 0, 0, NULL, "", NULL},
	{0},
};

static int note_sysctl(void *target, const char *text, struct weir_err *err)
{
	(void)err;
	strncat(((struct target *)target)->sysctls, text, 200);
	return 0;
}

static int parse(const char *text, struct wr_lab_scenario *scenario, struct target *target, struct weir_err *err)
{
	memset(target, 0, sizeof *target);
	return wr_lab_scenario_parse("file", text, options, target, note_sysctl, scenario, err);
}

#define GOOD                                                                                                         \
	"[scenario]\nabout = a link\n[link]\nrate = 10mbit\nloss = 1%\nstrip = yes\n[near]\ncommand = weir run far -t 3\n" \
	"net.ipv4.tcp_wmem = 4096 16384 65536\n[far]\ncommand = weir serve\n[expect]\ncause = loss-limited\nside = path\n" \
	"throughput_bps = 1mbit..9.6mbit\ncause.share_ratio = 80%..\npath.rtt_min_us = ..20ms\nnear.sndbuf_eff_bytes = 64K..64K\n"

static void all_of_it_is_read(void **state)
{
	struct wr_lab_scenario scenario;
	struct weir_err err = {0};
	struct target target;

	(void)state;
	if (parse(GOOD, &scenario, &target, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(scenario.about, "a link");
	assert_int_equal(target.rate_bps, 10000000);
	assert_string_equal(target.loss, "1%");
	assert_true(target.flag);
	assert_string_equal(target.sysctls, "near:net.ipv4.tcp_wmem=4096 16384 65536");
	assert_string_equal(scenario.command[2], "far");
	assert_string_equal(scenario.command[5], "--json");
	assert_null(scenario.command[6]);
	assert_string_equal(scenario.far_command, "weir serve");
	assert_int_equal(scenario.n_expected, 6);
	assert_true(scenario.expected[2].low == 1e6 && scenario.expected[2].high == 9.6e6);
	assert_true(scenario.expected[4].high == 20000 && scenario.expected[5].low == 65536);
	wr_lab_scenario_deinit(&scenario);
}

static void nonsense_is_refused_with_its_line(void **state)
{
	static const char *const wrong[][2] = {
		{"[link]\nrate = 10parsec\n", "file:2: --rate: rate '10parsec' has the unknown unit"},
		{"[link]\nrate = 10mbit\nspeed = 3\n", "file:3: there is no option --speed"},
		{"[link]\nstrip = maybe\n", "file:2: it is yes or no"},
		{"[link]\nfar-cmd = x\n", "file:2: the link has no 'far-cmd'"},
		{"[links]\nrate = 1\n", "file:2: the sections are"},
		{"[near]\ncommand = iperf3 -c far\n", "file:2: the command 'iperf3"},
		{"[near]\nbuffer = 3\n", "file:2: an end has a command"},
		{"[near]\ncommand = weir run far\ncommand = weir run far\n", "file:3: a second"},
		{"[expect]\nthroughput_bps = 3mbit\n", "file:2: '3mbit' is no range"},
		{"[expect]\nthroughput_bps = 3mbit..1mbit\n", "file:2: nothing is inside"},
		{"[expect]\nthroughput_bps = 3ms..\n", "file:2: rate '3ms'"},
		{"[expect]\nside = left\n", "file:2: a side is"},
		{"[expect]\nspeed = 1..2\n", "file:2: cause, side"},
		{"[expect]\ncause = x\ncause = y\n", "file:3: a second 'cause'"},
		{"[expect]\nthrough\xff_bps = 1..2\n", "file:2: the line is no UTF-8 text"},
		{"rubbish\n", "file:1: neither"},
		{"[near]\ncommand = weir run far\n", "file: [expect] says nothing"},
		{"[expect]\ncause = x\n", "file: [near] has no command"},
	};

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(wrong); i++) {
		struct wr_lab_scenario scenario;
		struct weir_err err = {0};
		struct target target;

		assert_int_equal(parse(wrong[i][0], &scenario, &target, &err), -1);
		if (strncmp(err.text, wrong[i][1], strlen(wrong[i][1])) != 0)
			fail_msg("%s: %s", wrong[i][0], err.text);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
		wr_lab_scenario_deinit(&scenario);
	}
}

static void expected_against_found(void **state)
{
	static const char *const results[] = {
		"{'throughput_bps': 5000000, 'path': {'rtt_min_us': 19999}, 'near': {'sndbuf_eff_bytes': 65536}, 'verdict': {'causes': "
		"[{'cause': 'loss-limited', 'side': 'path', 'share_ratio': 0.9}]}}",
		"{'throughput_bps': 50000000, 'path': {}, 'near': {'sndbuf_eff_bytes': 65536}, 'verdict': {'causes': "
		"[{'cause': 'path-limited', 'side': 'path', 'share_ratio': 0.7}, {'cause': 'loss-limited'}]}}",
	};
	static const bool expected[][6] = {{1, 1, 1, 1, 1, 1}, {0, 1, 0, 0, 0, 1}};
	struct wr_lab_scenario scenario;
	struct target target;

	(void)state;
	assert_int_equal(parse(GOOD, &scenario, &target, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		char text[512];
		json_t *result, *checks;
		bool pass;

		snprintf(text, sizeof text, "%s", results[i]);
		for (char *at = text; *at; at++)
			*at = *at == '\'' ? '"' : *at;
		result = json_loads(text, 0, NULL);
		assert_non_null(result);
		checks = wr_lab_scenario_compare(&scenario, result, &pass);
		assert_int_equal(pass, i == 0);
		for (size_t n = 0; n < 6; n++)
			assert_int_equal(json_is_true(json_object_get(json_array_get(checks, n), "pass")), expected[i][n]);
		json_decref(checks);
		json_decref(result);
	}
	wr_lab_scenario_deinit(&scenario);
}

/* Whatever stands in the file, it is read or refused. Run under asan this is a fuzz of the parser. */
static void any_text_is_read_or_refused(void **state)
{
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 11);
	for (int round = 0; round < 20000; round++) {
		struct wr_lab_scenario scenario;
		struct weir_err err = {0};
		struct target target;
		char text[] = GOOD;

		for (size_t n = wr_stat_random_below(&random, 6); n > 0; n--)
			text[wr_stat_random_below(&random, sizeof text - 1)] = "\n[]=.;# \t\1x9%"[wr_stat_random_below(&random, 13)];
		if (parse(text, &scenario, &target, &err) < 0)
			assert_true(err.text[0]);
		wr_lab_scenario_deinit(&scenario);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_read),
		cmocka_unit_test(nonsense_is_refused_with_its_line),
		cmocka_unit_test(expected_against_found),
		cmocka_unit_test(any_text_is_read_or_refused),
	};

	return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
