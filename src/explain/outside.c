/* SPDX-License-Identifier: MIT */
/*
 * Features of evidence from outside: a few snapshots of sockets whose programs weir doesn't know. That a writer waits
 * for buffer space is then told by its queue (sk_stream_min_wspace: the writer of a full buffer is woken at two thirds
 * of it), and only where the buffer can be the limit at all: one that the kernel sizes grows until it isn't. Shares of
 * time come from the kernel's own clocks where it has them, and of what is left from the snapshots that caught it at
 * work.
 */
#include <math.h>
#include <string.h>

#include "explain/features.h"

#define UNSENT_MSS 4
/*
 * ... under pacing less than this part of what is in flight: two paced bursts leave some unsent. A full path leaves
 * several times as much.
 */
#define UNSENT_PACED_RATIO 0.5
#define FULL_WINDOW_RATIO 0.85
#define FULL_CWND_RATIO 0.9
#define QUEUED_RATIO 0.66
/* Payload of a queue that is full is 0.45 to 0.7 of its memory; for texts that have no memory (iperf3). */
#define PAYLOAD_RATIO 0.42
#define AT_CEILING_RATIO 0.95
#define VARIES_RATIO 1.25
/* Without a look at the receiver, an RTT that rose by less may have risen in its host. */
#define SURE_QUEUE_US 5000
/* Recv-Q against the window's limit where there is no skmem. */
#define R_LIMIT 1.25

bool wr_sample_is_state(const struct wr_sample *sample)
{
	return sample->value[WR_M_CWND_SEGS] != WR_ABSENT || sample->value[WR_M_RECV_Q_BYTES] != WR_ABSENT ||
	       sample->value[WR_M_RMEM_BYTES] != WR_ABSENT;
}

/* A send buffer that the kernel still sizes is no limit below its ceiling. */
static bool sndbuf_may_bind(const struct wr_case *judged)
{
	const struct wr_connection *out = judged->out;
	double ceiling =
		judged->sender->tcp_wmem_max_bytes == WR_UNSET ? 4194304 : (double)judged->sender->tcp_wmem_max_bytes;

	return !out->snd_autotuning ||
	       (out->sndbuf_eff_bytes != WR_UNSET && (double)out->sndbuf_eff_bytes >= AT_CEILING_RATIO * ceiling);
}

static bool waits_for_space(const struct wr_case *judged, const struct wr_sample *sample)
{
	double sndbuf = wr_sample_get(sample, WR_M_SNDBUF_BYTES, NAN),
	       queued = wr_sample_get(sample, WR_M_WMEM_QUEUED_BYTES, NAN);

	if (!sndbuf_may_bind(judged))
		return false;
	if (isnan(queued))
		return wr_in_flight_bytes(sample) >= PAYLOAD_RATIO * sndbuf;
	return queued >= QUEUED_RATIO * sndbuf;
}

/* Hardly anything is left to send. */
static bool is_starved(const struct wr_case *judged, double notsent, double in_flight, double mss)
{
	double most = UNSENT_MSS * mss;

	if (judged->features.bbr && sndbuf_may_bind(judged))
		most = fmax(most, UNSENT_PACED_RATIO * in_flight);
	return notsent < most || !isfinite(notsent);
}

enum wr_stop wr_outside_stop(const struct wr_case *judged, const struct wr_sample *sample)
{
	double mss = wr_sample_get(sample, WR_M_SND_MSS_BYTES, 1), in_flight = wr_in_flight_bytes(sample);
	double notsent = wr_sample_get(sample, WR_M_NOTSENT_BYTES, INFINITY),
	       window = wr_sample_get(sample, WR_M_SND_WND_BYTES, INFINITY);
	double cwnd = wr_sample_get(sample, WR_M_CWND_SEGS, INFINITY) * mss;

	if (!(in_flight > 0) && !(notsent > 0))
		return WR_N_STOPS;
	/* A window that is full stops the sender however little more it has. */
	if (notsent > 0 && in_flight >= FULL_WINDOW_RATIO * window)
		return WR_STOP_WINDOW;
	if (!is_starved(judged, notsent, in_flight, mss))
		return WR_STOP_NETWORK;
	if (waits_for_space(judged, sample) && in_flight < FULL_CWND_RATIO * cwnd)
		return WR_STOP_SNDBUF;
	return in_flight < FULL_CWND_RATIO * cwnd && isfinite(notsent) ? WR_STOP_WRITER : WR_STOP_NETWORK;
}

