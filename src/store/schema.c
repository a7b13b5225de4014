/* SPDX-License-Identifier: MIT */
/*
 * One row a result. Long texts stand last: SQLite then reads a list's columns without following their pages.
 * AUTOINCREMENT: a number that was printed once is never another run's.
 *
 * checksum: FNV-1a of the long texts, since SQLite itself has none and would hand out damaged bytes as they are.
 */
#include "store/schema.h"

const char *const wr_store_steps[] = {
	"CREATE TABLE run ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" schema TEXT NOT NULL,"
	" version TEXT NOT NULL," /* of weir */
	" command TEXT NOT NULL,"
	" target TEXT NOT NULL,"
	" started TEXT NOT NULL," /* RFC 3339, UTC: sorts as it stands */
	" duration_s REAL NOT NULL,"
	" complete INTEGER NOT NULL,"
	" summary TEXT NOT NULL,"
	" checksum INTEGER NOT NULL,"
	" result TEXT NOT NULL,"
	" report TEXT,"
	" evidence TEXT);"
	"CREATE INDEX run_started ON run (started);",
	NULL,
};
