/* SPDX-License-Identifier: MIT */
/*
 * An option's value that is a list, as in "1M,target=5ms,ecn": one value without a name first, then names with values
 * or without. Each element says which names it knows, of what kind and within what bounds.
 */
#ifndef WR_LAB_SPEC_H
#define WR_LAB_SPEC_H

#include <stdbool.h>

#include "weir/err.h"

/* The type behind @out: double (SHARE), uint64_t (TIME in ns, SIZE in bytes, RATE in bit/s, COUNT), bool (FLAG). */
enum wr_lab_spec_kind {
	WR_LAB_SPEC_SHARE,
	WR_LAB_SPEC_TIME,
	WR_LAB_SPEC_SIZE,
	WR_LAB_SPEC_RATE,
	WR_LAB_SPEC_COUNT,
	WR_LAB_SPEC_FLAG,
};

/* @key: "" for the value that has no name; @min, @max: bounds in the unit of @out. NULL @key ends an array. */
struct wr_lab_spec {
	const char *key;
	enum wr_lab_spec_kind kind;
	void *out;
	double min, max;
};

/*
 * wr_lab_spec_parse - read @text by @specs; what is not named stays as it was
 *
 * Return: 0; -1 with @err (WEIR_ERR_USAGE) naming the part that is wrong, and a hint with all names.
 */
int wr_lab_spec_parse(const char *text, const struct wr_lab_spec *specs, struct weir_err *err);

/* wr_lab_spec_is_time - whether a value that may be a size or a time is a time: its suffix is one. */
bool wr_lab_spec_is_time(const char *text);

#endif
