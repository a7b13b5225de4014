/* SPDX-License-Identifier: MIT */
/*
 * udp-rcvbuf-overflow: bursts are larger than the socket's receive buffer, whose reader empties it in between. A queue
 * that was caught empty, or half full, says so; one that is full whenever somebody looks may as well have a slow
 * reader, and then this is said with low confidence. From counters of a host alone the socket is not known.
 */
#include <math.h>

#include "explain/cause.h"
#include "explain/udp.h"

static int of_socket(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_queue *queue = &judged->queue;
	const struct wr_finding *slow = wr_finding_find(found, "udp-slow-reader");
	double dropped = queue->dropped > 0 ? queue->dropped : queue->dropped_ever;

	if (!(dropped > 0))
		return 0;
	out->side = queue->side;
	out->share_ratio = 1;
	/* Beside a reader that is known to be the limit it only says where the loss happens. */
	out->companion = slow && slow->confidence > WR_CONFIDENCE_LOW;
	wr_udp_prove(queue, out);
	if (queue->least_ratio < WR_UDP_FULL_RATIO)
		wr_finding_prove(out, "receive_queue_ratio", queue->least_ratio, "ratio",
				 "its queue was down to %.0f %% of the buffer: the reader empties it between bursts",
				 100 * queue->least_ratio);
	if (queue->received > 0)
		wr_finding_prove(out, "UdpInDatagrams", queue->received, "count", "%.0f were read meanwhile",
				 queue->received);
	out->confidence =
		queue->most_ratio < WR_UDP_FULL_RATIO && queue->dropped > 0 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_LOW;
	if (queue->looks < 2)
		out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

static int of_host(const struct wr_evidence *evidence, struct wr_finding *out)
{
	for (int far = 1; far >= 0; far--) {
		const struct wr_end *end = far ? &evidence->far : &evidence->near;
		double errors = wr_counters_udp(end, "RcvbufErrors"), all = wr_counters_udp(end, "InErrors");
		double received = wr_counters_udp(end, "InDatagrams");
		double others = all - errors - fmax(wr_counters_udp(end, "InCsumErrors"), 0);

		errors = isnan(errors) ? 0 : errors;
		if (!(errors > 0))
			continue;
		out->side = far ? WR_SIDE_FAR : WR_SIDE_NEAR;
		out->share_ratio = 1;
		wr_finding_prove(out, "UdpRcvbufErrors", errors, "count", "%.0f datagrams were dropped at full sockets",
				 errors);
		if (received > 0)
			wr_finding_prove(out, "dropped_ratio", errors / (errors + received), "ratio",
					 "that is %.1f %% of all that came for a socket",
					 100 * errors / (errors + received));
		if (others > 0)
			wr_finding_prove(out, "UdpInErrors", others, "count",
					 "%.0f further errors are neither that nor checksums: memory for all of UDP "
					 "(net.ipv4.udp_mem)",
					 others);
		out->confidence = WR_CONFIDENCE_LOW;
		return 1;
	}
	return 0;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	if (wr_finding_find(found, "udp-unread") &&
	    wr_finding_find(found, "udp-unread")->confidence > WR_CONFIDENCE_LOW)
		return 0;
	return judged->evidence->protocol == WR_HOST ? of_host(judged->evidence, out) : of_socket(judged, found, out);
}

const struct wr_cause wr_cause_udp_rcvbuf_overflow = {
	.name = "udp-rcvbuf-overflow",
	.summary = "Bursts of datagrams overflow the socket's receive buffer.",
	.source = "net/ipv4/udp.c __udp_enqueue_schedule_skb; SNMP UdpRcvbufErrors",
	.protocols = 1U << WR_UDP | 1U << WR_HOST,
	.eval = eval,
};
