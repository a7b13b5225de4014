/* SPDX-License-Identifier: MIT */
/* Lists of values: split at commas, look the name up, hand the value to the unit's own parser, check the bounds. */
#include "lab/spec.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"

#define MOST_PART_CHARS 64

static void bound_text(char *out, enum wr_lab_spec_kind kind, double value)
{
	switch (kind) {
	case WR_LAB_SPEC_SHARE:
		wr_share_text(out, value);
		break;
	case WR_LAB_SPEC_TIME:
		wr_time_text(out, value);
		break;
	case WR_LAB_SPEC_SIZE:
		wr_size_text(out, value);
		break;
	case WR_LAB_SPEC_RATE:
		wr_rate_text(out, value);
		break;
	default:
		snprintf(out, WR_UNIT_TEXT, "%.0f", value);
	}
}

static int count_parse(const char *text, uint64_t *count, struct weir_err *err)
{
	size_t n = strspn(text, "0123456789");

	if (n == 0 || n > 18 || text[n])
		return wr_err_set(err, WEIR_ERR_USAGE, "count", "'%s' is not a whole number", text);
	*count = strtoull(text, NULL, 10);
	return 0;
}

static int whole_parse(enum wr_lab_spec_kind kind, const char *text, uint64_t *whole, struct weir_err *err)
{
	switch (kind) {
	case WR_LAB_SPEC_TIME:
		return wr_time_parse(text, whole, err);
	case WR_LAB_SPEC_SIZE:
		return wr_size_parse(text, whole, err);
	case WR_LAB_SPEC_RATE:
		return wr_rate_parse(text, whole, err);
	default:
		return count_parse(text, whole, err);
	}
}

const char *wr_lab_spec_range(char *out, const struct wr_lab_spec *spec)
{
	char low[WR_UNIT_TEXT], high[WR_UNIT_TEXT];

	out[0] = '\0';
	if (spec->range)
		snprintf(out, 2 * WR_UNIT_TEXT + 4, "%s", spec->range);
	else if (spec->max > 0) {
		bound_text(low, spec->kind, spec->min);
		bound_text(high, spec->kind, spec->max);
		snprintf(out, 2 * WR_UNIT_TEXT + 4, "%s to %s", wr_unit_trim(low), wr_unit_trim(high));
	}
	return out;
}

static int value_set(const struct wr_lab_spec *spec, const char *part, const char *text, void *target, struct weir_err *err)
{
	void *out = (char *)target + spec->offset;
	double value = 0, ratio = 0;
	uint64_t whole = 0;

	if (spec->kind == WR_LAB_SPEC_SHARE) {
		if (wr_share_parse(text, &ratio, err) < 0)
			return -1;
		value = ratio;
	} else {
		if (whole_parse(spec->kind, text, &whole, err) < 0)
			return -1;
		value = (double)whole;
	}
	if (value < spec->min || value > spec->max) {
		char low[WR_UNIT_TEXT], high[WR_UNIT_TEXT];

		bound_text(low, spec->kind, spec->min);
		bound_text(high, spec->kind, spec->max);
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "'%s' is outside %s to %s", part, low, high);
	}
	if (spec->kind == WR_LAB_SPEC_SHARE)
		*(double *)out = ratio;
	else
		*(uint64_t *)out = whole;
	return 0;
}

static int unknown_part(const struct wr_lab_spec *specs, size_t n_specs, const char *part, struct weir_err *err)
{
	char names[160] = "";
	size_t n = 0;

	for (const struct wr_lab_spec *spec = specs; spec < specs + n_specs && n < sizeof names; spec++)
		if (spec->kind != WR_LAB_SPEC_OTHER && spec->key[0])
			n += (size_t)snprintf(names + n, sizeof names - n, "%s%s%s", n ? ", " : "", spec->key,
					      spec->kind == WR_LAB_SPEC_FLAG ? "" : "=");
	wr_err_set(err, WEIR_ERR_USAGE, "option", "'%s' is not understood", part);
	return n ? wr_err_hint(err, "what can be said here: %s", names) : -1;
}

static int part_parse(char *part, bool first, const struct wr_lab_spec *specs, size_t n_specs, void *target,
		      struct weir_err *err)
{
	char *equals = strchr(part, '=');
	size_t n = equals ? (size_t)(equals - part) : strlen(part);

	for (const struct wr_lab_spec *spec = specs; spec < specs + n_specs; spec++) {
		bool flag = spec->kind == WR_LAB_SPEC_FLAG;

		if (spec->kind == WR_LAB_SPEC_OTHER || !spec->key[0] || strlen(spec->key) != n || strncmp(spec->key, part, n) != 0 || flag != !equals)
			continue;
		if (!flag)
			return value_set(spec, part, equals + 1, target, err);
		*(bool *)((char *)target + spec->offset) = true;
		return 0;
	}
	if (!equals && first && specs->kind != WR_LAB_SPEC_OTHER && !specs->key[0])
		return value_set(specs, part, part, target, err);
	return unknown_part(specs, n_specs, part, err);
}

int wr_lab_spec_parse(const char *text, const struct wr_lab_spec *specs, size_t n_specs, void *target,
		      struct weir_err *err)
{
	bool first = true;

	for (;; first = false) {
		size_t n = strcspn(text, ",");
		char part[MOST_PART_CHARS];

		if (n >= sizeof part || n == 0)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", n ? "'%.40s' is not understood"
									   : "a value is missing at '%.40s'", text);
		memcpy(part, text, n);
		part[n] = '\0';
		if (part_parse(part, first, specs, n_specs, target, err) < 0)
			return -1;
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

bool wr_lab_spec_is_time(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && text[n - 1] == 's' && text[0] >= '0' && text[0] <= '9';
}
