/* SPDX-License-Identifier: MIT */
/* A comparison for people. Keys say their unit, so one printer writes every figure, option and fact. */
#include "report/compare.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "report/table.h"

#define VALUE_TEXT 128

static bool ends_in(const char *key, const char *end)
{
	size_t n = strlen(key), n_end = strlen(end);

	return n >= n_end && strcmp(key + n - n_end, end) == 0;
}

/* A number by the unit in its key. */
static const char *number_text(char *out, const char *key, double value)
{
	if (ends_in(key, "_bps"))
		return wr_rate_text(out, value);
	if (ends_in(key, "_us") || strstr(key, "latency_us"))
		return wr_time_text(out, value * 1e3);
	if (ends_in(key, "_ns"))
		return wr_time_text(out, value);
	if (ends_in(key, "cpu_ratio"))
		return wr_share_text(out, value);
	/* A segment or a message rather than a buffer. */
	if (ends_in(key, "_bytes") && (value >= 65536 || fmod(value, 1024) == 0))
		return wr_size_text(out, value);
	snprintf(out, WR_UNIT_TEXT, ends_in(key, "_bytes") ? "%.0f B" : "%.6g", value);
	return out;
}

static const char *ratio_text(char *out, double ratio)
{
	snprintf(out, WR_UNIT_TEXT, ratio < 10 ? "%.3f" : "%.3g", ratio);
	return out;
}

/* Any value of a result, one line. @absent: what stands for none */
static void value_text(char out[VALUE_TEXT], const char *key, const json_t *value, const char *absent)
{
	char number[WR_UNIT_TEXT];

	if (!value)
		snprintf(out, VALUE_TEXT, "%s", absent);
	else if (json_is_number(value))
		snprintf(out, VALUE_TEXT, "%s", number_text(number, key, json_number_value(value)));
	else if (json_is_string(value))
		snprintf(out, VALUE_TEXT, "%.100s", json_string_value(value));
	else if (json_is_boolean(value))
		snprintf(out, VALUE_TEXT, "%s", json_is_true(value) ? "yes" : "no");
	else {
		wr_auto_free char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

		snprintf(out, VALUE_TEXT, "%.100s", dumped ? dumped : "");
	}
	wr_text_clean(out, false);
}

/* -- the two sides -- */

static void print_source(FILE *out, const char *lead, const json_t *source)
{
	const json_t *id = json_object_get(source, "id"), *file = json_object_get(source, "file");
	char name[VALUE_TEXT], command[VALUE_TEXT], target[VALUE_TEXT], started[VALUE_TEXT];

	value_text(name, "", id ? id : file, "");
	value_text(command, "", json_object_get(source, "command"), "");
	value_text(target, "", json_object_get(source, "target"), "");
	value_text(started, "", json_object_get(source, "started"), "");
	fprintf(out, "%-10s%s%s: weir %s %s, %s%s\n", lead, id ? "run " : "", name, command, target, started,
		json_is_false(json_object_get(source, "complete")) ? ", stopped early" : "");
}

static void print_sources(FILE *out, const struct wr_comparison *comparison)
{
	for (int side = 0; side < 2; side++) {
		const json_t *sources = comparison->sources[side];

		for (size_t i = 0; i < json_array_size(sources); i++)
			print_source(out, i ? "" : side ? "B" : "A", json_array_get(sources, i));
	}
}

/* -- figures -- */

static const char *outcome_words(char *out, size_t n_out, const struct wr_compared *compared)
{
	static const char *const words[WR_N_OUTCOMES] = {"one run", "", "B is lower", "B is higher"};

	if (compared->outcome == WR_OUTCOME_UNDECIDED && compared->min_effect_ratio >= 1)
		snprintf(out, n_out, "not told apart");
	else if (compared->outcome == WR_OUTCOME_UNDECIDED && compared->min_effect_ratio > 0)
		snprintf(out, n_out, "not told apart (%.*f %% would be)", compared->min_effect_ratio < 0.0995 ? 1 : 0,
			 100 * compared->min_effect_ratio);
	else if (compared->outcome == WR_OUTCOME_UNDECIDED)
		snprintf(out, n_out, "the same");
	else
		snprintf(out, n_out, "%s", words[compared->outcome]);
	return out;
}

