/* SPDX-License-Identifier: MIT */
/*
 * weir explain: the rules over what people paste into tickets. Reads files, and says what limits each socket in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/measuring.h"
#include "explain/choose.h"
#include "explain/explain.h"
#include "os/clock.h"
#include "paste/paste.h"
#include "report/report.h"

#define MOST_FILES 1000
#define FIRST_READ 65536

struct file {
	const char *path;
	enum wr_paste_from from;
};

struct chosen {
	bool json;
	uint64_t interval_ns;
	struct file files[MOST_FILES];
	size_t n_files;
};

static int add_file(struct chosen *chosen, const char *path, enum wr_paste_from from, struct weir_err *err)
{
	if (chosen->n_files == MOST_FILES)
		return wr_err_set(err, WEIR_ERR_USAGE, "files", "more than %d files", MOST_FILES);
	chosen->files[chosen->n_files++] = (struct file){path, from};
	return 0;
}

static int add_near(void *target, const char *text, struct weir_err *err)
{
	return add_file(target, text, WR_PASTE_NEAR, err);
}

static int add_far(void *target, const char *text, struct weir_err *err)
{
	return add_file(target, text, WR_PASTE_FAR, err);
}

static const struct wr_option explain_options[] = {
	{"near", 0, WR_OPTION_TEXT, 0, "FILE...", NULL, 0, 0, NULL,
	 "what the end printed that sends the bulk or calls; all files up to the next option", add_near},
	{"far", 0, WR_OPTION_TEXT, 0, "FILE...", NULL, 0, 0, NULL, "what the other end printed", add_far},
	{"interval", 'i', WR_OPTION_TIME, offsetof(struct chosen, interval_ns), "TIME", NULL, 1e6, 1e14, NULL,
	 "time between two snapshots; without it the sockets' own clocks bound it", NULL},
	{"json", 'J', WR_OPTION_FLAG, offsetof(struct chosen, json), NULL, NULL, 0, 0, NULL,
	 "one JSON object on stdout", NULL},
	{0},
};

/* --near and --far take all files up to the next option: each file gets its own --near or --far. */
static char **spread(int argc, char **argv, int *n_out)
{
	char **out = calloc(2 * (size_t)argc + 2, sizeof *out), *side = NULL;
	bool used = false;
	int n = 0, i;

	for (i = 0; out && i < argc && strcmp(argv[i], "--") != 0; i++) {
		bool is_side = strcmp(argv[i], "--near") == 0 || strcmp(argv[i], "--far") == 0;
		bool is_option = argv[i][0] == '-' && argv[i][1];

		if (is_side || is_option) {
			/* One without a file is left for the parser to refuse. */
			if (side && !used)
				out[n++] = side;
			side = is_side ? argv[i] : NULL;
			used = false;
			if (!is_side)
				out[n++] = argv[i];
			/* A value of its own is no file. */
			if ((strcmp(argv[i], "--interval") == 0 || strcmp(argv[i], "-i") == 0) && i + 1 < argc)
				out[n++] = argv[++i];
			continue;
		}
		if (side)
			out[n++] = side;
		used = true;
		out[n++] = argv[i];
	}
	if (out && side && !used)
		out[n++] = side;
	for (; out && i < argc; i++)
		out[n++] = argv[i];
	*n_out = n;
	return out;
}

/* -- reading -- */

static int read_all(int fd, const char *path, char **text, size_t *n_text, struct weir_err *err)
{
	size_t capacity = FIRST_READ, used = 0;
	wr_auto_free char *buffer = malloc(capacity);

	while (buffer && used < WR_PASTE_MAX_BYTES) {
		ssize_t n = read(fd, buffer + used, capacity - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return wr_err_errno(err, WEIR_ERR_USAGE, "read", errno, "%s can't be read", path);
		if (n == 0)
			break;
		used += (size_t)n;
		if (used == capacity) {
			char *more = realloc(buffer, 2 * capacity);

			if (!more)
				return wr_err_memory(err, "text");
			buffer = more;
			capacity *= 2;
		}
	}
	if (!buffer)
		return wr_err_memory(err, "text");
	*text = wr_steal(buffer);
	*n_text = used;
	return 0;
}

static int file_add(struct wr_paste *paste, const struct file *file, struct weir_err *err)
{
	bool is_stdin = strcmp(file->path, "-") == 0;
	wr_auto_fd int fd = is_stdin ? dup(STDIN_FILENO) : open(file->path, O_RDONLY | O_CLOEXEC);
	wr_auto_free char *text = NULL;
	size_t n_text = 0;

	if (fd < 0) {
		wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "%s can't be read", file->path);
		return wr_err_hint(err, "give files with pasted output, or - for stdin; weir help explain shows how");
	}
	if (read_all(fd, is_stdin ? "stdin" : file->path, &text, &n_text, err) < 0)
		return -1;
	return wr_paste_add(paste, file->from, text, n_text, err);
}

static int files_read(struct wr_paste *paste, const struct chosen *chosen, struct weir_err *err)
{
	size_t n_stdin = 0;

	for (size_t i = 0; i < chosen->n_files; i++) {
		n_stdin += strcmp(chosen->files[i].path, "-") == 0;
		if (n_stdin > 1)
			return wr_err_set(err, WEIR_ERR_USAGE, "files", "stdin (-) can be read once only");
		if (file_add(paste, &chosen->files[i], err) < 0)
			return -1;
	}
	return wr_paste_finish(paste, chosen->interval_ns, err);
}

