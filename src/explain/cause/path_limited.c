/* SPDX-License-Identifier: MIT */
/*
 * path-limited: the sender always has data and room, and what stops it is the network: a queue stands at the
 * bottleneck, or a pacing congestion control has found its rate. A buffer or window that is full on a full path
 * counts here too, since raising it only adds delay.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* As the receiver sees it: an RTT that is larger than without a queue by half and by a few ms. */
#define RECEIVER_RATIO 1.5
#define RECEIVER_US 5000
/* It means something only of a stream: where the sender fills what autotuning keeps at twice of it. */
#define TAKEN_RATIO 0.3
#define FULL_RATIO 0.5

static double path_share(const struct wr_features *f)
{
	double share = f->stop_ratio[WR_STOP_NETWORK];

	if (f->path_full)
		share += f->stop_ratio[WR_STOP_SNDBUF] + (f->receive_queue_ratio >= WR_SLOW_READER_RATIO ? 0 : f->stop_ratio[WR_STOP_WINDOW]);
	return share;
}

/* From the receiving end alone: it keeps up, data keep coming, and round trips are long for a queue on their way. */
static int from_receiver(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	char queue[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], least[WR_UNIT_TEXT];
	double least_us = f->receiver_queue_us / (f->receiver_rtt_ratio - 1);
	const struct wr_talk *talk = &judged->talk[judged->receiver_side == WR_SIDE_FAR ? WR_SIDE_FAR : WR_SIDE_NEAR];

	if (!(f->receiver_rtt_ratio >= RECEIVER_RATIO) || f->receiver_queue_us < RECEIVER_US ||
	    f->receive_queue_ratio >= WR_SLOW_READER_RATIO || !(f->moved_bytes > 0) || !(f->taken_ratio >= TAKEN_RATIO) ||
	    !(talk->in_seg_bytes >= FULL_RATIO * talk->mss_bytes))
		return 0;
	out->side = WR_SIDE_PATH;
	out->share_ratio = 1;
	if (f->goodput_bps > 0)
		out->ceiling_bps = f->goodput_bps;
	wr_finding_prove(out, "rcv_rtt_us", least_us + f->receiver_queue_us, "us", "data take %s to come, %s without a queue: %s of queue",
			 wr_time_text(rtt, (least_us + f->receiver_queue_us) * 1e3), wr_time_text(least, least_us * 1e3),
			 wr_time_text(queue, f->receiver_queue_us * 1e3));
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double share = path_share(f);
	bool queue = f->queued;
	char queue_text[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], least[WR_UNIT_TEXT], rate[WR_UNIT_TEXT];

	(void)found;
	if (!judged->out && judged->in && judged->evidence->outside)
		return from_receiver(judged, out);
	if (share < 0.05 || wr_cause_is_loss(f) || (judged->evidence->ramping && !f->path_full))
		return 0;
	/* Without a queue only a congestion control that paces to the path's rate can be told to have found it. */
	if (!queue && !(f->bbr && f->ratio_valid))
		return 0;
	out->side = WR_SIDE_PATH;
	out->share_ratio = share;
	out->ceiling_bps = f->goodput_bps;
	wr_rate_text(rate, f->goodput_bps);
	wr_finding_prove(out, "throughput_bps", f->goodput_bps, "bit/s", "the bottleneck passes %s of payload", rate);
	if (f->ratio_valid)
		wr_finding_prove(out, "in_flight_ratio", f->in_flight_ratio, "ratio",
			 "in flight is %.2f x (goodput x min RTT): %s", f->in_flight_ratio,
			 queue ? "more than the path holds, the rest stands in a queue" : "the path is filled and hardly queues");
	wr_finding_prove(out, "rtt_us", f->rtt_us, "us", "RTT %s under load, %s idle: %s of queue",
			 wr_time_text(rtt, f->rtt_us * 1e3), wr_time_text(least, f->min_rtt_us * 1e3),
			 wr_time_text(queue_text, f->queue_us * 1e3));
	if (f->notsent_bytes >= 0)
		wr_finding_prove(out, "notsent_bytes", f->notsent_bytes, "bytes",
			 "the sender had %s waiting to be sent", wr_size_text(queue_text, f->notsent_bytes));
	if (f->loss_ratio > 0)
		wr_finding_prove(out, "loss_ratio", f->loss_ratio, "ratio", "%.3f %% was sent again", 100 * f->loss_ratio);
	out->confidence = f->path_full || f->queue_ratio >= 1.5 || (f->bbr && share > 0.5) ? WR_CONFIDENCE_HIGH
			  : queue							    ? WR_CONFIDENCE_MEDIUM
											    : WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_path_limited = {
	.name = "path-limited",
	.summary = "The path itself is full.",
	.source = "Little's law on tcpi_unacked, tcpi_rtt and goodput",
	.eval = eval,
};
