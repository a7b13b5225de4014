/* SPDX-License-Identifier: MIT */
/* A rate that changes on a schedule, as a file says it: lines of TIME RATE in ascending order, # begins a comment. */
#ifndef WR_LAB_SCHEDULE_H
#define WR_LAB_SCHEDULE_H

#include "lab/server.h"
#include "weir/err.h"

#define WR_LAB_MAX_RATE_STEPS 100000

/*
 * wr_lab_schedule_parse - the text of such a file
 * @name: of the file, for messages
 * @text: changed while it is read
 * @schedule: out: at least one step, the first at 0; to be freed by wr_lab_schedule_deinit
 *
 * The last line may be "TIME repeat": from then on it begins again. Without it the last rate stays and may not be 0.
 * Return: 0; -1 with @err (WEIR_ERR_USAGE) naming file and line.
 */
int wr_lab_schedule_parse(const char *name, char *text, struct wr_lab_rate_schedule *schedule, struct weir_err *err);

/* wr_lab_schedule_read - the same from a file. */
int wr_lab_schedule_read(const char *path, struct wr_lab_rate_schedule *schedule, struct weir_err *err);

void wr_lab_schedule_deinit(struct wr_lab_rate_schedule *schedule);

/* wr_lab_schedule_most_bps - the highest rate of it. */
uint64_t wr_lab_schedule_most_bps(const struct wr_lab_rate_schedule *schedule);

#endif
