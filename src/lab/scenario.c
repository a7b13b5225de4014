/* SPDX-License-Identifier: MIT */
/*
 * Scenarios. inih does the scanning and knows the line of the first key that was refused; each section has a reader.
 * What a scenario misspells must not pass silently as "nothing expected", so every unknown key is an error.
 */
#include "lab/scenario.h"

#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"

/* What inih holds of a line in Debian's build; longer ones would be cut without a word. */
#define MOST_LINE_CHARS 198
#define MOST_TEXTS 512

struct reader {
	struct wr_lab_scenario *scenario;
	const struct wr_option *options;
	void *target;
	int (*sysctl)(void *target, const char *text, struct weir_err *err);
	struct weir_err err;
	bool failed;
};

/* Keep a text for the life of the scenario. NULL with the error set. */
static char *keep(struct reader *reader, const char *text)
{
	struct wr_lab_scenario *scenario = reader->scenario;
	char *copy = strdup(text), **texts = NULL;

	if (copy && scenario->n_texts < MOST_TEXTS)
		texts = realloc(scenario->texts, (scenario->n_texts + 1) * sizeof *texts);
	if (!texts) {
		free(copy);
		wr_err_memory(&reader->err, "scenario");
		return NULL;
	}
	scenario->texts = texts;
	texts[scenario->n_texts++] = copy;
	return copy;
}

static int refuse(struct reader *reader, const char *what, const char *key)
{
	return wr_err_set(&reader->err, WEIR_ERR_USAGE, "scenario", "%s '%s'", what, key);
}

static int read_link(struct reader *reader, const char *key, const char *value)
{
	static const char *const elsewhere[] = {"far-cmd", "sysctl", "stats", "stats-file", "stats-json", "json"};
	const struct wr_option *option = reader->options;
	const char *text;

	for (size_t i = 0; i < WR_N_ELEMENTS(elsewhere); i++) {
		if (strcmp(key, elsewhere[i]) == 0)
			return refuse(reader, "the link has no", key);
	}
	while (option->name && strcmp(option->name, key) != 0)
		option++;
	if (option->name && option->kind == WR_OPTION_FLAG && strcmp(value, "yes") != 0)
		return strcmp(value, "no") == 0 ? 0 : refuse(reader, "it is yes or no, not", value);
	text = keep(reader, value);
	return text ? wr_option_set(reader->options, reader->target, key, text, &reader->err) : -1;
}

static int read_command(struct reader *reader, const char *value)
{
	struct wr_lab_scenario *scenario = reader->scenario;
	char *text = keep(reader, value), *rest, *word;
	size_t n = 0;

	if (!text)
		return -1;
	if (scenario->command[0])
		return refuse(reader, "a second", "command");
	for (word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (n == WR_LAB_MAX_WORDS)
			return refuse(reader, "too many words from", word);
		scenario->command[n++] = word;
	}
	if (n < 3 || strcmp(scenario->command[0], "weir") != 0 ||
	    (strcmp(scenario->command[1], "run") != 0 && strcmp(scenario->command[1], "tune") != 0)) {
		wr_err_set(&reader->err, WEIR_ERR_USAGE, "scenario", "the command '%.100s' gives no verdict", value);
		return wr_err_hint(&reader->err, "write it like command = weir run far -t 3");
	}
	scenario->command[n] = keep(reader, "--json");
	return scenario->command[n] ? 0 : -1;
}

