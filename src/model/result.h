/* SPDX-License-Identifier: MIT */
/* A result: the figures of one run, computed from its evidence. Throughput is what the receiving program read. */
#ifndef WR_MODEL_RESULT_H
#define WR_MODEL_RESULT_H

#include "model/evidence.h"

#define WR_MAX_INTERVALS 512

struct wr_interval {
	double start_s, end_s, throughput_bps;
	double rtt_us, cwnd_segs, retrans_segs;
};

enum { WR_LATENCY_P50, WR_LATENCY_P90, WR_LATENCY_P99, WR_LATENCY_P999, WR_LATENCY_MAX, WR_N_LATENCIES };

/*
 * NaN: not to be had.
 *
 * @throughput_bps: over the steady interval; over the whole run when there was none
 * @bytes: read by the receiver in the whole run; @transfer_s: until the last of them, or the time that was asked for
 * @rtt_min_us: smallest round trip that the sender or the idle control connection saw
 * @rtt_loaded_us: median smoothed round trip in the steady interval
 * @cpu_ratio_near, @cpu_ratio_far: busiest worker thread, of one CPU; -1 unknown
 * @stream_bps: by stream
 * @bytes_per_segment: payload of the segments that the sender sent in the steady interval, retransmissions included
 * @messages: whole ones that the receiver read in the whole run; @messages_per_s: in the steady interval, from the first
 *	that became whole in it to the last
 * @latency_us: what a message took the sender, of the whole run: p50 p90 p99 p99.9 max. All of these NaN where unknown
 */
struct wr_result {
	double throughput_bps, rtt_min_us, rtt_loaded_us, mss_bytes;
	double cpu_ratio_near, cpu_ratio_far, transfer_s;
	double bytes_per_segment, messages, messages_per_s, latency_us[WR_N_LATENCIES];
	uint64_t bytes;
	double stream_bps[WR_MAX_STREAMS];
	uint64_t stream_bytes[WR_MAX_STREAMS];
	size_t n_streams;
	struct wr_interval intervals[WR_MAX_INTERVALS];
	size_t n_intervals;
};

#endif
