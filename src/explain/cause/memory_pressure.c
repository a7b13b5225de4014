/* SPDX-License-Identifier: MIT */
/*
 * memory-pressure: sockets of the host together use what net.ipv4.tcp_mem (udp_mem) allows. Then no buffer grows,
 * whatever its own limit, windows shrink, and datagrams are dropped at sockets that have room (UdpMemErrors).
 */
#include <math.h>

#include "explain/cause.h"

static bool of_end(const struct wr_end *end, struct wr_finding *out)
{
	double pressures = wr_end_counter(end, "TCPMemoryPressures"), aborts = wr_end_counter(end, "TCPAbortOnMemory");
	double udp = wr_counters_udp(end, "MemErrors"), used = wr_end_number(end, "TCP.mem", 0);
	double pressure = wr_end_number(end, "net.ipv4.tcp_mem", 1);

	if (used >= pressure && pressure > 0)
		wr_finding_prove(out, "TCP.mem", used, "count",
				 "TCP uses %.0f pages, the pressure of net.ipv4.tcp_mem begins at %.0f", used,
				 pressure);
	if (pressures > 0)
		wr_finding_prove(out, "TCPMemoryPressures", pressures, "count",
				 "TCP came under memory pressure %.0f times", pressures);
	if (aborts > 0)
		wr_finding_prove(out, "TCPAbortOnMemory", aborts, "count",
				 "%.0f connections were dropped for want of memory", aborts);
	if (udp > 0)
		wr_finding_prove(out, "UdpMemErrors", udp, "count",
				 "%.0f datagrams were dropped because all of UDP had used up net.ipv4.udp_mem", udp);
	return out->n_proofs > 0;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	(void)found;
	if (of_end(&judged->evidence->near, out))
		out->side = WR_SIDE_NEAR;
	else if (of_end(&judged->evidence->far, out))
		out->side = WR_SIDE_FAR;
	else
		return 0;
	/* Counters of a host; whether this transfer met it is told by the pages in use alone. */
	out->share_ratio = 1;
	out->companion = judged->evidence->protocol != WR_HOST;
	out->confidence = WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_memory_pressure = {
	.name = "memory-pressure",
	.summary = "All sockets together use the memory that the host allows them.",
	.source = "net/core/sock.c __sk_mem_raise_allocated; ip-sysctl tcp_mem, udp_mem",
	.protocols = 1U << WR_TCP | 1U << WR_UDP | 1U << WR_HOST,
	.companion = true,
	.eval = eval,
};