/* The columns after the names: A, B, B/A, interval, runs, words. */
#define N_FIGURE_COLUMNS 6

static void put_heading(struct wr_table *table, size_t column)
{
	static const char *const headings[N_FIGURE_COLUMNS] = {"A", "B", "B/A", "95 % CI", "runs", "outcome"};

	for (size_t i = 0; i < N_FIGURE_COLUMNS; i++)
		wr_table_put(table, 0, column + i, "%s", headings[i]);
}

static void put_figures(struct wr_table *table, size_t row, size_t column, const struct wr_compared *compared)
{
	char text[WR_UNIT_TEXT], high[WR_UNIT_TEXT], words[WR_TABLE_TEXT];

	for (int side = 0; side < 2; side++)
		wr_table_put(table, row, column++, "%s", number_text(text, compared->figure ? compared->figure : "_bps",
								     compared->median[side]));
	if (isfinite(compared->ratio))
		wr_table_put(table, row, column++, "x%s", ratio_text(text, compared->ratio));
	else
		wr_table_put(table, row, column++, "-");
	if (isfinite(compared->ci95_ratio[0]))
		wr_table_put(table, row, column++, "%s-%s", ratio_text(text, compared->ci95_ratio[0]),
			     ratio_text(high, compared->ci95_ratio[1]));
	else
		wr_table_put(table, row, column++, "-");
	if (compared->n[0] == compared->n[1])
		wr_table_put(table, row, column++, compared->paired ? "%zu pairs" : "%zu", compared->n[0]);
	else
		wr_table_put(table, row, column++, "%zu, %zu", compared->n[0], compared->n[1]);
	wr_table_put(table, row, column, "%s", outcome_words(words, sizeof words, compared));
}

/* A key without its unit, which its values have. */
static void key_title(char out[WR_TABLE_TEXT], const char *key)
{
	static const char *const units[] = {"_req_bytes", "_bytes", "_bps", "_ns"};

	snprintf(out, WR_TABLE_TEXT, "%.60s", key);
	wr_text_clean(out, false);
	for (size_t i = 0; i < WR_N_ELEMENTS(units); i++) {
		if (ends_in(out, units[i])) {
			out[strlen(out) - strlen(units[i])] = '\0';
			return;
		}
	}
}

/* Cells by their axes' values, the last row all of them together. */
static int print_cells(FILE *out, const struct wr_comparison *comparison, struct weir_err *err)
{
	size_t n_axes = json_object_size(comparison->compared[0].cell), n = comparison->n_compared, column = 0;
	bool overall = isfinite(comparison->overall.ratio) && n > 1;
	struct wr_table table;
	const char *key;
	json_t *value;

	if (wr_table_init(&table, 1 + n + overall, n_axes + N_FIGURE_COLUMNS, err) < 0)
		return -1;
	json_object_foreach(comparison->compared[0].cell, key, value) {
		char title[WR_TABLE_TEXT], text[VALUE_TEXT];

		key_title(title, key);
		wr_table_put(&table, 0, column, "%s", title);
		for (size_t i = 0; i < n; i++) {
			value_text(text, key, json_object_get(comparison->compared[i].cell, key), "");
			wr_table_put(&table, 1 + i, column, "%.60s", text);
		}
		column++;
	}
	put_heading(&table, n_axes);
	for (size_t i = 0; i < n; i++)
		put_figures(&table, 1 + i, n_axes, &comparison->compared[i]);
	if (overall) {
		wr_table_put(&table, 1 + n, 0, "all cells");
		put_figures(&table, 1 + n, n_axes, &comparison->overall);
	}
	wr_table_text(&table, out);
	wr_table_deinit(&table);
	return 0;
}

