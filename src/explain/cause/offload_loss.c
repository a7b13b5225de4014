/* SPDX-License-Identifier: MIT */
/*
 * offload-loss: something on the way drops segments that an offload has put together (or was to cut up), so that every
 * burst of two or more is lost while single segments pass. From sockets it can't be told from plain loss of such a
 * size, which is rare on a path that otherwise works: both are said, and the experiment that settles it.
 */
#include <math.h>

#include "explain/cause.h"

/* Random loss of that size is hardly met outside of radio links; loss of all that is more than a segment makes it. */
#define LOSS_RATIO 0.12
#define FEW_SEGS 8

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;

	(void)found;
	if (!judged->evidence->outside || f->stop_ratio[WR_STOP_NETWORK] < 0.05 || f->loss_ratio < LOSS_RATIO ||
	    !wr_cause_is_loss(f) || !(f->cwnd_bytes <= FEW_SEGS * f->mss_bytes))
		return 0;
	out->side = WR_SIDE_PATH;
	out->share_ratio = f->stop_ratio[WR_STOP_NETWORK] / 2;
	wr_finding_prove(out, "loss_ratio", f->loss_ratio, "ratio",
			 "%.0f %% of the bytes were sent again: more than a path loses that works at all",
			 100 * f->loss_ratio);
	wr_finding_prove(out, "cwnd_bytes", f->cwnd_bytes, "bytes",
			 "the congestion window is back at %.0f segments each time it grows",
			 f->cwnd_bytes / f->mss_bytes);
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_offload_loss = {
	.name = "offload-loss",
	.summary = "Segments that an offload put together are dropped on the way.",
	.source = "ethtool -k tso, gso, gro, lro; tcpi_bytes_retrans",
	.eval = eval,
};
