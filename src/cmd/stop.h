/* SPDX-License-Identifier: MIT */
/* Stopping by signal: SIGINT and SIGTERM set a flag that every wait looks at, so that results stay valid. */
#ifndef WR_CMD_STOP_H
#define WR_CMD_STOP_H

#include <signal.h>

/* The signal that asked to stop, 0 none. */
extern volatile sig_atomic_t wr_stop_signal;

/* wr_stop_catch - from now on the signals set the flag; a second one ends the program at once. */
void wr_stop_catch(void);

/* wr_stop_status - the exit status: 0, 130 after SIGINT, 143 after SIGTERM. */
int wr_stop_status(void);

#endif
