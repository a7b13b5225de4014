/* SPDX-License-Identifier: MIT */
/*
 * The table of causes, in the order of judging: those that take a share first, then what accompanies them, then
 * what is left.
 */
#include <stddef.h>

#include "explain/cause.h"

extern const struct wr_cause wr_cause_cpu_limited, wr_cause_reader_limited, wr_cause_rcvbuf_limited,
	wr_cause_sndbuf_limited, wr_cause_writer_limited, wr_cause_loss_limited, wr_cause_ramp_limited,
	wr_cause_path_limited, wr_cause_unix_queue, wr_cause_vsock_credit, wr_cause_bufferbloat, wr_cause_sysctl_capped, wr_cause_unknown;

const struct wr_cause *const wr_causes[] = {
	&wr_cause_cpu_limited,
	&wr_cause_reader_limited,
	&wr_cause_rcvbuf_limited,
	&wr_cause_unix_queue,
	&wr_cause_vsock_credit,
	&wr_cause_sndbuf_limited,
	&wr_cause_writer_limited,
	&wr_cause_loss_limited,
	&wr_cause_ramp_limited,
	&wr_cause_path_limited,
	&wr_cause_bufferbloat,
	&wr_cause_sysctl_capped,
	&wr_cause_unknown,
	NULL,
};
