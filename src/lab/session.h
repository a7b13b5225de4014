/* SPDX-License-Identifier: MIT */
/*
 * One life of a lab: makes the bed, runs the link, the far command and the near command, and ends when the near
 * command does. Everything lives in one PID namespace, so nothing outlives the caller, however it dies.
 */
#ifndef WR_LAB_SESSION_H
#define WR_LAB_SESSION_H

#include "lab/bed.h"
#include "lab/stats.h"

/*
 * @command: NULL-ended argv that runs on near, found in @weir_folder first
 * @far_command: shell text that runs on far; NULL: `weir serve`; "": nothing
 * @congestion: named to weir at both ends by WEIR_CONGESTION; NULL: cubic, or the host's default where cubic can't be had
 * @weir_folder: leads the PATH of both commands
 * @foreground: the near command is a shell: it gets the terminal, if there is one, as a process group of its own
 * @stats: where the link's counters go
 * @say: takes one line of words for the user
 */
struct wr_lab_settings {
	struct wr_lab_config link;
	struct wr_lab_sysctl sysctls[WR_LAB_MAX_SYSCTLS];
	size_t n_sysctls;
	char *const *command;
	const char *far_command, *congestion, *weir_folder;
	bool foreground;
	struct wr_lab_stats stats;
	void (*say)(const char *line);
};

/*
 * wr_lab_session_run - run the lab; the caller must have one thread only
 * @status: out: what the near command exited with, 128 + n when signal n ended it
 *
 * SIGINT, SIGTERM and SIGHUP are blocked and handled meanwhile: passed on, and followed by SIGKILL after a second
 * SIGINT or when the command has not ended 5 s after a SIGTERM.
 * Return: 0; -1 with @err when the near command could not be started.
 */
int wr_lab_session_run(const struct wr_lab_settings *settings, int *status, struct weir_err *err);

/* wr_lab_session_take_terminal - let the terminal, if there is one, listen to this process group, or to a new one of one's own */
void wr_lab_session_take_terminal(bool own_group);

#endif
