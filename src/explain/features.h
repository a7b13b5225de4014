/* SPDX-License-Identifier: MIT */
/*
 * Features: the figures of the steady interval that the causes read, computed once from evidence. Means over time,
 * shares of samples, deltas of counters; never lifetime totals.
 */
#ifndef WR_EXPLAIN_FEATURES_H
#define WR_EXPLAIN_FEATURES_H

#include "model/evidence.h"
#include "model/verdict.h"

/*
 * What stops the sender at an instant. The shares of these add up to 1.
 *
 * @WR_STOP_WINDOW: the peer's window is full
 * @WR_STOP_SNDBUF: the writer waits for buffer space and less than 4 MSS is unsent
 * @WR_STOP_WRITER: the writer is busy elsewhere and nothing is left to send
 * @WR_STOP_NETWORK: the congestion window or pacing
 */
enum wr_stop { WR_STOP_WINDOW, WR_STOP_SNDBUF, WR_STOP_WRITER, WR_STOP_NETWORK, WR_N_STOPS };

/*
 * Sizes in bytes a connection, times in us, rates in bit/s, the rest ratios. NaN where a figure can't be had.
 *
 * @in_flight_ratio: R, mean in flight / (goodput x min RTT): 1 means no queue anywhere
 * @in_flight_low_ratio: the same with the 10th percentile: above 1 the pipe never ran empty
 * @window_ratio: mean in flight / peer's window
 * @rwnd_ratio, @sndbuf_ratio, @busy_ratio: the kernel's chronographs over wall time
 * @cwnd_full_ratio: share of samples with in flight >= 0.9 cwnd
 * @queue_ratio: median RTT / min RTT; @queue_us: the difference
 * @recovery_ratio: share of samples in recovery or loss
 * @receive_queue_ratio: mean memory of the reader's queue / its buffer
 * @sender_cpu_ratio ...: busiest worker's CPU time; @..._wait_ratio: its time waiting for a CPU
 * @ratio_valid: goodput x min RTT is enough bytes for R and the queue's ratio to mean something (not on loopback)
 * @path_full: whatever bound the sender, the path was full too (R rule)
 * @doubt: R can't tell
 * @waited_ratio: share of the time that the writer waited for room, by its own clock
 * @tight: the buffer holds less than two writes, and the writer mostly waits: what the threads work is its price
 * @queued_ratio: mean memory of what was sent and not read / the send buffer; @unread_bytes: of it, payload (not TCP)
 */
struct wr_features {
	size_t n_samples;
	double n_connections;
	double seconds, goodput_bps, mss_bytes;
	double stop_ratio[WR_N_STOPS];
	double in_flight_bytes, in_flight_ratio, in_flight_low_ratio;
	double cwnd_bytes, cwnd_growth_ratio, window_bytes, window_ratio, notsent_bytes, blocked_ratio;
	double sndbuf_eff_bytes, rcvbuf_eff_bytes, wmem_queued_ratio;
	double waited_ratio, queued_ratio, unread_bytes;
	double rwnd_ratio, sndbuf_ratio, busy_ratio, cwnd_full_ratio;
	double min_rtt_us, rtt_us, queue_ratio, queue_us;
	double loss_ratio, timeouts, recovery_ratio;
	double receive_queue_ratio, zero_windows;
	double sender_cpu_ratio, sender_wait_ratio, receiver_cpu_ratio, receiver_wait_ratio;
	bool slow_start, bbr, tight, ratio_valid, path_full, doubt;
};

/* What a cause is judged on. @tcp: with tcp_info; without it only waiting, queues and CPU time are known. */
struct wr_case {
	bool tcp;
	const struct wr_evidence *evidence;
	const struct wr_end *sender, *receiver;
	enum wr_side sender_side, receiver_side;
	struct wr_features features;
};

/*
 * wr_case_init - the features of judged evidence
 * Return: 0; -1 out of memory.
 */
int wr_case_init(struct wr_case *judged, const struct wr_evidence *evidence, struct weir_err *err);

/* wr_case_reader_is_busy - whether the reading thread needs a whole CPU, and not because the buffer is tight. */
bool wr_case_reader_is_busy(const struct wr_case *judged);

#endif
