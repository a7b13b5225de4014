/* SPDX-License-Identifier: MIT */
/* Errors: filled once, of one line, valid UTF-8 whatever they quote, and never needed. */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void texts_and_codes(void **state)
{
	struct weir_err err = {.hint = "of an earlier error"};

	(void)state;
	assert_int_equal(wr_err_set(&err, WEIR_ERR_PEER, "connect", "%s: %d", "far", 7), -1);
	assert_int_equal(err.code, WEIR_ERR_PEER);
	assert_string_equal(err.operation, "connect");
	assert_string_equal(err.text, "far: 7");
	assert_string_equal(err.hint, "");
	assert_int_equal(wr_err_hint(&err, "try %d", 8), -1);
	assert_string_equal(err.hint, "try 8");
	assert_int_equal(wr_err_errno(&err, WEIR_ERR_HOST, "open", ENOENT, "opening %s", "x"), -1);
	assert_string_equal(err.text, "opening x: No such file or directory");
	assert_int_equal(wr_err_memory(&err, "samples"), -1);
	assert_int_equal(err.code, WEIR_ERR_HOST);
}

static void nobody_needs_to_listen(void **state)
{
	(void)state;
	assert_int_equal(wr_err_set(NULL, 1, "x", "y"), -1);
	assert_int_equal(wr_err_hint(NULL, "x"), -1);
	assert_int_equal(wr_err_errno(NULL, 1, "x", ENOENT, "y"), -1);
	assert_int_equal(wr_err_memory(NULL, "x"), -1);
	wr_err_clean(NULL);
}

static void long_texts_are_cut(void **state)
{
	struct weir_err err;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	wr_err_errno(&err, 1, text, ENOENT, "%s", text);
	wr_err_hint(&err, "%s", text);
	assert_int_equal(strlen(err.operation), sizeof err.operation - 1);
	assert_int_equal(strlen(err.text), sizeof err.text - 1);
	assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
}

static void words_are_cleaned(void **state)
{
	struct weir_err err;

	(void)state;
	wr_err_set(&err, 1, "x", "%s", "a\nb\xff");
	wr_err_hint(&err, "%s", "\x1b[31m");
	wr_err_clean(&err);
	assert_string_equal(err.text, "a?b?");
	assert_string_equal(err.hint, "?[31m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_and_codes),
		cmocka_unit_test(nobody_needs_to_listen),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(words_are_cleaned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