static int print_figures(FILE *out, const struct wr_comparison *comparison, struct weir_err *err)
{
	struct wr_table table;

	if (wr_table_init(&table, 1 + comparison->n_compared, 1 + N_FIGURE_COLUMNS, err) < 0)
		return -1;
	put_heading(&table, 1);
	for (size_t i = 0; i < comparison->n_compared; i++) {
		wr_table_put(&table, 1 + i, 0, "%s", comparison->compared[i].title);
		put_figures(&table, 1 + i, 1, &comparison->compared[i]);
	}
	wr_table_text(&table, out);
	wr_table_deinit(&table);
	return 0;
}

/* What the table allows to say. */
static void print_summary(FILE *out, const struct wr_comparison *comparison)
{
	size_t n[WR_N_OUTCOMES] = {0};
	bool sweep = comparison->n_compared && comparison->compared[0].cell;

	for (size_t i = 0; i < comparison->n_compared; i++)
		n[comparison->compared[i].outcome] += comparison->compared[i].judged;
	if (sweep)
		fprintf(out, "Result    of %zu cells B is higher in %zu and lower in %zu; %zu are not told apart; one run each in %zu\n",
			comparison->n_compared, n[WR_OUTCOME_HIGHER], n[WR_OUTCOME_LOWER], n[WR_OUTCOME_UNDECIDED],
			n[WR_OUTCOME_SINGLE]);
	else if (n[WR_OUTCOME_SINGLE] && !n[WR_OUTCOME_HIGHER] && !n[WR_OUTCOME_LOWER] && !n[WR_OUTCOME_UNDECIDED])
		fputs("Note      one run on a side has no interval: the difference may be chance. Several of each tell,\n"
		      "          weir compare 1,2,3 4,5,6, or two sweeps\n", out);
	if (n[WR_OUTCOME_HIGHER] || n[WR_OUTCOME_LOWER] || n[WR_OUTCOME_UNDECIDED])
		fprintf(out, "Note      intervals hold the noise within each result%s, not what differs from one day to the next\n",
			sweep && comparison->n_compared > 1 ? ", all cells together" : "");
}

static void print_only(FILE *out, const json_t *only, const char *side)
{
	if (json_array_size(only))
		fprintf(out, "Only %s    %zu cells\n", side, json_array_size(only));
}

static void print_differences(FILE *out, const struct wr_comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_differences; i++) {
		const struct wr_difference *difference = &comparison->differences[i];
		const char *absent = strcmp(difference->where, "plan") == 0 ? "unset" : "absent";
		char a[VALUE_TEXT], b[VALUE_TEXT];

		value_text(a, difference->key, difference->values[0], absent);
		value_text(b, difference->key, difference->values[1], absent);
		fprintf(out, "%-10s%s %s: %s | %s\n", i ? "" : "Differs", difference->where, difference->key, a, b);
	}
	if (comparison->n_differences == 0)
		fputs("Differs   nothing else: the same plan, the same facts of the host\n", out);
	if (comparison->n_differences_left_out)
		fprintf(out, "          and %zu more\n", comparison->n_differences_left_out);
}

int wr_report_compare_text(FILE *out, const struct wr_comparison *comparison, const char *const names[2], struct weir_err *err)
{
	bool sweep = comparison->n_compared && comparison->compared[0].cell;

	fprintf(out, "weir compare %s %s\n", names[0], names[1]);
	print_sources(out, comparison);
	if (comparison->n_compared && (sweep ? print_cells(out, comparison, err) : print_figures(out, comparison, err)) < 0)
		return -1;
	if (comparison->n_compared == 0)
		fputs("Result    no figure and no cell is in both\n", out);
	print_summary(out, comparison);
	print_only(out, comparison->only[0], "A");
	print_only(out, comparison->only[1], "B");
	print_differences(out, comparison);
	return 0;
}
