/* SPDX-License-Identifier: MIT */
/*
 * window-scale-missing: the two ends did not agree to scale windows, so no window is larger than 65535 bytes, whatever
 * the buffers are. One of them has it switched off, or something in between (a balancer, a user-mode NAT) drops the
 * option.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* The window stands at most this far below the 65535 that it can say. */
#define FIELD_MAX 65535.0
#define AT_MOST_RATIO 0.7

static double scaling(const struct wr_end *end)
{
	return wr_end_number(end, "net.ipv4.tcp_window_scaling", 0);
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double near = scaling(judged->sender), far = scaling(judged->receiver);
	char window[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], rate[WR_UNIT_TEXT];

	(void)found;
	if (f->scaled != 0 || !judged->out || f->stop_ratio[WR_STOP_WINDOW] < 0.05 || !(f->window_bytes <= FIELD_MAX) ||
	    f->window_bytes < AT_MOST_RATIO * FIELD_MAX || f->path_full ||
	    f->receive_queue_ratio >= WR_SLOW_READER_RATIO)
		return 0;
	out->side = near == 0 && far == 1 ? judged->sender_side : judged->receiver_side;
	out->share_ratio = f->stop_ratio[WR_STOP_WINDOW];
	out->ceiling_bps = 8e6 * FIELD_MAX / f->rtt_us;
	wr_finding_prove(
		out, "wscale_ok", 0, "count",
		"window scaling was not agreed on: the peer's window of %s is the largest that can be said without it",
		wr_size_text(window, f->window_bytes));
	wr_finding_prove(out, "rwnd_limited_ratio", f->rwnd_ratio, "ratio",
			 "the kernel counts %.0f %% of the time as stopped by the peer's window", 100 * f->rwnd_ratio);
	wr_finding_prove(out, "ceiling_bps", out->ceiling_bps, "bit/s", "65535 B / %s = %s at most",
			 wr_time_text(rtt, f->rtt_us * 1e3), wr_rate_text(rate, out->ceiling_bps));
	if (near == 0 || far == 0)
		wr_finding_prove(out, "net.ipv4.tcp_window_scaling", 0, "count",
				 "net.ipv4.tcp_window_scaling is 0 on %s",
				 near == 0 && far == 0 ? "both ends" : wr_side_name(out->side));
	/* Where both have it off, and where nobody looked, the end is not known. */
	out->confidence = near == 0 && far == 0   ? WR_CONFIDENCE_LOW
			  : near == 0 || far == 0 ? WR_CONFIDENCE_HIGH
						  : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_window_scale_missing = {
	.name = "window-scale-missing",
	.summary = "Window scaling was not negotiated, so the window ends at 64 KiB.",
	.source = "RFC 7323 2; net/ipv4/tcp_input.c tcp_parse_options",
	.eval = eval,
};
