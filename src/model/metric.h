/* SPDX-License-Identifier: MIT */
/*
 * Metrics and samples. A metric is a row: key with unit, meaning, source. A sample is one reading of every metric
 * of one stream at one instant; a metric that this kernel or this end doesn't have is WR_ABSENT, never 0.
 */
#ifndef WR_MODEL_METRIC_H
#define WR_MODEL_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "weir/err.h"

#define WR_ABSENT INT64_MIN

/* X(enum suffix, key, summary, source) */
#define WR_METRICS(X)                                                                                             \
	X(T_NS, "t_ns", "time since the start of the run", "CLOCK_MONOTONIC")                                     \
	X(BYTES, "bytes", "bytes that the program wrote or read so far", "weir")                                  \
	X(MESSAGES, "messages", "messages that are done so far; absent in a byte stream", "weir")                 \
	X(BLOCKED, "blocked", "1 while the writer waits for buffer space", "weir")                                \
	X(BLOCKED_NS, "blocked_ns", "time the writer has waited so far", "weir")                                  \
	X(CPU_NS, "cpu_ns", "CPU time of the stream's thread so far", "clock_gettime(thread)")                    \
	X(RUNQ_NS, "runq_ns", "time that thread waited for a CPU so far", "/proc/self/task/TID/schedstat")        \
	X(CA_STATE, "ca_state", "0 open, 1 disorder, 2 cwr, 3 recovery, 4 loss", "tcpi_ca_state")                 \
	X(SND_WSCALE, "snd_wscale", "shift of the peer's windows", "tcpi_snd_wscale")                             \
	X(RCV_WSCALE, "rcv_wscale", "shift of this end's windows", "tcpi_rcv_wscale")                             \
	X(SND_MSS_BYTES, "snd_mss_bytes", "payload of a full segment", "tcpi_snd_mss")                            \
	X(UNACKED_SEGS, "unacked_segs", "segments sent and not acknowledged", "tcpi_unacked")                     \
	X(SACKED_SEGS, "sacked_segs", "of those, selectively acknowledged", "tcpi_sacked")                        \
	X(LOST_SEGS, "lost_segs", "of those, taken for lost", "tcpi_lost")                                        \
	X(RETRANS_SEGS, "retrans_segs", "retransmitted and not acknowledged", "tcpi_retrans")                     \
	X(RTT_US, "rtt_us", "smoothed round-trip time", "tcpi_rtt")                                               \
	X(MIN_RTT_US, "min_rtt_us", "smallest round-trip time", "tcpi_min_rtt")                                   \
	X(CWND_SEGS, "cwnd_segs", "congestion window", "tcpi_snd_cwnd")                                           \
	X(SSTHRESH_SEGS, "ssthresh_segs", "slow-start threshold", "tcpi_snd_ssthresh")                            \
	X(TOTAL_RETRANS_SEGS, "total_retrans_segs", "segments retransmitted so far", "tcpi_total_retrans")        \
	X(TOTAL_RTO, "total_rto", "retransmission timeouts so far", "tcpi_total_rto (6.7)")                       \
	X(PACING_BPS, "pacing_bps", "rate that TCP spaces its segments to", "tcpi_pacing_rate")                   \
	X(DELIVERY_BPS, "delivery_bps", "latest delivery-rate sample", "tcpi_delivery_rate (4.9)")                \
	X(BYTES_ACKED, "bytes_acked", "payload acknowledged so far", "tcpi_bytes_acked")                          \
	X(BYTES_SENT, "bytes_sent", "payload sent so far, retransmissions included", "tcpi_bytes_sent (4.19)")    \
	X(BYTES_RETRANS, "bytes_retrans", "payload retransmitted so far", "tcpi_bytes_retrans (4.19)")            \
	X(BYTES_RECEIVED, "bytes_received", "payload received so far", "tcpi_bytes_received")                     \
	X(DATA_SEGS_OUT, "data_segs_out", "segments with payload sent so far", "tcpi_data_segs_out (4.6)")        \
	X(NOTSENT_BYTES, "notsent_bytes", "payload queued and never sent", "tcpi_notsent_bytes (4.6)")            \
	X(BUSY_US, "busy_us", "time with data queued or in flight so far", "tcpi_busy_time (4.10)")               \
	X(RWND_US, "rwnd_limited_us", "of it, stopped by the peer's window", "tcpi_rwnd_limited (4.10)")          \
	X(SNDBUF_US, "sndbuf_limited_us", "of it, stopped by SO_SNDBUF", "tcpi_sndbuf_limited (4.10)")            \
	X(SND_WND_BYTES, "snd_wnd_bytes", "window that the peer advertises", "tcpi_snd_wnd (5.4)")                \
	X(RCV_WND_BYTES, "rcv_wnd_bytes", "window that this end advertises", "tcpi_rcv_wnd (6.2)")                \
	X(RCV_SSTHRESH_BYTES, "rcv_ssthresh_bytes", "present limit of the advertised window", "tcpi_rcv_ssthresh") \
	X(RMEM_BYTES, "rmem_bytes", "kernel memory of the receive queue", "SO_MEMINFO rmem_alloc")                \
	X(RCVBUF_BYTES, "rcvbuf_bytes", "effective receive buffer", "SO_MEMINFO rcvbuf")                          \
	X(WMEM_BYTES, "wmem_bytes", "kernel memory of what was sent and not yet read or freed", "SO_MEMINFO wmem_alloc") \
	X(UNREAD_BYTES, "unread_bytes", "payload that the program has not read yet", "SIOCINQ (not TCP)")         \
	X(WMEM_QUEUED_BYTES, "wmem_queued_bytes", "kernel memory of the send queue", "SO_MEMINFO wmem_queued")    \
	X(SNDBUF_BYTES, "sndbuf_bytes", "effective send buffer", "SO_MEMINFO sndbuf")                             \
	X(DROPS, "drops", "packets dropped at this socket so far", "SO_MEMINFO drops")                            \
	X(WSCALE_OK, "wscale_ok", "1 when both ends agreed to scale windows", "tcpi_options TCPI_OPT_WSCALE")     \
	X(RTTVAR_US, "rttvar_us", "mean deviation of the round-trip time", "ss rtt (tcpi_rttvar)")                \
	X(LAST_SND_MS, "last_snd_ms", "time since data was sent", "ss lastsnd (tcpi_last_data_sent)")             \
	X(LAST_RCV_MS, "last_rcv_ms", "time since data came", "ss lastrcv (tcpi_last_data_recv)")                 \
	X(LAST_ACK_MS, "last_ack_ms", "time since an ACK came", "ss lastack (tcpi_last_ack_recv)")                \
	X(BACKOFF, "backoff", "times that the timer was doubled", "ss backoff (tcpi_backoff)")                    \
	X(PERSISTING, "persisting", "1 while the persist timer runs", "ss timer (idiag_timer)")                   \
	X(SEGS_OUT, "segs_out", "segments sent so far, pure ACKs included", "ss segs_out (tcpi_segs_out)")        \
	X(DATA_SEGS_IN, "data_segs_in", "segments with payload that came so far", "ss data_segs_in (4.6)")        \
	X(RCV_SPACE_BYTES, "rcv_space_bytes", "bytes that the reader takes in a round trip", "ss rcv_space")      \
	X(RCV_RTT_US, "rcv_rtt_us", "round-trip time as the receiver estimates it", "ss rcv_rtt (tcpi_rcv_rtt)")  \
	X(DELIVERED_CE_SEGS, "delivered_ce_segs", "segments delivered with a congestion mark", "ss delivered_ce") \
	X(RECV_Q_BYTES, "recv_q_bytes", "bytes that the program has not read", "ss Recv-Q")                       \
	X(SEND_Q_BYTES, "send_q_bytes", "bytes that are not acknowledged or not taken", "ss Send-Q")

