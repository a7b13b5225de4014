/* SPDX-License-Identifier: MIT */
/*
 * getopt_long does the scanning; the rows say what exists, what a value is and what contradicts what. iperf3's
 * parser is 938 lines of switch: here a new option is a row.
 */
#include "base/option.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"

#define HELP_VALUE 1000
#define FIRST_VALUE 1001

static size_t option_count(const struct wr_option *options)
{
	size_t n = 0;

	while (options[n].name)
		n++;
	return n;
}

static int count_parse(const char *text, uint64_t *count, struct weir_err *err)
{
	char *end;

	if (text[0] < '0' || text[0] > '9' || strlen(text) > 18)
		return wr_err_set(err, WEIR_ERR_USAGE, "count", "'%s' is not a whole number", text);
	*count = strtoull(text, &end, 10);
	if (*end)
		return wr_err_set(err, WEIR_ERR_USAGE, "count", "'%s' is not a whole number", text);
	return 0;
}

static void limit_text(char *out, enum wr_option_kind kind, double value)
{
	switch (kind) {
	case WR_OPTION_SIZE:
		wr_size_text(out, value);
		break;
	case WR_OPTION_RATE:
		wr_rate_text(out, value);
		break;
	case WR_OPTION_TIME:
		wr_time_text(out, value);
		break;
	case WR_OPTION_SHARE:
		wr_share_text(out, value);
		break;
	default:
		snprintf(out, WR_UNIT_TEXT, "%.0f", value);
	}
}

const char *wr_option_unit(enum wr_option_kind kind)
{
	static const char *const units[] = {
		[WR_OPTION_FLAG] = "",	    [WR_OPTION_SIZE] = "bytes",	 [WR_OPTION_RATE] = "bit/s", [WR_OPTION_TIME] = "time",
		[WR_OPTION_COUNT] = "number", [WR_OPTION_SHARE] = "share", [WR_OPTION_TEXT] = "",
		[WR_OPTION_LIST] = "",
	};

	return units[kind];
}

const char *wr_option_range(char *out, const struct wr_option *option)
{
	char low[WR_UNIT_TEXT], high[WR_UNIT_TEXT];

	out[0] = '\0';
	if (option->kind == WR_OPTION_FLAG || option->kind == WR_OPTION_TEXT || option->kind == WR_OPTION_LIST)
		return out;
	limit_text(low, option->kind, option->min);
	limit_text(high, option->kind, option->max);
	if (option->max > 0)
		snprintf(out, 2 * WR_UNIT_TEXT + 4, "%s to %s", wr_unit_trim(low), wr_unit_trim(high));
	else if (option->min > 0)
		snprintf(out, 2 * WR_UNIT_TEXT + 4, "%s at least", wr_unit_trim(low));
	return out;
}

static int check_range(const struct wr_option *option, const char *text, double value, struct weir_err *err)
{
	char low[WR_UNIT_TEXT], high[WR_UNIT_TEXT];

	if (value >= option->min && (option->max == 0 || value <= option->max))
		return 0;
	limit_text(low, option->kind, option->min);
	limit_text(high, option->kind, option->max);
	if (option->max == 0)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "--%s %s is below its minimum %s", option->name, text,
				  low);
	return wr_err_set(err, WEIR_ERR_USAGE, "option", "--%s %s is outside %s to %s", option->name, text, low, high);
}

static int whole_set(const struct wr_option *option, void *field, const char *text, struct weir_err *err)
{
	uint64_t value;
	int rc;

	switch (option->kind) {
	case WR_OPTION_SIZE:
		rc = wr_size_parse(text, &value, err);
		break;
	case WR_OPTION_RATE:
		rc = wr_rate_parse(text, &value, err);
		break;
	case WR_OPTION_TIME:
		rc = wr_time_parse(text, &value, err);
		break;
	default:
		rc = count_parse(text, &value, err);
	}
	if (rc < 0 || check_range(option, text, (double)value, err) < 0)
		return -1;
	*(uint64_t *)field = value;
	return 0;
}

