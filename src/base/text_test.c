/* SPDX-License-Identifier: MIT */
/* Bytes from elsewhere become text that a terminal and JSON can take. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void what_is_no_text_becomes_question_marks(void **state)
{
	static const struct {
		const char *dirty, *clean;
	} rows[] = {
		{"plain", "plain"},
		{"", ""},
		{"a\nb\tc\x1b[31m\x7f", "a?b?c?[31m?"},
		{"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xff\xfe", "??"},
		{"cut \xe2\x82", "cut ??"},
		{"cut \xc3", "cut ?"},
		{"\xc3(", "?("},
		{"\xc0\xaf", "??"}, /* '/' in two bytes */
		{"\xe0\x80\xaf", "???"},
		{"\xed\xa0\x80", "???"}, /* a surrogate */
		{"\xf4\x90\x80\x80", "????"}, /* beyond U+10FFFF */
		{"\xf8\x88\x80\x80\x80", "?????"},
		{"\x80", "?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[64];

		snprintf(text, sizeof text, "%s", rows[i].dirty);
		wr_text_clean(text, false);
		assert_string_equal(text, rows[i].clean);
	}
}

static void lines_may_stay(void **state)
{
	char text[] = "one\ntwo\r\x1b]0;title\a\n";

	(void)state;
	wr_text_clean(text, true);
	assert_string_equal(text, "one\ntwo??]0;title?\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_text_becomes_question_marks),
		cmocka_unit_test(lines_may_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
