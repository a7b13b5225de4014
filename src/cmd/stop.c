/* SPDX-License-Identifier: MIT */
/* No SA_RESTART: a wait that a signal interrupts returns, so the flag is seen at once. */
#include "cmd/stop.h"

#include <string.h>

volatile sig_atomic_t wr_stop_signal;

static void on_signal(int signal_number)
{
	wr_stop_signal = signal_number;
}

void wr_stop_catch(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = on_signal;
	action.sa_flags = (int)SA_RESETHAND;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int wr_stop_status(void)
{
	return wr_stop_signal ? 128 + wr_stop_signal : 0;
}
