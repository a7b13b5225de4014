/* SPDX-License-Identifier: MIT */
/* The link: moves packets between the two ends' TUN devices through one chain of elements per direction. */
#ifndef WR_LAB_LINK_H
#define WR_LAB_LINK_H

#include "lab/config.h"
#include "lab/counters.h"

/*
 * wr_lab_link_run - carry packets until a device is gone
 * @fds: the two TUN descriptors, non-blocking, by enum wr_lab_end
 * @counters: zeroed; written as packets pass
 *
 * Takes the calling process: it sets the scheduling and timer slack that punctual release needs.
 * Return: -1 with @err.
 */
int wr_lab_link_run(const int fds[WR_LAB_N_ENDS], const struct wr_lab_config *config, struct wr_lab_counters *counters,
		    struct weir_err *err);

#endif
