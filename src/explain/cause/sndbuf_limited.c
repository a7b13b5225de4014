/* SPDX-License-Identifier: MIT */
/*
 * sndbuf-limited: the writer waits for send-buffer space while nearly nothing is left to send, and the path is not
 * full. tcpi_sndbuf_limited alone reads 0 to 95 % on such flows; it only confirms.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* In flight over (goodput x min RTT): from here on the path may be full just as well. */
#define R_SURE 1.1
/* Autotuning counts as stopped at its ceiling from here on. */
#define AT_CEILING_RATIO 0.95
/* In flight over (goodput x min RTT): up to here nothing queues. */
#define R_CLEAR 1.25

static void prove_ceiling(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_connection *connection = judged->out;
	double eff = judged->features.sndbuf_eff_bytes, ceiling = (double)judged->sender->tcp_wmem_max_bytes;
	const char *side = wr_side_name(judged->sender_side);
	char size[WR_UNIT_TEXT], asked[WR_UNIT_TEXT];

	wr_size_text(size, eff);
	if (!connection->snd_autotuning)
		wr_finding_prove(out, "sndbuf_eff_bytes", eff, "bytes",
				 "SO_SNDBUF is pinned: %s asked for, %s effective, autotuning off, on %s",
				 wr_size_text(asked, (double)connection->sndbuf_req_bytes), size, side);
	else if (judged->sender->tcp_wmem_max_bytes != WR_UNSET && eff >= AT_CEILING_RATIO * ceiling)
		wr_finding_prove(out, "net.ipv4.tcp_wmem", ceiling, "bytes",
				 "SO_SNDBUF stopped growing at %s = net.ipv4.tcp_wmem[2] on %s", size, side);
	else
		wr_finding_prove(out, "sndbuf_eff_bytes", eff, "bytes", "SO_SNDBUF stands at %s on %s", size, side);
}

/* How it is known that the writer waits: weir's own says so, another's queue shows it. */
static void prove_waiting(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;

	if (!judged->evidence->outside)
		wr_finding_prove(out, "blocked_unsent_ratio", f->stop_ratio[WR_STOP_SNDBUF], "ratio",
				 "the writer waited for buffer space for %.0f %% of the time while hardly anything was left to send",
				 100 * f->stop_ratio[WR_STOP_SNDBUF]);
	else
		wr_finding_prove(out, "wmem_queued_ratio", f->wmem_queued_ratio, "ratio",
				 "the send queue fills %.0f %% of it, all in flight: hardly anything was left to send",
				 100 * f->wmem_queued_ratio);
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	char in_flight[WR_UNIT_TEXT], cwnd[WR_UNIT_TEXT], window[WR_UNIT_TEXT];

	if (f->path_full || f->stop_ratio[WR_STOP_SNDBUF] < 0.05 || wr_finding_find(found, "notsent-lowat"))
		return 0;
	out->side = judged->sender_side;
	out->share_ratio = f->stop_ratio[WR_STOP_SNDBUF];
	out->ceiling_bps = 8e6 * f->in_flight_bytes * (double)judged->sender->n_connections / f->rtt_us;
	prove_ceiling(judged, out);
	prove_waiting(judged, out);
	wr_finding_prove(out, "in_flight_bytes", f->in_flight_bytes, "bytes",
			 "in flight %s; congestion window %s and peer window %s%s", wr_size_text(in_flight, f->in_flight_bytes),
			 wr_size_text(cwnd, f->cwnd_bytes), wr_size_text(window, f->window_bytes),
			 f->cwnd_full_ratio < 0.3 && f->window_ratio < 0.85 ? " both had room" : "");
	if (f->ratio_valid)
		wr_finding_prove(out, "in_flight_ratio", f->in_flight_ratio, "ratio",
			 "in flight is %.2f x (goodput x min RTT): %s", f->in_flight_ratio,
			 f->doubt			  ? "a queue stands part of the time, so raise the buffer and see"
			 : f->in_flight_ratio > R_CLEAR ? "bursts queue, but the path runs empty between them"
							  : "no queue, the path has room");
	if (f->sndbuf_ratio > 0.01)
		wr_finding_prove(out, "sndbuf_limited_ratio", f->sndbuf_ratio, "ratio",
				 "the kernel counts %.0f %% of the time as stopped by SO_SNDBUF", 100 * f->sndbuf_ratio);
	if (f->doubt)
		out->confidence = WR_CONFIDENCE_LOW;
	else
		out->confidence = out->share_ratio >= 0.5 && f->loss_ratio < 0.003 && f->in_flight_ratio <= R_SURE
					  ? WR_CONFIDENCE_HIGH
					  : WR_CONFIDENCE_MEDIUM;
	return 1;
}

/*
 * Without a path nothing but the reader empties the buffer. A reader that is neither used up nor told to be slow waits
 * for the writer in turn: both are woken and put to sleep instead of working, because too little fits between them.
 */
static int eval_plain(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	const struct wr_connection *first = &judged->sender->connections[0];
	char size[WR_UNIT_TEXT], asked[WR_UNIT_TEXT], message[WR_UNIT_TEXT];

	if (!first->sndbuf_option[0] || f->waited_ratio < 0.05 || wr_finding_find(found, "reader-limited") ||
	    wr_finding_find(found, "unix-queue") || wr_case_reader_is_busy(judged))
		return 0;
	out->side = judged->sender_side;
	out->share_ratio = fmin(f->waited_ratio, 1);
	if (first->sndbuf_req_bytes == WR_UNSET)
		wr_finding_prove(out, "sndbuf_eff_bytes", f->sndbuf_eff_bytes, "bytes", "%s stands at %s on %s",
				 first->sndbuf_option, wr_size_text(size, f->sndbuf_eff_bytes), wr_side_name(out->side));
	else
		wr_finding_prove(out, "sndbuf_eff_bytes", f->sndbuf_eff_bytes, "bytes", "%s: %s asked for, %s effective, on %s",
				 first->sndbuf_option, wr_size_text(asked, (double)first->sndbuf_req_bytes),
				 wr_size_text(size, f->sndbuf_eff_bytes), wr_side_name(out->side));
	wr_finding_prove(out, "waited_ratio", f->waited_ratio, "ratio",
			 "the writer waited for room for %.0f %% of the time, with writes of %s", 100 * f->waited_ratio,
			 wr_size_text(message, (double)judged->sender->write_bytes));
	wr_finding_prove(out, "receiver_cpu_ratio", f->receiver_cpu_ratio, "ratio",
			 "the reading thread ran for %.0f %% of it, so it waited for the writer in turn",
			 100 * f->receiver_cpu_ratio);
	out->confidence = out->share_ratio >= 0.5 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_sndbuf_limited = {
	.name = "sndbuf-limited",
	.summary = "The send buffer holds less than the path can carry in flight.",
	.source = "net/ipv4/tcp.c tcp_sendmsg_locked, sk_stream_memory_free",
	.eval = eval,
	.eval_plain = eval_plain,
};
