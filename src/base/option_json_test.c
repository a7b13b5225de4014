/* SPDX-License-Identifier: MIT */
/* Option rows as JSON: keys carry the unit, what is unset is absent, what comes back is what went out. */
#include "base/option_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

struct target {
	bool flag;
	uint64_t size, rate, time, count;
	double share;
	const char *text;
};

#define FIELD(field) offsetof(struct target, field)

static const struct wr_option rows[] = {
	{"a-flag", 0, WR_OPTION_FLAG, FIELD(flag), NULL, NULL, 0, 0, NULL, "", NULL},
	{"far-buffer", 0, WR_OPTION_SIZE, FIELD(size), "SIZE", NULL, 0, 1048576, NULL, "", NULL},
	{"rate", 0, WR_OPTION_RATE, FIELD(rate), "RATE", NULL, 1000, 0, NULL, "", NULL},
	{"time", 0, WR_OPTION_TIME, FIELD(time), "TIME", "1s", 0, 0, NULL, "", NULL},
	{"streams", 0, WR_OPTION_COUNT, FIELD(count), "N", "1", 1, 128, NULL, "", NULL},
	{"loss", 0, WR_OPTION_SHARE, FIELD(share), "SHARE", NULL, 0, 0, NULL, "", NULL},
	{"name", 0, WR_OPTION_TEXT, FIELD(text), "NAME", NULL, 0, 0, NULL, "", NULL},
	{0},
};

static void keys_carry_the_unit(void **state)
{
	struct target target = {true, 65536, 10000000, 5, 4, 0.25, "cubic"};
	json_t *object = json_object();

	(void)state;
	wr_options_to_json(rows, &target, object);
	assert_true(json_is_true(json_object_get(object, "a_flag")));
	assert_int_equal(json_integer_value(json_object_get(object, "far_buffer_bytes")), 65536);
	assert_int_equal(json_integer_value(json_object_get(object, "rate_bps")), 10000000);
	assert_int_equal(json_integer_value(json_object_get(object, "time_ns")), 5);
	assert_int_equal(json_integer_value(json_object_get(object, "streams")), 4);
	assert_string_equal(json_string_value(json_object_get(object, "name")), "cubic");
	assert_int_equal(json_object_size(object), 7);
	json_decref(object);
}

static void what_is_unset_is_absent(void **state)
{
	struct target target;
	json_t *object = json_object();

	(void)state;
	wr_option_defaults(rows, &target);
	wr_options_to_json(rows, &target, object);
	assert_null(json_object_get(object, "far_buffer_bytes"));
	assert_null(json_object_get(object, "rate_bps"));
	assert_null(json_object_get(object, "name"));
	assert_int_equal(json_integer_value(json_object_get(object, "time_ns")), 1000000000);
	json_decref(object);
}

static void round_trip(void **state)
{
	struct target target = {true, 1048576, 1000, 0, 128, 0.125, "x"}, back;
	json_t *object = json_object();

	(void)state;
	wr_options_to_json(rows, &target, object);
	assert_int_equal(wr_options_from_json(rows, &back, object, NULL), 0);
	assert_true(back.flag);
	assert_int_equal(back.size, target.size);
	assert_int_equal(back.rate, target.rate);
	assert_int_equal(back.time, target.time);
	assert_int_equal(back.count, target.count);
	assert_true(back.share == target.share);
	assert_string_equal(back.text, "x");
	json_decref(object);
}

static void wrong_types_and_bounds_are_named(void **state)
{
	static const char *const wrong[] = {
		"{\"a_flag\":1}", "{\"a_flag\":\"yes\"}", "{\"far_buffer_bytes\":\"64K\"}", "{\"far_buffer_bytes\":1.5}",
		"{\"far_buffer_bytes\":-1}", "{\"far_buffer_bytes\":1048577}", "{\"far_buffer_bytes\":true}",
		"{\"far_buffer_bytes\":null}", "{\"rate_bps\":999}", "{\"streams\":0}", "{\"streams\":129}", "{\"loss_ratio\":1.5}",
		"{\"loss_ratio\":-0.1}", "{\"loss_ratio\":\"1%\"}", "{\"name\":5}", "{\"name\":[\"x\"]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		json_t *object = json_loads(wrong[i], 0, NULL);
		struct target target;
		struct weir_err err = {0};
		char key[32];

		assert_non_null(object);
		snprintf(key, sizeof key, "%s", json_object_iter_key(json_object_iter(object)));
		if (wr_options_from_json(rows, &target, object, &err) == 0)
			fail_msg("%s was taken", wrong[i]);
		assert_non_null(strstr(err.text, key));
		json_decref(object);
	}
}

static void unknown_keys_and_nothing_are_fine(void **state)
{
	json_t *object = json_loads("{\"from_the_future\":{\"a\":1}}", 0, NULL);
	struct target target;

	(void)state;
	assert_int_equal(wr_options_from_json(rows, &target, object, NULL), 0);
	assert_int_equal(target.count, 1);
	assert_true(target.size == WR_UNSET);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_carry_the_unit),
		cmocka_unit_test(what_is_unset_is_absent),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(wrong_types_and_bounds_are_named),
		cmocka_unit_test(unknown_keys_and_nothing_are_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
