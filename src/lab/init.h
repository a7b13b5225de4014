/* SPDX-License-Identifier: MIT */
/*
 * Init, pid 1 of the lab's PID namespace: it makes the bed, starts link, far and near, watches over them, and takes
 * everything along when it ends.
 */
#ifndef WR_LAB_INIT_H
#define WR_LAB_INIT_H

#include <signal.h>
#include <sys/types.h>

#include "lab/capture.h"
#include "lab/session.h"
#include "os/linux/userns.h"

/* As TCP_CA_NAME_MAX. */
#define WR_LAB_CONGESTION_TEXT 16

/*
 * @congestion: what weir uses at both ends
 * @counters: shared with the link; @lateness_fd: a struct wr_lateness, the part of them that runs in the lab read
 * @link, @far, @near: -1: no such process; their statuses as a shell tells them
 * @lifeline: to the caller; @signals: a signalfd of what is blocked
 * @old_mask: signals that the caller had blocked before
 * @direct_int_ns, @last_int_ns, @kill_at_ns: 0: not yet, never
 */
struct wr_lab_init {
	const struct wr_lab_settings *settings;
	struct wr_userns userns;
	struct wr_lab_bed bed;
	char congestion[WR_LAB_CONGESTION_TEXT];
	struct wr_lab_counters *counters;
	struct wr_lab_stats stats;
	struct wr_lab_capture *captures[WR_LAB_N_ENDS];
	pid_t link, far, near;
	int far_status, near_status;
	int lifeline, signals, lateness_fd;
	sigset_t old_mask;
	int64_t direct_int_ns, last_int_ns, kill_at_ns;
};

/*
 * wr_lab_init_run - live and die as init
 * @init: settings, userns, lifeline and old_mask are set, no process lives; what is to be heard of is blocked
 *
 * An error before near runs goes to the lifeline as a struct weir_err.
 */
_Noreturn void wr_lab_init_run(struct wr_lab_init *init);

/* wr_lab_init_say - a line of words for the user */
void wr_lab_init_say(const struct wr_lab_init *init, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* wr_lab_init_reap - collect every child that has ended; orphans of the commands are pid 1's too. */
void wr_lab_init_reap(struct wr_lab_init *init);

#endif
