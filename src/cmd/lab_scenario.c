/* SPDX-License-Identifier: MIT */
/* `weir lab run` and `weir lab list`: find scenarios, live the lab of one, compare what its command found. */
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/option_json.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/lab.h"
#include "lab/scenario.h"
#include "os/clock.h"
#include "report/report.h"
#include "weir/version.h"

#define MAX_FILE_BYTES (1u << 20)
#define PATH_BYTES 4400

struct run_options {
	bool json;
};

static const struct wr_option run_rows[] = {
	{"json", 'J', WR_OPTION_FLAG, offsetof(struct run_options, json), NULL, NULL, 0, 0, NULL,
	 "one JSON object instead of text (schema weir.lab/1)", NULL},
	{0},
};

static const struct wr_command command_run = {
	.name = "lab run",
	.usage = "NAME|FILE [--json]",
	.about = "Lives the lab that a scenario describes and compares what its command finds with what it should find.",
	.example = "  weir lab run loss-limited\n      1 % of loss on 100 Mbit/s; exit status 1 when weir finds another cause",
	.options = run_rows,
};

/* Where scenarios are: beside the source tree's build folder, installed, and in the working directory. */
static bool scenario_folder(int i, char *folder, size_t n_folder)
{
	static const char *const below[] = {"/../scenarios", "/../share/weir/scenarios"};
	char own[PATH_BYTES / 2];

	if (i > (int)WR_N_ELEMENTS(below))
		return false;
	wr_lab_weir_folder(own, sizeof own);
	if (i < (int)WR_N_ELEMENTS(below))
		snprintf(folder, n_folder, "%s%s", own, below[i]);
	else
		snprintf(folder, n_folder, "scenarios");
	return true;
}

static bool is_file(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".ini") == 0);
}

static int find_scenario(const char *name, char *path, struct weir_err *err)
{
	char folder[PATH_BYTES / 2];

	snprintf(path, PATH_BYTES, "%s", name);
	if (is_file(name))
		return 0;
	for (int i = 0; scenario_folder(i, folder, sizeof folder); i++) {
		snprintf(path, PATH_BYTES, "%s/%.200s.ini", folder, name);
		if (access(path, R_OK) == 0)
			return 0;
	}
	wr_err_set(err, WEIR_ERR_USAGE, "scenario", "there is no scenario '%s'", name);
	return wr_err_hint(err, "weir lab list names them; a file is one whose name ends in .ini");
}

