/* SPDX-License-Identifier: MIT */
/* Saving is the last thing that a command does with a result, and may fail without harm to it. */
#include "cmd/archive.h"

#include <stdio.h>

#include "base/err.h"
#include "store/store.h"

int wr_archive_path(const struct wr_archive_wish *wish, char path[PATH_MAX], struct weir_err *err)
{
	if (!wish->db)
		return wr_store_path(path, PATH_MAX, err);
	if (wish->db[0] && (size_t)snprintf(path, PATH_MAX, "%s", wish->db) < PATH_MAX)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "option", "--db '%.40s' is no name of a file", wish->db);
}

static int save(const struct wr_archive_wish *wish, const struct wr_store_item *item, char path[PATH_MAX], int64_t *id,
		struct weir_err *err)
{
	struct wr_store *store = NULL;
	int rc = -1;

	if (wr_archive_path(wish, path, err) == 0 && wr_store_open(&store, path, WR_STORE_CREATE, err) == 0)
		rc = wr_store_save(store, item, id, err);
	wr_store_free(store);
	return rc;
}

int64_t wr_archive_save(const struct wr_command *command, const struct wr_archive_wish *wish, json_t *result,
			const json_t *evidence, const char *report)
{
	const struct wr_store_item item = {.result = result, .evidence = evidence, .report = report};
	struct weir_err err = {0};
	char path[PATH_MAX];
	int64_t id;

	if (wish->no_save)
		return 0;
	if (save(wish, &item, path, &id, &err) == 0) {
		json_object_set_new(result, "archive", json_pack("{s:I,s:s}", "id", (json_int_t)id, "path", path));
		return id;
	}
	wr_err_clean(&err);
	fprintf(stderr, "weir %s: not saved: %s\n", command->name, err.text);
	if (err.hint[0])
		fprintf(stderr, "hint: %s\n", err.hint);
	return 0;
}
