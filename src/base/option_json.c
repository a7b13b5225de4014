/* SPDX-License-Identifier: MIT */
/* One writer and one reader for every struct that is described by option rows. */
#include "base/option_json.h"

#include <string.h>

#include "base/err.h"
#include "base/units.h"

static const char *const unit_suffix[] = {
	[WR_OPTION_FLAG] = "",	     [WR_OPTION_SIZE] = "_bytes", [WR_OPTION_RATE] = "_bps",
	[WR_OPTION_TIME] = "_ns",    [WR_OPTION_COUNT] = "",	  [WR_OPTION_SHARE] = "_ratio",
	[WR_OPTION_TEXT] = "",	     [WR_OPTION_LIST] = "",
};

const char *wr_option_json_key(const struct wr_option *option, char *key, size_t n_key)
{
	const char *suffix = unit_suffix[option->kind];

	if (strcmp(option->name, "bytes") == 0)
		suffix = "";
	snprintf(key, n_key, "%s%s", option->name, suffix);
	for (char *c = key; *c; c++) {
		if (*c == '-')
			*c = '_';
	}
	return key;
}

static json_t *field_to_json(const struct wr_option *option, const void *field)
{
	switch (option->kind) {
	case WR_OPTION_FLAG:
		return json_boolean(*(const bool *)field);
	case WR_OPTION_SHARE:
		return json_real(*(const double *)field);
	case WR_OPTION_TEXT:
		return !option->repeat && *(const char *const *)field ? json_string(*(const char *const *)field) : NULL;
	case WR_OPTION_LIST:
		return *(const char *)field ? json_string(field) : NULL;
	default:
		return *(const uint64_t *)field == WR_UNSET ? NULL : json_integer((json_int_t)*(const uint64_t *)field);
	}
}

void wr_options_to_json(const struct wr_option *options, const void *target, json_t *object)
{
	char key[64];

	for (const struct wr_option *option = options; option->name; option++) {
		json_t *value = field_to_json(option, (const char *)target + option->offset);

		if (value)
			json_object_set_new(object, wr_option_json_key(option, key, sizeof key), value);
	}
}

static bool whole_from_json(const struct wr_option *option, void *field, const json_t *value)
{
	json_int_t whole = json_integer_value(value);

	if (!json_is_integer(value) || whole < 0 || (double)whole < option->min ||
	    (option->max != 0 && (double)whole > option->max))
		return false;
	*(uint64_t *)field = (uint64_t)whole;
	return true;
}

static bool field_from_json(const struct wr_option *option, void *field, const json_t *value)
{
	switch (option->kind) {
	case WR_OPTION_FLAG:
		*(bool *)field = json_is_true(value);
		return json_is_boolean(value);
	case WR_OPTION_SHARE:
		*(double *)field = json_number_value(value);
		return json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= 1;
	case WR_OPTION_TEXT:
		*(const char **)field = json_string_value(value);
		return json_is_string(value);
	case WR_OPTION_LIST:
		snprintf(field, WR_OPTION_LIST_TEXT, "%s", json_is_string(value) ? json_string_value(value) : "");
		return json_is_string(value) && json_string_length(value) < WR_OPTION_LIST_TEXT;
	default:
		return whole_from_json(option, field, value);
	}
}

int wr_options_from_json(const struct wr_option *options, void *target, const json_t *object, struct weir_err *err)
{
	char key[64];

	wr_option_defaults(options, target);
	for (const struct wr_option *option = options; option->name; option++) {
		const json_t *value = json_object_get(object, wr_option_json_key(option, key, sizeof key));

		if (value && !field_from_json(option, (char *)target + option->offset, value))
			return wr_err_set(err, WEIR_ERR_USAGE, "plan", "%s is of the wrong type or out of bounds", key);
	}
	return 0;
}
