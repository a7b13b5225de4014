/* SPDX-License-Identifier: MIT */
/*
 * An axis of a grid: one option of a plan and the values that it takes. Any row of wr_plan_options with a value can
 * be one, and any flag, as off and on.
 */
#ifndef WR_MODEL_AXIS_H
#define WR_MODEL_AXIS_H

#include "model/plan.h"

#define WR_MAX_AXES 8
#define WR_MAX_AXIS_VALUES 64
#define WR_VALUE_TEXT 40

/*
 * One value, as the command line writes it.
 * @number: the field's value in its own unit (bytes, bit/s, ns, count), WR_UNSET for texts and where nothing is set
 */
struct wr_axis_value {
	char text[WR_VALUE_TEXT];
	uint64_t number;
	bool unset;
};

struct wr_axis {
	const struct wr_option *row;
	struct wr_axis_value values[WR_MAX_AXIS_VALUES];
	size_t n_values;
};

/*
 * wr_axis_parse - a list of values for @row: "16K,64K", "unset,1M", "16K..4M:x2" (each twice the last), "1..9:+2"
 * @text: for a flag "off" and "on"; for socket options "OPT=V,V"; "unset" where the option has no default
 *
 * A range ends with its last step at or below its end, whole numbers throughout. Return: 0; -1 (WEIR_ERR_USAGE) an
 * empty or double value, one out of the row's bounds, too many.
 */
int wr_axis_parse(struct wr_axis *axis, const struct wr_option *row, const char *text, struct weir_err *err);

/* wr_axis_include_unset - put "unset" first, unless it is among the values. Return: 0; -1 no room. */
int wr_axis_include_unset(struct wr_axis *axis, struct weir_err *err);

/* wr_axis_is_list - whether @text is more than one value. */
bool wr_axis_is_list(const char *text);

/* wr_axis_is_buffer - whether it varies the size of a socket buffer. */
bool wr_axis_is_buffer(const struct wr_axis *axis);

/* wr_axis_apply - set value @index in @plan, which must not outlive the axis. */
void wr_axis_apply(const struct wr_axis *axis, size_t index, struct wr_plan *plan);

/* wr_axis_key - its key in JSON, "sndbuf_req_bytes". Return: @key. */
const char *wr_axis_key(const struct wr_axis *axis, char *key, size_t n_key);

/* wr_axis_value_json - a value: a number, "unset", a text, or true and false. */
json_t *wr_axis_value_json(const struct wr_axis *axis, size_t index);

/* wr_axis_title - what people call it: "SO_SNDBUF", "write", "streams"; the option's name where there is none other. */
const char *wr_axis_title(const struct wr_axis *axis);

/* wr_axis_value_text - a value for people, "64.0 KiB". Return: @out, of WR_UNIT_TEXT bytes. */
const char *wr_axis_value_text(char *out, const struct wr_axis *axis, size_t index);

#endif
