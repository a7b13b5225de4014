/* SPDX-License-Identifier: MIT */
/* weir history: what is kept, and one run of it. */
#include "cmd/history.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "os/clock.h"
#include "report/report.h"
#include "weir/version.h"

/* -- the archive and its runs -- */

bool wr_history_id(const char *text, int64_t *id)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*id = strtoll(text, &end, 10);
	return *end == '\0' && errno == 0 && *id > 0;
}

int wr_history_open(struct wr_store **out, const struct wr_archive_wish *wish, char path[PATH_MAX], struct weir_err *err)
{
	if (wr_archive_path(wish, path, err) < 0)
		return -1;
	return wr_store_open(out, path, WR_STORE_EXISTING, err);
}

int wr_history_missing(int64_t id, const char *path, struct weir_err *err)
{
	wr_err_set(err, WEIR_ERR_USAGE, "archive", "there is no run %lld in %s", (long long)id, path);
	return wr_err_hint(err, "weir history lists them");
}

int wr_history_load(const struct wr_archive_wish *wish, int64_t id, struct wr_store_entry *out, struct weir_err *err)
{
	struct wr_store *store = NULL;
	char path[PATH_MAX];
	int rc = wr_history_open(&store, wish, path, err);

	if (rc == 0)
		rc = wr_store_load(store, id, out, err);
	wr_store_free(store);
	return rc == 1 ? wr_history_missing(id, path, err) : rc;
}

static void set_clean(json_t *object, const char *key, const char *text)
{
	char copy[512];

	snprintf(copy, sizeof copy, "%s", text);
	wr_text_clean(copy, false);
	json_object_set_new(object, key, json_string(copy));
}

static void add_row(void *context, const struct wr_store_row *row)
{
	json_t *object = json_pack("{s:I}", "id", (json_int_t)row->id);

	set_clean(object, "started", row->started);
	json_object_set_new(object, "duration_s", json_real(row->duration_s));
	set_clean(object, "schema", row->schema);
	set_clean(object, "command", row->command);
	set_clean(object, "target", row->target);
	json_object_set_new(object, "complete", json_boolean(row->complete));
	set_clean(object, "summary", row->summary);
	json_array_append_new(context, object);
}

json_t *wr_history_rows(struct wr_store *store, const struct wr_store_filter *filter, struct weir_err *err)
{
	json_t *rows = json_array();

	if (!rows) {
		wr_err_memory(err, "history");
		return NULL;
	}
	if (wr_store_list(store, filter, add_row, rows, err) == 0)
		return rows;
	json_decref(rows);
	return NULL;
}

/* -- times -- */

static const char *const date_forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"};

/* Return: whether @text is a date; its instant. */
static bool date_parse(const char *text, time_t *instant)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(date_forms); i++) {
		struct tm parts = {.tm_isdst = -1};
		const char *rest = strptime(text, date_forms[i], &parts);

		if (!rest)
			continue;
		if (rest[0] == '\0') {
			*instant = mktime(&parts);
			return true;
		}
		if (strcmp(rest, "Z") == 0) {
			*instant = timegm(&parts);
			return true;
		}
	}
	return false;
}

int wr_history_when(const char *option, const char *text, char utc[40], struct weir_err *err)
{
	struct tm parts;
	time_t instant;
	uint64_t ns;

	if (!date_parse(text, &instant)) {
		/* A number without a unit may mean days to whoever wrote it, and seconds to us. */
		if (text[strspn(text, "0123456789.")] == '\0' || wr_time_parse(text, &ns, NULL) < 0) {
			wr_err_set(err, WEIR_ERR_USAGE, "option", "%s '%.60s' is neither a time nor a date", option, text);
			return wr_err_hint(err, "write it like 7d, 12h, 2025-12-01 or 2025-12-01T10:00");
		}
		instant = time(NULL) - (time_t)(ns / WR_NS_PER_S);
	}
	if (!gmtime_r(&instant, &parts) || strftime(utc, 40, "%Y-%m-%dT%H:%M:%SZ", &parts) != 20)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s '%.60s' is no year that there was", option, text);
	return 0;
}

/* "2025-12-01 11:00" of this place, or the text itself where it is none of ours. */
static void local_text(char out[40], const char *utc)
{
	struct tm parts;
	time_t instant;

	if (!date_parse(utc, &instant) || !localtime_r(&instant, &parts) || strftime(out, 40, "%Y-%m-%d %H:%M", &parts) == 0)
		snprintf(out, 40, "%.20s", utc);
}

/* -- list -- */

struct list_options {
	struct wr_archive_wish archive;
	bool json;
	const char *command, *target, *since;
	uint64_t limit;
};

#define LIST(field) offsetof(struct list_options, field)

