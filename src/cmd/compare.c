/* SPDX-License-Identifier: MIT */
/* weir compare: results of the archive or of files, side by side. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/history.h"
#include "compare/compare.h"
#include "os/clock.h"
#include "report/compare.h"
#include "report/report.h"
#include "weir/version.h"

#define MAX_FILE_BYTES (64u << 20)
#define MAX_RESULTS 256

struct compare_options {
	struct wr_archive_wish archive;
	bool json;
	const char *fail_text;
	double fail_ratio;
};

#define FIELD(field) offsetof(struct compare_options, field)

static int fail_parse(void *target, const char *text, struct weir_err *err)
{
	struct compare_options *options = target;

	options->fail_text = text;
	if (wr_share_parse(text, &options->fail_ratio, err) == 0)
		return 0;
	return -1;
}

static const struct wr_option rows[] = {
	{"fail-on-regression", 0, WR_OPTION_TEXT, 0, "SHARE", NULL, 0, 0, NULL,
	 "exit status 1 when a rate of B is lower by more than SHARE, and not by chance", fail_parse},
	{"json", 'J', WR_OPTION_FLAG, FIELD(json), NULL, NULL, 0, 0, NULL, "one JSON object, weir.compare/1", NULL},
	{"db", 0, WR_OPTION_TEXT, FIELD(archive.db), "FILE", NULL, 0, 0, NULL,
	 "the archive (unset: ~/.local/share/weir/weir.db, or in XDG_DATA_HOME)", NULL},
	{0},
};

/* -- sources -- */

/* One side: its results, and where each is from. */
struct side {
	json_t *results, *sources;
};

/* @result: borrowed; @name: "id" or "file", with @value, which is taken over */
static int side_add(struct side *side, json_t *result, const char *name, json_t *value, struct weir_err *err)
{
	static const char *const keys[] = {"schema", "command", "target", "started", "version", "complete"};
	json_t *source = json_object();

	json_object_set_new(source, name, value);
	for (size_t i = 0; i < WR_N_ELEMENTS(keys); i++)
		json_object_set(source, keys[i], json_object_get(result, keys[i]));
	json_array_append_new(side->sources, source);
	if (json_array_size(side->results) == MAX_RESULTS)
		return wr_err_set(err, WEIR_ERR_USAGE, "compare", "more than %d results on one side", MAX_RESULTS);
	return json_array_append(side->results, result) == 0 ? 0 : wr_err_memory(err, "compare");
}

static int add_run(struct side *side, const struct wr_archive_wish *wish, int64_t id, struct weir_err *err)
{
	struct wr_store_entry entry;
	int rc;

	if (wr_history_load(wish, id, &entry, err) < 0)
		return -1;
	rc = side_add(side, entry.result, "id", json_integer(id), err);
	wr_store_entry_deinit(&entry);
	return rc;
}

/* The whole of a file or pipe. NULL with @err; to be freed. */
static char *file_read(const char *file, size_t *n, struct weir_err *err)
{
	FILE *in = fopen(file, "re");
	char *text = NULL;
	size_t room = 0, n_read = 1;

	*n = 0;
	while (in && n_read > 0 && *n <= MAX_FILE_BYTES) {
		if (*n == room) {
			char *grown = realloc(text, room = 2 * room + 65536);

			if (!grown)
				break;
			text = grown;
		}
		n_read = fread(text + *n, 1, room - *n, in);
		*n += n_read;
	}
	if (in && !ferror(in) && *n <= MAX_FILE_BYTES && n_read == 0) {
		fclose(in);
		return text;
	}
	if (*n > MAX_FILE_BYTES)
		wr_err_set(err, WEIR_ERR_USAGE, "compare", "%.200s is larger than %u MiB", file, MAX_FILE_BYTES >> 20);
	else
		wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "no run of the archive, and no file that can be read: '%.200s'", file);
	if (in)
		fclose(in);
	free(text);
	return NULL;
}

/* Every result in a file: one object, the lines of a stream, or an export. */
static int add_file(struct side *side, const char *file, struct weir_err *err)
{
	size_t before = json_array_size(side->results), n, at = 0;
	wr_auto_free char *text = file_read(file, &n, err);
	json_t *object;
	int rc = 0;

	if (!text)
		return -1;
	while (rc == 0) {
		json_error_t where;
		json_t *inner;

		object = json_loadb(text + at, n - at, JSON_DISABLE_EOF_CHECK, &where);
		if (!object)
			break;
		at += (size_t)where.position;
		inner = json_object_get(object, "result");
		if (wr_compare_comparable(inner ? inner : object))
			rc = side_add(side, inner ? inner : object, "file", json_string(file), err);
		json_decref(object);
	}
	if (rc < 0)
		return -1;
	if (json_array_size(side->results) > before)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "compare", "%.200s holds no result of weir run, sweep or tune", file);
	return wr_err_hint(err, "weir run HOST --json > FILE writes one; a number means a run of the archive (weir history)");
}

/* "17", "grid.json", "12,13,14". */
static int side_read(struct side *side, const struct compare_options *options, const char *operand, struct weir_err *err)
{
	wr_auto_free char *copy = strdup(operand);
	char *rest = copy;
	int64_t id;

	side->results = json_array();
	side->sources = json_array();
	if (!copy || !side->results || !side->sources)
		return wr_err_memory(err, "compare");
	if (access(operand, F_OK) == 0 && !wr_history_id(operand, &id))
		return add_file(side, operand, err);
	while (rest) {
		const char *word = strsep(&rest, ",");

		if ((wr_history_id(word, &id) ? add_run(side, &options->archive, id, err) : add_file(side, word, err)) < 0)
			return -1;
	}
	return 0;
}

