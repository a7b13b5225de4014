/* SPDX-License-Identifier: MIT */
/*
 * Opening the archive. Write-ahead logging lets one write while others read; the last to close folds the log back, so
 * that a copy of the one file is whole. The file may be hostile: no trigger, view or function of its own is ever run
 * (sqlite.org/security.html), and nothing is written before it has been recognised.
 */
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/schema.h"

/* Others hold the lock for milliseconds each; a save that waits longer is one that hangs. */
#define BUSY_MS 5000
#define RETRY_MS 5

int wr_store_path(char *path, size_t n_path, struct weir_err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;

	if (data && data[0] == '/')
		n = snprintf(path, n_path, "%s/weir/weir.db", data);
	else if (home && home[0] == '/')
		n = snprintf(path, n_path, "%s/.local/share/weir/weir.db", home);
	else
		n = -1;
	if (n >= 0 && (size_t)n < n_path)
		return 0;
	wr_err_set(err, WEIR_ERR_HOST, "archive", "no place for the archive: neither XDG_DATA_HOME nor HOME names a folder");
	return wr_err_hint(err, "--db FILE names one; --no-save keeps nothing");
}

/* -- words -- */

static bool no_room(int rc, int system_errno)
{
	return rc == SQLITE_FULL || (rc == SQLITE_IOERR && (system_errno == ENOSPC || system_errno == EDQUOT));
}

int wr_store_fail(struct wr_store *store, const char *doing, struct weir_err *err)
{
	int rc = sqlite3_errcode(store->db) & 0xff, system_errno = sqlite3_system_errno(store->db);
	const char *path = store->path;

	if (no_room(rc, system_errno)) {
		wr_err_set(err, WEIR_ERR_HOST, "archive", "%s %s: no room left on that disk; what was in it is untouched", doing, path);
		return wr_err_hint(err, "free some: weir history delete --older-than 90d; or --db FILE on another disk");
	}
	switch (rc) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		wr_err_set(err, WEIR_ERR_HOST, "archive", "%s %s: the file is damaged (%s); nothing in it was changed", doing, path,
			   sqlite3_errmsg(store->db));
		return wr_err_hint(err, "move it away: mv %.100s %.100s.damaged; what is whole in it: weir history export --db "
					"%.60s.damaged", path, path, path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		wr_err_set(err, WEIR_ERR_HOST, "archive", "%s %s: another program holds it for more than %d s", doing, path,
			   BUSY_MS / 1000);
		return wr_err_hint(err, "fuser %.200s tells which", path);
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		wr_err_set(err, WEIR_ERR_HOST, "archive", "%s %s: %s", doing, path,
			   system_errno ? strerror(system_errno) : sqlite3_errmsg(store->db));
		return wr_err_hint(err, "--db FILE names another place, --no-save keeps nothing");
	case SQLITE_NOMEM:
		return wr_err_memory(err, "archive");
	default:
		return wr_err_set(err, WEIR_ERR_HOST, "archive", "%s %s: %s", doing, path, sqlite3_errmsg(store->db));
	}
}

/* -- statements -- */

int wr_store_prepare(struct wr_store *store, const char *sql, sqlite3_stmt **out, struct weir_err *err)
{
	if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL) == SQLITE_OK)
		return 0;
	return wr_store_fail(store, "reading", err);
}

int wr_store_integer(struct wr_store *store, const char *sql, int64_t *value, struct weir_err *err)
{
	wr_auto_stmt sqlite3_stmt *stmt = NULL;

	if (wr_store_prepare(store, sql, &stmt, err) < 0)
		return -1;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		return wr_store_fail(store, "reading", err);
	*value = sqlite3_column_int64(stmt, 0);
	return 0;
}

static int execute(struct wr_store *store, const char *sql, const char *doing, struct weir_err *err)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return wr_store_fail(store, doing, err);
}

/* -- versions -- */

static int64_t newest(const char *const *steps)
{
	int64_t n = 0;

	while (steps[n])
		n++;
	return n;
}

