/* SPDX-License-Identifier: MIT */
/* The archive: what was kept comes back, every version comes up to date, what is not ours or not whole is refused untouched. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/file.h"
#include "store/schema.h"

struct fixture {
	char folder[64], path[128];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	assert_non_null(fixture);
	snprintf(fixture->folder, sizeof fixture->folder, "/tmp/weir-store-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof fixture->path, "%s/weir.db", fixture->folder);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		char path[160];

		snprintf(path, sizeof path, "%s%s", fixture->path, ends[i]);
		(void)unlink(path);
	}
	assert_int_equal(rmdir(fixture->folder), 0);
	free(fixture);
	return 0;
}

static json_t *result_of(const char *command, double throughput_bps)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:f,s:b,s:f,s:{s:[{s:s,s:s}]}}", "schema", "weir.run/1", "version", "0.1.0",
			 "started", "2025-12-01T10:00:00Z", "command", command, "target", "far", "duration_s", 5.25, "complete",
			 1, "throughput_bps", throughput_bps, "verdict", "causes", "cause", "sndbuf-limited", "side", "near");
}

static int64_t save_one(const char *path, const char *command, double throughput_bps)
{
	json_t *result = result_of(command, throughput_bps), *evidence = json_pack("{s:s}", "schema", "weir.evidence/1");
	struct wr_store_item item = {.result = result, .evidence = evidence, .report = "Result    as it was\n"};
	struct wr_store *store = NULL;
	struct weir_err err = {0};
	int64_t id = 0;

	if (wr_store_open(&store, path, WR_STORE_CREATE, &err) < 0 || wr_store_save(store, &item, &id, &err) < 0)
		fail_msg("%s", err.text);
	wr_store_free(store);
	json_decref(result);
	json_decref(evidence);
	return id;
}

static struct wr_store *opened(const char *path)
{
	struct wr_store *store = NULL;
	struct weir_err err = {0};

	if (wr_store_open(&store, path, WR_STORE_EXISTING, &err) != 0)
		fail_msg("%s", err.text);
	return store;
}

/* -- keeping and reading -- */

static void what_was_kept_comes_back(void **state)
{
	const struct fixture *fixture = *state;
	int64_t id = save_one(fixture->path, "run", 1e8), second = save_one(fixture->path, "tune", 2e8);
	struct wr_store *store = opened(fixture->path);
	json_t *result = result_of("run", 1e8);
	struct wr_store_entry entry;

	assert_int_equal(id, 1);
	assert_int_equal(second, 2);
	assert_int_equal(wr_store_load(store, id, &entry, NULL), 0);
	assert_true(json_equal(entry.result, result));
	assert_string_equal(json_string_value(json_object_get(entry.evidence, "schema")), "weir.evidence/1");
	assert_string_equal(entry.report, "Result    as it was\n");
	wr_store_entry_deinit(&entry);
	assert_int_equal(wr_store_load(store, 3, &entry, NULL), 1);
	assert_true(wr_store_bytes(store) > 4096);
	json_decref(result);
	wr_store_free(store);
}

struct seen {
	int64_t ids[16];
	size_t n;
	char summary[WR_STORE_SUMMARY];
};

static void see(void *context, const struct wr_store_row *row)
{
	struct seen *seen = context;

	assert_true(seen->n < 16);
	seen->ids[seen->n++] = row->id;
	snprintf(seen->summary, sizeof seen->summary, "%s", row->summary);
	assert_string_equal(row->target, "far");
	assert_string_equal(row->started, "2025-12-01T10:00:00Z");
	assert_true(row->complete && row->duration_s > 5.2);
}

static struct seen list(struct wr_store *store, struct wr_store_filter filter)
{
	struct seen seen = {0};

	assert_int_equal(wr_store_list(store, &filter, see, &seen, NULL), 0);
	return seen;
}

