/* SPDX-License-Identifier: MIT */
/*
 * notsent-lowat: TCP_NOTSENT_LOWAT (or its sysctl) lets the program write only while less than so many bytes are
 * unsent. Where that is less than goes out before the program runs again, the pipe runs dry: what is unsent hugs the
 * mark, and both windows have room.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define UNLIMITED 1e9
#define HUGS_RATIO 2
/* The least that is written once the mark allows it: a packet of up to 64 KiB. */
#define CHUNK_BYTES 65536
#define BUSY_RATIO 0.85
#define WORTH_RATIO 0.2

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double mark = wr_end_number(judged->sender, "net.ipv4.tcp_notsent_lowat", 0);
	double share = f->stop_ratio[WR_STOP_WRITER] + f->stop_ratio[WR_STOP_SNDBUF];
	char unsent[WR_UNIT_TEXT], limit[WR_UNIT_TEXT];

	(void)found;
	if (!(mark < UNLIMITED) || share < WORTH_RATIO || !(f->busy_ratio >= BUSY_RATIO) ||
	    f->notsent_bytes > fmax(HUGS_RATIO * mark, CHUNK_BYTES) || f->path_full || f->reply_bytes > 0)
		return 0;
	out->side = judged->sender_side;
	out->share_ratio = share;
	if (f->goodput_bps > 0)
		out->ceiling_bps = f->goodput_bps;
	wr_finding_prove(out, "net.ipv4.tcp_notsent_lowat", mark, "bytes",
			 "net.ipv4.tcp_notsent_lowat is %s on %s, and %s are unsent", wr_size_text(limit, mark),
			 wr_side_name(out->side), wr_size_text(unsent, f->notsent_bytes));
	wr_finding_prove(out, "cwnd_full_ratio", f->cwnd_full_ratio, "ratio",
			 "the congestion window was full in %.0f %% of the snapshots", 100 * f->cwnd_full_ratio);
	/* A program that has no more to write looks the same; only while something is unsent it is the mark. */
	out->confidence = f->notsent_bytes > 0 && f->notsent_bytes <= HUGS_RATIO * mark ? WR_CONFIDENCE_MEDIUM
											: WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_notsent_lowat = {
	.name = "notsent-lowat",
	.summary = "The low-water mark for unsent data keeps the program from writing in time.",
	.source = "include/net/tcp.h tcp_stream_memory_free; tcp(7) TCP_NOTSENT_LOWAT",
	.eval = eval,
};
