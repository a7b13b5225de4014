/* SPDX-License-Identifier: MIT */
/*
 * ssthresh-cached: the connection left slow start at a threshold that it did not find itself: it has lost nothing, and
 * the threshold is below what HyStart may set (its window is 16 segments at least), or is the one that tcp_metrics
 * keeps for the peer. From there the window grows by a segment a round trip.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain/cause.h"

/* net/ipv4/tcp_cubic.c hystart_low_window. */
#define HYSTART_SEGS 16
#define ABOVE_RATIO 1.5

/* What tcp_metrics keeps for the peer's address, which stands before its port. */
static double cached(const struct wr_case *judged)
{
	const char *peer = judged->out->peer + (judged->out->peer[0] == '[');
	const char *end = judged->out->peer[0] == '[' ? strchr(peer, ']') : strrchr(peer, ':');
	char key[WR_NAME_TEXT + 24];

	snprintf(key, sizeof key, "metrics.ssthresh@%.*s", end ? (int)(end - peer) : 0, peer);
	return wr_end_number(judged->sender, key, 0);
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double kept, saves;

	(void)found;
	if (!judged->evidence->outside || !judged->out || f->stop_ratio[WR_STOP_NETWORK] < 0.05 ||
	    f->retrans_segs != 0 || f->marked_segs > 0 || f->path_full || !(f->ssthresh_segs > 0) ||
	    f->cwnd_segs < ABOVE_RATIO * f->ssthresh_segs)
		return 0;
	kept = cached(judged);
	saves = wr_end_number(judged->sender, "net.ipv4.tcp_no_metrics_save", 0);
	if (f->ssthresh_segs >= HYSTART_SEGS && kept != f->ssthresh_segs)
		return 0;
	out->side = judged->sender_side;
	out->share_ratio = f->stop_ratio[WR_STOP_NETWORK];
	wr_finding_prove(out, "ssthresh_segs", f->ssthresh_segs, "segments",
			 "slow start ended at %.0f segments, and this connection never sent a segment again",
			 f->ssthresh_segs);
	wr_finding_prove(out, "cwnd_segs", f->cwnd_segs, "segments",
			 "the congestion window of %.0f segments grows slowly since, and is full", f->cwnd_segs);
	if (kept > 0)
		wr_finding_prove(out, "tcp_metrics", kept, "segments",
				 "ip tcp_metrics keeps ssthresh %.0f for the peer", kept);
	wr_finding_prove(out, "net.ipv4.tcp_no_metrics_save", saves, "count",
			 "net.ipv4.tcp_no_metrics_save is %.0f on %s", saves, wr_side_name(out->side));
	out->confidence = kept == f->ssthresh_segs ? WR_CONFIDENCE_HIGH
			  : saves == 1             ? WR_CONFIDENCE_LOW
						   : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_ssthresh_cached = {
	.name = "ssthresh-cached",
	.summary = "A slow-start threshold of earlier connections keeps the congestion window small.",
	.source = "net/ipv4/tcp_metrics.c tcp_init_metrics; tcp_cubic.c hystart_low_window",
	.eval = eval,
};
