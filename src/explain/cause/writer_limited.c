/* SPDX-License-Identifier: MIT */
/*
 * writer-limited: nothing is left to send and the writer is not waiting for buffer space. The app_limited bit of
 * tcp_info is no evidence: it is set on send-buffer-limited flows too.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* From here on a program that is idle between its writes is beyond doubt. */
#define IDLE_RATIO 0.9
/* Segments that are smaller: messages of a program that sends when it has something to say. */
#define SMALL_SEGMENT_RATIO 0.25

static void prove_outside(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	const struct wr_talk *talk = &judged->talk[judged->sender_side == WR_SIDE_FAR ? 1 : 0];
	bool messages = talk->seg_bytes < SMALL_SEGMENT_RATIO * talk->mss_bytes;

	wr_finding_prove(out, "busy_ratio", f->busy_ratio, "ratio", "data were queued or under way for %.1f %% of the time",
			 100 * f->busy_ratio);
	wr_finding_prove(out, "notsent_bytes", f->notsent_bytes, "bytes", "nothing waits to be sent, and both windows have room");
	if (messages)
		wr_finding_prove(out, "segment_bytes", talk->seg_bytes, "bytes",
				 "messages of %.0f B go out one by one as they come: a program that has no more to say is healthy",
				 talk->seg_bytes);
	out->confidence = messages || !f->writer_known || wr_finding_find(found, "idle-restart")   ? WR_CONFIDENCE_LOW
			  : out->share_ratio >= IDLE_RATIO && !judged->evidence->lifetime ? WR_CONFIDENCE_HIGH
							     : WR_CONFIDENCE_MEDIUM;
}

/*
 * A writer of weir's own that nobody paced is always ready: what holds it is not a program. But one that sends messages
 * may wait for each to be done; it then uses little CPU.
 */
static bool has_pauses(const struct wr_case *judged)
{
	const struct wr_features *f = &judged->features;

	if (judged->evidence->plan.write_bps != WR_UNSET)
		return true;
	return !wr_plan_is_stream(&judged->evidence->plan) && f->sender_cpu_ratio + f->sender_wait_ratio < 0.5;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	char took[WR_UNIT_TEXT];

	if (f->stop_ratio[WR_STOP_WRITER] < 0.05 || (!judged->evidence->outside && !has_pauses(judged)))
		return 0;
	/* Who has sent nothing is no writer that is slow. */
	if (judged->evidence->outside && f->moved_bytes <= 0)
		return 0;
	out->side = judged->sender_side;
	out->share_ratio = f->stop_ratio[WR_STOP_WRITER];
	if (f->goodput_bps > 0)
		out->ceiling_bps = f->goodput_bps;
	if (judged->evidence->outside) {
		prove_outside(judged, found, out);
		return 1;
	}
	wr_finding_prove(out, "idle_writer_ratio", out->share_ratio, "ratio",
			 "for %.0f %% of the time nothing was left to send and the writer was not waiting for buffer space",
			 100 * out->share_ratio);
	wr_finding_prove(out, "blocked_ratio", f->blocked_ratio, "ratio",
			 "the writer waited for buffer space for %.0f %% of the time", 100 * f->blocked_ratio);
	wr_finding_prove(out, "cwnd_full_ratio", f->cwnd_full_ratio, "ratio",
			 "the congestion window was full for %.0f %% and the peer's window %.0f %% full",
			 100 * f->cwnd_full_ratio, 100 * f->window_ratio);
	if (judged->sender->latency_p50_ns != WR_UNSET)
		wr_finding_prove(out, "latency_us", (double)judged->sender->latency_p50_ns / 1e3, "us",
				 "a message took %s at the median until it was done, and the next one waited for it",
				 wr_time_text(took, (double)judged->sender->latency_p50_ns));
	if (f->sender_cpu_ratio + f->sender_wait_ratio < 0.5)
		wr_finding_prove(out, "sender_cpu_ratio", f->sender_cpu_ratio, "ratio",
				 "the writing thread used %.0f %% of a CPU, so it waits for something else",
				 100 * f->sender_cpu_ratio);
	out->confidence = out->share_ratio >= 0.5 && f->blocked_ratio < 0.1 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

static int eval_plain(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;

	(void)found;
	if (judged->evidence->plan.write_bps == WR_UNSET || !(f->waited_ratio <= 0.95))
		return 0;
	out->side = judged->sender_side;
	out->share_ratio = 1 - fmax(f->waited_ratio, 0);
	out->ceiling_bps = f->goodput_bps;
	wr_finding_prove(out, "waited_ratio", f->waited_ratio, "ratio", "the writer waited for room for %.0f %% of the time",
			 100 * f->waited_ratio);
	if (f->sender_cpu_ratio + f->sender_wait_ratio < 0.5)
		wr_finding_prove(out, "sender_cpu_ratio", f->sender_cpu_ratio, "ratio",
				 "the writing thread used %.0f %% of a CPU, so it waits for something else",
				 100 * f->sender_cpu_ratio);
	out->confidence = f->waited_ratio < 0.1 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_writer_limited = {
	.name = "writer-limited",
	.summary = "The sending program writes more slowly than the path could carry.",
	.source = "tcpi_notsent_bytes, tcpi_unacked (net/ipv4/tcp.c tcp_get_info)",
	.eval = eval,
	.eval_plain = eval_plain,
};
