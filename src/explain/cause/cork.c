/* SPDX-License-Identifier: MIT */
/*
 * cork: TCP_CORK (or MSG_MORE) was left set. The last piece of an answer, smaller than a segment, waits in the send
 * queue though nothing is in flight and the windows are open, until the probe timer of 200 ms or more sends it. Nagle
 * would have something in flight; a closed window would be counted by rwnd_limited.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* TCP_RTO_MIN, the shortest that tcp_probe0_base gives. */
#define PROBE_US 200000
#define PROBE_SLACK_US 25000
#define EVEN_RATIO 1.2

static int from_holder(const struct wr_case *judged, enum wr_side side, struct wr_finding *out)
{
	const struct wr_talk *talk = &judged->talk[side];

	if (!(talk->corked_ratio >= 0.5))
		return 0;
	out->side = side;
	out->share_ratio = isnan(talk->busy_ratio) ? 1 : fmin(talk->busy_ratio, 1);
	wr_finding_prove(out, "corked_ratio", talk->corked_ratio, "ratio",
			 "in %.0f %% of the snapshots a piece of a segment waits on %s with nothing in flight and the "
			 "windows open",
			 100 * talk->corked_ratio, wr_side_name(side));
	wr_finding_prove(out, "segment_bytes", talk->seg_bytes, "bytes", "segments carry %.0f of %.0f B",
			 talk->seg_bytes, talk->mss_bytes);
	out->confidence = talk->corked_ratio > 0.9 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

/* The other end of it: one small segment an exchange, and each takes the probe timer. */
static int from_other(const struct wr_case *judged, enum wr_side side, struct wr_finding *out)
{
	const struct wr_talk *talk = &judged->talk[side];
	double period_us = judged->features.seconds * 1e6 / talk->segs;
	char period[WR_UNIT_TEXT];

	if (judged->talk[1 - side].seen || !(talk->segs > 0) || !(talk->in_seg_bytes < talk->mss_bytes) ||
	    talk->in_segs > EVEN_RATIO * talk->segs || talk->segs > EVEN_RATIO * talk->in_segs ||
	    !(period_us >= PROBE_US && period_us <= PROBE_US + 2 * talk->min_rtt_us + PROBE_SLACK_US))
		return 0;
	out->side = side == WR_SIDE_NEAR ? WR_SIDE_FAR : WR_SIDE_NEAR;
	out->share_ratio = 1;
	wr_finding_prove(out, "period_us", period_us, "us", "each answer takes %s, the timer that sends a corked piece",
			 wr_time_text(period, period_us * 1e3));
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	(void)found;
	for (int side = WR_SIDE_NEAR; side <= WR_SIDE_FAR; side++) {
		if (judged->talk[side].seen &&
		    (from_holder(judged, (enum wr_side)side, out) || from_other(judged, (enum wr_side)side, out)))
			return 1;
	}
	return 0;
}

const struct wr_cause wr_cause_cork = {
	.name = "cork",
	.summary = "A corked piece of data waits for the timer that sends it.",
	.source = "net/ipv4/tcp_output.c tcp_write_xmit, tcp_send_probe0; tcp(7) TCP_CORK",
	.eval = eval,
};
