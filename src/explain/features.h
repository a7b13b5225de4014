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
 * @queued: a queue stands in the network
 * @at_scale: the peer's window stands at the largest that its scale can say
 *
 * Of evidence from outside, where the interval is between two snapshots (NaN or false elsewhere):
 *
 * @n_idle: snapshots in which nothing was queued or in flight; they are not among n_samples
 * @writer_known: whether the writer waited for space could be told at all
 * @zero_window: the peer's window was 0 at some instant; @window_varies: by more than a quarter
 * @stalled: data waits at the end and nothing was acknowledged in the interval
 * @taken_ratio: what the reader takes in a round trip / the window that its end advertises
 * @receiver_rtt_ratio, @receiver_queue_us: the receiver's estimate of the RTT / its smallest; the difference
 * @reply_bytes, @bytes_per_reply: mean payload of a segment that came back, and payload acknowledged for each
 * @cwnd_ratio: congestion window in segments at the end / at the start; @idle_ms: longest pause a snapshot fell into
 * @moved_bytes: payload that went the one way or the other
 */
struct wr_features {
	size_t n_samples, n_idle;
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
	bool slow_start, bbr, tight, ratio_valid, path_full, doubt, at_scale, queued;
	bool writer_known, zero_window, window_varies, stalled;
	double taken_ratio, receiver_rtt_ratio, receiver_queue_us, reply_bytes, bytes_per_reply, cwnd_ratio, idle_ms, moved_bytes;
	double ssthresh_segs, cwnd_segs, retrans_segs, marked_segs, scaled;
};

/*
 * How one end talks: what tells small messages that wait for each other. NaN where it can't be had.
 *
 * @seen: its socket was
 * @seg_bytes, @in_seg_bytes: mean payload of a segment that it sent, that came
 * @segs, @in_segs, @acks: segments with payload sent and come, segments without sent
 * @held_ratio: share of looks in which part of a segment waited while an earlier one was not acknowledged, with room in
 *	the windows; @corked_ratio: while nothing was in flight
 * @rtt_us, @min_rtt_us, @rttvar_us: last ones; @mss_bytes
 */
struct wr_talk {
	bool seen;
	double seg_bytes, in_seg_bytes, segs, in_segs, acks, held_ratio, corked_ratio;
	double rtt_us, min_rtt_us, rttvar_us, mss_bytes, busy_ratio;
};

/*
 * A queue of datagrams (UDP, netlink, unix): the end's whose socket drops, or that holds more. NaN where it can't be had.
 *
 * @side: whose it is; @looks: snapshots
 * @dropped: packets in the interval; @dropped_ever: in the socket's life
 * @rcvbuf_bytes: effective; @least_ratio, @most_ratio: of it that was full, over the snapshots
 * @same: every snapshot found the same amount, more than nothing
 * @received: datagrams that programs of the host have read in the interval
 * @sndbuf_ratio: least part of the send buffer that was full
 */
struct wr_queue {
	bool seen, same;
	enum wr_side side;
	size_t looks;
	double dropped, dropped_ever, rcvbuf_bytes, least_ratio, most_ratio, received, sndbuf_ratio;
};

/*
 * What a cause is judged on.
 *
 * @tcp: with tcp_info; without it only waiting, queues and CPU time are known
 * @out, @in: the first connection of the sending and of the receiving end; NULL where that end was not seen
 * @talk: of near, of far
 * @queue: of a socket that is no stream
 */
struct wr_case {
	bool tcp;
	const struct wr_evidence *evidence;
	const struct wr_end *sender, *receiver;
	const struct wr_connection *out, *in;
	enum wr_side sender_side, receiver_side;
	struct wr_features features;
	struct wr_talk talk[2];
	struct wr_queue queue;
};

/*
 * wr_case_init - the features of judged evidence
 * Return: 0; -1 out of memory.
 */
int wr_case_init(struct wr_case *judged, const struct wr_evidence *evidence, struct weir_err *err);

/* wr_case_reader_is_busy - whether the reading thread needs a whole CPU, and not because the buffer is tight. */
bool wr_case_reader_is_busy(const struct wr_case *judged);

/* -- shared by the files that make features -- */

/* wr_in_flight_bytes - payload that is neither acknowledged nor lost. */
double wr_in_flight_bytes(const struct wr_sample *sample);

/* wr_connection_delta - change of a count over the judged interval, NaN where it is absent. */
double wr_connection_delta(const struct wr_evidence *evidence, const struct wr_connection *connection, enum wr_metric_id id);

/* wr_sample_is_state - false for the made-up sample of a connection's birth, which has counts alone. */
bool wr_sample_is_state(const struct wr_sample *sample);

/* wr_outside_stop - what stops the sender at an instant, by the sockets alone; WR_N_STOPS: it is idle. */
enum wr_stop wr_outside_stop(const struct wr_case *judged, const struct wr_sample *sample);

/* wr_outside_shares - shares of time from @counts of labels, @n_idle of WR_N_STOPS among them, and the kernel's clocks. */
void wr_outside_shares(struct wr_features *f, const double counts[WR_N_STOPS], size_t n_idle);

/* wr_outside_features - those that only evidence from outside has; after all others. */
void wr_outside_features(struct wr_case *judged);

/* wr_talk_init - how an end talks. */
void wr_talk_init(struct wr_talk *talk, const struct wr_case *judged, const struct wr_end *end);

/* wr_queue_init - the queue of a socket that is no stream. */
void wr_queue_init(struct wr_queue *queue, const struct wr_evidence *evidence);

/* wr_counters_udp - a counter of UDP for IPv4 and IPv6 together ("RcvbufErrors"); NAN when nobody counted. */
double wr_counters_udp(const struct wr_end *end, const char *name);

#endif
