/* SPDX-License-Identifier: MIT */
/* The link: moves packets between the two ends' TUN devices through one chain of elements per direction. */
#ifndef WR_LAB_LINK_H
#define WR_LAB_LINK_H

#include "lab/capture.h"
#include "lab/config.h"
#include "lab/counters.h"

/*
 * wr_lab_link_run - carry packets until a device is gone or SIGTERM comes, which must be blocked
 * @fds: the two TUN descriptors, non-blocking, by enum wr_lab_end
 * @captures: of the packets that each end sends, or NULL; both may be the same. They are flushed before each sleep
 * @counters: zeroed; written as packets pass
 *
 * Takes the calling process: it sets the scheduling and timer slack that punctual release needs.
 * Return: 0 after SIGTERM; -1 with @err.
 */
int wr_lab_link_run(const int fds[WR_LAB_N_ENDS], const struct wr_lab_config *config,
		    struct wr_lab_capture *const captures[WR_LAB_N_ENDS], struct wr_lab_counters *counters, struct weir_err *err);

#endif
