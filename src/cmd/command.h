/* SPDX-License-Identifier: MIT */
/* A command of the tool: a row of wr_commands, one file each. main() finds it, prints its help and runs it. */
#ifndef WR_CMD_COMMAND_H
#define WR_CMD_COMMAND_H

#include <stdio.h>

#include "base/option.h"

/*
 * @name, @summary: for the list
 * @usage: what follows the name, "TARGET [OPTIONS]"
 * @about: a paragraph for --help
 * @example: a command line and what it shows
 * @options: NULL-ended rows
 * @init: puts the rows together, before anything else; or NULL
 * @run: argv[0] is the command's name. Return: the exit status.
 */
struct wr_command {
	const char *name, *summary, *usage, *about, *example;
	const struct wr_option *options;
	void (*init)(void);
	int (*run)(int argc, char **argv);
};

extern const struct wr_command *const wr_commands[];

extern const struct wr_command wr_command_run, wr_command_sweep, wr_command_tune, wr_command_serve, wr_command_lab;
extern const struct wr_command wr_command_history, wr_command_compare, wr_command_explain, wr_command_list;

/* wr_command_help - the whole --help text of @command. */
void wr_command_help(const struct wr_command *command, FILE *out);

/*
 * wr_command_fail - say on stderr what went wrong, as `weir <command>: <text>` and `hint: <what to do>`; with
 * @json also as an error object in one line on stdout.
 *
 * Return: the exit status for @err; after SIGTERM 143.
 */
int wr_command_fail(const struct wr_command *command, const struct weir_err *err, bool json);

/*
 * wr_command_options - parse argv by the command's rows; prints help or the error itself
 *
 * Return: 0 go on; 1 help was printed, exit 0; 2 usage error was printed, exit 2.
 */
int wr_command_options(const struct wr_command *command, void *target, int argc, char **argv,
		       bool stop_at_operand, int *first_operand);

#endif
