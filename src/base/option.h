/* SPDX-License-Identifier: MIT */
/*
 * Options as rows. One parser reads argv (and, a key at a time, files) into a plain struct by the rows' offsets;
 * help and man pages are printed from the same rows.
 */
#ifndef WR_BASE_OPTION_H
#define WR_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "weir/err.h"

/*
 * The type of the field at the offset: bool, uint64_t (bytes, bit/s, ns, count), double, const char *; of a LIST
 * char[WR_OPTION_LIST_TEXT], to which each use adds its text after a comma.
 */
enum wr_option_kind {
	WR_OPTION_FLAG,
	WR_OPTION_SIZE,
	WR_OPTION_RATE,
	WR_OPTION_TIME,
	WR_OPTION_COUNT,
	WR_OPTION_SHARE,
	WR_OPTION_TEXT,
	WR_OPTION_LIST,
};

#define WR_OPTION_LIST_TEXT 256

/*
 * @name: without the dashes; a row with NULL name ends the array
 * @letter: the short form, or 0
 * @metavar: the value's name in help ("SIZE"); NULL for a flag; "[=SIZE]": the value may be left out and is "" then
 * @fallback: the default as a user would write it; NULL leaves uint64_t WR_UNSET, double 0, text NULL, flag false
 * @min, @max: bounds of a numeric value in the field's unit; @max 0 means none
 * @excludes: the name of the option that contradicts it, or NULL
 * @help: one line
 * @repeat: for TEXT only: called for each use instead of storing (target, text, err); NULL stores the last
 */
struct wr_option {
	const char *name;
	char letter;
	enum wr_option_kind kind;
	size_t offset;
	const char *metavar, *fallback;
	double min, max;
	const char *excludes, *help;
	int (*repeat)(void *target, const char *text, struct weir_err *err);
};

#define WR_MAX_OPTIONS 96

/* wr_option_defaults - write every row's fallback into @target. */
void wr_option_defaults(const struct wr_option *options, void *target);

/* wr_option_reset - write one row's fallback into @target. */
void wr_option_reset(const struct wr_option *option, void *target);

/* wr_option_find - Return: the row called @name, without dashes; NULL when there is none. */
const struct wr_option *wr_option_find(const struct wr_option *options, const char *name);

/*
 * wr_option_set - one option by name, as from a file
 *
 * Return: 0; -1 unknown name or bad value (WEIR_ERR_USAGE).
 */
int wr_option_set(const struct wr_option *options, void *target, const char *name, const char *text,
		  struct weir_err *err);

/*
 * wr_option_parse - argv into @target
 * @argv: argv[0] is the command's name; permuted so that operands come last, unless @stop_at_operand
 * @stop_at_operand: options end at the first operand (a command line follows)
 * @first_operand: out: index of the first operand in argv
 *
 * Return: 0; 1 when --help was asked; -1 with @err (WEIR_ERR_USAGE) naming the option and what is wrong.
 */
int wr_option_parse(const struct wr_option *options, void *target, int argc, char **argv, bool stop_at_operand,
		    int *first_operand, struct weir_err *err);

/* wr_option_unit - what a value of @kind is: "size", "rate", "time", ...; "" of flags and texts. */
const char *wr_option_unit(enum wr_option_kind kind);

/* wr_option_range - the bounds in words, "" where there are none. Return: @out, of 2 * WR_UNIT_TEXT + 4 bytes. */
const char *wr_option_range(char *out, const struct wr_option *option);

/* wr_option_help - the rows as a table for --help. */
void wr_option_help(const struct wr_option *options, FILE *out);

#endif