/* -- the command -- */

/* A check of nothing must not pass, and a share of 0 would make a coin toss of two single runs. */
static int check_possible(const struct compare_options *options, const struct wr_comparison *comparison, struct weir_err *err)
{
	size_t n_judged = 0;

	for (size_t i = 0; options->fail_text && i < comparison->n_compared; i++) {
		const struct wr_compared *compared = &comparison->compared[i];

		n_judged += compared->judged && isfinite(compared->ratio);
		if (options->fail_ratio > 0 || !compared->judged || compared->outcome != WR_OUTCOME_SINGLE)
			continue;
		wr_err_set(err, WEIR_ERR_USAGE, "compare", "--fail-on-regression %.20s: of one run on a side nobody can say what is chance",
			   options->fail_text);
		return wr_err_hint(err, "allow some, as 20%%, or compare several runs of each: weir compare 1,2,3 4,5,6");
	}
	if (options->fail_text && n_judged == 0)
		return wr_err_set(err, WEIR_ERR_USAGE, "compare", "A and B have no rate in common, so there is nothing to check");
	return 0;
}

static size_t count_worse(const struct compare_options *options, const struct wr_comparison *comparison)
{
	size_t n = 0;

	for (size_t i = 0; options->fail_text && i < comparison->n_compared; i++)
		n += wr_compared_is_worse(&comparison->compared[i], options->fail_ratio);
	return n;
}

static void print_json(const struct compare_options *options, const struct wr_comparison *comparison, const char *started,
		       double duration_s, size_t n_worse)
{
	json_t *object = json_pack("{s:s,s:s,s:s,s:f,s:b,s:s,s:{}}", "schema", "weir.compare/1", "version", WEIR_VERSION, "started",
				   started, "duration_s", duration_s, "complete", 1, "command", "compare", "plan");

	if (options->fail_text) {
		json_object_set_new(json_object_get(object, "plan"), "fail_on_regression_ratio", json_real(options->fail_ratio));
		json_object_set_new(object, "regressions", json_integer((json_int_t)n_worse));
		json_object_set_new(object, "pass", json_boolean(n_worse == 0));
	}
	json_object_update_new(object, wr_comparison_to_json(comparison));
	wr_report_print(object, stdout);
}

static int print_text(const struct compare_options *options, const struct wr_comparison *comparison, char *const *operands,
		      size_t n_worse, struct weir_err *err)
{
	const char *const names[2] = {operands[0], operands[1]};

	if (wr_report_compare_text(stdout, comparison, names, err) < 0)
		return -1;
	if (options->fail_text)
		printf("Check     %zu of B's rates %s lower by more than %s: %s\n", n_worse, n_worse == 1 ? "is" : "are",
		       options->fail_text, n_worse ? "FAILS" : "passes");
	return 0;
}

/* Return: 0; 1 B is worse, and that was to be an error; -1 with @err. */
static int compare(const struct compare_options *options, char *const *operands, struct weir_err *err)
{
	int64_t began_ns = wr_clock_ns();
	struct wr_comparison comparison;
	struct side sides[2] = {{0}};
	size_t n_worse = 0;
	char started[40];
	int rc = 0;

	wr_report_time(started);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = side_read(&sides[i], options, operands[i], err);
	if (rc == 0)
		rc = wr_compare(&comparison, (json_t *[]){sides[0].results, sides[1].results}, err);
	if (rc == 0) {
		for (int i = 0; i < 2; i++)
			comparison.sources[i] = json_incref(sides[i].sources);
		rc = check_possible(options, &comparison, err);
		n_worse = count_worse(options, &comparison);
		if (rc == 0 && options->json)
			print_json(options, &comparison, started, (double)(wr_clock_ns() - began_ns) / 1e9, n_worse);
		else if (rc == 0)
			rc = print_text(options, &comparison, operands, n_worse, err);
		wr_comparison_deinit(&comparison);
	}
	for (int i = 0; i < 2; i++) {
		json_decref(sides[i].results);
		json_decref(sides[i].sources);
	}
	return rc < 0 ? -1 : n_worse > 0;
}

static int run(int argc, char **argv)
{
	struct compare_options options = {0};
	struct weir_err err = {0};
	int first, rc = wr_command_options(&wr_command_compare, &options, argc, argv, false, &first);

	if (rc)
		return rc > 1 ? rc : 0;
	if (argc - first != 2) {
		if (argc - first > 2)
			wr_err_set(&err, WEIR_ERR_USAGE, "compare", "'%.40s' is one too many: compare takes two, A and B", argv[first + 2]);
		else
			wr_err_set(&err, WEIR_ERR_USAGE, "compare", "compare takes two results, A and B");
		wr_err_hint(&err, "numbers of weir history, or files of --json: weir compare 16 17; several of each: 1,2,3 4,5,6");
		return wr_command_fail(&wr_command_compare, &err, options.json);
	}
	rc = compare(&options, argv + first, &err);
	if (rc < 0)
		return wr_command_fail(&wr_command_compare, &err, options.json);
	return rc == 1 ? WEIR_ERR_CHECK : 0;
}

const struct wr_command wr_command_compare = {
	.name = "compare",
	.summary = "two results side by side, with statistics and what else differs",
	.usage = "A B [OPTIONS]",
	.about = "Compares two results of the same kind: sweeps cell by cell, tunings, runs. A and B are numbers of weir history or\n"
		 "files that hold JSON results; 1,2,3 means several runs of the same thing, from which an interval comes.",
	.example = "  weir compare 12 17 --fail-on-regression 5%\n"
		   "      exit status 1 when a rate of run 17 is more than 5 % below that of run 12, and not by chance",
	.options = rows,
	.run = run,
};
