/* SPDX-License-Identifier: MIT */
/* How the measuring commands keep their results, and where. A result that can't be kept is said, and is printed all the same. */
#ifndef WR_CMD_ARCHIVE_H
#define WR_CMD_ARCHIVE_H

#include <limits.h>

#include <jansson.h>

#include "cmd/command.h"

/* What is asked by --no-save and --db FILE. */
struct wr_archive_wish {
	bool no_save;
	const char *db;
};

/*
 * Figures of the samples that are kept with one run: 25 s of one stream's as they are, of more a part. At most 1 MiB,
 * 30 to 50 ms to write; a run of five seconds takes 10.
 */
#define WR_ARCHIVE_MAX_VALUES 200000

/* wr_archive_path - where the archive is: --db, else wr_store_path. Return: 0; -1 with @err. */
int wr_archive_path(const struct wr_archive_wish *wish, char path[PATH_MAX], struct weir_err *err);

/*
 * wr_archive_save - keep one result
 * @result: weir.run/1 and the like; gets the key archive{id, path}
 * @evidence: weir.evidence/1 or NULL; @report: the text that people see, or NULL
 *
 * Return: its number; 0 when it was not kept: as it was asked, or with words on stderr. The command's exit status
 * does not depend on it.
 */
int64_t wr_archive_save(const struct wr_command *command, const struct wr_archive_wish *wish, json_t *result,
			const json_t *evidence, const char *report);

#endif
