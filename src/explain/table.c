/* SPDX-License-Identifier: MIT */
/*
 * The table of causes, in the order of judging: those that take a share first, then what accompanies them, then
 * what is left.
 */
#include <stddef.h>

#include "explain/cause.h"

extern const struct wr_cause wr_cause_cpu_limited, wr_cause_deadlock, wr_cause_rcv_collapse,
	wr_cause_nagle_delack, wr_cause_cork, wr_cause_reader_limited, wr_cause_window_scale_missing,
	wr_cause_rcvbuf_limited, wr_cause_notsent_lowat, wr_cause_sndbuf_limited, wr_cause_protocol_window,
	wr_cause_idle_restart, wr_cause_ssthresh_cached, wr_cause_writer_limited, wr_cause_device_queue,
	wr_cause_policer, wr_cause_offload_loss, wr_cause_loss_limited, wr_cause_ramp_limited, wr_cause_path_limited,
	wr_cause_udp_unread, wr_cause_udp_slow_reader, wr_cause_udp_rcvbuf_overflow, wr_cause_udp_send_overflow,
	wr_cause_udp_reassembly, wr_cause_unix_queue, wr_cause_netlink_overflow, wr_cause_vsock_credit,
	wr_cause_bufferbloat, wr_cause_sysctl_capped, wr_cause_small_writes, wr_cause_memory_pressure, wr_cause_none,
	wr_cause_unknown;

const struct wr_cause *const wr_causes[] = {
	&wr_cause_cpu_limited,
	&wr_cause_deadlock,
	&wr_cause_rcv_collapse,
	&wr_cause_nagle_delack,
	&wr_cause_cork,
	&wr_cause_reader_limited,
	&wr_cause_window_scale_missing,
	&wr_cause_rcvbuf_limited,
	&wr_cause_unix_queue,
	&wr_cause_vsock_credit,
	&wr_cause_notsent_lowat,
	&wr_cause_sndbuf_limited,
	&wr_cause_protocol_window,
	&wr_cause_idle_restart,
	&wr_cause_ssthresh_cached,
	&wr_cause_writer_limited,
	&wr_cause_device_queue,
	&wr_cause_policer,
	&wr_cause_offload_loss,
	&wr_cause_loss_limited,
	&wr_cause_ramp_limited,
	&wr_cause_path_limited,
	&wr_cause_udp_unread,
	&wr_cause_udp_slow_reader,
	&wr_cause_udp_rcvbuf_overflow,
	&wr_cause_udp_send_overflow,
	&wr_cause_udp_reassembly,
	&wr_cause_netlink_overflow,
	&wr_cause_bufferbloat,
	&wr_cause_sysctl_capped,
	&wr_cause_small_writes,
	&wr_cause_memory_pressure,
	&wr_cause_none,
	&wr_cause_unknown,
	NULL,
};
