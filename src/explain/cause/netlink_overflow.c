/* SPDX-License-Identifier: MIT */
/*
 * netlink-overflow: the kernel had more events for a netlink socket than its buffer holds, dropped the rest, and told
 * so once (ENOBUFS). Each event is charged with the memory of its packet, many times its size.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"
#include "explain/udp.h"

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_queue *queue = &judged->queue;

	(void)found;
	if (!(queue->dropped_ever > 0))
		return 0;
	out->side = queue->side;
	out->share_ratio = 1;
	wr_udp_prove(queue, out);
	if (queue->most_ratio > 0)
		wr_finding_prove(out, "receive_queue_ratio", queue->most_ratio, "ratio",
				 "its queue was seen %.0f %% full", 100 * fmin(queue->most_ratio, 1));
	out->confidence = queue->most_ratio >= WR_UDP_FULL_RATIO ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_netlink_overflow = {
	.name = "netlink-overflow",
	.summary = "A netlink socket could not hold all events.",
	.source = "net/netlink/af_netlink.c netlink_attachskb, netlink_overrun",
	.protocols = 1U << WR_NETLINK,
	.eval = eval,
};