/* -- judging -- */

/* All cases: what is weighed of each, and a line for the report. The verdict of the one that counts is made again. */
static int judge(struct wr_paste *paste, size_t n_cases, struct wr_weight *weights, struct wr_report_socket *lines,
		 struct wr_verdict *verdict, struct weir_err *err)
{
	for (size_t i = 0; i < n_cases; i++) {
		struct wr_paste_case judged;

		wr_paste_case_get(paste, i, &judged);
		if (wr_explain(judged.evidence, verdict, err) < 0)
			return -1;
		weights[i] = (struct wr_weight){.writer_host = judged.writer_host,
						.reader_host = judged.reader_host,
						.writer_pid = judged.writer_pid,
						.reader_pid = judged.reader_pid};
		wr_weigh(&weights[i], judged.evidence, verdict);
		wr_report_socket_take(&lines[i], judged.local, judged.peer, judged.program, judged.far, verdict);
	}
	return 0;
}

static int explain(const struct chosen *chosen, struct wr_paste *paste, struct weir_err *err)
{
	struct wr_report_explained report = {
		.head = {.schema = "weir.explain/1", .command = "explain", .complete = true}};
	struct wr_paste_summary summary;
	wr_auto_free struct wr_weight *weights = NULL;
	wr_auto_free struct wr_report_socket *lines = NULL;
	wr_auto_free struct wr_verdict *verdict = calloc(1, sizeof *verdict);
	int64_t began_ns = wr_clock_ns();
	struct wr_paste_case judged;

	wr_report_time(report.head.started);
	if (files_read(paste, chosen, err) < 0)
		return -1;
	wr_paste_summarize(paste, &summary);
	weights = calloc(summary.n_cases + 1, sizeof *weights);
	lines = calloc(summary.n_cases + 1, sizeof *lines);
	if (!weights || !lines || !verdict)
		return wr_err_memory(err, "verdicts");
	if (judge(paste, summary.n_cases, weights, lines, verdict, err) < 0)
		return -1;
	report.chosen = wr_choose(weights, summary.n_cases);
	if (summary.n_cases) {
		wr_paste_case_get(paste, report.chosen, &judged);
		if (wr_explain(judged.evidence, verdict, err) < 0)
			return -1;
	} else {
		wr_explain_nothing(verdict);
	}
	report.verdict = verdict;
	report.sockets = lines;
	report.n_sockets = summary.n_cases;
	report.kinds = summary.kinds;
	report.n_lines = summary.n_lines;
	report.n_skipped = summary.n_skipped;
	report.interval_s = summary.interval_s;
	report.bounded = summary.bounded;
	report.n_files = chosen->n_files;
	report.head.duration_s = (double)(wr_clock_ns() - began_ns) / 1e9;
	if (chosen->json)
		wr_report_print(wr_report_explained_json(&report), stdout);
	else
		wr_report_explained_text(stdout, &report);
	for (size_t i = 0; i < summary.n_cases; i++)
		wr_report_socket_drop(&lines[i]);
	return 0;
}

static int take_operands(struct chosen *chosen, int argc, char **argv, int first, struct weir_err *err)
{
	for (int i = first; i < argc; i++) {
		if (add_file(chosen, argv[i], WR_PASTE_UNKNOWN, err) < 0)
			return -1;
	}
	if (chosen->n_files)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "files", "which output? a FILE is missing");
	return wr_err_hint(err, "ss -tmi > a; sleep 3; ss -tmi > b; weir explain a b; or: ss -tmi | weir explain -");
}

static int run(int argc, char **argv)
{
	wr_auto_free struct chosen *chosen = calloc(1, sizeof *chosen);
	wr_auto(wr_paste_free) struct wr_paste *paste = NULL;
	wr_auto_free char **spread_argv = NULL;
	struct weir_err err = {0};
	int first, rc;

	spread_argv = spread(argc, argv, &argc);
	if (!chosen || !spread_argv) {
		wr_err_memory(&err, "options");
		return wr_command_fail(&wr_command_explain, &err, false);
	}
	rc = wr_command_options(&wr_command_explain, chosen, argc, spread_argv, false, &first);
	if (rc)
		return rc == 1 ? 0 : rc;
	if (take_operands(chosen, argc, spread_argv, first, &err) < 0 || wr_paste_new(&paste, &err) < 0 ||
	    explain(chosen, paste, &err) < 0)
		return wr_command_fail(&wr_command_explain, &err, chosen->json);
	return wr_measuring_flush(&wr_command_explain) < 0 ? WEIR_ERR_HOST : 0;
}

const struct wr_command wr_command_explain = {
	.name = "explain",
	.summary = "what limits the sockets in pasted ss, nstat, sysctl, iperf3 ... output",
	.usage = "[FILE|-]... [--near FILE...] [--far FILE...] [OPTIONS]",
	.about = "Reads what people paste into tickets, finds out what each text is, and says for each socket in it "
		 "what limits\n"
		 "it, by which line, what to change and what not, and which one further command would settle the rest. "
		 "It changes\n"
		 "and measures nothing. A second snapshot of the same sockets gives differences, which tell far more "
		 "than one.",
	.example =
		"  weir explain --near ss.1 ss.2 sysctl.txt --far far-ss.1 far-ss.2 far-nstat.1 far-nstat.2\n"
		"      both ends of a connection, two snapshots each: why it is slow, and at which end that is mended",
	.options = explain_options,
	.run = run,
};
