/* SPDX-License-Identifier: MIT */
/*
 * small-writes: a companion. The segments of a connection that something else stops are small, so each costs as much as
 * a full one.
 */
#include "explain/cause.h"

#define SMALL_RATIO 0.5
#define MANY_SEGS 20

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_finding *nagle = wr_finding_find(found, "nagle-delack"),
				*writer = wr_finding_find(found, "writer-limited");
	const struct wr_finding *explained = nagle ? nagle : writer;
	const struct wr_talk *talk;

	if (!explained || explained->side == WR_SIDE_PATH)
		return 0;
	talk = &judged->talk[explained->side];
	if (!(talk->segs >= MANY_SEGS) || !(talk->seg_bytes < SMALL_RATIO * talk->mss_bytes))
		return 0;
	out->side = explained->side;
	out->share_ratio = explained->share_ratio;
	out->companion = true;
	out->confidence = WR_CONFIDENCE_HIGH;
	wr_finding_prove(out, "segment_bytes", talk->seg_bytes, "bytes", "%.0f segments of %.0f B where %.0f fit",
			 talk->segs, talk->seg_bytes, talk->mss_bytes);
	return 1;
}

const struct wr_cause wr_cause_small_writes = {
	.name = "small-writes",
	.summary = "Data go out in many small segments.",
	.source = "tcpi_bytes_sent / tcpi_data_segs_out",
	.companion = true,
	.eval = eval,
};