const struct wr_option wr_history_list_rows[] = {
	{"command", 0, WR_OPTION_TEXT, LIST(command), "NAME", NULL, 0, 0, NULL, "only of run, sweep or tune", NULL},
	{"target", 0, WR_OPTION_TEXT, LIST(target), "TARGET", NULL, 0, 0, NULL, "only against TARGET, as it was given", NULL},
	{"since", 0, WR_OPTION_TEXT, LIST(since), "TIME|DATE", NULL, 0, 0, NULL,
	 "only what began since: 7d, 12h, 2025-12-01, 2025-12-01T10:00", NULL},
	{"limit", 0, WR_OPTION_COUNT, LIST(limit), "N", "50", 1, 1e9, NULL, "the newest N", NULL},
	{"json", 'J', WR_OPTION_FLAG, LIST(json), NULL, NULL, 0, 0, NULL, "one JSON object, weir.history/1", NULL},
	{"db", 0, WR_OPTION_TEXT, LIST(archive.db), "FILE", NULL, 0, 0, NULL,
	 "the archive (unset: ~/.local/share/weir/weir.db, or in XDG_DATA_HOME)", NULL},
	{0},
};

static const char *text_at(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

void wr_history_print(const json_t *rows)
{
	printf("%6s  %-16s  %-8s %-24s %s\n", "ID", "STARTED", "COMMAND", "TARGET", "RESULT");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		char started[40];

		local_text(started, text_at(row, "started"));
		printf("%6lld  %-16s  %-8s %-24.40s %s%s\n", (long long)json_integer_value(json_object_get(row, "id")), started,
		       text_at(row, "command"), text_at(row, "target"), text_at(row, "summary"),
		       json_is_true(json_object_get(row, "complete")) ? "" : " (stopped early)");
	}
}

static void print_list_json(const struct list_options *options, const char *path, json_t *rows, const char *started, double duration_s)
{
	json_t *plan = json_pack("{s:I,s:s}", "limit", (json_int_t)options->limit, "db", path);

	if (options->command)
		json_object_set_new(plan, "command", json_string(options->command));
	if (options->target)
		json_object_set_new(plan, "target", json_string(options->target));
	if (options->since)
		json_object_set_new(plan, "since", json_string(options->since));
	wr_report_print(json_pack("{s:s,s:s,s:s,s:f,s:b,s:s,s:o*,s:O}", "schema", "weir.history/1", "version", WEIR_VERSION,
				  "started", started, "duration_s", duration_s, "complete", 1, "command", "history", "plan", plan,
				  "runs", rows), stdout);
}

/* What is not the result itself: how many there are, and where. */
static void say_where(const struct list_options *options, const char *path, const struct wr_store_filter *filter, bool more,
		      int64_t bytes)
{
	char size[WR_UNIT_TEXT];

	if (bytes < 0)
		fprintf(stderr, "weir history: nothing is kept in %s yet\n", path);
	else if (more)
		fprintf(stderr, "the newest %llu; --limit N shows more of %s (%s)\n", (unsigned long long)options->limit, path,
			wr_size_text(size, (double)bytes));
	else
		fprintf(stderr, "%s %s (%s)\n", filter->command || filter->target || filter->since ? "of" : "all of", path,
			wr_size_text(size, (double)bytes));
}

static int list(const struct list_options *options, struct weir_err *err)
{
	struct wr_store_filter filter = {.command = options->command, .target = options->target, .limit = options->limit + 1};
	int64_t began_ns = wr_clock_ns(), bytes = -1;
	struct wr_store *store = NULL;
	char path[PATH_MAX], since[40], started[40];
	json_t *rows = NULL;
	bool more = false;
	int rc;

	wr_report_time(started);
	if (options->since && wr_history_when("--since", options->since, since, err) < 0)
		return -1;
	filter.since = options->since ? since : NULL;
	rc = wr_history_open(&store, &options->archive, path, err);
	if (rc == 0)
		bytes = wr_store_bytes(store);
	if (rc >= 0)
		rows = rc == 0 ? wr_history_rows(store, &filter, err) : json_array();
	wr_store_free(store);
	if (!rows)
		return -1;
	if (json_array_size(rows) > options->limit) {
		json_array_remove(rows, 0);
		more = true;
	}
	if (options->json)
		print_list_json(options, path, rows, started, (double)(wr_clock_ns() - began_ns) / 1e9);
	else if (json_array_size(rows) > 0)
		wr_history_print(rows);
	if (!options->json)
		say_where(options, path, &filter, more, bytes);
	json_decref(rows);
	return 0;
}

