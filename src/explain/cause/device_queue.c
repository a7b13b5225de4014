/* SPDX-License-Identifier: MIT */
/*
 * device-queue: segments are lost in a host's own queues, not on the path: at the sender's device (its queue of
 * txqueuelen packets is shorter than a burst) or qdisc, or at the receiver's (ring full, netdev_max_backlog). The drops
 * there account for the retransmissions.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "explain/cause.h"

/* Drops account for so much of what was sent again; both are counted, but not at the same instants. */
#define ACCOUNTS_RATIO 0.5
#define EXACT_RATIO 0.9

struct drops {
	const char *what, *where;
};

static double dropped(const struct wr_end *end, const struct drops *kinds, size_t n_kinds, const char **where,
		      char device[32])
{
	double most = 0;

	for (size_t i = 0; i < n_kinds; i++) {
		char worst[32];
		double n = wr_end_devices(end, kinds[i].what, worst);

		if (!(n > most))
			continue;
		most = n;
		*where = kinds[i].where;
		memcpy(device, worst, sizeof worst);
	}
	return most;
}

static void prove(struct wr_finding *out, double n, const char *where, const char *device, double retrans)
{
	wr_finding_prove(out, "device_dropped", n, "count", "%.0f packets were dropped in %s of %s on %s", n, where,
			 device, wr_side_name(out->side));
	wr_finding_prove(out, "retrans_segs", retrans, "segments", "%.0f segments were sent again in the same time",
			 retrans);
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	static const struct drops sending[] = {{"tx_dropped", "the transmit queue"}, {"qdisc_dropped", "the qdisc"}};
	static const struct drops receiving[] = {{"rx_missed", "the ring"},
						 {"rx_dropped", "the receive path"},
						 {"softnet_dropped", "the backlog (netdev_max_backlog)"}};
	double retrans =
		judged->out ? wr_connection_delta(judged->evidence, judged->out, WR_M_TOTAL_RETRANS_SEGS) : NAN;
	const char *where = "";
	char device[32] = "";
	double n = dropped(judged->sender, sending, WR_N_ELEMENTS(sending), &where, device);

	(void)found;
	if (!judged->evidence->outside || judged->features.stop_ratio[WR_STOP_NETWORK] < 0.05 || !(retrans > 0))
		return 0;
	out->side = judged->sender_side;
	if (n < ACCOUNTS_RATIO * retrans) {
		n = dropped(judged->receiver, receiving, WR_N_ELEMENTS(receiving), &where, device);
		out->side = judged->receiver_side;
	}
	if (n < ACCOUNTS_RATIO * retrans)
		return 0;
	out->share_ratio = judged->features.stop_ratio[WR_STOP_NETWORK];
	prove(out, n, where, device, retrans);
	out->confidence = judged->evidence->lifetime                                 ? WR_CONFIDENCE_LOW
			  : n >= EXACT_RATIO * retrans && n <= retrans / EXACT_RATIO ? WR_CONFIDENCE_HIGH
										     : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_device_queue = {
	.name = "device-queue",
	.summary = "A host's own device queue drops segments.",
	.source = "ip -s link TX dropped, ethtool -S, /proc/net/softnet_stat; tcpi_total_retrans",
	.eval = eval,
};
