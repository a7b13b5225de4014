/* SPDX-License-Identifier: MIT */
/* Values are checked by the option's own row, on a plan that is thrown away: one place says what is allowed. */
#include "model/axis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/option_json.h"

/* What the field's people call an option, and its key in JSON where that is not the option's own. */
static const struct {
	const char *name, *title, *key;
	bool buffer;
} names[] = {
	{"sndbuf", "SO_SNDBUF", "sndbuf_req_bytes", true},
	{"rcvbuf", "SO_RCVBUF", "rcvbuf_req_bytes", true},
	{"far-sndbuf", "far SO_SNDBUF", "far_sndbuf_req_bytes", true},
	{"far-rcvbuf", "far SO_RCVBUF", "far_rcvbuf_req_bytes", true},
	{"window", "both buffers", "window_bytes", true},
	{"length", "write", "len_bytes", false},
	{"parallel", "streams", "streams", false},
};

static bool is_number(const struct wr_option *row)
{
	return row->kind != WR_OPTION_TEXT && row->kind != WR_OPTION_LIST && row->kind != WR_OPTION_FLAG && row->kind != WR_OPTION_SHARE;
}

bool wr_axis_is_list(const char *text)
{
	return strchr(text, ',') || strstr(text, "..");
}

static int add(struct wr_axis *axis, const char *text, struct weir_err *err)
{
	struct wr_axis_value value = {.number = WR_UNSET, .unset = strcmp(text, "unset") == 0};
	const struct wr_option rows[] = {*axis->row, {0}};
	struct wr_plan scratch = {0};

	if (axis->n_values == WR_MAX_AXIS_VALUES)
		return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s has more than %d values", axis->row->name,
				  WR_MAX_AXIS_VALUES);
	if (text[0] == '\0' || strlen(text) >= sizeof value.text)
		return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s: a value is %s", axis->row->name,
				  text[0] ? "too long" : "empty");
	snprintf(value.text, sizeof value.text, "%s", text);
	if (axis->row->kind == WR_OPTION_FLAG && strcmp(text, "off") != 0 && strcmp(text, "on") != 0)
		return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s takes off and on, not '%s'", axis->row->name, text);
	if (value.unset && (axis->row->fallback || axis->row->kind == WR_OPTION_FLAG))
		return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s has a default, so it can't be unset", axis->row->name);
	if (!value.unset && axis->row->kind != WR_OPTION_FLAG &&
	    wr_option_set(rows, &scratch, axis->row->name, text, err) < 0)
		return -1;
	if (!value.unset && is_number(axis->row))
		memcpy(&value.number, (const char *)&scratch + axis->row->offset, sizeof value.number);
	for (size_t i = 0; i < axis->n_values; i++) {
		const struct wr_axis_value *other = &axis->values[i];

		if (strcmp(other->text, text) == 0 || (value.number != WR_UNSET && other->number == value.number))
			return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s: %s stands there twice", axis->row->name, text);
	}
	axis->values[axis->n_values++] = value;
	return 0;
}

/* A number of the row's unit as its own parser reads it back. */
static void number_text(char *out, const struct wr_option *row, uint64_t number)
{
	if (row->kind == WR_OPTION_SIZE)
		wr_size_short(out, number);
	else if (row->kind == WR_OPTION_TIME)
		snprintf(out, WR_UNIT_TEXT, "%lluns", (unsigned long long)number);
	else
		snprintf(out, WR_UNIT_TEXT, "%llu", (unsigned long long)number);
}

static int number_of(const struct wr_option *row, const char *text, uint64_t *number, struct weir_err *err)
{
	struct wr_axis one = {.row = row};

	if (add(&one, text, err) < 0)
		return -1;
	*number = one.values[0].number;
	if (*number != WR_UNSET)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s: a range goes from one number to another", row->name);
}

/* ":x2" or ":+64K"; nothing means :x2. */
static int step_parse(const struct wr_option *row, const char *text, double *factor, uint64_t *plus, struct weir_err *err)
{
	struct wr_option free_row = *row;
	char *end;

	*factor = 2;
	*plus = 0;
	if (!text)
		return 0;
	if (text[0] == '+') {
		free_row.min = 1; /* a step may be smaller than the least value */
		*factor = 1;
		return number_of(&free_row, text + 1, plus, err);
	}
	*factor = text[0] == 'x' ? strtod(text + 1, &end) : 0;
	if (*factor > 1.001 && *factor < 1e6 && *end == '\0')
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s: '%s' is no step of a range", row->name, text);
	return wr_err_hint(err, "write 16K..4M:x2 or 64K..1M:+64K");
}

