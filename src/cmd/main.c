/* SPDX-License-Identifier: MIT */
/* The tool's entry: finds the command's row and runs it; everything a command needs is in its own file. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/measuring.h"
#include "cmd/stop.h"
#include "weir/version.h"

const struct wr_command *const wr_commands[] = {
	&wr_command_tune,
	&wr_command_run,
	&wr_command_sweep,
	&wr_command_serve,
	&wr_command_lab,
	&wr_command_history,
	&wr_command_compare,
	&wr_command_list,
	&wr_command_explain,
	NULL,
};

void wr_command_help(const struct wr_command *command, FILE *out)
{
	fprintf(out, "usage: weir %s %s\n\n%s\n\n", command->name, command->usage, command->about);
	wr_option_help(command->options, out);
	fprintf(out, "  %-28s %s\n\nExample:\n%s\n", "-h, --help", "this text", command->example);
}

int wr_command_fail(const struct wr_command *command, const struct weir_err *err, bool json)
{
	struct weir_err shown = *err;
	int code = err->code ? err->code : WEIR_ERR_HOST;

	if (code == WEIR_ERR_INTERRUPTED && wr_stop_signal)
		code = wr_stop_status();
	wr_err_clean(&shown);
	if (json) {
		json_t *object = json_pack("{s:{s:i,s:s,s:s,s:s}}", "error", "code", code, "operation", shown.operation,
					   "text", shown.text, "hint", shown.hint);

		if (object) {
			json_dumpf(object, stdout, JSON_COMPACT);
			putchar('\n');
			json_decref(object);
		}
	}
	fprintf(stderr, "weir %s: %s\n", command->name, shown.text);
	if (shown.hint[0])
		fprintf(stderr, "hint: %s\n", shown.hint);
	return code;
}

int wr_command_options(const struct wr_command *command, void *target, int argc, char **argv,
		       bool stop_at_operand, int *first_operand)
{
	struct weir_err err = {0};
	int rc = wr_option_parse(command->options, target, argc, argv, stop_at_operand, first_operand, &err);

	if (rc == 1)
		wr_command_help(command, stdout);
	if (rc >= 0)
		return rc;
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--json", 6) == 0 || strcmp(argv[i], "-J") == 0)
			return wr_command_fail(command, &err, true);
	}
	return wr_command_fail(command, &err, false);
}

static const struct wr_command *command_find(const char *name)
{
	for (size_t i = 0; wr_commands[i]; i++) {
		if (strcmp(wr_commands[i]->name, name) == 0)
			return wr_commands[i];
	}
	return NULL;
}

static void print_overview(FILE *out)
{
	fprintf(out, "usage: weir COMMAND [OPTIONS]\n\n"
		     "Measures what socket buffers do to a transfer, explains what limits it, and tunes it.\n\n");
	for (size_t i = 0; wr_commands[i]; i++)
		fprintf(out, "  %-8s %s\n", wr_commands[i]->name, wr_commands[i]->summary);
	fprintf(out, "  %-8s %s\n\nExample:\n"
		     "  weir lab --rate 1gbit --rtt 100ms -- weir tune far\n"
		     "      the whole job on an emulated link, on this machine alone\n",
		"help", "the options and an example of a command: weir help tune; weir --version tells the version");
}

static int unknown_command(const char *name)
{
	fprintf(stderr, "weir: there is no command '%s'\nhint: the commands are", name);
	for (size_t i = 0; wr_commands[i]; i++)
		fprintf(stderr, " %s", wr_commands[i]->name);
	fprintf(stderr, "; weir help COMMAND explains one\n");
	return WEIR_ERR_USAGE;
}

static int help(const char *name)
{
	const struct wr_command *command = name ? command_find(name) : NULL;

	if (!name) {
		print_overview(stdout);
		return 0;
	}
	if (!command)
		return unknown_command(name);
	wr_command_help(command, stdout);
	return 0;
}

static int dispatch(int argc, char **argv)
{
	const struct wr_command *command;

	wr_measuring_init();
	for (size_t i = 0; wr_commands[i]; i++) {
		if (wr_commands[i]->init)
			wr_commands[i]->init();
	}
	if (argc < 2) {
		print_overview(stderr);
		return WEIR_ERR_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("weir " WEIR_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help(argv[2]);
	command = command_find(argv[1]);
	return command ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	int status;

	signal(SIGPIPE, SIG_IGN);
	status = dispatch(argc, argv);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (status == 0) {
		fprintf(stderr, "weir: stdout could not be written: %s\n", strerror(errno));
		status = WEIR_ERR_HOST;
	}
	return status;
}