static int read_end(struct reader *reader, const char *end, const char *key, const char *value)
{
	char text[2 * MOST_LINE_CHARS + 8];

	if (strncmp(key, "net.", 4) == 0) {
		snprintf(text, sizeof text, "%s:%s=%s", end, key, value);
		return reader->sysctl(reader->target, text, &reader->err);
	}
	if (strcmp(key, "command") != 0)
		return refuse(reader, "an end has a command and sysctls (net...), no", key);
	if (strcmp(end, "near") == 0)
		return read_command(reader, value);
	reader->scenario->far_command = keep(reader, value);
	return reader->scenario->far_command ? 0 : -1;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* One bound, in the unit that the key's name says. */
static int read_bound(const char *key, const char *text, double *bound, struct weir_err *err)
{
	uint64_t whole = 0;
	int rc;

	if (ends_with(key, "_ratio"))
		return wr_share_parse(text, bound, err);
	if (ends_with(key, "_bps"))
		rc = wr_rate_parse(text, &whole, err);
	else if (ends_with(key, "_us") || ends_with(key, "_s"))
		rc = wr_time_parse(text, &whole, err);
	else
		rc = wr_size_parse(text, &whole, err);
	*bound = (double)whole / (ends_with(key, "_us") ? 1e3 : ends_with(key, "_s") ? 1e9 : 1);
	return rc;
}

/* "LOW..HIGH", or a LOW or HIGH that is left out. */
static int read_range(struct reader *reader, struct wr_lab_expected *expected, const char *value)
{
	const char *dots = strstr(value, "..");
	char low[MOST_LINE_CHARS + 1];

	expected->low = -INFINITY;
	expected->high = INFINITY;
	if (!dots || strlen(value) == 2) {
		wr_err_set(&reader->err, WEIR_ERR_USAGE, "scenario", "'%s' is no range", value);
		return wr_err_hint(&reader->err, "write it like %s = 10..20, 10.. or ..20, with units", expected->key);
	}
	snprintf(low, sizeof low, "%.*s", (int)(dots - value), value);
	if ((low[0] && read_bound(expected->key, low, &expected->low, &reader->err) < 0) ||
	    (dots[2] && read_bound(expected->key, dots + 2, &expected->high, &reader->err) < 0))
		return -1;
	return expected->low <= expected->high ? 0 : refuse(reader, "nothing is inside", value);
}

static bool is_text(const char *key)
{
	return strcmp(key, "cause") == 0 || strcmp(key, "side") == 0 || strcmp(key, "companion") == 0;
}

static int read_expected(struct reader *reader, const char *key, const char *value)
{
	struct wr_lab_scenario *scenario = reader->scenario;
	struct wr_lab_expected *expected = &scenario->expected[scenario->n_expected];

	for (size_t i = 0; i < scenario->n_expected; i++) {
		if (strcmp(scenario->expected[i].key, key) == 0)
			return refuse(reader, "a second", key);
	}
	if (scenario->n_expected == WR_LAB_MAX_EXPECTED)
		return refuse(reader, "too many from", key);
	expected->key = keep(reader, key);
	expected->text = keep(reader, value);
	if (!expected->key || !expected->text)
		return -1;
	if (!is_text(key) && !strchr(key, '_'))
		return refuse(reader, "cause, side, companion, or a figure with its unit as in throughput_bps, not", key);
	if (strcmp(key, "side") == 0 && strcmp(value, "near") != 0 && strcmp(value, "far") != 0 && strcmp(value, "path") != 0)
		return refuse(reader, "a side is near, far or path, not", value);
	scenario->n_expected++;
	if (is_text(key))
		return 0;
	expected->text = NULL;
	return read_range(reader, expected, value);
}

static int read_scenario(struct reader *reader, const char *key, const char *value)
{
	char *text = keep(reader, value);

	if (!text)
		return -1;
	if (strcmp(key, "about") != 0)
		return refuse(reader, "a scenario has an about, no", key);
	reader->scenario->about = text;
	return 0;
}

/* What is no UTF-8 could not be told in the list of what was found. */
static int check_text(struct reader *reader, const char *key, const char *value)
{
	json_t *texts = json_pack("[ss]", key, value);

	json_decref(texts);
	return texts ? 0 : wr_err_set(&reader->err, WEIR_ERR_USAGE, "scenario", "the line is no UTF-8 text");
}

/* inih's handler: 0 refuses the line. After the first refusal nothing more is looked at. */
static int read_key(void *context, const char *section, const char *key, const char *value)
{
	struct reader *reader = context;
	int rc;

	if (reader->failed)
		return 1;
	if (check_text(reader, key, value) < 0)
		rc = -1;
	else if (strcmp(section, "scenario") == 0)
		rc = read_scenario(reader, key, value);
	else if (strcmp(section, "link") == 0)
		rc = read_link(reader, key, value);
	else if (strcmp(section, "near") == 0 || strcmp(section, "far") == 0)
		rc = read_end(reader, section, key, value);
	else if (strcmp(section, "expect") == 0)
		rc = read_expected(reader, key, value);
	else
		rc = refuse(reader, "the sections are scenario, link, near, far and expect; this key is in", section);
	reader->failed = rc < 0;
	return rc == 0;
}

/* Put file and line before what was said. */
static int place_error(struct weir_err *err, const char *name, int line, const struct weir_err *said)
{
	wr_err_set(err, WEIR_ERR_USAGE, "scenario", "%s:%d: %.400s", name, line, said->text);
	return said->hint[0] ? wr_err_hint(err, "%s", said->hint) : -1;
}

/* The first line that inih would cut, or 0. */
static int long_line(const char *text)
{
	for (int line = 1; *text; line++) {
		size_t n = strcspn(text, "\n");

		if (n > MOST_LINE_CHARS)
			return line;
		text += n + (text[n] == '\n');
	}
	return 0;
}

int wr_lab_scenario_parse(const char *name, const char *text, const struct wr_option *options, void *target,
			  int (*sysctl)(void *target, const char *text, struct weir_err *err),
			  struct wr_lab_scenario *scenario, struct weir_err *err)
{
	struct reader reader = {.scenario = scenario, .options = options, .target = target, .sysctl = sysctl};
	int line = long_line(text);

	memset(scenario, 0, sizeof *scenario);
	if (line)
		return wr_err_set(err, WEIR_ERR_USAGE, "scenario", "%s:%d: a line of more than %d characters", name, line,
				  MOST_LINE_CHARS);
	line = ini_parse_string(text, read_key, &reader);
	if (reader.failed)
		return place_error(err, name, line, &reader.err);
	if (line)
		return wr_err_set(err, WEIR_ERR_USAGE, "scenario", "%s:%d: neither a [section] nor a key = value", name, line);
	if (!scenario->command[0])
		return wr_err_set(err, WEIR_ERR_USAGE, "scenario", "%s: [near] has no command", name);
	if (scenario->n_expected == 0)
		return wr_err_set(err, WEIR_ERR_USAGE, "scenario", "%s: [expect] says nothing", name);
	return 0;
}

void wr_lab_scenario_deinit(struct wr_lab_scenario *scenario)
{
	for (size_t i = 0; i < scenario->n_texts; i++)
		free(scenario->texts[i]);
	free(scenario->texts);
	memset(scenario, 0, sizeof *scenario);
}

/* A value by its place: "near.sndbuf_eff_bytes". NULL where there is none. */
static const json_t *value_at(const json_t *object, const char *path)
{
	while (object && *path) {
		size_t n = strcspn(path, ".");
		char key[64];

		if (n >= sizeof key)
			return NULL;
		snprintf(key, sizeof key, "%.*s", (int)n, path);
		object = json_object_get(object, key);
		path += n + (path[n] == '.');
	}
	return object;
}

/* The first cause, or one that accompanies it. */
static const json_t *cause_of(const json_t *result, const char *companion)
{
	const json_t *causes = value_at(result, "verdict.causes");

	if (!companion)
		return json_array_get(causes, 0);
	for (size_t i = 1; i < json_array_size(causes); i++) {
		const json_t *cause = json_array_get(causes, i);
		const char *name = json_string_value(json_object_get(cause, "cause"));

		if (name && strcmp(name, companion) == 0)
			return cause;
	}
	return NULL;
}

static const json_t *find(const json_t *result, const struct wr_lab_expected *expected)
{
	if (strcmp(expected->key, "companion") == 0)
		return json_object_get(cause_of(result, expected->text), "cause");
	if (is_text(expected->key))
		return json_object_get(cause_of(result, NULL), expected->key);
	if (strncmp(expected->key, "cause.", 6) == 0)
		return json_object_get(cause_of(result, NULL), expected->key + 6);
	return value_at(result, expected->key);
}

static bool is_as_expected(const struct wr_lab_expected *expected, const json_t *found)
{
	if (expected->text)
		return json_is_string(found) && strcmp(json_string_value(found), expected->text) == 0;
	return json_is_number(found) && json_number_value(found) >= expected->low && json_number_value(found) <= expected->high;
}

json_t *wr_lab_scenario_compare(const struct wr_lab_scenario *scenario, const json_t *result, bool *pass)
{
	json_t *checks = json_array();

	*pass = true;
	for (size_t i = 0; checks && i < scenario->n_expected; i++) {
		const struct wr_lab_expected *expected = &scenario->expected[i];
		const json_t *found = find(result, expected);
		bool ok = is_as_expected(expected, found);
		json_t *check = json_pack("{s:s,s:b}", "key", expected->key, "pass", ok);

		if (expected->text)
			json_object_set_new(check, "expected", json_string(expected->text));
		if (!expected->text && isfinite(expected->low))
			json_object_set_new(check, "low", json_real(expected->low));
		if (!expected->text && isfinite(expected->high))
			json_object_set_new(check, "high", json_real(expected->high));
		if (found)
			json_object_set_new(check, "found", json_deep_copy(found));
		json_array_append_new(checks, check);
		*pass &= ok;
	}
	return checks;
}