static int list_add(char *list, const char *text, struct weir_err *err)
{
	size_t n = strlen(list);

	if (n + strlen(text) + 2 > WR_OPTION_LIST_TEXT)
		return wr_err_set(err, WEIR_ERR_USAGE, "list", "more than %d characters", WR_OPTION_LIST_TEXT - 2);
	snprintf(list + n, WR_OPTION_LIST_TEXT - n, "%s%s", n ? "," : "", text);
	return 0;
}

static int value_set(const struct wr_option *option, void *target, const char *text, struct weir_err *err)
{
	void *field = (char *)target + option->offset;
	double ratio;

	switch (option->kind) {
	case WR_OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case WR_OPTION_TEXT:
		if (option->repeat)
			return option->repeat(target, text, err);
		*(const char **)field = text;
		return 0;
	case WR_OPTION_LIST:
		return list_add(field, text, err);
	case WR_OPTION_SHARE:
		if (wr_share_parse(text, &ratio, err) < 0)
			return -1;
		*(double *)field = ratio;
		return check_range(option, text, ratio, err);
	default:
		return whole_set(option, field, text, err);
	}
}

/* Put the option's name before a parser's sentence, which only knows the value. */
static int named_set(const struct wr_option *option, void *target, const char *text, struct weir_err *err)
{
	char sentence[sizeof err->text];

	if (value_set(option, target, text, err) == 0)
		return 0;
	if (err && strncmp(err->text, "--", 2) != 0) {
		memcpy(sentence, err->text, sizeof sentence);
		snprintf(err->text, sizeof err->text, "--%s: %.480s", option->name, sentence);
	}
	return -1;
}

void wr_option_reset(const struct wr_option *option, void *target)
{
	void *field = (char *)target + option->offset;

	if (option->kind == WR_OPTION_FLAG)
		*(bool *)field = false;
	else if (option->kind == WR_OPTION_TEXT && !option->repeat)
		*(const char **)field = NULL;
	else if (option->kind == WR_OPTION_SHARE)
		*(double *)field = 0;
	else if (option->kind == WR_OPTION_LIST)
		*(char *)field = '\0';
	else if (option->kind != WR_OPTION_TEXT)
		*(uint64_t *)field = WR_UNSET;
	if (option->fallback)
		(void)value_set(option, target, option->fallback, NULL);
}

void wr_option_defaults(const struct wr_option *options, void *target)
{
	for (const struct wr_option *option = options; option->name; option++)
		wr_option_reset(option, target);
}

const struct wr_option *wr_option_find(const struct wr_option *options, const char *name)
{
	for (const struct wr_option *option = options; option->name; option++) {
		if (strcmp(option->name, name) == 0)
			return option;
	}
	return NULL;
}

/* How alike two names are: the length of the common start plus the common end. */
static size_t likeness(const char *a, const char *b)
{
	size_t n_a = strlen(a), n_b = strlen(b), start = 0, end = 0;

	while (start < n_a && start < n_b && a[start] == b[start])
		start++;
	while (end + start < n_a && end + start < n_b && a[n_a - 1 - end] == b[n_b - 1 - end])
		end++;
	return start + end;
}

static int unknown_option(const struct wr_option *options, const char *name, struct weir_err *err)
{
	const char *nearest = NULL;
	size_t best = 1;

	for (const struct wr_option *option = options; option->name; option++) {
		size_t n = likeness(option->name, name);

		/* Half of it at least: "prot" is "port", but "no-such-thing" is not "nodelay". */
		if (n > best && 2 * n >= strlen(name)) {
			best = n;
			nearest = option->name;
		}
	}
	wr_err_set(err, WEIR_ERR_USAGE, "option", "there is no option --%s", name);
	return nearest ? wr_err_hint(err, "did you mean --%s?", nearest) : wr_err_hint(err, "--help lists the options");
}

int wr_option_set(const struct wr_option *options, void *target, const char *name, const char *text,
		  struct weir_err *err)
{
	const struct wr_option *option = wr_option_find(options, name);

	return option ? named_set(option, target, text, err) : unknown_option(options, name, err);
}

static bool is_optional(const struct wr_option *option)
{
	return option->metavar && option->metavar[0] == '[';
}