int wr_history_list(int argc, char **argv)
{
	struct list_options options = {0};
	struct weir_err err = {0};
	int first, rc = wr_command_options(&wr_command_history, &options, argc, argv, false, &first);

	if (rc)
		return rc > 1 ? rc : 0;
	if (first < argc) {
		wr_err_set(&err, WEIR_ERR_USAGE, "history", "'%.100s' is no word of history", argv[first]);
		wr_err_hint(&err, "list, show ID, export, delete ID; weir help history");
		return wr_command_fail(&wr_command_history, &err, options.json);
	}
	return list(&options, &err) < 0 ? wr_command_fail(&wr_command_history, &err, options.json) : 0;
}

/* -- show -- */

struct show_options {
	struct wr_archive_wish archive;
	bool json, evidence;
};

#define SHOW(field) offsetof(struct show_options, field)

static const struct wr_option show_rows[] = {
	{"json", 'J', WR_OPTION_FLAG, SHOW(json), NULL, NULL, 0, 0, NULL, "the result as JSON, as --json printed it", NULL},
	{"evidence", 0, WR_OPTION_FLAG, SHOW(evidence), NULL, NULL, 0, 0, "json", "the samples of a run as JSON, weir.evidence/1", NULL},
	{"db", 0, WR_OPTION_TEXT, SHOW(archive.db), "FILE", NULL, 0, 0, NULL, "the archive", NULL},
	{0},
};

static const struct wr_command command_show = {
	.name = "history show",
	.usage = "ID [--json]",
	.about = "Prints a run of the archive again.",
	.example = "  weir history show 17 --json\n      the result of run 17, as `weir run --json` printed it",
	.options = show_rows,
};

static void print_text(const struct wr_store_entry *entry, int64_t id)
{
	char started[40], line[160];

	wr_text_clean(entry->report, true);
	local_text(started, text_at(entry->result, "started"));
	snprintf(line, sizeof line, "Kept      as run %lld, from %s, by weir %s", (long long)id, started,
		 text_at(entry->result, "version"));
	wr_text_clean(line, false);
	printf("%s%s\n", entry->report, line);
}

static int show(const struct show_options *options, int64_t id, struct weir_err *err)
{
	struct wr_store_entry entry;

	if (wr_history_load(&options->archive, id, &entry, err) < 0)
		return -1;
	if (options->evidence && !entry.evidence) {
		wr_store_entry_deinit(&entry);
		wr_err_set(err, WEIR_ERR_USAGE, "archive", "no samples are kept with run %lld", (long long)id);
		return wr_err_hint(err, "they are with the runs of weir run");
	}
	if (options->evidence)
		wr_report_line(json_incref(entry.evidence), stdout); /* thousands of figures */
	else if (options->json || !entry.report)
		wr_report_print(json_incref(entry.result), stdout);
	else
		print_text(&entry, id);
	wr_store_entry_deinit(&entry);
	return 0;
}

int wr_history_show(int argc, char **argv)
{
	struct show_options options = {0};
	struct weir_err err = {0};
	int64_t id;
	int first, rc = wr_command_options(&command_show, &options, argc, argv, false, &first);
	bool json;

	if (rc)
		return rc > 1 ? rc : 0;
	json = options.json || options.evidence;
	if (first + 1 != argc || !wr_history_id(argv[first], &id)) {
		if (first < argc)
			wr_err_set(&err, WEIR_ERR_USAGE, "history", "'%.40s': show takes the number of one run", argv[argc - 1]);
		else
			wr_err_set(&err, WEIR_ERR_USAGE, "history", "which run? show takes its number");
		wr_err_hint(&err, "weir history lists them");
		return wr_command_fail(&command_show, &err, json);
	}
	return show(&options, id, &err) < 0 ? wr_command_fail(&command_show, &err, json) : 0;
}

/* -- the command -- */

static int run(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} words[] = {{"list", wr_history_list}, {"show", wr_history_show}, {"export", wr_history_export}, {"delete", wr_history_delete}};

	for (size_t i = 0; argc > 1 && i < WR_N_ELEMENTS(words); i++) {
		if (strcmp(argv[1], words[i].name) == 0)
			return words[i].run(argc - 1, argv + 1);
	}
	return wr_history_list(argc, argv);
}

const struct wr_command wr_command_history = {
	.name = "history",
	.summary = "what was measured before: list, show, export, delete",
	.usage = "[list] [OPTIONS] | show ID [--json] | export [ID...] [FILE] | delete ID...|--older-than TIME",
	.about = "Every run, sweep and tuning is kept in an archive, an SQLite file, with its plan, verdict, samples and facts of the\n"
		 "host. `list` shows them, newest last, `show` prints one again, `export` writes JSON lines, `delete` deletes.",
	.example = "  weir history --command tune --since 7d\n      the tunings of the last week; weir history show 17 prints one of them",
	.options = wr_history_list_rows,
	.run = run,
};