static void the_list_is_filtered(void **state)
{
	const struct fixture *fixture = *state;
	struct wr_store *store;
	struct seen seen;

	for (int i = 0; i < 3; i++)
		save_one(fixture->path, i == 1 ? "tune" : "run", 1e8);
	store = opened(fixture->path);
	seen = list(store, (struct wr_store_filter){0});
	assert_true(seen.n == 3 && seen.ids[0] == 1 && seen.ids[2] == 3);
	assert_string_equal(seen.summary, "100 Mbit/s, sndbuf-limited on near");
	seen = list(store, (struct wr_store_filter){.command = "run", .limit = 1});
	assert_true(seen.n == 1 && seen.ids[0] == 3);
	assert_int_equal(list(store, (struct wr_store_filter){.target = "near"}).n, 0);
	assert_int_equal(list(store, (struct wr_store_filter){.since = "2025-12-01T10:00:00Z"}).n, 3);
	assert_int_equal(list(store, (struct wr_store_filter){.since = "2025-12-01T10:00:01Z"}).n, 0);
	assert_int_equal(list(store, (struct wr_store_filter){.before = "2025-12-01T10:00:00Z"}).n, 0);
	wr_store_free(store);
}

static void deleting_is_all_or_nothing_and_numbers_stay_used(void **state)
{
	const struct fixture *fixture = *state;
	struct wr_store *store;
	int64_t missing = 0;

	for (int i = 0; i < 3; i++)
		save_one(fixture->path, "run", 1e8);
	store = opened(fixture->path);
	assert_int_equal(wr_store_delete(store, (int64_t[]){3, 9, 1}, 3, &missing, NULL), 1);
	assert_int_equal(missing, 9);
	assert_int_equal(list(store, (struct wr_store_filter){0}).n, 3);
	assert_int_equal(wr_store_delete(store, (int64_t[]){3, 1}, 2, &missing, NULL), 0);
	assert_int_equal(list(store, (struct wr_store_filter){0}).n, 1);
	wr_store_free(store);
	assert_int_equal(save_one(fixture->path, "run", 1e8), 4);
}

static void odd_results_are_kept_too(void **state)
{
	const struct fixture *fixture = *state;
	static const char *const texts[] = {
		"{}", "{\"schema\": 3, \"target\": null, \"complete\": \"no\"}",
		"{\"schema\": \"weir.sweep/1\", \"cells\": [{\"throughput_bps\": {\"median\": 5e7}}, {}]}",
		"{\"schema\": \"weir.tune/1\", \"baseline\": [], \"verdict\": {\"causes\": 7}}",
	};
	struct wr_store *store = NULL;
	int64_t id;

	assert_int_equal(wr_store_open(&store, fixture->path, WR_STORE_CREATE, NULL), 0);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct wr_store_item item = {.result = json_loads(texts[i], 0, NULL)};
		struct wr_store_entry entry;

		assert_int_equal(wr_store_save(store, &item, &id, NULL), 0);
		assert_int_equal(wr_store_load(store, id, &entry, NULL), 0);
		assert_true(json_equal(entry.result, item.result) && !entry.report && !entry.evidence);
		wr_store_entry_deinit(&entry);
		json_decref((json_t *)item.result);
	}
	wr_store_free(store);
}

/* -- versions -- */

