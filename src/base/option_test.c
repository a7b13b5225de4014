/* SPDX-License-Identifier: MIT */
/* Option rows: one of each kind, from argv and by name; what is wrong is refused in words that name the option. */
#include "base/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/units.h"

struct target {
	bool flag, other;
	uint64_t size, rate, time, count, bounded;
	double share;
	const char *text;
	char repeated[64];
};

static int append(void *target, const char *text, struct weir_err *err)
{
	struct target *to = target;

	if (strcmp(text, "bad") == 0)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "'%s' is no item", text);
	strncat(to->repeated, text, sizeof to->repeated - strlen(to->repeated) - 1);
	return 0;
}

#define FIELD(field) offsetof(struct target, field)

static const struct wr_option rows[] = {
	{"flag", 'f', WR_OPTION_FLAG, FIELD(flag), NULL, NULL, 0, 0, NULL, "a flag", NULL},
	{"other", 'o', WR_OPTION_FLAG, FIELD(other), NULL, NULL, 0, 0, "flag", "not with the flag", NULL},
	{"size", 's', WR_OPTION_SIZE, FIELD(size), "SIZE", NULL, 0, 0, NULL, "a size", NULL},
	{"rate", 'r', WR_OPTION_RATE, FIELD(rate), "RATE", NULL, 1000, 0, NULL, "a rate", NULL},
	{"time", 't', WR_OPTION_TIME, FIELD(time), "TIME", "2s", 1e6, 1e12, NULL, "a time", NULL},
	{"count", 'c', WR_OPTION_COUNT, FIELD(count), "N", "3", 0, 0, NULL, "a count", NULL},
	{"bounded-count", 0, WR_OPTION_COUNT, FIELD(bounded), "N", NULL, 2, 5, NULL, "from 2 to 5", NULL},
	{"share", 0, WR_OPTION_SHARE, FIELD(share), "SHARE", "2%", 0.01, 0.5, NULL, "a share", NULL},
	{"text", 'x', WR_OPTION_TEXT, FIELD(text), "TEXT", NULL, 0, 0, NULL, "a text", NULL},
	{"item", 'i', WR_OPTION_TEXT, 0, "ITEM", NULL, 0, 0, NULL, "repeatable", append},
	{0},
};

#define MOST_WORDS 24

