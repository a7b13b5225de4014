/* SPDX-License-Identifier: MIT */
/*
 * An archive that anybody made: refused, or listed, and each run of it given back as JSON or called damaged; reading
 * changes no byte of it.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "store/store.h"

#define MOST_RUNS 100

static char path[64];

static void see(void *context, const struct wr_store_row *row)
{
	(void)context;
	CHECK(strlen(row->target) < 2000 && strlen(row->summary) < 2000, "a list's text is not cut");
}

/* With the log that reading may have made: the next input is none of its business. */
static void clear(void)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
	char name[80];

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		snprintf(name, sizeof name, "%s%s", path, ends[i]);
		(void)unlink(name);
	}
}

static void put(const uint8_t *data, size_t size)
{
	int fd;

	if (!path[0])
		snprintf(path, sizeof path, "/dev/shm/weir-fuzz-%d.db", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no room in /dev/shm");
	close(fd);
}

static void read_all(struct wr_store *store)
{
	const struct wr_store_filter all = {.limit = MOST_RUNS};
	struct weir_err err = {0};
	size_t n_ids = 0;
	int64_t *ids = NULL;

	if (wr_store_list(store, &all, see, NULL, &err) < 0)
		CHECK(err.text[0], "a list fails without a word");
	if (wr_store_ids(store, &ids, &n_ids, &err) < 0)
		CHECK(err.text[0] && !ids, "the numbers fail without a word");
	for (size_t i = 0; i < n_ids && i < MOST_RUNS; i++) {
		struct wr_store_entry entry;

		if (wr_store_load(store, ids[i], &entry, &err) != 0)
			continue;
		CHECK(json_is_object(entry.result), "a run without a result");
		wr_store_entry_deinit(&entry);
	}
	free(ids);
	(void)wr_store_bytes(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wr_store *store = NULL;
	struct weir_err err = {0};
	int rc;

	put(data, size);
	rc = wr_store_open(&store, path, WR_STORE_EXISTING, &err);
	CHECK((rc == 0) == (store != NULL) && (rc >= 0 || err.text[0]), "a file is refused without a word");
	if (rc == 0)
		read_all(store);
	wr_store_free(store);
	clear();
	return 0;
}
