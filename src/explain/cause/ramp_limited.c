/* SPDX-License-Identifier: MIT */
/* ramp-limited: the transfer ended, or was judged, before its congestion window had stopped growing. */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	char cwnd[WR_UNIT_TEXT], rate[WR_UNIT_TEXT], seconds[WR_UNIT_TEXT];
	/* A window that is full and grows, with neither loss nor queue, has not met the path yet. */
	bool growing = f->cwnd_growth_ratio > 0.1 && f->loss_ratio <= 0 && f->in_flight_ratio < 1.25 && f->cwnd_full_ratio >= 0.5;

	(void)found;
	/* A pipe that is full is past its ramp: a stall only made its rate look so. */
	if (f->path_full)
		return 0;
	if (!growing && (!judged->evidence->ramping || (!f->slow_start && !(f->cwnd_growth_ratio > 0.1))))
		return 0;
	out->side = WR_SIDE_PATH;
	out->share_ratio = fmax(1 - f->stop_ratio[WR_STOP_WRITER] - f->stop_ratio[WR_STOP_SNDBUF] -
				f->stop_ratio[WR_STOP_WINDOW], 0);
	if (out->share_ratio < 0.05)
		return 0;
	wr_finding_prove(out, "cwnd_bytes", f->cwnd_bytes, "bytes",
			 "the congestion window was still growing when the transfer ended after %s (mean %s%s)",
			 wr_time_text(seconds, f->seconds * 1e9), wr_size_text(cwnd, f->cwnd_bytes),
			 f->slow_start ? ", in slow start" : "");
	wr_finding_prove(out, "throughput_bps", f->goodput_bps, "bit/s",
			 "%s is the mean of the ramp, not what the path can carry", wr_rate_text(rate, f->goodput_bps));
	out->confidence = f->slow_start ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_ramp_limited = {
	.name = "ramp-limited",
	.summary = "The transfer is too short to reach full speed.",
	.source = "tcpi_snd_cwnd against tcpi_snd_ssthresh; growth as in tcp_bbr.c full_bw_thresh",
	.eval = eval,
};
