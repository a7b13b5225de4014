/* SPDX-License-Identifier: MIT */
/*
 * An option's value that is a list, as in "1M,target=5ms,ecn": one value without a name first, then names with values
 * or without. Each element says in rows which names it knows, of what kind, within what bounds and what they mean; lists
 * and pages are made of the same rows.
 */
#ifndef WR_LAB_SPEC_H
#define WR_LAB_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "weir/err.h"

/*
 * The type at the offset: double (SHARE), uint64_t (TIME in ns, SIZE in bytes, RATE in bit/s, COUNT), bool (FLAG). OTHER
 * is read elsewhere and only listed.
 */
enum wr_lab_spec_kind {
	WR_LAB_SPEC_SHARE,
	WR_LAB_SPEC_TIME,
	WR_LAB_SPEC_SIZE,
	WR_LAB_SPEC_RATE,
	WR_LAB_SPEC_COUNT,
	WR_LAB_SPEC_FLAG,
	WR_LAB_SPEC_OTHER,
};

/*
 * @form: how it is written, as ",interval=TIME"; @key: its name there, "" for the value that has none
 * @offset: of the value in what is parsed into; @min, @max: bounds in its unit
 * @unit, @range, @fallback, @help: what stands in lists; @range NULL: what the bounds say; @fallback: what holds unless said
 */
struct wr_lab_spec {
	const char *form, *key;
	enum wr_lab_spec_kind kind;
	size_t offset;
	double min, max;
	const char *unit, *range, *fallback, *help;
};

/* For the offset of a row: where a member stands in struct wr_lab_way. */
#define WR_LAB_WAY(member) offsetof(struct wr_lab_way, member)

/*
 * wr_lab_spec_parse - read @text by @n_specs @specs into @target; what is not named stays as it was
 *
 * Return: 0; -1 with @err (WEIR_ERR_USAGE) naming the part that is wrong, and a hint with all names.
 */
int wr_lab_spec_parse(const char *text, const struct wr_lab_spec *specs, size_t n_specs, void *target,
		      struct weir_err *err);

/* wr_lab_spec_range - the bounds in words, "" where there are none. Return: @out, of 2 * WR_UNIT_TEXT + 4 bytes. */
const char *wr_lab_spec_range(char *out, const struct wr_lab_spec *spec);

/* wr_lab_spec_is_time - whether a value that may be a size or a time is a time: its suffix is one. */
bool wr_lab_spec_is_time(const char *text);

#endif
