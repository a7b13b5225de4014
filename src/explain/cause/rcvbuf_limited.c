/* SPDX-License-Identifier: MIT */
/*
 * rcvbuf-limited: the peer's window is full, its reader keeps up, and the path is not full. The window comes from
 * SO_RCVBUF or, autotuned, from tcp_rmem[2].
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* In flight over (goodput x min RTT): from here on the path may be full just as well. */
#define R_SURE 1.1
#define AT_CEILING_RATIO 0.9
/* Up to here nothing queues. */
#define R_LIMIT 1.25
/* A receiver that autotunes keeps its window at twice what is taken (tcp_rcv_space_adjust), so this much is all of it. */
#define TAKEN_RATIO 0.9
/* Scale of the stock tcp_rmem[2] of 6 MiB, and of larger ones. */
#define USUAL_WSCALE 7

static void prove_ceiling(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_connection *connection = judged->in;
	double eff = judged->features.rcvbuf_eff_bytes;
	const char *side = wr_side_name(judged->receiver_side);
	char size[WR_UNIT_TEXT], asked[WR_UNIT_TEXT];

	if (!connection || !(eff > 0))
		return;
	wr_size_text(size, eff);
	if (!connection->rcv_autotuning)
		wr_finding_prove(out, "rcvbuf_eff_bytes", eff, "bytes",
				 "SO_RCVBUF is pinned: %s asked for, %s effective, autotuning off, on %s",
				 wr_size_text(asked, (double)connection->rcvbuf_req_bytes), size, side);
	else if (judged->receiver->tcp_rmem_max_bytes != WR_UNSET &&
		 eff >= AT_CEILING_RATIO * (double)judged->receiver->tcp_rmem_max_bytes)
		wr_finding_prove(out, "net.ipv4.tcp_rmem", (double)judged->receiver->tcp_rmem_max_bytes, "bytes",
				 "SO_RCVBUF stopped growing at %s = net.ipv4.tcp_rmem[2] on %s", size, side);
	else
		wr_finding_prove(out, "rcvbuf_eff_bytes", eff, "bytes", "SO_RCVBUF stands at %s on %s%s", size, side,
				 judged->evidence->outside && !judged->evidence->lifetime ? " and does not grow: a program has pinned it" : "");
}

/*
 * From the sending end alone a small buffer and a slow reader look alike: both are said. But a window that stands at the
 * ceiling of its scale is granted whole, so its reader keeps up.
 */