/* Parse a line of words. @line: cut in place; texts of @target point into it. */
static int parse(struct target *target, char *line, bool stop, int *first, struct weir_err *err)
{
	char *argv[MOST_WORDS + 1] = {"test"};
	int argc = 1;

	memset(target, 0, sizeof *target);
	memset(err, 0, sizeof *err);
	for (char *word = strtok(line, " "); word && argc < MOST_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	return wr_option_parse(rows, target, argc, argv, stop, first, err);
}

static void each_kind_is_read(void **state)
{
	char line[] = "-f --size 64K -r 10mbit --time=1.5 -c7 --share 5% --bounded-count 5 -x word -i a -i b rest";
	struct target got;
	struct weir_err err;
	int first;

	(void)state;
	assert_int_equal(parse(&got, line, false, &first, &err), 0);
	assert_true(got.flag);
	assert_false(got.other);
	assert_int_equal(got.size, 65536);
	assert_int_equal(got.rate, 10000000);
	assert_int_equal(got.time, 1500000000);
	assert_int_equal(got.count, 7);
	assert_int_equal(got.bounded, 5);
	assert_true(got.share > 0.0499 && got.share < 0.0501);
	assert_string_equal(got.text, "word");
	assert_string_equal(got.repeated, "ab");
	assert_int_equal(first, 18);
}

static void what_is_not_said_has_its_default(void **state)
{
	char line[] = "";
	struct target got;
	struct weir_err err;
	int first;

	(void)state;
	assert_int_equal(parse(&got, line, false, &first, &err), 0);
	assert_int_equal(first, 1);
	assert_true(!got.flag && !got.text);
	assert_true(got.size == WR_UNSET && got.rate == WR_UNSET && got.bounded == WR_UNSET);
	assert_int_equal(got.time, 2000000000);
	assert_int_equal(got.count, 3);
	assert_true(got.share > 0.0199 && got.share < 0.0201);
}

static void a_later_use_wins(void **state)
{
	char line[] = "-c 1 -c 2 -x one -x two";
	struct target got;
	struct weir_err err;
	int first;

	(void)state;
	assert_int_equal(parse(&got, line, false, &first, &err), 0);
	assert_int_equal(got.count, 2);
	assert_string_equal(got.text, "two");
}

static void operands_come_last_or_end_the_options(void **state)
{
	char permuted[] = "one -f two", stopped[] = "-o one -f two", marked[] = "-f -- -o";
	struct target got;
	struct weir_err err;
	int first;

	(void)state;
	assert_int_equal(parse(&got, permuted, false, &first, &err), 0);
	assert_true(got.flag);
	assert_int_equal(first, 2);
	assert_int_equal(parse(&got, stopped, true, &first, &err), 0);
	assert_false(got.flag);
	assert_int_equal(first, 2);
	assert_int_equal(parse(&got, marked, false, &first, &err), 0);
	assert_false(got.other);
	assert_int_equal(first, 3);
}

static void help_is_asked(void **state)
{
	static const char *const lines[] = {"--help", "-h", "-f --help --nonsense", "-fh"};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		char line[64];
		struct target got;
		struct weir_err err;
		int first;

		snprintf(line, sizeof line, "%s", lines[i]);
		assert_int_equal(parse(&got, line, false, &first, &err), 1);
	}
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *line, *text, *hint;
	} wrong[] = {
		{"--size 5x", "--size: size '5x' has the unknown unit 'x'", "64K"},
		{"--size -5", "--size", ""},
		{"-r 10", "--rate 10", ""},
		{"--time 0", "--time 0", ""},
		{"--bounded-count 6", "--bounded-count 6 is outside 2 to 5", ""},
		{"--bounded-count 1", "--bounded-count 1 is outside 2 to 5", ""},
		{"--bounded-count x", "--bounded-count: 'x'", ""},
		{"-c 99999999999999999999", "--count", ""},
		{"-c -1", "--count", ""},
		{"--share 60%", "--share 60% is outside", ""},
		{"--share 160%", "--share", ""},
		{"--flag=1", "--flag takes no value", ""},
		{"--size", "--size needs a value", "a size"},
		{"-s", "--size needs a value", "a size"},
		{"-fs", "--size needs a value", "a size"},
		{"--sise 1", "--sise", "--size"},
		{"--boundedcount 3", "--boundedcount", "--bounded-count"},
		{"--quite-another", "--quite-another", "--help"},
		{"-z", "-z", "--help"},
		{"-fz", "-z", "--help"},
		{"-f -o", "contradict", ""},
		{"--other --flag", "contradict", ""},
		{"-i good -i bad", "--item: 'bad' is no item", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char line[64];
		struct target got;
		struct weir_err err;
		int first;

		snprintf(line, sizeof line, "%s", wrong[i].line);
		assert_int_equal(parse(&got, line, false, &first, &err), -1);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
		if (!strstr(err.text, wrong[i].text) || !strstr(err.hint, wrong[i].hint))
			fail_msg("%s: '%s', hint '%s'", wrong[i].line, err.text, err.hint);
	}
}

static void words_are_not_needed(void **state)
{
	struct target got;
	char *argv[] = {"test", "--size", "5x", NULL};
	int first;

	(void)state;
	assert_int_equal(wr_option_parse(rows, &got, 3, argv, false, &first, NULL), -1);
}

static void one_by_name(void **state)
{
	struct target got;
	struct weir_err err = {0};

	(void)state;
	wr_option_defaults(rows, &got);
	assert_int_equal(wr_option_set(rows, &got, "size", "1M", &err), 0);
	assert_int_equal(got.size, 1048576);
	assert_int_equal(wr_option_set(rows, &got, "size", "1Q", &err), -1);
	assert_int_equal(wr_option_set(rows, &got, "sizes", "1M", &err), -1);
	assert_non_null(strstr(err.hint, "size"));
}

static void help_shows_every_row(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	wr_option_help(rows, out);
	fclose(out);
	for (const struct wr_option *row = rows; row->name; row++) {
		assert_non_null(strstr(text, row->name));
		assert_non_null(strstr(text, row->help));
	}
	assert_non_null(strstr(text, "-t, --time TIME"));
	assert_non_null(strstr(text, "(default 2s)"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_read),
		cmocka_unit_test(what_is_not_said_has_its_default),
		cmocka_unit_test(a_later_use_wins),
		cmocka_unit_test(operands_come_last_or_end_the_options),
		cmocka_unit_test(help_is_asked),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(words_are_not_needed),
		cmocka_unit_test(one_by_name),
		cmocka_unit_test(help_shows_every_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
