/* SPDX-License-Identifier: MIT */
/* What the words of `weir history` share: the archive that is meant, and numbers of runs on the command line. */
#ifndef WR_CMD_HISTORY_H
#define WR_CMD_HISTORY_H

#include "cmd/archive.h"
#include "store/store.h"

/* wr_history_id - "17" into @id. Return: whether it is a number of a run. */
bool wr_history_id(const char *text, int64_t *id);

/*
 * wr_history_open - the archive
 * @path: out: where it is
 *
 * Return: 0; 1 nothing is kept there yet; -1 with @err.
 */
int wr_history_open(struct wr_store **out, const struct wr_archive_wish *wish, char path[PATH_MAX], struct weir_err *err);

/*
 * wr_history_load - run @id of the archive
 * Return: 0; -1 with @err (WEIR_ERR_USAGE when there is none).
 */
int wr_history_load(const struct wr_archive_wish *wish, int64_t id, struct wr_store_entry *out, struct weir_err *err);

/* wr_history_missing - there is no run @id in @path. Return: always -1. */
int wr_history_missing(int64_t id, const char *path, struct weir_err *err);

/*
 * wr_history_rows - the rows that @filter lets through, as runs[] of weir.history/1, safe to print
 * Return: an array; NULL with @err.
 */
json_t *wr_history_rows(struct wr_store *store, const struct wr_store_filter *filter, struct weir_err *err);

/* wr_history_print - rows as a table, with a heading. */
void wr_history_print(const json_t *rows);

/*
 * wr_history_when - "7d" (that long ago) or a date, in local time unless it says which: "2025-12-01", "2025-12-01T10:00:00Z"
 * @utc: out: as the archive writes it
 *
 * Return: 0; -1 (WEIR_ERR_USAGE).
 */
int wr_history_when(const char *option, const char *text, char utc[40], struct weir_err *err);

/* The words, argv[0] is theirs. Return: the exit status. */
int wr_history_list(int argc, char **argv);
int wr_history_show(int argc, char **argv);
int wr_history_export(int argc, char **argv);
int wr_history_delete(int argc, char **argv);

extern const struct wr_option wr_history_list_rows[];

#endif
