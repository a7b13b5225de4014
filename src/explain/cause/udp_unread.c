/* SPDX-License-Identifier: MIT */
/*
 * udp-unread: nobody reads the socket. Its queue holds the very same amount at any time, every datagram that comes is
 * dropped, and the programs of the host have read none. Memory for it is wasted.
 */
#include <math.h>

#include "explain/cause.h"
#include "explain/udp.h"

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_queue *queue = &judged->queue;

	(void)found;
	if (!(queue->dropped > 0) || !queue->same || queue->received > 0)
		return 0;
	out->side = queue->side;
	out->share_ratio = isnan(queue->received) ? 0.5 : 1;
	wr_udp_prove(queue, out);
	wr_finding_prove(out, "receive_queue_ratio", queue->most_ratio, "ratio",
			 "its queue holds the same amount in all %zu snapshots: nothing is taken out", queue->looks);
	wr_finding_prove(out, "UdpInDatagrams", queue->received, "count", "programs have read %.0f datagrams meanwhile",
			 queue->received);
	out->confidence = isnan(queue->received) ? WR_CONFIDENCE_LOW : WR_CONFIDENCE_HIGH;
	return 1;
}

const struct wr_cause wr_cause_udp_unread = {
	.name = "udp-unread",
	.summary = "Nobody reads the socket that drops.",
	.source = "net/ipv4/udp.c __udp_enqueue_schedule_skb",
	.protocols = 1U << WR_UDP,
	.eval = eval,
};