static void build_getopt(const struct wr_option *options, struct option *longs, char *shorts, bool stop_at_operand)
{
	size_t i, n = option_count(options);

	*shorts++ = stop_at_operand ? '+' : ':';
	if (stop_at_operand)
		*shorts++ = ':';
	for (i = 0; i < n; i++) {
		int has_value = is_optional(&options[i]) ? optional_argument : options[i].kind != WR_OPTION_FLAG;

		longs[i] = (struct option){options[i].name, has_value, NULL, FIRST_VALUE + (int)i};
		if (!options[i].letter)
			continue;
		*shorts++ = options[i].letter;
		if (has_value)
			*shorts++ = ':';
	}
	longs[n] = (struct option){"help", 0, NULL, HELP_VALUE};
	longs[n + 1] = (struct option){0};
	*shorts++ = 'h';
	*shorts = '\0';
}

static const struct wr_option *option_of(const struct wr_option *options, int code)
{
	if (code >= FIRST_VALUE)
		return &options[code - FIRST_VALUE];
	for (const struct wr_option *option = options; option->name; option++) {
		if (option->letter && option->letter == code)
			return option;
	}
	return NULL;
}

static int check_excludes(const struct wr_option *options, const bool *seen, struct weir_err *err)
{
	for (size_t i = 0; options[i].name; i++) {
		if (!seen[i] || !options[i].excludes)
			continue;
		for (size_t j = 0; options[j].name; j++) {
			if (seen[j] && strcmp(options[j].name, options[i].excludes) == 0)
				return wr_err_set(err, WEIR_ERR_USAGE, "option", "--%s and --%s contradict each other",
						  options[i].name, options[j].name);
		}
	}
	return 0;
}

static int refuse(const struct wr_option *options, int code, char *const *argv, struct weir_err *err)
{
	const struct wr_option *option = optopt ? option_of(options, optopt) : NULL;
	const char *word = argv[optind - 1];

	if (code == ':' && option) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "--%s needs a value", option->name);
		return wr_err_hint(err, "--%s %s: %s", option->name, option->metavar, option->help);
	}
	if (option)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "--%s takes no value", option->name);
	if (strncmp(word, "--", 2) == 0)
		return unknown_option(options, word + 2, err);
	wr_err_set(err, WEIR_ERR_USAGE, "option", "there is no option -%c", optopt);
	return wr_err_hint(err, "--help lists the options");
}

int wr_option_parse(const struct wr_option *options, void *target, int argc, char **argv, bool stop_at_operand,
		    int *first_operand, struct weir_err *err)
{
	struct option longs[WR_MAX_OPTIONS + 2];
	char shorts[2 * WR_MAX_OPTIONS + 8];
	bool seen[WR_MAX_OPTIONS] = {false};
	int code;

	wr_option_defaults(options, target);
	build_getopt(options, longs, shorts, stop_at_operand);
	opterr = 0;
	optind = 0; /* glibc: restart, as main may have parsed before */
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct wr_option *option = option_of(options, code);

		if (code == HELP_VALUE || code == 'h')
			return 1;
		if (code == '?' || code == ':' || !option)
			return refuse(options, code, argv, err);
		if (named_set(option, target, optarg || !is_optional(option) ? optarg : "", err) < 0)
			return -1;
		seen[option - options] = true;
	}
	*first_operand = optind;
	return check_excludes(options, seen, err);
}

void wr_option_help(const struct wr_option *options, FILE *out)
{
	for (const struct wr_option *option = options; option->name; option++) {
		char names[64], letter[8] = "    ";

		if (option->letter)
			snprintf(letter, sizeof letter, "-%c, ", option->letter);
		snprintf(names, sizeof names, "%s--%s%s%s", letter, option->name, option->metavar && !is_optional(option) ? " " : "",
			 option->metavar ? option->metavar : "");
		/* Two blanks at least between the columns. */
		fprintf(out, "  %-28s%s%s", names, strlen(names) < 28 ? " " : "  ", option->help);
		if (option->fallback)
			fprintf(out, " (default %s)", option->fallback);
		fputc('\n', out);
	}
}
