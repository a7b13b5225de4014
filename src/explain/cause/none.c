/* SPDX-License-Identifier: MIT */
/* none: nothing limits it that a knob could change. The connection is idle, or the socket takes all that comes. */
#include <math.h>

#include "explain/cause.h"

static bool waits(const struct wr_connection *connection)
{
	const struct wr_sample *last = connection ? wr_series_at(&connection->series, INT64_MAX) : NULL;

	return last &&
	       (wr_sample_get(last, WR_M_NOTSENT_BYTES, 0) > 0 || wr_sample_get(last, WR_M_UNACKED_SEGS, 0) > 0 ||
		wr_sample_get(last, WR_M_RECV_Q_BYTES, 0) > 0 || wr_sample_get(last, WR_M_SEND_Q_BYTES, 0) > 0);
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;

	if (found->n_causes || !judged->evidence->outside)
		return 0;
	out->side = WR_SIDE_PATH;
	out->share_ratio = 1;
	if (judged->evidence->protocol == WR_HOST) {
		if (judged->evidence->near.n_counters + judged->evidence->far.n_counters == 0)
			return 0;
		out->confidence = WR_CONFIDENCE_LOW;
		return 1;
	}
	if (waits(judged->out) || waits(judged->in) || f->moved_bytes > 0)
		return 0;
	wr_finding_prove(out, "queued_bytes", 0, "bytes", "nothing is queued at it, and nothing %s",
			 judged->evidence->protocol == WR_TCP ? "moved" : "was dropped");
	out->confidence = WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_none = {
	.name = "none",
	.summary = "Nothing limits it that a knob could change.",
	.source = "empty queues, and counts that stand still",
	.protocols = ~0U,
	.eval = eval,
};
