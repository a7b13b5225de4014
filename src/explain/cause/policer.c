/* SPDX-License-Identifier: MIT */
/*
 * policer: something drops what exceeds a rate, without a queue that would show as delay. Told by the counters of tc
 * where it is a policer of this host; elsewhere losses look random, and that is said.
 */
#include "base/mem.h"
#include "explain/cause.h"

#define ACCOUNTS_RATIO 0.5

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	double retrans = judged->out ? wr_connection_delta(judged->evidence, judged->out, WR_M_TOTAL_RETRANS_SEGS) : 0;
	char device[32];

	(void)found;
	for (int receiver = 0; receiver < 2; receiver++) {
		double n = wr_end_devices(receiver ? judged->receiver : judged->sender, "policed", device);

		if (!(retrans > 0) || !(n >= ACCOUNTS_RATIO * retrans) ||
		    judged->features.stop_ratio[WR_STOP_NETWORK] < 0.05)
			continue;
		out->side = WR_SIDE_PATH;
		out->share_ratio = judged->features.stop_ratio[WR_STOP_NETWORK];
		wr_finding_prove(out, "policed", n, "count", "a policer at %s of %s dropped %.0f packets", device,
				 wr_side_name(receiver ? judged->receiver_side : judged->sender_side), n);
		wr_finding_prove(out, "retrans_segs", retrans, "segments",
				 "%.0f segments were sent again in the same time", retrans);
		out->confidence = judged->evidence->lifetime ? WR_CONFIDENCE_LOW : WR_CONFIDENCE_HIGH;
		return 1;
	}
	return 0;
}

const struct wr_cause wr_cause_policer = {
	.name = "policer",
	.summary = "A policer drops what exceeds its rate.",
	.source = "tc -s filter; net/sched/act_police.c",
	.eval = eval,
};
