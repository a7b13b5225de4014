/* SPDX-License-Identifier: MIT */
/* weir history export and delete: out of the archive, as JSON lines or for good. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/history.h"
#include "report/report.h"

/* -- export -- */

struct export_options {
	struct wr_archive_wish archive;
};

static const struct wr_option export_rows[] = {
	{"db", 0, WR_OPTION_TEXT, offsetof(struct export_options, archive.db), "FILE", NULL, 0, 0, NULL, "the archive", NULL},
	{0},
};

static const struct wr_command command_export = {
	.name = "history export",
	.usage = "[ID...] [FILE]",
	.about = "Writes runs of the archive, all of them unless some are named, as a JSON object a line: result, evidence, text.",
	.example = "  weir history export 16 17 two.ndjson\n      two runs, for another host",
	.options = export_rows,
};

/*
 * One line. What is damaged is said and left out, so that what is whole comes through.
 * Return: 0; 1 left out; -1 with @err.
 */
static int export_one(struct wr_store *store, const char *path, int64_t id, FILE *out, struct weir_err *err)
{
	struct wr_store_entry entry;
	int rc = wr_store_load(store, id, &entry, err);
	json_t *line;

	if (rc == 1)
		return wr_history_missing(id, path, err);
	if (rc < 0) {
		wr_err_clean(err);
		fprintf(stderr, "weir history export: left out: %s\n", err->text);
		return 1;
	}
	line = json_pack("{s:s,s:I,s:O,s:O*,s:s*}", "schema", "weir.export/1", "id", (json_int_t)id, "result", entry.result, "evidence",
			 entry.evidence, "report", entry.report);
	wr_store_entry_deinit(&entry);
	if (!line)
		return wr_err_memory(err, "export");
	json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(8));
	fputc('\n', out);
	json_decref(line);
	return 0;
}

/* Return: 0; 1 something was left out; -1 with @err. */
static int export_all(struct wr_store *store, const char *path, const int64_t *ids, size_t n_ids, const char *file,
		      struct weir_err *err)
{
	FILE *out = file ? fopen(file, "we") : stdout;
	int rc = 0, worst = 0;

	if (!out)
		return wr_err_errno(err, WEIR_ERR_HOST, "open", errno, "can't write %.300s", file);
	for (size_t i = 0; i < n_ids && rc >= 0; i++) {
		rc = export_one(store, path, ids[i], out, err);
		worst = rc == 1 ? 1 : worst;
	}
	if ((fflush(out) != 0 || ferror(out)) && rc >= 0)
		rc = wr_err_errno(err, WEIR_ERR_HOST, "write", errno, "can't write %.300s", file ? file : "to stdout");
	if (file)
		fclose(out);
	return rc < 0 ? -1 : worst;
}

static int export(const struct export_options *options, int argc, char **argv, struct weir_err *err)
{
	const char *file = argc > 0 && !wr_history_id(argv[argc - 1], &(int64_t){0}) ? argv[argc - 1] : NULL;
	size_t n_ids = (size_t)argc - (file ? 1 : 0);
	wr_auto_free int64_t *ids = calloc(n_ids + 1, sizeof *ids);
	struct wr_store *store = NULL;
	char path[PATH_MAX];
	int rc;

	if (!ids)
		return wr_err_memory(err, "export");
	for (size_t i = 0; i < n_ids; i++) {
		if (!wr_history_id(argv[i], &ids[i]))
			return wr_err_set(err, WEIR_ERR_USAGE, "history", "'%.40s' is no number of a run; one FILE at most, at the end", argv[i]);
	}
	rc = wr_history_open(&store, &options->archive, path, err);
	if (rc == 1)
		return wr_err_set(err, WEIR_ERR_USAGE, "archive", "nothing is kept in %s yet", path);
	if (rc == 0 && n_ids == 0) {
		free(wr_steal(ids));
		rc = wr_store_ids(store, &ids, &n_ids, err);
	}
	if (rc == 0)
		rc = export_all(store, path, ids, n_ids, file, err);
	wr_store_free(store);
	return rc;
}

int wr_history_export(int argc, char **argv)
{
	struct export_options options = {0};
	struct weir_err err = {0};
	int first, rc = wr_command_options(&command_export, &options, argc, argv, false, &first);

	if (rc)
		return rc > 1 ? rc : 0;
	rc = export(&options, argc - first, argv + first, &err);
	if (rc < 0)
		return wr_command_fail(&command_export, &err, false);
	return rc == 1 ? WEIR_ERR_HOST : 0;
}

