/* SPDX-License-Identifier: MIT */
/*
 * Units. One scanner reads a decimal number and a suffix; a table a kind says what the suffixes mean. Everything
 * that would not fit (negative, above 2^62) is refused, because a wrapped size would be set without a word.
 */
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"

struct unit {
	const char *suffix;
	double factor;
};

static const struct unit size_units[] = {
	{"", 1}, {"B", 1},
	{"K", 1024.0}, {"KB", 1024.0}, {"KiB", 1024.0},
	{"M", 1048576.0}, {"MB", 1048576.0}, {"MiB", 1048576.0},
	{"G", 1073741824.0}, {"GB", 1073741824.0}, {"GiB", 1073741824.0},
	{NULL, 0},
};
static const struct unit rate_units[] = {
	{"", 1}, {"bit", 1}, {"bit/s", 1}, {"bps", 1},
	{"K", 1e3}, {"kbit", 1e3}, {"kbit/s", 1e3}, {"kbps", 1e3},
	{"M", 1e6}, {"mbit", 1e6}, {"mbit/s", 1e6}, {"mbps", 1e6},
	{"G", 1e9}, {"gbit", 1e9}, {"gbit/s", 1e9}, {"gbps", 1e9},
	{NULL, 0},
};
static const struct unit time_units[] = {
	{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"min", 60e9},
	{"h", 3600e9}, {"d", 86400e9}, {NULL, 0},
};
static const struct unit share_units[] = {
	{"", 1}, {"%", 0.01}, {NULL, 0},
};

/* strtod takes hex, inf, nan and leading blanks; a quantity is digits and at most one point. */
static bool number_parse(const char *text, double *value, const char **suffix)
{
	size_t n_digits = strspn(text, "0123456789.");
	char *end;

	if (n_digits == 0 || n_digits > 40 || strcmp(text, ".") == 0)
		return false;
	*value = strtod(text, &end);
	*suffix = text + n_digits;
	return end == *suffix || (tolower((unsigned char)*end) != 'e' && end >= *suffix);
}

static int quantity_parse(const char *text, const struct unit *units, const char *kind,
			  const char *example, double *value, struct weir_err *err)
{
	const char *suffix;
	double number;

	if (text[0] == '-')
		return wr_err_set(err, WEIR_ERR_USAGE, kind, "%s '%s' is negative", kind, text);
	if (!number_parse(text, &number, &suffix)) {
		wr_err_set(err, WEIR_ERR_USAGE, kind, "%s '%s' is not a number with a unit", kind, text);
		return wr_err_hint(err, "write it like %s", example);
	}
	for (const struct unit *unit = units; unit->suffix; unit++) {
		if (strcasecmp(suffix, unit->suffix) != 0)
			continue;
		*value = number * unit->factor;
		if (*value > 4611686018427387904.0) /* 2^62 */
			return wr_err_set(err, WEIR_ERR_USAGE, kind, "%s '%s' is too large", kind, text);
		return 0;
	}
	wr_err_set(err, WEIR_ERR_USAGE, kind, "%s '%s' has the unknown unit '%s'", kind, text, suffix);
	return wr_err_hint(err, "write it like %s", example);
}

static int whole_parse(const char *text, const struct unit *units, const char *kind, const char *example,
		       uint64_t *whole, struct weir_err *err)
{
	double value;

	if (quantity_parse(text, units, kind, example, &value, err) < 0)
		return -1;
	*whole = (uint64_t)llround(value);
	return 0;
}

int wr_size_parse(const char *text, uint64_t *bytes, struct weir_err *err)
{
	return whole_parse(text, size_units, "size", "65536, 64K or 9.6M (K, M, G are 1024)", bytes, err);
}

int wr_rate_parse(const char *text, uint64_t *bps, struct weir_err *err)
{
	return whole_parse(text, rate_units, "rate", "100mbit or 1gbit", bps, err);
}

int wr_time_parse(const char *text, uint64_t *ns, struct weir_err *err)
{
	return whole_parse(text, time_units, "time", "100ms, 2s or 1.5", ns, err);
}

int wr_share_parse(const char *text, double *ratio, struct weir_err *err)
{
	double value;

	if (quantity_parse(text, share_units, "share", "1% or 0.01", &value, err) < 0)
		return -1;
	if (value > 1)
		return wr_err_set(err, WEIR_ERR_USAGE, "share", "share '%s' is more than 100%%", text);
	*ratio = value;
	return 0;
}

/* Three significant digits, and no exponent: "9.61", "96.1", "961". */
static const char *scaled_text(char *out, double value, double base, const char *const *units, size_t n_units)
{
	size_t i = 0;

	if (!isfinite(value)) {
		snprintf(out, WR_UNIT_TEXT, "unknown");
		return out;
	}
	while (i + 1 < n_units && fabs(value) >= base * 0.9995) {
		value /= base;
		i++;
	}
	snprintf(out, WR_UNIT_TEXT, "%.*f %s", i == 0 || fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2,
		 value, units[i]);
	return out;
}

const char *wr_size_text(char *out, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};

	return scaled_text(out, bytes, 1024, units, WR_N_ELEMENTS(units));
}

const char *wr_size_short(char *out, uint64_t bytes)
{
	static const struct unit units[] = {{"G", 1073741824.0}, {"M", 1048576.0}, {"K", 1024.0}};

	for (size_t i = 0; i < WR_N_ELEMENTS(units); i++) {
		double value = (double)bytes / units[i].factor;

		if (value < 1)
			continue;
		snprintf(out, WR_UNIT_TEXT, "%.*f%s", value == floor(value) || value >= 99.95 ? 0 : 1, value,
			 units[i].suffix);
		return out;
	}
	snprintf(out, WR_UNIT_TEXT, "%llu", (unsigned long long)bytes);
	return out;
}

const char *wr_rate_text(char *out, double bps)
{
	static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s"};

	return scaled_text(out, bps, 1000, units, WR_N_ELEMENTS(units));
}

const char *wr_time_text(char *out, double ns)
{
	if (!isfinite(ns))
		snprintf(out, WR_UNIT_TEXT, "unknown");
	else if (ns >= 99.95e9)
		snprintf(out, WR_UNIT_TEXT, "%.0f s", ns / 1e9);
	else if (ns >= 1e9)
		snprintf(out, WR_UNIT_TEXT, "%.1f s", ns / 1e9);
	else if (ns >= 99.95e6)
		snprintf(out, WR_UNIT_TEXT, "%.0f ms", ns / 1e6);
	else if (ns >= 1e6)
		snprintf(out, WR_UNIT_TEXT, "%.1f ms", ns / 1e6);
	else if (ns >= 9.95e3 || ns == 0)
		snprintf(out, WR_UNIT_TEXT, "%.0f us", ns / 1e3);
	else
		snprintf(out, WR_UNIT_TEXT, "%.1f us", ns / 1e3);
	return out;
}

const char *wr_share_text(char *out, double ratio)
{
	double percent = 100 * ratio;

	snprintf(out, WR_UNIT_TEXT, "%.*f %%", percent >= 9.95 || percent == 0 ? 0 : percent >= 0.1 ? 1 : 2, percent);
	return out;
}

const char *wr_unit_trim(char *text)
{
	char *dot = strchr(text, '.'), *end = dot ? dot + 1 + strspn(dot + 1, "0123456789") : NULL, *last = end;

	while (last && last > dot && (last[-1] == '0' || last[-1] == '.'))
		last--;
	if (last)
		memmove(last, end, strlen(end) + 1);
	return text;
}
