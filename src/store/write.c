/* SPDX-License-Identifier: MIT */
/* Keeping and deleting. Each is one transaction: after a crash or a full disk it happened or it did not. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/checksum.h"
#include "store/file.h"

/* As many digits as the result that is printed has (wr_report_print): both are the same object. */
#define REAL_DIGITS 8

static int dump(const json_t *object, const char *what, char **text, struct weir_err *err)
{
	*text = NULL;
	if (!object)
		return 0;
	*text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
	if (!*text)
		return wr_err_memory(err, "archive");
	if (strlen(*text) <= WR_STORE_MAX_TEXT_BYTES / 4)
		return 0;
	return wr_err_set(err, WEIR_ERR_HOST, "archive", "the %s is too large to be kept: %zu MiB, %u MiB at most", what,
			  strlen(*text) >> 20, WR_STORE_MAX_TEXT_BYTES / 4 >> 20);
}

/* A key of the result's head; "" where it has none. */
static void bind_head(sqlite3_stmt *stmt, int column, const json_t *result, const char *key)
{
	const char *text = json_string_value(json_object_get(result, key));

	sqlite3_bind_text(stmt, column, text ? text : "", -1, SQLITE_STATIC);
}

static int insert(struct wr_store *store, const struct wr_store_item *item, const char *result, const char *evidence,
		  struct weir_err *err)
{
	static const char sql[] = "INSERT INTO run (schema, version, command, target, started, duration_s, complete, summary,"
				  " checksum, result, report, evidence) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)";
	static const char *const head[] = {"schema", "version", "command", "target", "started"};
	const char *texts[] = {result, item->report, evidence};
	wr_auto_stmt sqlite3_stmt *stmt = NULL;
	char summary[WR_STORE_SUMMARY];
	int column = 1;

	if (wr_store_prepare(store, sql, &stmt, err) < 0)
		return -1;
	wr_store_summary(item->result, summary);
	for (size_t i = 0; i < WR_N_ELEMENTS(head); i++)
		bind_head(stmt, column++, item->result, head[i]);
	sqlite3_bind_double(stmt, column++, json_number_value(json_object_get(item->result, "duration_s")));
	sqlite3_bind_int(stmt, column++, json_is_true(json_object_get(item->result, "complete")));
	sqlite3_bind_text(stmt, column++, summary, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, column++, wr_store_checksum(texts, WR_N_ELEMENTS(texts)));
	for (size_t i = 0; i < WR_N_ELEMENTS(texts); i++)
		sqlite3_bind_text(stmt, column++, texts[i], -1, SQLITE_STATIC); /* NULL is NULL */
	return sqlite3_step(stmt) == SQLITE_DONE ? 0 : wr_store_fail(store, "saving to", err);
}

int wr_store_save(struct wr_store *store, const struct wr_store_item *item, int64_t *id, struct weir_err *err)
{
	wr_auto_free char *result = NULL, *evidence = NULL;

	if (dump(item->result, "result", &result, err) < 0 || dump(item->evidence, "evidence", &evidence, err) < 0 ||
	    insert(store, item, result, evidence, err) < 0)
		return -1;
	*id = sqlite3_last_insert_rowid(store->db);
	return 0;
}

/* Return: 0; 1 there is no @id; -1. */
static int delete_one(struct wr_store *store, sqlite3_stmt *stmt, int64_t id, struct weir_err *err)
{
	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, id);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		return wr_store_fail(store, "deleting from", err);
	return sqlite3_changes(store->db) != 1;
}

static int delete_all(struct wr_store *store, const int64_t *ids, size_t n_ids, int64_t *missing, struct weir_err *err)
{
	wr_auto_stmt sqlite3_stmt *stmt = NULL;

	if (wr_store_prepare(store, "DELETE FROM run WHERE id = ?", &stmt, err) < 0)
		return -1;
	for (size_t i = 0; i < n_ids; i++) {
		int rc = delete_one(store, stmt, ids[i], err);

		*missing = ids[i];
		if (rc)
			return rc;
	}
	return 0;
}

int wr_store_delete(struct wr_store *store, const int64_t *ids, size_t n_ids, int64_t *missing, struct weir_err *err)
{
	int rc;

	if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return wr_store_fail(store, "deleting from", err);
	rc = delete_all(store, ids, n_ids, missing, err);
	if (rc == 0 && sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		rc = wr_store_fail(store, "deleting from", err);
	if (rc)
		(void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	else
		(void)sqlite3_exec(store->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL); /* room is given back where it can be */
	return rc;
}
