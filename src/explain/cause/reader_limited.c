/* SPDX-License-Identifier: MIT */
/*
 * reader-limited: the window is full because the receiving program does not read. From the sender it looks like a
 * small SO_RCVBUF; only the queue at the receiver tells them apart.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define SLOW_READER_QUEUE_RATIO 0.25

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	char queue[WR_UNIT_TEXT], buffer[WR_UNIT_TEXT];

	(void)found;
	if (f->stop_ratio[WR_STOP_WINDOW] < 0.05 || !(f->receive_queue_ratio >= SLOW_READER_QUEUE_RATIO))
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = f->stop_ratio[WR_STOP_WINDOW];
	out->ceiling_bps = f->goodput_bps;
	wr_finding_prove(out, "receive_queue_ratio", f->receive_queue_ratio, "ratio",
			 "unread data fills %s of the %s receive buffer on %s (%.0f %%)",
			 wr_size_text(queue, f->receive_queue_ratio * f->rcvbuf_eff_bytes),
			 wr_size_text(buffer, f->rcvbuf_eff_bytes), wr_side_name(judged->receiver_side),
			 100 * f->receive_queue_ratio);
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
