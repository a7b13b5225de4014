/* SPDX-License-Identifier: MIT */
/*
 * udp-reassembly: fragments of large datagrams come, and datagrams are not put together again. Once the memory for half
 * finished ones is full, nothing is, until the oldest time out. Sockets drop nothing: they never see the datagram.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define FAILS_RATIO 0.02
#define FULL_RATIO 0.9
#define STOCK_THRESH_BYTES 4194304

static int of_end(const struct wr_end *end, enum wr_side side, bool v6, struct wr_finding *out)
{
	double fails = wr_end_counter(end, v6 ? "Ip6ReasmFails" : "IpReasmFails");
	double done = wr_end_counter(end, v6 ? "Ip6ReasmOKs" : "IpReasmOKs");
	double memory = wr_end_number(end, v6 ? "FRAG6.memory" : "FRAG.memory", 0);
	double most = wr_end_number(end, v6 ? "net.ipv6.ip6frag_high_thresh" : "net.ipv4.ipfrag_high_thresh", 0);
	bool full = memory >= FULL_RATIO * (most > 0 ? most : STOCK_THRESH_BYTES);
	char used[WR_UNIT_TEXT], limit[WR_UNIT_TEXT];

	done = isnan(done) ? 0 : done;
	if (!(fails > 0) || (!full && fails < FAILS_RATIO * (done + fails)))
		return 0;
	out->side = side;
	out->share_ratio = 1;
	wr_finding_prove(out, v6 ? "Ip6ReasmFails" : "IpReasmFails", fails, "count",
			 "%.0f fragments came for nothing, %.0f datagrams were put together", fails, done);
	if (memory > 0)
		wr_finding_prove(out, "FRAG.memory", memory, "bytes", "half finished datagrams take %s of %s (%s)",
				 wr_size_text(used, memory), wr_size_text(limit, most > 0 ? most : STOCK_THRESH_BYTES),
				 v6 ? "net.ipv6.ip6frag_high_thresh" : "net.ipv4.ipfrag_high_thresh");
	out->confidence = full ? WR_CONFIDENCE_HIGH : done <= 0 ? WR_CONFIDENCE_MEDIUM : WR_CONFIDENCE_LOW;
	return 1;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	(void)found;
	for (int v6 = 0; v6 < 2; v6++) {
		if (of_end(&judged->evidence->far, WR_SIDE_FAR, v6, out) ||
		    of_end(&judged->evidence->near, WR_SIDE_NEAR, v6, out))
			return 1;
	}
	return 0;
}

const struct wr_cause wr_cause_udp_reassembly = {
	.name = "udp-reassembly",
	.summary = "Fragments of large datagrams are not put together again.",
	.source = "net/ipv4/inet_fragment.c inet_frag_kill, ip-sysctl ipfrag_high_thresh; SNMP IpReasmFails",
	.protocols = 1U << WR_HOST,
	.eval = eval,
};
