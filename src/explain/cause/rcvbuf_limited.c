/* SPDX-License-Identifier: MIT */
/*
 * rcvbuf-limited: the peer's window is full, its reader keeps up, and the path is not full. The window comes from
 * SO_RCVBUF or, autotuned, from tcp_rmem[2].
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define SLOW_READER_QUEUE_RATIO 0.25
/* In flight over (goodput x min RTT): from here on the path may be full just as well. */
#define R_SURE 1.1
#define AT_CEILING_RATIO 0.9
/* Largest window that a scale can say. */
#define WINDOW_FIELD_MAX 65535.0

static void prove_ceiling(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_connection *connection = &judged->receiver->connections[0];
	double eff = judged->features.rcvbuf_eff_bytes;
	const char *side = wr_side_name(judged->receiver_side);
	char size[WR_UNIT_TEXT], asked[WR_UNIT_TEXT];

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
		wr_finding_prove(out, "rcvbuf_eff_bytes", eff, "bytes", "SO_RCVBUF stands at %s on %s", size, side);
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	const struct wr_sample *last = wr_series_at(&judged->sender->connections[0].series, INT64_MAX);
	double share = f->stop_ratio[WR_STOP_WINDOW], scale;
	char in_flight[WR_UNIT_TEXT], window[WR_UNIT_TEXT];

	(void)found;
	/* In a short transfer the first windows are small whatever the buffer. */
	if (judged->evidence->ramping && share < 0.5)
		return 0;
	if (f->path_full || share < 0.05 || f->receive_queue_ratio >= SLOW_READER_QUEUE_RATIO || !last)
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
	scale = WINDOW_FIELD_MAX * exp2(wr_sample_get(last, WR_M_SND_WSCALE, 0));
	if (f->window_bytes > 0.95 * scale)
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