/* -- delete -- */

struct delete_options {
	struct wr_archive_wish archive;
	const char *older_than;
};

static const struct wr_option delete_rows[] = {
	{"older-than", 0, WR_OPTION_TEXT, offsetof(struct delete_options, older_than), "TIME|DATE", NULL, 0, 0, NULL,
	 "all that began before: 90d, 2025-12-01", NULL},
	{"db", 0, WR_OPTION_TEXT, offsetof(struct delete_options, archive.db), "FILE", NULL, 0, 0, NULL, "the archive", NULL},
	{0},
};

static const struct wr_command command_delete = {
	.name = "history delete",
	.usage = "ID... | --older-than TIME",
	.about = "Deletes runs of the archive, all of those that are named or none, and says which. Their numbers are not used again.",
	.example = "  weir history delete --older-than 90d\n      what began more than 90 days ago",
	.options = delete_rows,
};

/* The rows that are meant. NULL with @err. */
static json_t *chosen_rows(struct wr_store *store, const char *path, const struct delete_options *options, int argc, char **argv,
			   struct weir_err *err)
{
	struct wr_store_filter filter = {0};
	json_t *rows = json_array();
	char before[40];

	if (options->older_than) {
		json_decref(rows);
		filter.before = before;
		return wr_history_when("--older-than", options->older_than, before, err) < 0 ? NULL
											       : wr_history_rows(store, &filter, err);
	}
	for (int i = 0; i < argc; i++) {
		json_t *row;

		if (!wr_history_id(argv[i], &filter.id)) {
			wr_err_set(err, WEIR_ERR_USAGE, "history", "'%.40s' is no number of a run", argv[i]);
			json_decref(rows);
			return NULL;
		}
		row = wr_history_rows(store, &filter, err);
		if (row && json_array_size(row) == 0)
			wr_history_missing(filter.id, path, err);
		if (!row || json_array_size(row) == 0) {
			json_decref(row);
			json_decref(rows);
			return NULL;
		}
		json_array_extend(rows, row);
		json_decref(row);
	}
	return rows;
}

static int delete_rows_of(struct wr_store *store, const char *path, const json_t *rows, struct weir_err *err)
{
	size_t n_rows = json_array_size(rows);
	wr_auto_free int64_t *ids = calloc(n_rows + 1, sizeof *ids);
	int64_t missing;
	int rc;

	if (!ids)
		return wr_err_memory(err, "delete");
	for (size_t i = 0; i < n_rows; i++)
		ids[i] = json_integer_value(json_object_get(json_array_get(rows, i), "id"));
	rc = wr_store_delete(store, ids, n_rows, &missing, err);
	if (rc == 1) {
		wr_history_missing(missing, path, err);
		return wr_err_hint(err, "was it named twice, or deleted meanwhile? nothing was deleted now");
	}
	return rc;
}

static int delete(const struct delete_options *options, int argc, char **argv, struct weir_err *err)
{
	struct wr_store *store = NULL;
	char path[PATH_MAX];
	json_t *rows = NULL;
	int rc;

	if ((argc > 0) == (options->older_than != NULL)) {
		wr_err_set(err, WEIR_ERR_USAGE, "history",
			   argc ? "numbers of runs or --older-than, not both" : "which runs? delete takes their numbers, or --older-than");
		return wr_err_hint(err, "weir history lists them");
	}
	rc = wr_history_open(&store, &options->archive, path, err);
	if (rc == 1)
		return wr_err_set(err, WEIR_ERR_USAGE, "archive", "nothing is kept in %s yet", path);
	if (rc == 0)
		rows = chosen_rows(store, path, options, argc, argv, err);
	rc = rows ? delete_rows_of(store, path, rows, err) : -1;
	wr_store_free(store);
	if (rc == 0 && json_array_size(rows) > 0)
		wr_history_print(rows);
	if (rc == 0)
		printf("deleted: %zu\n", json_array_size(rows));
	json_decref(rows);
	return rc;
}

int wr_history_delete(int argc, char **argv)
{
	struct delete_options options = {0};
	struct weir_err err = {0};
	int first, rc = wr_command_options(&command_delete, &options, argc, argv, false, &first);

	if (rc)
		return rc > 1 ? rc : 0;
	return delete(&options, argc - first, argv + first, &err) < 0 ? wr_command_fail(&command_delete, &err, false) : 0;
}
