/* SPDX-License-Identifier: MIT */
/*
 * idle-restart: a connection that was idle for longer than its retransmission timeout begins again with a small
 * congestion window (tcp_slow_start_after_idle). Seen from two snapshots, one of them in or before a pause: the window
 * fell, and no segment was lost. Where both fell into pauses the window has grown again, but what it could have carried
 * in one round trip took several.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define FALL_RATIO 0.5
#define BUSY_RATIO 0.9
/* A window that was hardly more than the initial one has lost nothing. */
#define WORTH_SEGS 20
/* No retransmission timeout is shorter (TCP_RTO_MIN). */
#define LEAST_PAUSE_MS 200
#define SEVERAL 4

/* Both snapshots in pauses: what went out in between fits into the window of now, and took several round trips. */
static int between_pauses(const struct wr_case *judged, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double busy_us = f->busy_ratio * f->seconds * 1e6,
	       sent = wr_connection_delta(judged->evidence, judged->out, WR_M_BYTES_ACKED);
	double window = f->cwnd_segs * f->mss_bytes;
	const struct wr_sample *last = wr_series_at(&judged->out->series, INT64_MAX);
	double rtt_us = wr_sample_get(last, WR_M_RTT_US, NAN);
	char took[WR_UNIT_TEXT], size[WR_UNIT_TEXT];

	if (judged->evidence->lifetime || f->bbr || f->n_samples > 0 || f->idle_ms < LEAST_PAUSE_MS ||
	    f->cwnd_segs < WORTH_SEGS || !(sent > 0) || sent > window || !(busy_us >= SEVERAL * rtt_us))
		return 0;
	out->side = judged->sender_side;
	out->share_ratio = fmin(f->busy_ratio, 1);
	wr_finding_prove(out, "busy_us", busy_us, "us",
			 "%s went out in %.1f round trips (%s), and would fit into one window of %.0f segments",
			 wr_size_text(size, sent), busy_us / rtt_us, wr_time_text(took, busy_us * 1e3), f->cwnd_segs);
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double on = wr_end_number(judged->sender, "net.ipv4.tcp_slow_start_after_idle", 0);
	char idle[WR_UNIT_TEXT];

	(void)found;
	if (!judged->evidence->outside || !judged->out || on == 0 || f->loss_ratio > 0 ||
	    !(f->busy_ratio < BUSY_RATIO) || f->marked_segs > 0)
		return 0;
	if (!(f->cwnd_ratio <= FALL_RATIO) || f->cwnd_segs / f->cwnd_ratio < WORTH_SEGS)
		return between_pauses(judged, out);
	out->side = judged->sender_side;
	out->share_ratio = fmin(f->busy_ratio, 1);
	wr_finding_prove(out, "cwnd_segs", f->cwnd_segs, "segments",
			 "the congestion window fell from %.0f to %.0f segments with nothing lost",
			 f->cwnd_segs / f->cwnd_ratio, f->cwnd_segs);
	wr_finding_prove(out, "idle_us", f->idle_ms * 1e3, "us", "the connection had been idle for %s",
			 wr_time_text(idle, f->idle_ms * 1e6));
	wr_finding_prove(out, "net.ipv4.tcp_slow_start_after_idle", on, "count",
			 "net.ipv4.tcp_slow_start_after_idle is on, on %s", wr_side_name(out->side));
	out->confidence = on > 0 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_idle_restart = {
	.name = "idle-restart",
	.summary = "After a pause the congestion window begins small again.",
	.source = "net/ipv4/tcp_output.c tcp_cwnd_restart; RFC 2861",
	.eval = eval,
};
