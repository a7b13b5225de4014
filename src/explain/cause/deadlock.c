/* SPDX-License-Identifier: MIT */
/*
 * deadlock: both programs write and neither reads. On one socket unread data fill the receive buffer while its own data
 * can't leave because the peer's window is shut, and nothing moves.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define FULL_RATIO 0.75

/* Unread and unsent at once, at an end that was seen; in a single snapshot its probes must have gone on for a while. */
static bool is_stuck(const struct wr_connection *connection, bool lifetime)
{
	size_t n = 0;

	if (!connection)
		return false;
	for (size_t i = 0; i < connection->series.n_samples; i++) {
		const struct wr_sample *sample = &connection->series.samples[i];

		if (!wr_sample_is_state(sample))
			continue;
		if (!(wr_sample_get(sample, WR_M_RMEM_BYTES, NAN) >=
		      FULL_RATIO * wr_sample_get(sample, WR_M_RCVBUF_BYTES, NAN)) ||
		    !(wr_sample_get(sample, WR_M_NOTSENT_BYTES, NAN) > 0) ||
		    wr_sample_get(sample, WR_M_SND_WND_BYTES, NAN) > 0 ||
		    (lifetime && !(wr_sample_get(sample, WR_M_BACKOFF, 0) > 0)))
			return false;
		n++;
	}
	return n > 0;
}

static void prove(const struct wr_connection *connection, enum wr_side side, struct wr_finding *out)
{
	const struct wr_sample *last = wr_series_at(&connection->series, INT64_MAX);
	double unread = wr_sample_get(last, WR_M_RECV_Q_BYTES, NAN),
	       unsent = wr_sample_get(last, WR_M_NOTSENT_BYTES, NAN);
	char in[WR_UNIT_TEXT], away[WR_UNIT_TEXT];

	wr_finding_prove(out, "recv_q_bytes", unread, "bytes",
			 "on %s %s lie unread and %s wait to be sent into a closed window", wr_side_name(side),
			 wr_size_text(in, unread), wr_size_text(away, unsent));
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	bool lifetime = judged->evidence->lifetime;
	bool out_stuck = is_stuck(judged->out, lifetime), in_stuck = is_stuck(judged->in, lifetime);

	(void)found;
	if ((!out_stuck && !in_stuck) || (judged->out && judged->in && !(out_stuck && in_stuck)) ||
	    (judged->features.moved_bytes > 0 && !lifetime))
		return 0;
	/* The programs of both ends make it; the caller's is where it is mended. */
	out->side = WR_SIDE_NEAR;
	out->share_ratio = 1;
	if (out_stuck)
		prove(judged->out, judged->sender_side, out);
	if (in_stuck)
		prove(judged->in, judged->receiver_side, out);
	wr_finding_prove(out, "moved_bytes", 0, "bytes",
			 "nothing moved; which of the two programs is to read first, sockets can't tell");
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_deadlock = {
	.name = "deadlock",
	.summary = "Both programs write and neither reads.",
	.source = "tcpi_notsent_bytes and the receive queue of the same socket",
	.eval = eval,
};
