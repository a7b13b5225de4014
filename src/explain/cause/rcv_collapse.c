/* SPDX-License-Identifier: MIT */
/*
 * rcv-collapse: the receive queue reached its limit in many small packets, and the kernel copies them together to gain
 * room (tcp_collapse), thousands at once, in the softirq that all other traffic needs. The buffer is too large, or its
 * reader too slow, never too small.
 */
#include <math.h>

#include "explain/cause.h"

/* Fewer are collapsed now and then at any slow reader. */
#define MANY_SEGS 1000

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	double collapsed = wr_end_counter(judged->receiver, "TCPRcvCollapsed"),
	       pruned = wr_end_counter(judged->receiver, "PruneCalled");

	(void)found;
	if (!(collapsed >= MANY_SEGS) || !(judged->features.receive_queue_ratio >= WR_SLOW_READER_RATIO))
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = 1;
	wr_finding_prove(out, "TCPRcvCollapsed", collapsed, "segments",
			 "%.0f packets were copied together to gain room on %s", collapsed, wr_side_name(out->side));
	wr_finding_prove(out, "PruneCalled", pruned, "count", "its receive queue was pruned %.0f times", pruned);
	wr_finding_prove(out, "receive_queue_ratio", judged->features.receive_queue_ratio, "ratio",
			 "unread data fill %.0f %% of the receive buffer", 100 * judged->features.receive_queue_ratio);
	/* That it happens is certain; what it does to other traffic, only pings beside it show. */
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_rcv_collapse = {
	.name = "rcv-collapse",
	.summary = "The kernel copies a huge receive queue together, and other traffic waits meanwhile.",
	.source = "net/ipv4/tcp_input.c tcp_prune_queue, tcp_collapse",
	.eval = eval,
};
