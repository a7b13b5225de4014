/* SPDX-License-Identifier: MIT */
/*
 * struct tcp_info as of Linux 6.7, with the release of each field, because build headers are older than the
 * kernels that weir meets. Source: include/uapi/linux/tcp.h, iproute2's tagged headers.
 */
#ifndef WR_OS_LINUX_UAPI_TCP_INFO_H
#define WR_OS_LINUX_UAPI_TCP_INFO_H

#include <stdint.h>

struct wr_tcp_info {
	uint8_t state, ca_state, retransmits, probes, backoff, options;
	uint8_t snd_wscale : 4, rcv_wscale : 4;
	uint8_t delivery_rate_app_limited : 1, fastopen_client_fail : 2;
	uint32_t rto, ato, snd_mss, rcv_mss;
	uint32_t unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt, rcv_space, total_retrans;
	uint64_t pacing_rate, max_pacing_rate; /* 3.15 */
	uint64_t bytes_acked, bytes_received; /* 4.1 */
	uint32_t segs_out, segs_in; /* 4.2 */
	uint32_t notsent_bytes, min_rtt, data_segs_in, data_segs_out; /* 4.6 */
	uint64_t delivery_rate; /* 4.9 */
	uint64_t busy_time, rwnd_limited, sndbuf_limited; /* 4.10 */
	uint32_t delivered, delivered_ce; /* 4.18 */
	uint64_t bytes_sent, bytes_retrans; /* 4.19 */
	uint32_t dsack_dups, reord_seen; /* 4.19 */
	uint32_t rcv_ooopack, snd_wnd; /* 5.4 */
	uint32_t rcv_wnd, rehash; /* 6.2 */
	uint16_t total_rto, total_rto_recoveries; /* 6.7 */
	uint32_t total_rto_time; /* 6.7 */
};

#endif
