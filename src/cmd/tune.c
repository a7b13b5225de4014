/* SPDX-License-Identifier: MIT */
/* weir tune: the main job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/measuring.h"
#include "cmd/stop.h"
#include "os/clock.h"
#include "os/facts.h"
#include "report/report.h"
#include "tune/tune.h"

struct tune_command {
	struct wr_measuring measuring;
	uint64_t budget_ns, max_bytes, max_rate_bps, pairs;
	double tolerance_ratio;
	const char *strategy;
	uint64_t sizes[WR_MAX_CURVE];
	size_t n_sizes;
	int64_t began_ns;
};

#define FIELD(field) offsetof(struct tune_command, field)
#define LEAST_SIZE 4608 /* SOCK_MIN_SNDBUF, include/net/sock.h */

static int sizes_parse(void *target, const char *text, struct weir_err *err)
{
	struct tune_command *chosen = target;
	wr_auto_free char *copy = strdup(text);
	char *state, *word = copy ? strtok_r(copy, ",", &state) : NULL;

	for (chosen->n_sizes = 0; word; word = strtok_r(NULL, ",", &state)) {
		uint64_t bytes;
		size_t i = chosen->n_sizes;

		if (i == WR_MAX_CURVE - 2)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "more than %d sizes", WR_MAX_CURVE - 2);
		if (wr_size_parse(word, &bytes, err) < 0)
			return -1;
		if (bytes < LEAST_SIZE)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s is below the kernel's least buffer of 4.5 KiB", word);
		/* A staircase goes down. */
		for (; i > 0 && chosen->sizes[i - 1] < bytes; i--)
			chosen->sizes[i] = chosen->sizes[i - 1];
		chosen->sizes[i] = bytes;
		chosen->n_sizes++;
	}
	for (size_t i = 1; i < chosen->n_sizes; i++) {
		if (chosen->sizes[i] == chosen->sizes[i - 1])
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "the size %llu stands there twice",
					  (unsigned long long)chosen->sizes[i]);
	}
	if (chosen->n_sizes < 3)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "a curve needs three sizes at least");
	return 0;
}

static const struct wr_option own_options[] = {
	{"budget", 0, WR_OPTION_TIME, FIELD(budget_ns), "TIME", NULL, 1e9, 86400e9, NULL,
	 "take no longer; what does not fit is left out and said", NULL},
	{"max-bytes", 0, WR_OPTION_SIZE, FIELD(max_bytes), "SIZE", NULL, 1, 0, NULL, "move no more than SIZE in all", NULL},
	{"max-rate", 0, WR_OPTION_RATE, FIELD(max_rate_bps), "RATE", NULL, 1000, 0, "bitrate",
	 "send no faster than RATE in all", NULL},
	{"pairs", 0, WR_OPTION_COUNT, FIELD(pairs), "N", "6", 6, WR_MAX_PAIRS, NULL, "interleaved pairs of the proof", NULL},
	{"tolerance", 0, WR_OPTION_SHARE, FIELD(tolerance_ratio), "SHARE", "2%", 0.001, 0.5, NULL,
	 "how far below the plateau a size may stay", NULL},
	{"strategy", 0, WR_OPTION_TEXT, FIELD(strategy), "NAME", "staircase", 0, 0, NULL,
	 "the curve's measure: staircase (one connection), grid (one a size)", NULL},
	{"sizes", 0, WR_OPTION_TEXT, FIELD(sizes), "SIZE,...", NULL, 0, 0, NULL,
	 "buffer sizes of the curve, instead of those that follow from the path", sizes_parse},
	{0},
};

/* The measuring rows and the own rows; they share one struct, which begins with the measuring one. */
static struct wr_option options[WR_MAX_OPTIONS];

static void options_init(void)
{
	size_t n = 0;

	/* A tuning decides the length of its runs itself, and is about streams. */
	for (const struct wr_option *row = wr_measuring_options; row->name; row++) {
		if (strcmp(row->name, "time") != 0 && strcmp(row->name, "bytes") != 0 && strcmp(row->name, "interval") != 0 &&
		    strcmp(row->name, "evidence") != 0 && strcmp(row->name, "confirm") != 0 && strcmp(row->name, "workload") != 0)
			options[n++] = *row;
	}
	for (const struct wr_option *row = own_options; row->name; row++)
		options[n++] = *row;
}

/* One line that is written over on a terminal; nothing elsewhere, but for the first, which says what it will cost. */
static void say(void *context, const char *text)
{
	struct tune_command *chosen = context;
	double seconds = (double)(wr_clock_ns() - chosen->began_ns) / 1e9;

	if (chosen->measuring.json_stream) {
		wr_report_line(json_pack("{s:f,s:s}", "t_s", seconds, "doing", text), stdout);
		return;
	}
	if (chosen->measuring.quiet)
		return;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K[%3.0f s] %s", seconds, text);
	else if (strncmp(text, "expects", 7) == 0 || strstr(text, " s more and "))
		fprintf(stderr, "weir tune: %s\n", text);
}

