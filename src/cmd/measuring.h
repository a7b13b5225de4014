/* SPDX-License-Identifier: MIT */
/* What the measuring commands share: the plan's options and those of output, and the operand TARGET. */
#ifndef WR_CMD_MEASURING_H
#define WR_CMD_MEASURING_H

#include "cmd/archive.h"
#include "cmd/command.h"
#include "model/plan.h"

struct wr_measuring {
	struct wr_plan plan;
	bool json, json_stream, quiet, confirm;
	const char *evidence;
	struct wr_archive_wish archive;
};

/* The plan's rows and the output rows; filled by wr_measuring_init. */
extern struct wr_option wr_measuring_options[];

/* wr_measuring_init - put the rows together; main calls it once, before any command. */
void wr_measuring_init(void);

/*
 * wr_measuring_parse - argv into @chosen and @target, defaults from the environment
 * Return: 0; 1 help was printed; 2 a usage error was printed.
 */
int wr_measuring_parse(const struct wr_command *command, struct wr_measuring *chosen, int argc, char **argv,
		       const char **target);

/* wr_measuring_check - what a plan holds as text: its workload and socket options. Return: 0; -1 (WEIR_ERR_USAGE). */
int wr_measuring_check(const struct wr_plan *plan, struct weir_err *err);

/*
 * wr_measuring_target - the one operand that is left, or words about it
 * Return: 0; -1 (WEIR_ERR_USAGE).
 */
int wr_measuring_target(int argc, char **argv, int first, const char **target, struct weir_err *err);

/*
 * wr_measuring_congestion - what a lab pins, unless this user may not choose it: the lab runs its command as whoever
 * it is told to. Return: a name from the environment, or NULL; what is wrong with it was said.
 */
const char *wr_measuring_congestion(const struct wr_command *command, const char *target);

/*
 * wr_measuring_deliver - print a result as it was asked, and keep it
 * @result: as JSON, taken over; @text: for people; @evidence: to be kept along, taken over, or NULL
 */
void wr_measuring_deliver(const struct wr_command *command, const struct wr_measuring *chosen, json_t *result,
			  const char *text, json_t *evidence);

/* wr_measuring_flush - stdout to its end; says so when it can't be written (disk full). Return: 0; -1. */
int wr_measuring_flush(const struct wr_command *command);

#endif
