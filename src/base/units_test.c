/* SPDX-License-Identifier: MIT */
/* Units: what people write is read, what can't be meant is refused with words. */
#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void sizes_are_binary(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{"0", 0}, {"65536", 65536}, {"64K", 65536}, {"64k", 65536}, {"1M", 1048576}, {"1MB", 1048576},
		{"1MiB", 1048576}, {"1.5M", 1572864}, {"2G", 2147483648}, {"9.6M", 10066330},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t bytes = 7;

		assert_int_equal(wr_size_parse(rows[i].text, &bytes, NULL), 0);
		assert_int_equal(bytes, rows[i].bytes);
	}
}

static void rates_are_decimal(void **state)
{
	uint64_t bps;

	(void)state;
	assert_int_equal(wr_rate_parse("100mbit", &bps, NULL), 0);
	assert_int_equal(bps, 100000000);
	assert_int_equal(wr_rate_parse("20M", &bps, NULL), 0);
	assert_int_equal(bps, 20000000);
	assert_int_equal(wr_rate_parse("1.5gbit", &bps, NULL), 0);
	assert_int_equal(bps, 1500000000);
}

static void times_and_shares(void **state)
{
	uint64_t ns;
	double ratio;

	(void)state;
	assert_int_equal(wr_time_parse("100ms", &ns, NULL), 0);
	assert_int_equal(ns, 100000000);
	assert_int_equal(wr_time_parse("2", &ns, NULL), 0);
	assert_int_equal(ns, 2000000000);
	assert_int_equal(wr_share_parse("1%", &ratio, NULL), 0);
	assert_true(ratio > 0.00999 && ratio < 0.01001);
	assert_int_equal(wr_share_parse("150%", &ratio, NULL), -1);
}

static void nonsense_is_refused(void **state)
{
	static const char *const rows[] = {
		"", "x", "-1", "1e9", "0x10", "inf", "nan", "1.2.3", "10Q", " 1", "1 K", "99999999999G", "K", ".",
		"+5", "1K1",
	};
	struct weir_err err;
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		memset(&err, 0, sizeof err);
		assert_int_equal(wr_size_parse(rows[i], &bytes, &err), -1);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
		assert_non_null(strstr(err.text, rows[i]));
	}
}

static void texts_have_units(void **state)
{
	char text[WR_UNIT_TEXT];

	(void)state;
	assert_string_equal(wr_size_text(text, 65536), "64.0 KiB");
	assert_string_equal(wr_size_text(text, 10066330), "9.60 MiB");
	assert_string_equal(wr_size_text(text, 512), "512 B");
	assert_string_equal(wr_rate_text(text, 941.4e6), "941 Mbit/s");
	assert_string_equal(wr_rate_text(text, 15.83e6), "15.8 Mbit/s");
	assert_string_equal(wr_rate_text(text, 999.9e6), "1.00 Gbit/s");
	assert_string_equal(wr_time_text(text, 100.1e6), "100 ms");
	assert_string_equal(wr_time_text(text, 20.12e6), "20.1 ms");
	assert_string_equal(wr_time_text(text, 25400), "25 us");
	assert_string_equal(wr_time_text(text, 430), "0.4 us");
	assert_string_equal(wr_time_text(text, 0), "0 us");
	assert_string_equal(wr_unit_trim(strcpy(text, "1.00 kbit/s")), "1 kbit/s");
	assert_string_equal(wr_unit_trim(strcpy(text, "1.50 MiB")), "1.5 MiB");
	assert_string_equal(wr_unit_trim(strcpy(text, "100 ms")), "100 ms");
	assert_string_equal(wr_unit_trim(strcpy(text, "10.0")), "10");
	assert_string_equal(wr_share_text(text, 0.963), "96 %");
	assert_string_equal(wr_size_short(text, 65536), "64K");
	assert_string_equal(wr_size_short(text, 10066330), "9.6M");
}

static void unknown_is_said(void **state)
{
	char text[WR_UNIT_TEXT];

	(void)state;
	assert_string_equal(wr_size_text(text, NAN), "unknown");
	assert_string_equal(wr_rate_text(text, INFINITY), "unknown");
	assert_string_equal(wr_time_text(text, NAN), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_binary),
		cmocka_unit_test(rates_are_decimal),
		cmocka_unit_test(times_and_shares),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(texts_have_units),
		cmocka_unit_test(unknown_is_said),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