static void say_end(const struct tune_command *chosen)
{
	if (!chosen->measuring.quiet && !chosen->measuring.json_stream && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static int deliver(const struct tune_command *chosen, const struct wr_report_head *head, const struct wr_tuning *tuning,
		   struct weir_err *err)
{
	wr_auto_free char *text = NULL;
	size_t n_text;
	FILE *out = open_memstream(&text, &n_text);

	if (!out)
		return wr_err_memory(err, "report");
	wr_report_tune_text(out, tuning, head->target);
	if (fclose(out) != 0)
		return wr_err_memory(err, "report");
	wr_measuring_deliver(&wr_command_tune, &chosen->measuring, wr_report_tune_json(head, tuning), text, NULL);
	return 0;
}

static int tune_target(struct tune_command *chosen, const char *target, struct weir_err *err)
{
	struct wr_facts facts;
	struct wr_report_head head = {.schema = "weir.tune/1", .command = "tune", .target = target, .facts = &facts};
	struct wr_tune_options wanted = {
		.plan = chosen->measuring.plan, .budget_ns = chosen->budget_ns, .max_bytes = chosen->max_bytes,
		.max_rate_bps = chosen->max_rate_bps,
		.pairs = chosen->pairs, .tolerance_ratio = chosen->tolerance_ratio, .strategy = chosen->strategy, .say = say,
		.context = chosen,
	};
	wr_auto_free struct wr_tuning *tuning = calloc(1, sizeof *tuning);
	struct wr_peer peer;
	int rc;

	memcpy(wanted.sizes, chosen->sizes, sizeof wanted.sizes);
	wanted.n_sizes = chosen->n_sizes;
	if (!tuning)
		return wr_err_memory(err, "tuning");
	wr_report_time(head.started);
	chosen->began_ns = wr_clock_ns();
	if (wr_peer_open(&peer, target, &wanted.plan, &wr_stop_signal, err) < 0)
		return -1;
	rc = wr_tune(&peer, &wanted, tuning, err);
	say_end(chosen);
	wr_peer_close(&peer);
	if (rc < 0 && (err->code != WEIR_ERR_INTERRUPTED || tuning->n_runs == 0))
		return -1;
	head.duration_s = tuning->wall_s;
	head.complete = tuning->complete;
	wr_facts_gather(&facts);
	return deliver(chosen, &head, tuning, err);
}

static int check(struct tune_command *chosen, struct weir_err *err)
{
	if (!wr_strategy_find(chosen->strategy)) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "--strategy %.40s: there is no such strategy", chosen->strategy);
		return wr_err_hint(err, "staircase or grid");
	}
	if (!wr_plan_is_tcp(&chosen->measuring.plan)) {
		wr_err_set(err, WEIR_ERR_USAGE, "target", "%s can't be tuned yet, only TCP", chosen->measuring.plan.transport);
		return wr_err_hint(err, "weir sweep measures it: --sndbuf 16K,64K,256K,1M");
	}
	if (chosen->max_rate_bps != WR_UNSET && chosen->max_rate_bps / chosen->measuring.plan.streams < 1000)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "--max-rate leaves less than 1 kbit/s to each of --parallel %llu",
				  (unsigned long long)chosen->measuring.plan.streams);
	if (chosen->max_rate_bps != WR_UNSET)
		chosen->measuring.plan.write_bps = chosen->max_rate_bps / chosen->measuring.plan.streams;
	chosen->measuring.plan.interval_ns = 1000000000;
	chosen->measuring.plan.bytes = chosen->measuring.plan.duration_ns = WR_UNSET;
	return 0;
}

static int run(int argc, char **argv)
{
	struct tune_command chosen = {0};
	struct weir_err err = {0};
	const char *target;
	int rc = wr_measuring_parse(&wr_command_tune, &chosen.measuring, argc, argv, &target);

	if (rc)
		return rc == 1 ? 0 : rc;
	if (check(&chosen, &err) < 0)
		return wr_command_fail(&wr_command_tune, &err, chosen.measuring.json || chosen.measuring.json_stream);
	wr_stop_catch();
	rc = tune_target(&chosen, target, &err) < 0 ? wr_command_fail(&wr_command_tune, &err, chosen.measuring.json || chosen.measuring.json_stream)
						    : wr_stop_status();
	if (wr_measuring_flush(&wr_command_tune) < 0 && rc == 0)
		rc = WEIR_ERR_HOST;
	return rc;
}

const struct wr_command wr_command_tune = {
	.name = "tune",
	.summary = "finds, proves and writes down the settings that make a transfer fast",
	.usage = "TARGET [OPTIONS]",
	.about = "Measures a transfer to TARGET, where `weir serve` runs, says what limits it, and where a socket buffer is the\n"
		 "limit finds the smallest size that reaches full speed, proves the gain with interleaved runs and prints the\n"
		 "settings. Where no buffer will help it says so. Buffers given (-w, --sndbuf ...) are what it starts from.",
	.example = "  weir lab --rate 1gbit --rtt 100ms -- weir tune far\n"
		   "      the whole job on an emulated link, on this machine alone",
	.options = options,
	.init = options_init,
	.run = run,
};