static int run_steps(struct wr_store *store, const char *const *steps, struct weir_err *err)
{
	int64_t version, last = newest(steps);
	char pragma[64];

	/* Inside the transaction: another weir may have been faster. */
	if (wr_store_integer(store, "PRAGMA user_version", &version, err) < 0)
		return -1;
	for (; version < last; version++) {
		if (execute(store, steps[version], "writing", err) < 0)
			return -1;
	}
	snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", WR_STORE_APPLICATION_ID);
	if (execute(store, pragma, "writing", err) < 0)
		return -1;
	snprintf(pragma, sizeof pragma, "PRAGMA user_version = %lld", (long long)version);
	return execute(store, pragma, "writing", err);
}

int wr_store_migrate(struct wr_store *store, const char *const *steps, struct weir_err *err)
{
	if (execute(store, "BEGIN IMMEDIATE", "writing", err) < 0)
		return -1;
	if (run_steps(store, steps, err) < 0 || execute(store, "COMMIT", "writing", err) < 0) {
		(void)execute(store, "ROLLBACK", "writing", NULL);
		return -1;
	}
	return 0;
}

/*
 * Whose file it is, and how old.
 * Return: 0 the newest version; 1 an older one, or nothing in it (@version 0); -1 with @err: not to be touched.
 */
static int recognise(struct wr_store *store, int64_t *version, struct weir_err *err)
{
	int64_t application, n_objects, last = newest(wr_store_steps);
	int rc = -1;

	/* At one instant, as another weir may be filling it. */
	if (execute(store, "BEGIN", "reading", err) < 0)
		return -1;
	if (wr_store_integer(store, "PRAGMA application_id", &application, err) == 0 &&
	    wr_store_integer(store, "PRAGMA user_version", version, err) == 0 &&
	    wr_store_integer(store, "SELECT count(*) FROM sqlite_schema", &n_objects, err) == 0)
		rc = 0;
	(void)execute(store, "ROLLBACK", "reading", NULL);
	if (rc < 0)
		return -1;
	if (application == 0 && *version == 0 && n_objects == 0)
		return 1;
	if (application != WR_STORE_APPLICATION_ID || *version < 1) {
		wr_err_set(err, WEIR_ERR_HOST, "archive", "%s is the database of another program", store->path);
		return wr_err_hint(err, "--db FILE names another place");
	}
	if (*version > last) {
		wr_err_set(err, WEIR_ERR_HOST, "archive", "%s was written by a newer weir: its version is %lld, this weir knows up to %lld",
			   store->path, (long long)*version, (long long)last);
		return wr_err_hint(err, "update weir, or --db FILE names another place");
	}
	return *version < last;
}

/* -- opening -- */

/* What root makes belongs to whoever owns the folder that it is in, or that user could not write it later. */
static void give_to_owner(const char *path, const char *folder)
{
	struct stat owner;

	if (geteuid() == 0 && stat(folder, &owner) == 0 && owner.st_uid != 0 &&
	    lchown(path, owner.st_uid, owner.st_gid) < 0)
		return; /* it works for root as it is */
}

/* The folders before the last '/', each where it is missing. */
static void make_folders(const char *path)
{
	char folder[PATH_MAX], parent[PATH_MAX];

	snprintf(parent, sizeof parent, "/");
	snprintf(folder, sizeof folder, "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) == 0)
			give_to_owner(folder, parent);
		snprintf(parent, sizeof parent, "%s", folder);
		*slash = '/';
	}
}

static void make_file(const char *path)
{
	wr_auto_fd int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	char folder[PATH_MAX];
	char *slash;

	if (fd < 0)
		return; /* it is there, or SQLite will say why not */
	snprintf(folder, sizeof folder, "%s", path);
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	give_to_owner(path, folder);
}