static int add_range(struct wr_axis *axis, char *text, struct weir_err *err)
{
	char *dots = strstr(text, ".."), *colon = strchr(dots, ':'), shown[WR_UNIT_TEXT];
	uint64_t from, to, plus;
	double factor;

	if (!is_number(axis->row))
		return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s takes no range", axis->row->name);
	*dots = '\0';
	if (colon)
		*colon++ = '\0';
	if (number_of(axis->row, text, &from, err) < 0 || number_of(axis->row, dots + 2, &to, err) < 0 ||
	    step_parse(axis->row, colon, &factor, &plus, err) < 0)
		return -1;
	if (from >= to)
		return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--%s: the range %s..%s does not rise", axis->row->name, text,
				  dots + 2);
	for (double at = (double)from; at <= (double)to; at = at * factor + (double)plus) {
		number_text(shown, axis->row, (uint64_t)(at + 0.5));
		if (add(axis, shown, err) < 0)
			return -1;
	}
	return 0;
}

/* A socket option's values: "TCP_NOTSENT_LOWAT=16K,64K" names it once. Return: its name with the "=", or "". */
static const char *shared_name(char *name, size_t n_name, const struct wr_option *row, const char *text)
{
	size_t n = row->kind == WR_OPTION_LIST && strchr(text, '=') ? (size_t)(strchr(text, '=') - text) + 1 : 0;

	snprintf(name, n_name, "%.*s", (int)(n < n_name ? n : n_name - 1), text);
	return name;
}

static int add_named(struct wr_axis *axis, const char *name, const char *word, struct weir_err *err)
{
	char text[2 * WR_VALUE_TEXT];

	if (!name[0] || strchr(word, '=') || strcmp(word, "unset") == 0)
		return add(axis, word, err);
	snprintf(text, sizeof text, "%s%s", name, word);
	return add(axis, text, err);
}

int wr_axis_parse(struct wr_axis *axis, const struct wr_option *row, const char *text, struct weir_err *err)
{
	wr_auto_free char *copy = strdup(text);
	char *rest = copy, name[WR_VALUE_TEXT];

	axis->row = row;
	axis->n_values = 0;
	shared_name(name, sizeof name, row, text);
	if (!copy)
		return wr_err_memory(err, "axis");
	while (rest) {
		char *word = strsep(&rest, ",");

		if ((strstr(word, "..") ? add_range(axis, word, err) : add_named(axis, name, word, err)) < 0)
			return -1;
	}
	return 0;
}

int wr_axis_include_unset(struct wr_axis *axis, struct weir_err *err)
{
	struct wr_axis_value unset;

	for (size_t i = 0; i < axis->n_values; i++) {
		if (axis->values[i].unset)
			return 0;
	}
	if (add(axis, "unset", err) < 0)
		return -1;
	unset = axis->values[axis->n_values - 1];
	memmove(&axis->values[1], &axis->values[0], (axis->n_values - 1) * sizeof axis->values[0]);
	axis->values[0] = unset;
	return 0;
}

static size_t named(const struct wr_axis *axis)
{
	size_t i = 0;

	while (i < WR_N_ELEMENTS(names) && strcmp(names[i].name, axis->row->name) != 0)
		i++;
	return i;
}

bool wr_axis_is_buffer(const struct wr_axis *axis)
{
	size_t i = named(axis);

	return i < WR_N_ELEMENTS(names) && names[i].buffer;
}

const char *wr_axis_title(const struct wr_axis *axis)
{
	size_t i = named(axis);

	return i < WR_N_ELEMENTS(names) ? names[i].title : axis->row->name;
}

const char *wr_axis_key(const struct wr_axis *axis, char *key, size_t n_key)
{
	size_t i = named(axis);

	if (i == WR_N_ELEMENTS(names))
		return wr_option_json_key(axis->row, key, n_key);
	snprintf(key, n_key, "%s", names[i].key);
	return key;
}

void wr_axis_apply(const struct wr_axis *axis, size_t index, struct wr_plan *plan)
{
	const struct wr_axis_value *value = &axis->values[index];

	wr_option_reset(axis->row, plan);
	if (axis->row->kind == WR_OPTION_FLAG)
		*(bool *)((char *)plan + axis->row->offset) = strcmp(value->text, "on") == 0;
	else if (!value->unset)
		(void)wr_option_set(wr_plan_options, plan, axis->row->name, value->text, NULL);
}

json_t *wr_axis_value_json(const struct wr_axis *axis, size_t index)
{
	const struct wr_axis_value *value = &axis->values[index];

	if (axis->row->kind == WR_OPTION_FLAG)
		return json_boolean(strcmp(value->text, "on") == 0);
	return value->number == WR_UNSET ? json_string(value->text) : json_integer((json_int_t)value->number);
}

const char *wr_axis_value_text(char *out, const struct wr_axis *axis, size_t index)
{
	const struct wr_axis_value *value = &axis->values[index];
	double number = (double)value->number;

	if (value->number == WR_UNSET || axis->row->kind == WR_OPTION_COUNT)
		snprintf(out, WR_UNIT_TEXT, "%.31s", value->text);
	else if (axis->row->kind == WR_OPTION_SIZE && value->number % 1024)
		snprintf(out, WR_UNIT_TEXT, "%llu B", (unsigned long long)value->number);
	else if (axis->row->kind == WR_OPTION_SIZE)
		wr_size_text(out, number);
	else if (axis->row->kind == WR_OPTION_TIME)
		wr_time_text(out, number);
	else
		wr_rate_text(out, number);
	return out;
}
