/* SPDX-License-Identifier: MIT */
/* Reading back: columns of any type and content, as a foreign or damaged file may hold them. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/checksum.h"
#include "store/file.h"

static const char *column_text(sqlite3_stmt *stmt, int column)
{
	const unsigned char *text = sqlite3_column_text(stmt, column);

	return text ? (const char *)text : "";
}

static void bind_or_null(sqlite3_stmt *stmt, int column, const char *text)
{
	sqlite3_bind_text(stmt, column, text, -1, SQLITE_STATIC);
}

int wr_store_list(struct wr_store *store, const struct wr_store_filter *filter,
		  void (*show)(void *context, const struct wr_store_row *row), void *context, struct weir_err *err)
{
	/* The newest, turned round. A list's texts are cut: they are for one line each. */
	static const char sql[] =
		"SELECT * FROM (SELECT id, substr(schema, 1, 40), substr(command, 1, 20), substr(target, 1, 300),"
		" substr(started, 1, 40), substr(summary, 1, 300), duration_s, complete FROM run"
		" WHERE (?1 IS NULL OR command = ?1) AND (?2 IS NULL OR target = ?2) AND (?3 IS NULL OR started >= ?3)"
		" AND (?4 IS NULL OR started < ?4) AND (?5 = 0 OR id = ?5) ORDER BY id DESC LIMIT ?6) ORDER BY id";
	wr_auto_stmt sqlite3_stmt *stmt = NULL;
	int rc;

	if (wr_store_prepare(store, sql, &stmt, err) < 0)
		return -1;
	bind_or_null(stmt, 1, filter->command);
	bind_or_null(stmt, 2, filter->target);
	bind_or_null(stmt, 3, filter->since);
	bind_or_null(stmt, 4, filter->before);
	sqlite3_bind_int64(stmt, 5, filter->id);
	sqlite3_bind_int64(stmt, 6, filter->limit ? (int64_t)filter->limit : -1);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct wr_store_row row = {
			.id = sqlite3_column_int64(stmt, 0), .schema = column_text(stmt, 1), .command = column_text(stmt, 2),
			.target = column_text(stmt, 3), .started = column_text(stmt, 4), .summary = column_text(stmt, 5),
			.duration_s = sqlite3_column_double(stmt, 6), .complete = sqlite3_column_int(stmt, 7) != 0};

		show(context, &row);
	}
	return rc == SQLITE_DONE ? 0 : wr_store_fail(store, "reading", err);
}

static int ids_collect(struct wr_store *store, const char *sql, int64_t **ids, size_t *n_ids, struct weir_err *err)
{
	wr_auto_stmt sqlite3_stmt *stmt = NULL;
	size_t room = 0;
	int rc;

	*n_ids = 0;
	if (wr_store_prepare(store, sql, &stmt, err) < 0)
		return -1;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (*n_ids == room) {
			int64_t *grown = realloc(*ids, (room = 2 * room + 64) * sizeof *grown);

			if (!grown)
				return wr_err_memory(err, "archive");
			*ids = grown;
		}
		(*ids)[(*n_ids)++] = sqlite3_column_int64(stmt, 0);
	}
	return rc == SQLITE_DONE ? 0 : wr_store_fail(store, "reading", err);
}

static int by_number(const void *first, const void *second)
{
	int64_t a = *(const int64_t *)first, b = *(const int64_t *)second;

	return (a > b) - (a < b);
}

int wr_store_ids(struct wr_store *store, int64_t **ids, size_t *n_ids, struct weir_err *err)
{
	*ids = NULL;
	/* The index lies apart from the rows: it tells the numbers of rows that are damaged. */
	if (ids_collect(store, "SELECT id FROM run INDEXED BY run_started", ids, n_ids, NULL) < 0 &&
	    ids_collect(store, "SELECT id FROM run NOT INDEXED", ids, n_ids, err) < 0) {
		free(wr_steal(*ids));
		*n_ids = 0;
		return -1;
	}
	if (*n_ids)
		qsort(*ids, *n_ids, sizeof **ids, by_number);
	return 0;
}

/* -- one run -- */

void wr_store_entry_deinit(struct wr_store_entry *entry)
{
	json_decref(entry->result);
	json_decref(entry->evidence);
	free(entry->report);
	*entry = (struct wr_store_entry){0};
}

static int damaged(const struct wr_store *store, int64_t id, const char *how, struct weir_err *err)
{
	wr_err_set(err, WEIR_ERR_HOST, "archive", "run %lld in %s is damaged: %s", (long long)id, store->path, how);
	return wr_err_hint(err, "the others may be whole: weir history export leaves out what is not");
}

static int parse(const struct wr_store *store, int64_t id, const char *text, const char *what, json_t **out,
		 struct weir_err *err)
{
	char how[64];

	*out = json_loads(text, 0, NULL);
	if (json_is_object(*out))
		return 0;
	snprintf(how, sizeof how, "its %s is no JSON object", what);
	return damaged(store, id, how, err);
}

/* Columns result, report, evidence, checksum. */
static int take(const struct wr_store *store, int64_t id, sqlite3_stmt *stmt, struct wr_store_entry *out,
		struct weir_err *err)
{
	const char *texts[3];

	for (int i = 0; i < 3; i++)
		texts[i] = (const char *)sqlite3_column_text(stmt, i);
	if (!texts[0] || wr_store_checksum(texts, 3) != sqlite3_column_int64(stmt, 3))
		return damaged(store, id, "its bytes are not those that were written", err);
	if (parse(store, id, texts[0], "result", &out->result, err) < 0 ||
	    (texts[2] && parse(store, id, texts[2], "evidence", &out->evidence, err) < 0))
		return -1;
	out->report = texts[1] ? strdup(texts[1]) : NULL;
	return texts[1] && !out->report ? wr_err_memory(err, "archive") : 0;
}

int wr_store_load(struct wr_store *store, int64_t id, struct wr_store_entry *out, struct weir_err *err)
{
	wr_auto_stmt sqlite3_stmt *stmt = NULL;
	int rc;

	*out = (struct wr_store_entry){0};
	if (wr_store_prepare(store, "SELECT result, report, evidence, checksum FROM run WHERE id = ?", &stmt, err) < 0)
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_DONE)
		return 1;
	if (rc != SQLITE_ROW)
		return wr_store_fail(store, "reading", err);
	if (take(store, id, stmt, out, err) == 0)
		return 0;
	wr_store_entry_deinit(out);
	return -1;
}