/* A log can't be made beside a file in a folder that nobody here may write: such a file is read as it lies there. */
static int open_unchanging(struct wr_store *store)
{
	wr_auto_free char *uri = malloc(3 * strlen(store->path) + 32);
	char *to = uri;

	if (!uri)
		return SQLITE_NOMEM;
	to += sprintf(to, "file:");
	for (const char *from = store->path; *from; from++)
		to += strchr("?#%", *from) ? sprintf(to, "%%%02X", (unsigned char)*from) : sprintf(to, "%c", *from);
	sprintf(to, "?immutable=1");
	sqlite3_close(store->db);
	return sqlite3_open_v2(uri, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
}

static void harden(sqlite3 *db)
{
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, WR_STORE_MAX_TEXT_BYTES);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	(void)sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

/* Switching to the log may be told that it is busy without being made to wait. */
static int use_log(struct wr_store *store, struct weir_err *err)
{
	int waited_ms = 0;
	int rc;

	while ((rc = sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) & 0xff) == SQLITE_BUSY &&
	       waited_ms < BUSY_MS)
		waited_ms += sqlite3_sleep(RETRY_MS);
	/* A file system that has no shared memory keeps the older journal, which is safe, too. */
	if (rc == SQLITE_OK)
		return execute(store, "PRAGMA synchronous = FULL", "writing", err);
	return wr_store_fail(store, "writing", err);
}

static int prepare_file(struct wr_store *store, enum wr_store_mode mode, struct weir_err *err)
{
	int64_t version;
	int rc = recognise(store, &version, err);

	if (rc < 0)
		return -1;
	if (rc == 1 && version == 0 && mode == WR_STORE_EXISTING)
		return 1;
	if (rc == 1 && version == 0 && execute(store, "PRAGMA auto_vacuum = INCREMENTAL", "writing", err) < 0)
		return -1;
	if (mode == WR_STORE_CREATE && use_log(store, err) < 0)
		return -1;
	return rc == 1 ? wr_store_migrate(store, wr_store_steps, err) : 0;
}

static int open_file(struct wr_store *store, enum wr_store_mode mode, struct weir_err *err)
{
	int64_t ignored;
	int rc;

	if (mode == WR_STORE_CREATE) {
		make_folders(store->path);
		make_file(store->path);
	} else if (access(store->path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		return 1;
	}
	rc = sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (!store->db)
		return wr_err_memory(err, "archive");
	if (rc != SQLITE_OK)
		return wr_store_fail(store, "opening", err);
	harden(store->db);
	if (mode == WR_STORE_EXISTING && sqlite3_db_readonly(store->db, "main") &&
	    wr_store_integer(store, "PRAGMA user_version", &ignored, NULL) < 0 &&
	    (sqlite3_errcode(store->db) & 0xff) != SQLITE_NOTADB) {
		if (open_unchanging(store) != SQLITE_OK)
			return wr_store_fail(store, "opening", err);
		harden(store->db);
	}
	return prepare_file(store, mode, err);
}

int wr_store_open(struct wr_store **out, const char *path, enum wr_store_mode mode, struct weir_err *err)
{
	struct wr_store *store = calloc(1, sizeof *store);
	int rc;

	/* "./": so that no name means something else to SQLite, as ":memory:" and "file:" do. */
	if (!store || asprintf(&store->path, "%s%s", path[0] == '/' ? "" : "./", path) < 0) {
		free(store);
		return wr_err_memory(err, "archive");
	}
	rc = open_file(store, mode, err);
	if (rc == 0)
		*out = wr_steal(store);
	wr_store_free(store);
	return rc;
}

struct wr_store *wr_store_free(struct wr_store *store)
{
	if (!store)
		return NULL;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
	return NULL;
}

int64_t wr_store_bytes(struct wr_store *store)
{
	int64_t pages, page_bytes;

	if (wr_store_integer(store, "PRAGMA page_count", &pages, NULL) < 0 ||
	    wr_store_integer(store, "PRAGMA page_size", &page_bytes, NULL) < 0)
		return 0;
	return pages * page_bytes;
}