/* A file as the first @version steps left it, with a run in it where there was a table for one. */
static void make_version(const char *path, const char *const *steps, int version)
{
	sqlite3 *db;
	char pragma[96];

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (int i = 0; i < version; i++)
		assert_int_equal(sqlite3_exec(db, steps[i], NULL, NULL, NULL), SQLITE_OK);
	snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d; PRAGMA application_id = %d", version,
		 version ? WR_STORE_APPLICATION_ID : 0);
	assert_int_equal(sqlite3_exec(db, pragma, NULL, NULL, NULL), SQLITE_OK);
	if (version)
		assert_int_equal(sqlite3_exec(db, "INSERT INTO run (schema, version, command, target, started, duration_s, complete,"
						  " summary, checksum, result) VALUES ('weir.run/1', '0.1.0', 'run', 'far',"
						  " '2025-12-01T10:00:00Z', 5.25, 1, 'old', 0, '{}')", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void every_version_comes_up_to_date(void **state)
{
	const struct fixture *fixture = *state;
	int last = 0;

	while (wr_store_steps[last])
		last++;
	for (int version = 0; version <= last; version++) {
		struct wr_store *store;
		int64_t found = -1;

		make_version(fixture->path, wr_store_steps, version);
		assert_int_equal(save_one(fixture->path, "run", 1e8), version ? 2 : 1);
		store = opened(fixture->path);
		assert_int_equal(wr_store_integer(store, "PRAGMA user_version", &found, NULL), 0);
		assert_int_equal(found, last);
		assert_int_equal(list(store, (struct wr_store_filter){0}).n, version ? 2 : 1);
		wr_store_free(store);
		unlink(fixture->path);
	}
}

static const char *const made_up_steps[] = {
	"CREATE TABLE run (id INTEGER PRIMARY KEY); INSERT INTO run VALUES (1), (2)",
	"ALTER TABLE run ADD COLUMN rate REAL; UPDATE run SET rate = id * 10",
	"CREATE INDEX run_rate ON run (rate)",
	NULL,
};

/* The same machinery on steps that alter what is there, from each version that these had. */
static void steps_are_run_from_where_the_file_is(void **state)
{
	const struct fixture *fixture = *state;

	for (int version = 0; version < 3; version++) {
		struct wr_store store = {.path = (char *)fixture->path};
		int64_t value = 0;
		char pragma[96];

		assert_int_equal(sqlite3_open(fixture->path, &store.db), SQLITE_OK);
		for (int i = 0; i < version; i++)
			assert_int_equal(sqlite3_exec(store.db, made_up_steps[i], NULL, NULL, NULL), SQLITE_OK);
		snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", version);
		assert_int_equal(sqlite3_exec(store.db, pragma, NULL, NULL, NULL), SQLITE_OK);
		assert_int_equal(wr_store_migrate(&store, made_up_steps, NULL), 0);
		assert_int_equal(wr_store_migrate(&store, made_up_steps, NULL), 0); /* nothing more to do */
		assert_int_equal(wr_store_integer(&store, "SELECT sum(rate) FROM run", &value, NULL), 0);
		assert_int_equal(value, 30);
		assert_int_equal(wr_store_integer(&store, "PRAGMA user_version", &value, NULL), 0);
		assert_int_equal(value, 3);
		sqlite3_close(store.db);
		unlink(fixture->path);
	}
}

static void a_step_that_fails_leaves_all_as_it_was(void **state)
{
	static const char *const broken[] = {"CREATE TABLE run (id INTEGER PRIMARY KEY)", "CREATE TABLE more (id)", "NONSENSE", NULL};
	const struct fixture *fixture = *state;
	struct wr_store store = {.path = (char *)fixture->path};
	struct weir_err err = {0};
	int64_t value = -1;

	assert_int_equal(sqlite3_open(fixture->path, &store.db), SQLITE_OK);
	assert_int_equal(wr_store_migrate(&store, broken, &err), -1);
	assert_non_null(strstr(err.text, "NONSENSE"));
	assert_int_equal(wr_store_integer(&store, "SELECT count(*) FROM sqlite_schema", &value, NULL), 0);
	assert_int_equal(value, 0);
	assert_int_equal(wr_store_integer(&store, "PRAGMA user_version", &value, NULL), 0);
	assert_int_equal(value, 0);
	sqlite3_close(store.db);
}

/* -- what is refused -- */

static size_t bytes_of(const char *path, char *bytes, size_t n_bytes)
{
	FILE *in = fopen(path, "re");
	size_t n;

	assert_non_null(in);
	n = fread(bytes, 1, n_bytes, in);
	fclose(in);
	return n;
}

/* Refused for reading and for writing, by these words, and not one byte of it changed. */
static void refused_untouched(const char *path, const char *words)
{
	static char before[1 << 20], after[1 << 20];
	size_t n = bytes_of(path, before, sizeof before);

	for (int mode = WR_STORE_CREATE; mode <= WR_STORE_EXISTING; mode++) {
		struct wr_store *store = NULL;
		struct weir_err err = {0};

		assert_int_equal(wr_store_open(&store, path, mode, &err), -1);
		assert_null(store);
		assert_int_equal(err.code, WEIR_ERR_HOST);
		assert_non_null(strstr(err.text, path));
		if (!strstr(err.text, words))
			fail_msg("'%s' is not in '%s'", words, err.text);
		assert_true(err.hint[0]);
		assert_int_equal(bytes_of(path, after, sizeof after), n);
		assert_memory_equal(before, after, n);
	}
}

static void execute(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void a_newer_version_is_refused(void **state)
{
	const struct fixture *fixture = *state;

	save_one(fixture->path, "run", 1e8);
	execute(fixture->path, "PRAGMA user_version = 999");
	refused_untouched(fixture->path, "999");
}

static void another_programs_file_is_refused(void **state)
{
	const struct fixture *fixture = *state;

	execute(fixture->path, "CREATE TABLE bookmarks (url)");
	refused_untouched(fixture->path, "another program");
}

static void write_bytes(const char *path, long at, const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, at), n);
	close(fd);
}

static void a_damaged_head_is_refused(void **state)
{
	const struct fixture *fixture = *state;

	save_one(fixture->path, "run", 1e8);
	write_bytes(fixture->path, 0, "garbage garbage garbage", 23);
	refused_untouched(fixture->path, "damaged");
}

static void damaged_bytes_in_a_run_are_noticed(void **state)
{
	const struct fixture *fixture = *state;
	static char bytes[1 << 20];
	struct wr_store_entry entry;
	struct weir_err err = {0};
	struct wr_store *store;
	size_t n;
	char *at;

	save_one(fixture->path, "run", 1e8);
	save_one(fixture->path, "run", 1e8);
	n = bytes_of(fixture->path, bytes, sizeof bytes);
	at = memmem(bytes, n, "as it was", 9);
	assert_non_null(at);
	write_bytes(fixture->path, at - bytes, "is it not", 9);
	store = opened(fixture->path);
	assert_int_equal(list(store, (struct wr_store_filter){0}).n, 2);
	/* Rows fill a page from its end: the first run's bytes are the later ones. */
	assert_int_equal(wr_store_load(store, 2, &entry, &err), -1);
	assert_non_null(strstr(err.text, "run 2"));
	assert_non_null(strstr(err.text, "damaged"));
	assert_int_equal(wr_store_load(store, 1, &entry, &err), 0);
	wr_store_entry_deinit(&entry);
	wr_store_free(store);
}

static void nothing_there_is_no_failure(void **state)
{
	const struct fixture *fixture = *state;
	struct wr_store *store = NULL;
	struct weir_err err = {0};

	assert_int_equal(wr_store_open(&store, fixture->path, WR_STORE_EXISTING, &err), 1);
	assert_int_equal(access(fixture->path, F_OK), -1);
	write_bytes(fixture->path, 0, "", 0);
	assert_int_equal(wr_store_open(&store, fixture->path, WR_STORE_EXISTING, &err), 1);
	assert_int_equal(wr_store_open(&store, fixture->folder, WR_STORE_CREATE, &err), -1);
	assert_int_equal(wr_store_open(&store, "", WR_STORE_CREATE, &err), -1);
	assert_int_equal(wr_store_open(&store, "/dev/null/weir.db", WR_STORE_CREATE, &err), -1);
	assert_non_null(strstr(err.text, "/dev/null/weir.db"));
}

static void a_file_of_odd_rows_does_no_harm(void **state)
{
	const struct fixture *fixture = *state;
	struct wr_store_filter all = {0};
	struct wr_store_entry entry;
	struct wr_store *store;

	save_one(fixture->path, "run", 1e8);
	/* A file of the right version, where a view stands for the table and a trigger waits. */
	execute(fixture->path, "DROP TABLE run; CREATE VIEW run AS SELECT 1 AS id, 2 AS schema, 3 AS version, 4 AS command,"
			       " 5 AS target, 6 AS started, 7 AS duration_s, 8 AS complete, 9 AS summary, 10 AS checksum,"
			       " 11 AS result, 12 AS report, 13 AS evidence");
	store = opened(fixture->path);
	assert_int_equal(wr_store_list(store, &all, see, NULL, NULL), -1);
	assert_int_equal(wr_store_load(store, 1, &entry, NULL), -1);
	wr_store_free(store);
}

/* -- several at once -- */

#define N_WRITERS 8
#define N_EACH 20
#define N_ROUNDS 8

/* All begin together on a file that is not there yet; each opens and closes it for every run, as commands do. */
static void write_at_once(const struct fixture *fixture, int n_each)
{
	struct wr_store *store;
	int64_t n = 0, n_ids = 0;
	int gate[2];

	assert_int_equal(pipe(gate), 0);
	for (int i = 0; i < N_WRITERS; i++) {
		pid_t pid = fork();
		char go;

		assert_true(pid >= 0);
		if (pid > 0)
			continue;
		close(gate[1]);
		(void)!read(gate[0], &go, 1);
		for (int k = 0; k < n_each; k++)
			save_one(fixture->path, "run", 1e6 * (i * n_each + k + 1));
		_exit(0);
	}
	close(gate[1]);
	close(gate[0]);
	for (int i = 0; i < N_WRITERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	store = opened(fixture->path);
	assert_int_equal(wr_store_integer(store, "SELECT count(DISTINCT json_extract(result, '$.throughput_bps')) FROM run", &n, NULL), 0);
	assert_int_equal(n, N_WRITERS * n_each);
	assert_int_equal(wr_store_integer(store, "SELECT max(id) FROM run", &n_ids, NULL), 0);
	assert_int_equal(n_ids, N_WRITERS * n_each);
	wr_store_free(store);
}

static void writers_at_once_lose_nothing(void **state)
{
	const struct fixture *fixture = *state;

	write_at_once(fixture, N_EACH);
	/* Making the file is where they meet most. */
	for (int i = 0; i < N_ROUNDS; i++) {
		unlink(fixture->path);
		write_at_once(fixture, 1);
	}
}

/* -- where -- */

static void the_path_is_xdg(void **state)
{
	char path[128];

	(void)state;
	setenv("XDG_DATA_HOME", "/data", 1);
	setenv("HOME", "/home/me", 1);
	assert_int_equal(wr_store_path(path, sizeof path, NULL), 0);
	assert_string_equal(path, "/data/weir/weir.db");
	setenv("XDG_DATA_HOME", "relative", 1);
	assert_int_equal(wr_store_path(path, sizeof path, NULL), 0);
	assert_string_equal(path, "/home/me/.local/share/weir/weir.db");
	assert_int_equal(wr_store_path(path, 8, NULL), -1);
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	assert_int_equal(wr_store_path(path, sizeof path, NULL), -1);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(what_was_kept_comes_back),
		WITH_FILE(the_list_is_filtered),
		WITH_FILE(deleting_is_all_or_nothing_and_numbers_stay_used),
		WITH_FILE(odd_results_are_kept_too),
		WITH_FILE(every_version_comes_up_to_date),
		WITH_FILE(steps_are_run_from_where_the_file_is),
		WITH_FILE(a_step_that_fails_leaves_all_as_it_was),
		WITH_FILE(a_newer_version_is_refused),
		WITH_FILE(another_programs_file_is_refused),
		WITH_FILE(a_damaged_head_is_refused),
		WITH_FILE(damaged_bytes_in_a_run_are_noticed),
		WITH_FILE(nothing_there_is_no_failure),
		WITH_FILE(a_file_of_odd_rows_does_no_harm),
		WITH_FILE(writers_at_once_lose_nothing),
		cmocka_unit_test(the_path_is_xdg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
