/* SPDX-License-Identifier: MIT */
/* What the store's files share: the connection, its words for SQLite's failures, and the way to the newest version. */
#ifndef WR_STORE_FILE_H
#define WR_STORE_FILE_H

#include <sqlite3.h>

#include "store/store.h"

struct wr_store {
	sqlite3 *db;
	char *path;
};

/*
 * wr_store_fail - what went wrong in SQLite, in words with the path and a hint
 * @doing: "saving to", "reading": stands before the path
 *
 * Return: always -1.
 */
int wr_store_fail(struct wr_store *store, const char *doing, struct weir_err *err);

/*
 * wr_store_prepare - compile @sql
 * Return: 0; -1 with @err.
 */
int wr_store_prepare(struct wr_store *store, const char *sql, sqlite3_stmt **out, struct weir_err *err);

/*
 * wr_store_migrate - from the file's version to the last of @steps (as wr_store_steps), in one transaction
 * Return: 0; -1 with @err, the file as it was.
 */
int wr_store_migrate(struct wr_store *store, const char *const *steps, struct weir_err *err);

/* wr_store_integer - the first column of the first row of @sql. Return: 0; -1 with @err. */
int wr_store_integer(struct wr_store *store, const char *sql, int64_t *value, struct weir_err *err);

static inline void wr_stmt_auto(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}
#define wr_auto_stmt __attribute__((cleanup(wr_stmt_auto)))

#endif