/* The text of a file or memory file. NULL with @err; to be freed. */
static char *read_stream(FILE *in, const char *name, struct weir_err *err)
{
	char *text = in ? malloc(MAX_FILE_BYTES + 1) : NULL;
	size_t n;

	if (!in) {
		wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "can't read %s", name);
		return NULL;
	}
	n = text ? fread(text, 1, MAX_FILE_BYTES + 1, in) : 0;
	fclose(in);
	if (!text || n > MAX_FILE_BYTES || memchr(text, '\0', n)) {
		free(text);
		wr_err_set(err, WEIR_ERR_USAGE, "read", "%s is not a text of 1 MiB at most", name);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* Live the lab with the command's output in a memory file. Return: its JSON; NULL with @err, whose code is the status. */
static json_t *live_for_json(struct wr_lab_options *parsed, struct wr_lab_scenario *scenario, struct weir_err *err)
{
	wr_auto_fd int memory = memfd_create("weir-lab", MFD_CLOEXEC), saved = dup(STDOUT_FILENO);
	wr_auto_free char *text = NULL;
	json_t *result;
	int status = 0, rc;

	fflush(stdout);
	if (memory < 0 || saved < 0 || dup2(memory, STDOUT_FILENO) < 0) {
		wr_err_errno(err, WEIR_ERR_HOST, "memfd_create", errno, "can't take the command's output");
		return NULL;
	}
	rc = wr_lab_live(parsed, scenario->command, &status, err);
	dup2(saved, STDOUT_FILENO);
	if (rc < 0)
		return NULL;
	if (status) {
		wr_err_set(err, status, "lab", "'%s %s' ended with status %d", scenario->command[0], scenario->command[1], status);
		return NULL;
	}
	lseek(memory, 0, SEEK_SET);
	text = read_stream(fdopen(wr_steal_fd(&memory), "r"), "the command's output", err);
	result = text ? json_loads(text, 0, NULL) : NULL;
	if (text && !result)
		wr_err_set(err, WEIR_ERR_HOST, "json", "the command's output is no JSON");
	return result;
}

/* A figure in the unit that its key names. */
static const char *figure_text(char *out, const char *key, double value)
{
	size_t n = strlen(key);

	if (n > 4 && strcmp(key + n - 4, "_bps") == 0)
		return wr_rate_text(out, value);
	if (n > 6 && strcmp(key + n - 6, "_bytes") == 0)
		return wr_size_text(out, value);
	if (n > 3 && strcmp(key + n - 3, "_us") == 0)
		return wr_time_text(out, value * 1e3);
	if (n > 6 && strcmp(key + n - 6, "_ratio") == 0)
		return wr_share_text(out, value);
	snprintf(out, WR_UNIT_TEXT, "%g", value);
	return out;
}

static void print_check(const json_t *check)
{
	const char *key = json_string_value(json_object_get(check, "key"));
	const json_t *found = json_object_get(check, "found"), *low = json_object_get(check, "low");
	const json_t *high = json_object_get(check, "high"), *expected = json_object_get(check, "expected");
	char text[3][WR_UNIT_TEXT];
	const char *shown = json_is_string(found) ? json_string_value(found)
			    : json_is_number(found) ? figure_text(text[0], key, json_number_value(found)) : "nothing";

	printf("  %-24s %-20s ", key, shown);
	if (json_is_true(json_object_get(check, "pass")))
		printf("as expected\n");
	else if (expected)
		printf("expected %s\n", json_string_value(expected));
	else
		printf("expected %s%s%s%s\n", low ? "from " : "", low ? figure_text(text[1], key, json_number_value(low)) : "",
		       high ? (low ? " to " : "up to ") : "", high ? figure_text(text[2], key, json_number_value(high)) : "");
}

static void print_text(const char *name, const struct wr_lab_scenario *scenario, const json_t *checks, const json_t *result,
		       bool pass)
{
	const char *summary = json_string_value(json_object_get(json_object_get(result, "verdict"), "summary"));

	printf("weir lab run %-20s %s\n", name, scenario->about ? scenario->about : "");
	for (size_t i = 0; i < json_array_size(checks); i++)
		print_check(json_array_get(checks, i));
	if (!pass && summary)
		printf("  %s\n", summary);
	printf("%s\n", pass ? "as expected" : "not as expected");
}

static void print_json(const char *name, const struct wr_lab_options *parsed, const char *started, double duration_s,
		       json_t *checks, json_t *result, bool pass)
{
	json_t *link = json_object(), *object;

	wr_options_to_json(wr_lab_option_rows, parsed, link);
	object = json_pack("{s:s,s:s,s:s,s:f,s:b,s:s,s:O*,s:s,s:o,s:O,s:O*,s:b}", "schema", "weir.lab/1", "version",
			   WEIR_VERSION, "started", started, "duration_s", duration_s, "complete", 1, "command", "lab", "plan",
			   json_object_get(result, "plan"), "scenario", name, "link", link, "expected", checks, "verdict",
			   json_object_get(result, "verdict"), "pass", pass);
	if (!object)
		return;
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(object);
}

static int run_file(const char *name, const char *path, bool as_json, bool *pass, struct weir_err *err)
{
	wr_auto_free char *text = read_stream(fopen(path, "re"), path, err);
	struct wr_lab_scenario scenario = {0};
	struct wr_lab_options parsed = {0};
	json_t *result = NULL, *checks = NULL;
	int64_t began_ns = wr_clock_ns();
	char started[40];

	wr_report_time(started);
	wr_option_defaults(wr_lab_option_rows, &parsed);
	if (text && wr_lab_scenario_parse(path, text, wr_lab_option_rows, &parsed, wr_lab_add_sysctl, &scenario, err) == 0) {
		parsed.far_command = scenario.far_command;
		result = live_for_json(&parsed, &scenario, err);
	}
	if (result)
		checks = wr_lab_scenario_compare(&scenario, result, pass);
	if (checks && as_json)
		print_json(name, &parsed, started, (double)(wr_clock_ns() - began_ns) / 1e9, checks, result, *pass);
	else if (checks)
		print_text(name, &scenario, checks, result, *pass);
	wr_lab_options_deinit(&parsed);
	wr_lab_scenario_deinit(&scenario);
	json_decref(result);
	json_decref(checks);
	return checks ? 0 : -1;
}

int wr_lab_run_scenario(int argc, char **argv)
{
	struct run_options options = {0};
	struct weir_err err = {0};
	char path[PATH_BYTES];
	bool pass = false;
	int first, rc = wr_command_options(&command_run, &options, argc, argv, false, &first);

	if (rc)
		return rc > 1 ? rc : 0;
	if (first + 1 != argc) {
		wr_err_set(&err, WEIR_ERR_USAGE, "lab", "run takes one scenario");
		wr_err_hint(&err, "weir lab list names them");
		return wr_command_fail(&command_run, &err, options.json);
	}
	if (find_scenario(argv[first], path, &err) < 0 || run_file(argv[first], path, options.json, &pass, &err) < 0)
		return wr_command_fail(&command_run, &err, options.json);
	return pass ? 0 : 1;
}

/* A file's own word about itself, without judging the rest of it. */
static void tell(const char *folder, const char *file, void (*each)(void *context, const char *name, const char *about),
		 void *context)
{
	wr_auto_free char *text = NULL, *name = strndup(file, strlen(file) - 4);
	char path[PATH_BYTES], *about;

	snprintf(path, sizeof path, "%s/%.200s", folder, file);
	text = read_stream(fopen(path, "re"), path, NULL);
	about = text ? strstr(text, "\nabout = ") : NULL;
	if (about)
		about[9 + strcspn(about + 9, "\n")] = '\0';
	if (name)
		each(context, name, about ? about + 9 : "");
}

static int is_scenario(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 4 && strcmp(entry->d_name + n - 4, ".ini") == 0;
}

/* The first folder that has some: the others would name the same ones again. */
size_t wr_lab_each_scenario(void (*each)(void *context, const char *name, const char *about), void *context)
{
	char folder[PATH_BYTES / 2];
	size_t n_told = 0;

	for (int i = 0; n_told == 0 && scenario_folder(i, folder, sizeof folder); i++) {
		struct dirent **entries;
		int n = scandir(folder, &entries, is_scenario, alphasort);

		for (int k = 0; k < n; k++) {
			tell(folder, entries[k]->d_name, each, context);
			free(entries[k]);
			n_told++;
		}
		if (n >= 0)
			free(entries);
	}
	return n_told;
}

static void print_listed(void *context, const char *name, const char *about)
{
	(void)context;
	printf("%-24s %s\n", name, about);
}

int wr_lab_list_scenarios(int argc, char **argv)
{
	struct weir_err err = {0};

	if (argc > 1) {
		wr_err_set(&err, WEIR_ERR_USAGE, "lab", "list takes nothing, not '%s'", argv[1]);
		return wr_command_fail(&wr_command_lab, &err, false);
	}
	(void)wr_lab_each_scenario(print_listed, NULL);
	return 0;
}
