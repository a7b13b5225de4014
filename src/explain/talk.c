/* SPDX-License-Identifier: MIT */
/*
 * How an end talks: sizes of its segments, ACKs of their own, tails that are held back. Small messages show in counts
 * over the interval; that one is held, in the instant: a part of a segment unsent while an earlier one is not yet
 * acknowledged (Nagle) or while nothing is in flight at all (cork), though both windows have room.
 */
#include <math.h>

#include "explain/features.h"

static bool has_room(const struct wr_sample *sample)
{
	double unacked = wr_sample_get(sample, WR_M_UNACKED_SEGS, NAN),
	       cwnd = wr_sample_get(sample, WR_M_CWND_SEGS, NAN);
	double window = wr_sample_get(sample, WR_M_SND_WND_BYTES, INFINITY);

	return unacked <= fmax(cwnd / 2, 1) &&
	       wr_in_flight_bytes(sample) + wr_sample_get(sample, WR_M_NOTSENT_BYTES, NAN) <= window;
}

/* A piece of a segment that waits, though it could go. */
static bool has_tail(const struct wr_sample *sample)
{
	double notsent = wr_sample_get(sample, WR_M_NOTSENT_BYTES, NAN);

	return notsent > 0 && notsent < wr_sample_get(sample, WR_M_SND_MSS_BYTES, NAN) && has_room(sample) &&
	       wr_sample_get(sample, WR_M_BACKOFF, 0) == 0;
}

static void looks(struct wr_talk *talk, const struct wr_connection *connection)
{
	double n = (double)connection->n_glimpses, held = (double)connection->n_held, corked = 0, states = 0;

	for (size_t i = 0; i < connection->series.n_samples; i++) {
		const struct wr_sample *sample = &connection->series.samples[i];

		if (!wr_sample_is_state(sample))
			continue;
		n++;
		states++;
		if (!has_tail(sample))
			continue;
		if (sample->value[WR_M_UNACKED_SEGS] > 0)
			held++;
		else
			corked++;
	}
	talk->held_ratio = n > 0 ? held / n : NAN;
	talk->corked_ratio = states > 0 ? corked / states : NAN;
}

void wr_talk_init(struct wr_talk *talk, const struct wr_case *judged, const struct wr_end *end)
{
	const struct wr_connection *connection = end->n_connections ? &end->connections[0] : NULL;
	const struct wr_sample *last = connection ? wr_series_at(&connection->series, INT64_MAX) : NULL;
	double sent, rwnd;

	*talk = (struct wr_talk){.seg_bytes = NAN, .in_seg_bytes = NAN, .held_ratio = NAN, .corked_ratio = NAN};
	if (!last)
		return;
	talk->seen = true;
	sent = wr_connection_delta(judged->evidence, connection, WR_M_BYTES_SENT);
	if (isnan(sent))
		sent = wr_connection_delta(judged->evidence, connection, WR_M_BYTES_ACKED);
	talk->segs = wr_connection_delta(judged->evidence, connection, WR_M_DATA_SEGS_OUT);
	talk->in_segs = wr_connection_delta(judged->evidence, connection, WR_M_DATA_SEGS_IN);
	talk->acks = wr_connection_delta(judged->evidence, connection, WR_M_SEGS_OUT) - talk->segs;
	talk->seg_bytes = sent / talk->segs;
	talk->in_seg_bytes = wr_connection_delta(judged->evidence, connection, WR_M_BYTES_RECEIVED) / talk->in_segs;
	talk->rtt_us = wr_sample_get(last, WR_M_RTT_US, NAN);
	talk->rttvar_us = wr_sample_get(last, WR_M_RTTVAR_US, NAN);
	talk->min_rtt_us = wr_sample_get(last, WR_M_MIN_RTT_US, NAN);
	talk->mss_bytes = wr_sample_get(last, WR_M_SND_MSS_BYTES, NAN);
	talk->busy_ratio =
		wr_connection_delta(judged->evidence, connection, WR_M_BUSY_US) / 1e6 / judged->features.seconds;
	looks(talk, connection);
	/* A tail that the peer's window stops is not held. */
	rwnd = wr_connection_delta(judged->evidence, connection, WR_M_RWND_US);
	if (rwnd > 0)
		talk->corked_ratio = 0;
}
