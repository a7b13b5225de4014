/* SPDX-License-Identifier: MIT */
/*
 * reader-limited: the window is full because the receiving program does not read. From the sender it looks like a
 * small SO_RCVBUF; only the queue at the receiver tells them apart.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* What counts as keeping a pace: a reader waits for its time slice now and then. */
#define KEEPS_PACE_RATIO 0.97

static void prove_queue(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	char queue[WR_UNIT_TEXT], buffer[WR_UNIT_TEXT];

	if (f->rcvbuf_eff_bytes > 0)
		wr_finding_prove(out, "receive_queue_ratio", f->receive_queue_ratio, "ratio",
				 "unread data fills %s of the %s receive buffer on %s (%.0f %%)",
				 wr_size_text(queue, f->receive_queue_ratio * f->rcvbuf_eff_bytes),
				 wr_size_text(buffer, f->rcvbuf_eff_bytes), wr_side_name(judged->receiver_side),
				 100 * f->receive_queue_ratio);
	else
		wr_finding_prove(out, "receive_queue_ratio", f->receive_queue_ratio, "ratio", "data lie unread on %s in every snapshot",
				 wr_side_name(judged->receiver_side));
}

/* Only the receiving end was seen: its queue alone says that nobody reads as fast as data come. */
static int from_receiver(const struct wr_case *judged, struct wr_finding *out)
{
	out->side = judged->receiver_side;
	out->share_ratio = 1;
	if (judged->features.goodput_bps > 0)
		out->ceiling_bps = judged->features.goodput_bps;
	prove_queue(judged, out);
	out->confidence = judged->evidence->lifetime ? WR_CONFIDENCE_LOW : WR_CONFIDENCE_MEDIUM;
	return 1;
}

/*
 * Only the sending end was seen. A window that stays shut while data wait is a reader that has stopped; one that opens
 * now and then may as well be a small buffer, and both causes are said.
 */
static int from_sender(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double share = f->stop_ratio[WR_STOP_WINDOW];

	if (share < 0.05 || f->path_full || f->at_scale)
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = f->stalled && f->zero_window ? share : share / 2;
	if (f->goodput_bps > 0)
		out->ceiling_bps = f->goodput_bps;
	if (f->zero_window)
		wr_finding_prove(out, "snd_wnd_bytes", 0, "bytes", "the peer has closed its window%s",
				 f->stalled ? ", acknowledges probes and takes nothing" : "");
	wr_finding_prove(out, "rwnd_limited_ratio", share, "ratio", "the sender was stopped by the peer's window for %.0f %% of the time",
			 100 * share);
	if (f->window_varies && !f->zero_window)
		wr_finding_prove(out, "snd_wnd_bytes", f->window_bytes, "bytes",
				 "the window changes as that of a queue does that somebody empties");
	if (!f->stalled)
		wr_finding_prove(out, "snd_wnd_bytes", f->window_bytes, "bytes",
				 "only the receiver's own queue can tell this from a small receive buffer");
	out->confidence = f->stalled && f->zero_window ? WR_CONFIDENCE_MEDIUM : WR_CONFIDENCE_LOW;
	return 1;
}

/* A reader that weir itself holds to a pace, and that keeps it. */
static int at_its_pace(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_plan *plan = &judged->evidence->plan;
	uint64_t pace_bps = plan->reverse ? plan->read_bps : plan->far_read_bps;
	double all_bps = (double)pace_bps * judged->features.n_connections;
	char pace[WR_UNIT_TEXT], rate[WR_UNIT_TEXT];

	if (judged->evidence->outside || pace_bps == WR_UNSET || judged->features.goodput_bps < KEEPS_PACE_RATIO * all_bps)
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = 1;
	out->ceiling_bps = all_bps;
	wr_finding_prove(out, "pace_bps", all_bps, "bit/s", "the reader is held to %s and takes %s", wr_rate_text(pace, all_bps),
			 wr_rate_text(rate, judged->features.goodput_bps));
	prove_queue(judged, out);
	out->confidence = WR_CONFIDENCE_HIGH;
	return 1;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;

	(void)found;
	if (at_its_pace(judged, out))
		return 1;
	if (judged->evidence->outside && judged->out && isnan(f->receive_queue_ratio))
		return from_sender(judged, out);
	if (!(f->receive_queue_ratio >= WR_SLOW_READER_RATIO))
		return 0;
	if (judged->evidence->outside && !judged->out)
		return from_receiver(judged, out);
	if (f->stop_ratio[WR_STOP_WINDOW] < 0.05)
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = f->stop_ratio[WR_STOP_WINDOW];
	out->ceiling_bps = f->goodput_bps;
	prove_queue(judged, out);
	wr_finding_prove(out, "rwnd_limited_ratio", f->rwnd_ratio, "ratio",
			 "the sender was stopped by the peer's window for %.0f %% of the time",
			 100 * f->stop_ratio[WR_STOP_WINDOW]);
	if (f->zero_windows > 0)
		wr_finding_prove(out, "TCPToZeroWindowAdv", f->zero_windows, "count",
				 "the receiver closed its window %.0f time%s", f->zero_windows,
				 f->zero_windows == 1 ? "" : "s");
	if (f->receiver_cpu_ratio + f->receiver_wait_ratio < 0.5)
		wr_finding_prove(out, "receiver_cpu_ratio", f->receiver_cpu_ratio, "ratio",
				 "the reading thread used %.0f %% of a CPU, so it waits for something else",
				 100 * f->receiver_cpu_ratio);
	out->confidence = f->receive_queue_ratio >= 0.4 && out->share_ratio >= 0.5 ? WR_CONFIDENCE_HIGH
										   : WR_CONFIDENCE_MEDIUM;
	return 1;
}

/* Without windows: a reader that was told to be slow, while the writer waits for it. */
static int eval_plain(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	const struct wr_plan *plan = &judged->evidence->plan;
	char unread[WR_UNIT_TEXT];

	(void)found;
	if ((plan->reverse ? plan->read_bps : plan->far_read_bps) == WR_UNSET || f->waited_ratio < 0.05)
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = fmin(f->waited_ratio, 1);
	out->ceiling_bps = f->goodput_bps;
	wr_finding_prove(out, "waited_ratio", f->waited_ratio, "ratio", "the writer waited for room for %.0f %% of the time",
			 100 * f->waited_ratio);
	if (f->unread_bytes >= 0)
		wr_finding_prove(out, "unread_bytes", f->unread_bytes, "bytes", "%s stood unread on %s",
				 wr_size_text(unread, f->unread_bytes), wr_side_name(judged->receiver_side));
	if (f->receiver_cpu_ratio + f->receiver_wait_ratio < 0.5)
		wr_finding_prove(out, "receiver_cpu_ratio", f->receiver_cpu_ratio, "ratio",
				 "the reading thread used %.0f %% of a CPU, so it waits for something else",
				 100 * f->receiver_cpu_ratio);
	out->confidence = out->share_ratio >= 0.5 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_reader_limited = {
	.name = "reader-limited",
	.summary = "The receiving program reads more slowly than the path delivers.",
	.source = "net/ipv4/tcp_input.c tcp_rcv_space_adjust; SO_MEMINFO rmem_alloc",
	.eval = eval,
	.eval_plain = eval_plain,
};
