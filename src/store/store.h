/* SPDX-License-Identifier: MIT */
/*
 * The archive: every result that weir measured, in one SQLite file. Opened, written and closed by each command that
 * measures; several may do so at once. The file may come from anywhere, so what is read back is bounded and checked.
 */
#ifndef WR_STORE_STORE_H
#define WR_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "weir/err.h"

/* Longer texts are neither stored nor read: a grid of 10000 cells is 10 MiB. */
#define WR_STORE_MAX_TEXT_BYTES (64u << 20)

#define WR_STORE_SUMMARY 160

struct wr_store;

/* -- the file -- */

enum wr_store_mode {
	WR_STORE_CREATE, /* made, with its folder, when it is not there */
	WR_STORE_EXISTING,
};

/*
 * wr_store_path - where the archive is unless told otherwise: $XDG_DATA_HOME/weir/weir.db or ~/.local/share/weir/weir.db
 *
 * Return: 0; -1 (WEIR_ERR_HOST) when neither says where.
 * Source: XDG Base Directory Specification 0.8; a relative XDG_DATA_HOME is ignored, as it says.
 */
int wr_store_path(char *path, size_t n_path, struct weir_err *err);

/*
 * wr_store_open - open the archive @path, and bring an older version's up to date
 *
 * Refused untouched: what is no SQLite file, another program's, or a newer version's. Other writers are waited for,
 * some seconds. What root makes in somebody's folder becomes that user's.
 *
 * Return: 0; 1 (WR_STORE_EXISTING) there is no such file, or nothing in it; -1 with @err (WEIR_ERR_HOST), the path in
 * its text.
 */
int wr_store_open(struct wr_store **out, const char *path, enum wr_store_mode mode, struct weir_err *err);
struct wr_store *wr_store_free(struct wr_store *store);

/* -- writing -- */

/*
 * One result to be kept.
 *
 * @result: the whole object, weir.run/1 and the like; borrowed
 * @evidence: weir.evidence/1, bounded by the caller (wr_evidence_to_json_within), or NULL; borrowed
 * @report: its text for people, or NULL
 */
struct wr_store_item {
	const json_t *result, *evidence;
	const char *report;
};

/*
 * wr_store_save - keep one result, all of it or nothing
 * @id: out: its number, never used twice
 *
 * Return: 0; -1 with @err: the disk is full, the file is damaged, read-only, locked by another for too long.
 */
int wr_store_save(struct wr_store *store, const struct wr_store_item *item, int64_t *id, struct weir_err *err);

/*
 * wr_store_delete - delete @n_ids runs, all or none
 *
 * Return: 0; 1 one of them is not there: @missing says which, nothing was deleted; -1 with @err.
 */
int wr_store_delete(struct wr_store *store, const int64_t *ids, size_t n_ids, int64_t *missing, struct weir_err *err);

/* -- reading -- */

/* A row of the list. The texts live until the callback returns; "" where the result had none. */
struct wr_store_row {
	int64_t id;
	const char *schema, *command, *target, *started, *summary;
	double duration_s;
	bool complete;
};

/*
 * Which rows; NULL and 0 mean any.
 *
 * @id: that one; @command, @target: equal; @since, @before: RFC 3339 in UTC, "2025-12-01T00:00:00Z"; @limit: the newest so many
 */
struct wr_store_filter {
	int64_t id;
	const char *command, *target, *since, *before;
	uint64_t limit;
};

/*
 * wr_store_list - the rows that @filter lets through, oldest first
 *
 * Return: 0; -1 with @err.
 */
int wr_store_list(struct wr_store *store, const struct wr_store_filter *filter,
		  void (*show)(void *context, const struct wr_store_row *row), void *context, struct weir_err *err);

/*
 * wr_store_ids - the numbers of all runs, ascending; also of those whose rows can't be read
 * @ids: out: @n_ids of them, to be freed
 *
 * Return: 0; -1 with @err.
 */
int wr_store_ids(struct wr_store *store, int64_t **ids, size_t *n_ids, struct weir_err *err);

/*
 * One run as it was kept.
 *
 * @result: weir.run/1 and the like; @evidence: weir.evidence/1 or NULL; @report: text or NULL; all owned
 */
struct wr_store_entry {
	json_t *result, *evidence;
	char *report;
};

void wr_store_entry_deinit(struct wr_store_entry *entry);

/*
 * wr_store_load - read run @id
 *
 * Return: 0; 1 there is none; -1 with @err, also when its bytes are not those that were written.
 */
int wr_store_load(struct wr_store *store, int64_t id, struct wr_store_entry *out, struct weir_err *err);

/* wr_store_bytes - size of the archive's pages. */
int64_t wr_store_bytes(struct wr_store *store);

/* -- words -- */

/*
 * wr_store_summary - what @result says, in a few words for a list: rate and first cause
 * @out: WR_STORE_SUMMARY bytes
 */
void wr_store_summary(const json_t *result, char *out);

#endif