static int from_sender(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double share = f->stop_ratio[WR_STOP_WINDOW];
	const struct wr_sample *last = wr_series_at(&judged->out->series, INT64_MAX);
	char in_flight[WR_UNIT_TEXT], window[WR_UNIT_TEXT];

	if (share < 0.05 || f->path_full || (f->stalled && f->zero_window))
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = share / 2;
	if (f->rtt_us > 0)
		out->ceiling_bps = 8e6 * f->window_bytes / f->rtt_us;
	wr_finding_prove(out, "window_ratio", f->window_ratio, "ratio", "in flight %s of the peer's window %s (%.0f %%)",
			 wr_size_text(in_flight, f->in_flight_bytes), wr_size_text(window, f->window_bytes), 100 * f->window_ratio);
	wr_finding_prove(out, "rwnd_limited_ratio", f->rwnd_ratio, "ratio",
			 "the kernel counts %.0f %% of the time as stopped by the peer's window", 100 * f->rwnd_ratio);
	if (wr_sample_get(last, WR_M_SND_WSCALE, NAN) < USUAL_WSCALE && f->scaled == 1)
		wr_finding_prove(out, "snd_wscale", wr_sample_get(last, WR_M_SND_WSCALE, 0), "shift",
				 "the peer's window scale of %.0f is that of a receive buffer set to a small size before listen or connect",
				 wr_sample_get(last, WR_M_SND_WSCALE, 0));
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

/* From the receiving end alone: what it takes a round trip is all that its window admits, and nothing lies unread. */
static int from_receiver(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;

	if (!(f->taken_ratio >= TAKEN_RATIO) || !(f->receive_queue_ratio < WR_SLOW_READER_RATIO) ||
	    f->receiver_rtt_ratio > R_LIMIT || !(f->moved_bytes > 0))
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = 1;
	if (f->goodput_bps > 0)
		out->ceiling_bps = f->goodput_bps;
	prove_ceiling(judged, out);
	wr_finding_prove(out, "rcv_space_bytes", f->taken_ratio, "ratio",
			 "the program takes %.0f %% of the advertised window in each round trip", 100 * fmin(f->taken_ratio, 1));
	wr_finding_prove(out, "receive_queue_ratio", f->receive_queue_ratio, "ratio",
			 "the reader keeps up: its queue holds %.0f %% of the buffer", 100 * f->receive_queue_ratio);
	out->confidence = judged->in->rcv_autotuning ? WR_CONFIDENCE_LOW : WR_CONFIDENCE_MEDIUM;
	return 1;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	const struct wr_sample *last = judged->out ? wr_series_at(&judged->out->series, INT64_MAX) : NULL;
	double share = f->stop_ratio[WR_STOP_WINDOW];
	char in_flight[WR_UNIT_TEXT], window[WR_UNIT_TEXT];

	if (wr_finding_find(found, "window-scale-missing"))
		return 0;
	if (judged->evidence->outside && judged->out && isnan(f->receive_queue_ratio) && !f->at_scale)
		return from_sender(judged, out);
	if (judged->evidence->outside && !judged->out)
		return from_receiver(judged, out);
	/* In a short transfer the first windows are small whatever the buffer. */
	if (judged->evidence->ramping && share < 0.5)
		return 0;
	if (f->path_full || share < 0.05 || f->receive_queue_ratio >= WR_SLOW_READER_RATIO || !last)
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = share;
	out->ceiling_bps = 8e6 * f->window_bytes * (double)judged->sender->n_connections / f->rtt_us;
	prove_ceiling(judged, out);
	wr_finding_prove(out, "window_ratio", f->window_ratio, "ratio",
			 "in flight %s of the peer's window %s (%.0f %%)", wr_size_text(in_flight, f->in_flight_bytes),
			 wr_size_text(window, f->window_bytes), 100 * f->window_ratio);
	wr_finding_prove(out, "rwnd_limited_ratio", f->rwnd_ratio, "ratio",
			 "the kernel counts %.0f %% of the time as stopped by the peer's window", 100 * f->rwnd_ratio);
	wr_finding_prove(out, "receive_queue_ratio", f->receive_queue_ratio, "ratio",
			 "the reader keeps up: its queue holds %.0f %% of the buffer", 100 * f->receive_queue_ratio);
	if (f->ratio_valid)
		wr_finding_prove(out, "in_flight_ratio", f->in_flight_ratio, "ratio",
			 "in flight is %.2f x (goodput x min RTT): %s", f->in_flight_ratio,
			 f->doubt ? "a queue stands part of the time, so raise the buffer and see" : "no queue, the path has room");
	if (f->at_scale)
		wr_finding_prove(out, "snd_wscale", wr_sample_get(last, WR_M_SND_WSCALE, 0), "shift",
				 "the window stands at the largest that its scale can say: only a new connection can raise it");
	if (f->doubt)
		out->confidence = WR_CONFIDENCE_LOW;
	else
		out->confidence = share >= 0.5 && f->window_ratio >= 0.85 && f->in_flight_ratio <= R_SURE ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_rcvbuf_limited = {
	.name = "rcvbuf-limited",
	.summary = "The receive buffer advertises a window smaller than the path can carry in flight.",
	.source = "net/ipv4/tcp_output.c __tcp_select_window, tcp_write_xmit",
	.eval = eval,
};