static void move(struct wr_features *f, enum wr_stop to, enum wr_stop from, double *missing)
{
	double moved = fmin(fmax(*missing, 0), f->stop_ratio[from]);

	f->stop_ratio[to] += moved;
	f->stop_ratio[from] -= moved;
	*missing -= moved;
}

void wr_outside_shares(struct wr_features *f, const double counts[WR_N_STOPS], size_t n_idle)
{
	double busy = fmin(f->busy_ratio, 1), n = 0, missing;

	for (int stop = 0; stop < WR_N_STOPS; stop++)
		n += counts[stop];
	if (isnan(busy))
		busy = n + (double)n_idle > 0 ? n / (n + (double)n_idle) : 0;
	for (int stop = 0; stop < WR_N_STOPS; stop++)
		f->stop_ratio[stop] = n > 0 ? busy * counts[stop] / n : 0;
	/* Nothing to send is the writer's time; what an unlucky look has missed is nobody's. */
	f->n_idle = n_idle;
	if (n + (double)n_idle > 0)
		f->stop_ratio[WR_STOP_WRITER] += 1 - busy;
	missing = fmin(f->rwnd_ratio, 1) - f->stop_ratio[WR_STOP_WINDOW];
	move(f, WR_STOP_WINDOW, WR_STOP_NETWORK, &missing);
	move(f, WR_STOP_WINDOW, WR_STOP_SNDBUF, &missing);
	missing = fmin(f->sndbuf_ratio, 1) - f->stop_ratio[WR_STOP_SNDBUF];
	move(f, WR_STOP_SNDBUF, WR_STOP_NETWORK, &missing);
	missing = fmin(missing, f->stop_ratio[WR_STOP_WINDOW] - f->rwnd_ratio);
	move(f, WR_STOP_SNDBUF, WR_STOP_WINDOW, &missing);
}

static const struct wr_sample *first_state(const struct wr_connection *connection)
{
	for (size_t i = 0; connection && i < connection->series.n_samples; i++) {
		if (wr_sample_is_state(&connection->series.samples[i]))
			return &connection->series.samples[i];
	}
	return NULL;
}

static void window_features(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;
	double least = INFINITY, most = 0;

	for (size_t i = 0; judged->out && i < judged->out->series.n_samples; i++) {
		double window = wr_sample_get(&judged->out->series.samples[i], WR_M_SND_WND_BYTES, NAN);

		if (isnan(window))
			continue;
		least = fmin(least, window);
		most = fmax(most, window);
	}
	f->zero_window = least <= 0;
	f->window_varies = most > VARIES_RATIO * least;
}

/* bytes_acked counts the SYN and the FIN as a byte each. */
static double payload(double bytes)
{
	return bytes > 2 ? bytes : 0;
}

/* What only the sending end's socket shows. */
static void sender_features(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;
	const struct wr_sample *first = first_state(judged->out), *last = wr_series_at(&judged->out->series, INT64_MAX);
	double acked = wr_connection_delta(judged->evidence, judged->out, WR_M_BYTES_ACKED);
	double replies = wr_connection_delta(judged->evidence, judged->out, WR_M_DATA_SEGS_IN);
	double reply_bytes = wr_connection_delta(judged->evidence, judged->out, WR_M_BYTES_RECEIVED);

	if (!first)
		return;
	window_features(judged);
	f->writer_known = wr_sample_get(last, WR_M_WMEM_QUEUED_BYTES, NAN) >= 0;
	f->cwnd_segs = wr_sample_get(last, WR_M_CWND_SEGS, NAN);
	f->cwnd_ratio = f->cwnd_segs / wr_sample_get(first, WR_M_CWND_SEGS, NAN);
	f->ssthresh_segs = wr_sample_get(last, WR_M_SSTHRESH_SEGS, NAN);
	f->retrans_segs = wr_sample_get(last, WR_M_TOTAL_RETRANS_SEGS, NAN);
	f->marked_segs = wr_sample_get(last, WR_M_DELIVERED_CE_SEGS, 0);
	f->scaled = wr_sample_get(last, WR_M_WSCALE_OK, NAN);
	f->idle_ms = fmax(wr_sample_get(first, WR_M_LAST_SND_MS, NAN), wr_sample_get(last, WR_M_LAST_SND_MS, NAN));
	f->stalled = acked == 0 && !judged->evidence->lifetime && wr_sample_get(last, WR_M_NOTSENT_BYTES, 0) > 0;
	if (replies > 0) {
		f->reply_bytes = reply_bytes / replies;
		f->bytes_per_reply = acked / replies;
	}
	f->moved_bytes = payload(acked) + payload(reply_bytes);
}

