/* SPDX-License-Identifier: MIT */
/* A result in a few words, by its schema. Results may be foreign ones: what a key does not hold is left out. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "store/store.h"

static void add(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *out, const char *format, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + used, WR_STORE_SUMMARY - used, format, args);
	va_end(args);
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void add_cause(char *out, const json_t *result)
{
	const json_t *verdict = json_object_get(result, "verdict");
	const json_t *first = json_array_get(json_object_get(verdict, "causes"), 0);
	const char *cause = json_string_value(json_object_get(first, "cause"));
	const char *side = json_string_value(json_object_get(first, "side"));

	if (cause)
		add(out, ", %s", cause);
	if (cause && side && strcmp(side, "path") != 0)
		add(out, " on %s", side);
}

static void run_words(const json_t *result, char *out)
{
	char rate[WR_UNIT_TEXT];

	add(out, "%s", wr_rate_text(rate, number(result, "throughput_bps")));
	add_cause(out, result);
}

static void tune_words(const json_t *result, char *out)
{
	const json_t *proof = json_object_get(result, "proof");
	char before[WR_UNIT_TEXT], after[WR_UNIT_TEXT];

	if (proof)
		add(out, "%s -> %s, x%.2f%s", wr_rate_text(before, number(proof, "before_bps")),
		    wr_rate_text(after, number(proof, "after_bps")), number(proof, "ratio"),
		    json_is_true(json_object_get(proof, "holds")) ? "" : " (not proved)");
	else
		add(out, "%s, %s", wr_rate_text(before, number(json_object_get(result, "baseline"), "throughput_bps")),
		    json_array_size(json_object_get(result, "left_out")) ? "nothing proved" : "no change");
	add_cause(out, result);
}

static void sweep_words(const json_t *result, char *out)
{
	const json_t *cells = json_object_get(result, "cells");
	double least = 0, most = 0;
	char low[WR_UNIT_TEXT], high[WR_UNIT_TEXT];

	for (size_t i = 0; i < json_array_size(cells); i++) {
		double median = number(json_object_get(json_array_get(cells, i), "throughput_bps"), "median");

		least = i == 0 || median < least ? median : least;
		most = median > most ? median : most;
	}
	add(out, "%zu cells, %s to %s", json_array_size(cells), wr_rate_text(low, least), wr_rate_text(high, most));
}

void wr_store_summary(const json_t *result, char *out)
{
	static const struct {
		const char *schema;
		void (*words)(const json_t *result, char *out);
	} kinds[] = {{"weir.run/1", run_words}, {"weir.tune/1", tune_words}, {"weir.sweep/1", sweep_words}};
	const char *schema = json_string_value(json_object_get(result, "schema"));

	out[0] = '\0';
	for (size_t i = 0; schema && i < WR_N_ELEMENTS(kinds); i++) {
		if (strcmp(schema, kinds[i].schema) == 0)
			kinds[i].words(result, out);
	}
}
