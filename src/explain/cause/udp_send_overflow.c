/* SPDX-License-Identifier: MIT */
/*
 * udp-send-overflow: datagrams are lost before they leave: sends failed for want of buffer space (UdpSndbufErrors), or
 * the send buffer is full of what the device has not taken yet.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define FULL_RATIO 0.9

static int of_host(const struct wr_evidence *evidence, struct wr_finding *out)
{
	for (int far = 0; far < 2; far++) {
		const struct wr_end *end = far ? &evidence->far : &evidence->near;
		double errors = wr_counters_udp(end, "SndbufErrors"), sent = wr_counters_udp(end, "OutDatagrams");

		if (!(errors > 0))
			continue;
		out->side = far ? WR_SIDE_FAR : WR_SIDE_NEAR;
		out->share_ratio = 1;
		wr_finding_prove(out, "UdpSndbufErrors", errors, "count", "%.0f sends failed for want of buffer space",
				 errors);
		wr_finding_prove(out, "UdpOutDatagrams", sent, "count", "%.0f datagrams were sent", sent);
		out->confidence = WR_CONFIDENCE_MEDIUM;
		return 1;
	}
	return 0;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_queue *queue = &judged->queue;
	const struct wr_end *end = queue->side == WR_SIDE_FAR ? &judged->evidence->far : &judged->evidence->near;

	(void)found;
	if (judged->evidence->protocol == WR_HOST)
		return of_host(judged->evidence, out);
	if (!(queue->sndbuf_ratio >= FULL_RATIO))
		return 0;
	out->side = queue->side;
	out->share_ratio = 1;
	wr_finding_prove(out, "sndbuf_ratio", queue->sndbuf_ratio, "ratio",
			 "the send buffer is %.0f %% full in every snapshot: the device takes datagrams more slowly "
			 "than they are written",
			 100 * queue->sndbuf_ratio);
	wr_finding_prove(out, "UdpSndbufErrors", wr_counters_udp(end, "SndbufErrors"), "count",
			 "%.0f sends failed meanwhile", wr_counters_udp(end, "SndbufErrors"));
	out->confidence = wr_counters_udp(end, "SndbufErrors") > 0 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_udp_send_overflow = {
	.name = "udp-send-overflow",
	.summary = "Datagrams are lost before they leave, for want of send buffer.",
	.source = "net/ipv4/udp.c udp_send_skb; net/core/sock.c sock_alloc_send_pskb",
	.protocols = 1U << WR_UDP | 1U << WR_HOST,
	.eval = eval,
};
