/* SPDX-License-Identifier: MIT */
/*
 * loss-limited: the congestion window is full, segments are lost, and no queue stands: they are lost at random, or
 * by a queue or policer too short for its delay to show. Compared with the rate that Mathis et al. give for that loss.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define LOSS_RATIO 0.003
#define RECOVERY_RATIO 0.2
#define NO_QUEUE_RATIO 1.5
#define NO_PIPE_RATIO 1.25
/* ... where so few bytes are under way that R means nothing, a few ms more of RTT are no queue either. */
#define NO_QUEUE_US 5000
#define HEAVY_LOSS_RATIO 0.05
/* How far from Mathis' rate: cubic is faster than the Reno that it describes, short intervals vary. */
#define MATHIS_BAND 4
#define MATHIS 1.22 /* Mathis, Semke, Mahdavi, Ott 1997: sqrt(3/2) */

/* Shared with path-limited, which takes the network's share otherwise. */
bool wr_cause_is_loss(const struct wr_features *f)
{
	bool losing = f->loss_ratio >= LOSS_RATIO || f->recovery_ratio >= RECOVERY_RATIO || f->timeouts > 0;
	double mathis_bps;

	if (!(f->loss_ratio > 0) || f->bbr || f->cwnd_full_ratio < 0.5)
		return false;
	/* Fewer losses count where no queue stands and the rate is the one that they allow. */
	mathis_bps = 8e6 * MATHIS * f->mss_bytes / (f->rtt_us * sqrt(f->loss_ratio)) * f->n_connections;
	if (f->in_flight_ratio < NO_PIPE_RATIO && f->goodput_bps < MATHIS_BAND * mathis_bps &&
	    f->goodput_bps > mathis_bps / MATHIS_BAND)
		return true;
	/* What carries many times as much was not kept small by its losses: they are those of a full queue. */
	if (f->goodput_bps > MATHIS_BAND * mathis_bps)
		return false;
	return losing && (f->queue_ratio < NO_QUEUE_RATIO ||
			  (!f->ratio_valid && (f->queue_us < NO_QUEUE_US || f->loss_ratio >= HEAVY_LOSS_RATIO)));
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	char rate[WR_UNIT_TEXT], measured[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], least[WR_UNIT_TEXT];

	if (f->stop_ratio[WR_STOP_NETWORK] < 0.05 || !wr_cause_is_loss(f))
		return 0;
	out->side = WR_SIDE_PATH;
	out->share_ratio = f->stop_ratio[WR_STOP_NETWORK];
	out->ceiling_bps = (double)judged->sender->n_connections * 8e6 * MATHIS * f->mss_bytes /
			   (f->rtt_us * sqrt(f->loss_ratio));
	wr_finding_prove(out, "loss_ratio", f->loss_ratio, "ratio", "%.2f %% of the bytes were sent again%s",
			 100 * f->loss_ratio, f->timeouts > 0 ? ", some after a timeout" : "");
	wr_finding_prove(out, "cwnd_full_ratio", f->cwnd_full_ratio, "ratio",
			 "the congestion window was full for %.0f %% of the time", 100 * f->cwnd_full_ratio);
	wr_finding_prove(out, "rtt_us", f->rtt_us, "us", "no queue stands (RTT %s under load, %s idle): lost at random, or by a queue too short to see",
			 wr_time_text(rtt, f->rtt_us * 1e3), wr_time_text(least, f->min_rtt_us * 1e3));
	wr_finding_prove(out, "ceiling_bps", out->ceiling_bps, "bit/s",
			 "1.22 MSS / (RTT sqrt(loss)) = %s; measured %s", wr_rate_text(rate, out->ceiling_bps),
			 wr_rate_text(measured, f->goodput_bps));
	out->confidence = f->loss_ratio >= 1.5 * LOSS_RATIO && f->cwnd_full_ratio >= 0.75 ? WR_CONFIDENCE_HIGH
											  : WR_CONFIDENCE_MEDIUM;
	if (wr_finding_find(found, "offload-loss"))
		out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_loss_limited = {
	.name = "loss-limited",
	.summary = "Lost segments keep the congestion window small.",
	.source = "Mathis et al., CCR 27(3), 1997; tcpi_bytes_retrans",
	.eval = eval,
};
