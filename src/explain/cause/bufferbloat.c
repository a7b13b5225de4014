/* SPDX-License-Identifier: MIT */
/*
 * bufferbloat: a queue stands at the bottleneck of a full path. From 100 ms of queue on it is the first thing to
 * mend; below that it only accompanies path-limited.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define STANDING_RATIO 1.5
#define STANDING_US 5000
#define FIRST_US 100000

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	const struct wr_finding *path = wr_finding_find(found, "path-limited");
	double unsent_us;
	char queue[WR_UNIT_TEXT], size[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], least[WR_UNIT_TEXT];

	if (!path || !(f->ratio_valid || f->queued))
		return 0;
	if (f->queue_us < FIRST_US && (!(f->queue_ratio >= STANDING_RATIO) || f->queue_us < STANDING_US))
		return 0;
	out->side = WR_SIDE_PATH;
	out->companion = f->queue_us < FIRST_US;
	out->share_ratio = path->share_ratio;
	wr_finding_prove(out, "queue_us", f->queue_us, "us", "a queue of %s (%s) stands at the bottleneck",
			 wr_time_text(queue, f->queue_us * 1e3), wr_size_text(size, f->queue_us * f->goodput_bps / 8e6));
	wr_finding_prove(out, "rtt_us", f->rtt_us, "us", "it turns an RTT of %s into %s",
			 wr_time_text(least, f->min_rtt_us * 1e3), wr_time_text(rtt, f->rtt_us * 1e3));
	/* Whether what waits unsent is a harm, too, only its program knows. */
	unsent_us = 8e6 * f->notsent_bytes / f->goodput_bps;
	if (judged->evidence->outside && unsent_us >= FIRST_US)
		wr_finding_prove(out, "notsent_bytes", f->notsent_bytes, "bytes",
				 "%s more wait unsent in the socket, %s of delay for a message behind them", wr_size_text(size, f->notsent_bytes),
				 wr_time_text(queue, unsent_us * 1e3));
	if (judged->evidence->outside && unsent_us >= FIRST_US) {
		out->confidence = WR_CONFIDENCE_MEDIUM;
		return 1;
	}
	out->confidence = f->queue_ratio >= 2 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_bufferbloat = {
	.name = "bufferbloat",
	.summary = "A queue stands at the bottleneck and delays everything that passes it.",
	.source = "tcpi_rtt against tcpi_min_rtt",
	.companion = true,
	.eval = eval,
};