/* Of the receive queue without its memory: unread bytes against what the window could still grant. */
static double queue_without_memory(const struct wr_connection *in)
{
	double sum = 0, unread = 0;
	size_t n = 0;

	for (size_t i = 0; i < in->series.n_samples; i++) {
		const struct wr_sample *sample = &in->series.samples[i];
		double queue = wr_sample_get(sample, WR_M_RECV_Q_BYTES, NAN),
		       limit = wr_sample_get(sample, WR_M_RCV_SSTHRESH_BYTES, NAN);

		if (isnan(queue))
			continue;
		sum += limit > 0 ? fmin(queue / limit, 1) : 0;
		unread += limit > 0 ? 0 : queue > 0;
		n++;
	}
	/* Without any size: a queue that is never seen empty. */
	if (n > 1 && unread == (double)n)
		return 1;
	return n && unread == 0 ? sum / (double)n : NAN;
}

static void receiver_side(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;
	const struct wr_sample *last = wr_series_at(&judged->in->series, INT64_MAX);
	double rtt, least, received = wr_connection_delta(judged->evidence, judged->in, WR_M_BYTES_RECEIVED);

	if (!last)
		return;
	if (isnan(f->receive_queue_ratio))
		f->receive_queue_ratio = queue_without_memory(judged->in);
	f->taken_ratio =
		wr_sample_get(last, WR_M_RCV_SPACE_BYTES, NAN) / wr_sample_get(last, WR_M_RCV_SSTHRESH_BYTES, NAN);
	rtt = wr_sample_get(last, WR_M_RCV_RTT_US, NAN);
	least = wr_sample_get(last, WR_M_MIN_RTT_US, NAN);
	f->receiver_rtt_ratio = rtt / least;
	f->receiver_queue_us = rtt - least;
	if (!judged->out) {
		f->scaled = wr_sample_get(last, WR_M_WSCALE_OK, NAN);
		f->moved_bytes = payload(received);
	}
}

void wr_outside_features(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;

	f->taken_ratio = f->receiver_rtt_ratio = f->receiver_queue_us = f->reply_bytes = f->bytes_per_reply = NAN;
	f->cwnd_ratio = f->idle_ms = f->ssthresh_segs = f->cwnd_segs = f->retrans_segs = f->marked_segs = f->scaled =
		NAN;
	if (!judged->evidence->outside) {
		const struct wr_sample *last = judged->out ? wr_series_at(&judged->out->series, INT64_MAX) : NULL;

		f->writer_known = true;
		f->scaled = last ? wr_sample_get(last, WR_M_WSCALE_OK, NAN) : NAN;
		return;
	}
	if (judged->out)
		sender_features(judged);
	if (judged->in)
		receiver_side(judged);
	/*
	 * A window that is full over a queue of a few ms: without the receiver its reader may be the one who is late.
	 */
	if (f->path_full && !judged->in && f->stop_ratio[WR_STOP_WINDOW] >= 0.5 && f->queue_us < SURE_QUEUE_US) {
		f->path_full = false;
		f->doubt = true;
	}
	if (!f->path_full && f->ratio_valid && f->in_flight_ratio > R_LIMIT)
		f->doubt = true;
	wr_talk_init(&judged->talk[WR_SIDE_NEAR], judged, &judged->evidence->near);
	wr_talk_init(&judged->talk[WR_SIDE_FAR], judged, &judged->evidence->far);
}