enum wr_metric_id {
#define X(id, key, summary, source) WR_M_##id,
	WR_METRICS(X)
#undef X
	WR_N_METRICS
};

struct wr_metric {
	const char *key, *summary, *source;
};

extern const struct wr_metric wr_metrics[WR_N_METRICS];

struct wr_sample {
	int64_t value[WR_N_METRICS];
};

/*
 * The samples of one stream at one end, oldest first.
 *
 * @samples: n_samples of them, owned
 * @stride: of the samples pushed only every so many-th is kept, once the series has been full; 0 is 1
 */
struct wr_series {
	struct wr_sample *samples;
	size_t n_samples, capacity, stride, n_pushed;
};

void wr_series_deinit(struct wr_series *series);

/* wr_series_reserve - make room for @capacity samples. Return: 0; -1 out of memory. */
int wr_series_reserve(struct wr_series *series, size_t capacity, struct weir_err *err);

/* wr_series_push - append; a full series thins itself out evenly, so it never fails or grows. */
void wr_series_push(struct wr_series *series, const struct wr_sample *sample);

/* wr_series_push_last - append the last one of all, which is kept whatever was thinned out before. */
void wr_series_push_last(struct wr_series *series, const struct wr_sample *sample);

/*
 * wr_series_at - the last sample not later than @t_ns, or the first
 * Return: NULL only when the series is empty.
 */
const struct wr_sample *wr_series_at(const struct wr_series *series, int64_t t_ns);

/* wr_sample_get - @fallback where the metric is absent. */
static inline double wr_sample_get(const struct wr_sample *sample, enum wr_metric_id id, double fallback)
{
	return sample->value[id] == WR_ABSENT ? fallback : (double)sample->value[id];
}

/* As columns: {"metrics": [keys], "rows": [[...], ...]}; absent values are null. Unknown keys are skipped. */
json_t *wr_series_to_json(const struct wr_series *series);
/* wr_series_to_json_every - the same with every @every-th sample (1: all) and the last one. */
json_t *wr_series_to_json_every(const struct wr_series *series, size_t every);
int wr_series_from_json(struct wr_series *series, const json_t *object, struct weir_err *err);

#endif
