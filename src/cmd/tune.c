/* SPDX-License-Identifier: MIT */
#include "cmd/command.h"

static const struct wr_option options[] = {{0}};
static int run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 3;
}
const struct wr_command wr_command_tune = {"tune", "-", "-", "-", "-", options, run};
