/* SPDX-License-Identifier: MIT */
/*
 * Schedules of rates. A link that stands still for ever would let every transfer hang without a word, so the last
 * rate, or one of a repeated schedule, must be above 0.
 */
#include "lab/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"

#define MAX_FILE_BYTES (4u << 20)
#define BLANKS " \t\r"
#define MIN_RATE_BPS 1000
#define MAX_RATE_BPS 1000000000000
/* Traces of cells have one line per millisecond, and the link itself is no more exact. It bounds the steps of a segment. */
#define MIN_STEP_NS WR_NS_PER_MS

static int line_error(struct weir_err *err, const char *name, unsigned line, const char *what)
{
	return wr_err_set(err, WEIR_ERR_USAGE, "rate schedule", "%s:%u: %s", name, line, what);
}

/* Put file and line before what a unit's parser said. */
static int place_error(struct weir_err *err, const char *name, unsigned line)
{
	char sentence[sizeof err->text];

	if (!err)
		return -1;
	memcpy(sentence, err->text, sizeof sentence);
	snprintf(err->text, sizeof err->text, "%s:%u: %.300s", name, line, sentence);
	return -1;
}

/* A step more, or none where the rate stays as it is. */
static int append(struct wr_lab_rate_schedule *schedule, uint64_t from_ns, uint64_t rate_bps, struct weir_err *err)
{
	struct wr_lab_rate_step *steps = schedule->steps;

	if (schedule->n_steps && steps[schedule->n_steps - 1].rate_bps == rate_bps)
		return 0;
	if ((schedule->n_steps & (schedule->n_steps - 1)) == 0) /* at each power of two the room doubles */
		steps = realloc(steps, (schedule->n_steps ? 2 * schedule->n_steps : 1) * sizeof *steps);
	if (!steps)
		return wr_err_memory(err, "rate schedule");
	schedule->steps = steps;
	steps[schedule->n_steps++] = (struct wr_lab_rate_step){from_ns, rate_bps};
	return 0;
}

/* @last_ns: of the line before, then of this one */
static int line_parse(const char *name, unsigned line, char *text, struct wr_lab_rate_schedule *schedule, uint64_t *last_ns,
		      struct weir_err *err)
{
	char *rest, *time = strtok_r(text, BLANKS, &rest), *rate = strtok_r(NULL, BLANKS, &rest);
	uint64_t from_ns, rate_bps;

	if (!time)
		return 0;
	if (!rate || strtok_r(NULL, BLANKS, &rest))
		return line_error(err, name, line, "a line is a time and a rate, as in '1.5s 10mbit'");
	if (wr_time_parse(time, &from_ns, err) < 0)
		return place_error(err, name, line);
	if (schedule->repeat_ns)
		return line_error(err, name, line, "nothing can follow 'repeat'");
	if (schedule->n_steps == 0 && from_ns != 0)
		return line_error(err, name, line, "the first rate begins at 0");
	if (schedule->n_steps && from_ns < *last_ns + MIN_STEP_NS)
		return line_error(err, name, line, "times must ascend, by 1 ms at least");
	*last_ns = from_ns;
	if (strcmp(rate, "repeat") == 0) {
		schedule->repeat_ns = from_ns;
		return schedule->n_steps ? 0 : line_error(err, name, line, "there is no rate to repeat");
	}
	if (wr_rate_parse(rate, &rate_bps, err) < 0)
		return place_error(err, name, line);
	if (rate_bps && (rate_bps < MIN_RATE_BPS || rate_bps > MAX_RATE_BPS))
		return line_error(err, name, line, "a rate is 0, or from 1 kbit/s to 1000 Gbit/s");
	if (schedule->n_steps == WR_LAB_MAX_RATE_STEPS)
		return line_error(err, name, line, "more lines than the 100000 that are taken");
	return append(schedule, from_ns, rate_bps, err);
}

static int lines_parse(const char *name, char *text, struct wr_lab_rate_schedule *schedule, struct weir_err *err)
{
	uint64_t last_ns = 0;
	unsigned line = 1;

	for (char *at = text; at; line++) {
		char *end = strchr(at, '\n');

		if (end)
			*end++ = '\0';
		at[strcspn(at, "#")] = '\0';
		if (line_parse(name, line, at, schedule, &last_ns, err) < 0)
			return -1;
		at = end;
	}
	if (schedule->n_steps == 0)
		return wr_err_set(err, WEIR_ERR_USAGE, "rate schedule", "%s: there is no line with a time and a rate", name);
	if (wr_lab_schedule_most_bps(schedule) == 0 ||
	    (!schedule->repeat_ns && schedule->steps[schedule->n_steps - 1].rate_bps == 0))
		return wr_err_set(err, WEIR_ERR_USAGE, "rate schedule", "%s: the link would stand still for ever at its end", name);
	return 0;
}

int wr_lab_schedule_parse(const char *name, char *text, struct wr_lab_rate_schedule *schedule, struct weir_err *err)
{
	*schedule = (struct wr_lab_rate_schedule){0};
	if (lines_parse(name, text, schedule, err) == 0)
		return 0;
	wr_lab_schedule_deinit(schedule);
	return -1;
}

int wr_lab_schedule_read(const char *path, struct wr_lab_rate_schedule *schedule, struct weir_err *err)
{
	wr_auto_free char *text = malloc(MAX_FILE_BYTES + 1);
	FILE *in = fopen(path, "re");
	size_t n;

	if (!in)
		return wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "can't read the rate schedule %s", path);
	n = text ? fread(text, 1, MAX_FILE_BYTES + 1, in) : 0;
	fclose(in);
	if (!text)
		return wr_err_memory(err, "rate schedule");
	if (n > MAX_FILE_BYTES || memchr(text, '\0', n))
		return wr_err_set(err, WEIR_ERR_USAGE, "rate schedule", "%s is not a text of 4 MiB at most", path);
	text[n] = '\0';
	return wr_lab_schedule_parse(path, text, schedule, err);
}

void wr_lab_schedule_deinit(struct wr_lab_rate_schedule *schedule)
{
	free(schedule->steps);
	*schedule = (struct wr_lab_rate_schedule){0};
}

uint64_t wr_lab_schedule_most_bps(const struct wr_lab_rate_schedule *schedule)
{
	uint64_t most_bps = 0;

	for (size_t i = 0; i < schedule->n_steps; i++) {
		if (schedule->steps[i].rate_bps > most_bps)
			most_bps = schedule->steps[i].rate_bps;
	}
	return most_bps;
}
