/* SPDX-License-Identifier: MIT */
/*
 * udp-slow-reader: datagrams are dropped at the socket because its program takes them more slowly than they come. The
 * queue is then full whenever one looks, though its content changes. A larger buffer only puts the loss off.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"
#include "explain/udp.h"

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_queue *queue = &judged->queue;

	(void)found;
	if (!(queue->dropped > 0) || !(queue->least_ratio >= WR_UDP_FULL_RATIO) || queue->same)
		return 0;
	out->side = queue->side;
	out->share_ratio = queue->looks > 1 ? 1 : 0.5;
	wr_udp_prove(queue, out);
	wr_finding_prove(
		out, "receive_queue_ratio", queue->least_ratio, "ratio",
		queue->looks > 1
			? "its queue is full in every snapshot, and what is in it changes: the reader never catches up"
			: "its queue was full when somebody looked");
	out->confidence = queue->looks > 1 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_udp_slow_reader = {
	.name = "udp-slow-reader",
	.summary = "A program takes datagrams more slowly than they come.",
	.source = "net/ipv4/udp.c __udp_enqueue_schedule_skb, udp_rmem_release",
	.protocols = 1U << WR_UDP,
	.eval = eval,
};
