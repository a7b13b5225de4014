/* SPDX-License-Identifier: MIT */
/*
 * nagle-delack: a program writes a message in pieces, or several small messages, on a socket without TCP_NODELAY.
 * Nagle's algorithm holds a small segment back while an earlier one is not acknowledged, and the other end delays that
 * ACK (Linux 40 ms, others 100 and 200) because it has nothing to answer yet. A multiplexed connection shows the hold
 * alone.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

/* Segments near full size are those of a stream, whose tails are held by the way and cost nothing. */
#define SMALL_RATIO 0.75
#define BELOW_FULL_RATIO 0.95
/* Delayed ACKs among prompt ones make the RTT large and, by as much, uneven. */
#define UNEVEN_RATIO 0.5
#define UNEVEN_US 1000
#define WINDOW_RATIO 0.1
/* An exchange that contains one delayed ACK: the timer of 40 ms, and a round trip or two. */
#define DELACK_LOW_US 36000
#define DELACK_HIGH_US 62000
#define BUSY_RATIO 0.05
/* The last piece of an answer may be acknowledged by the next request. */
#define EACH_RATIO 0.45
#define PIECES_RATIO 1.5

/*
 * An end that receives a stream sends small messages by the way; how soon they are acknowledged does not matter to it.
 */
static bool receives_stream(const struct wr_talk *talk)
{
	return talk->in_seg_bytes >= SMALL_RATIO * talk->mss_bytes && talk->in_segs > talk->segs;
}

static bool acks_come_late(const struct wr_talk *talk)
{
	double late_us = talk->rtt_us - talk->min_rtt_us;

	return late_us >= UNEVEN_US && talk->rttvar_us >= UNEVEN_RATIO * late_us &&
	       talk->seg_bytes < BELOW_FULL_RATIO * talk->mss_bytes;
}

static bool holds(const struct wr_talk *talk)
{
	return talk->held_ratio > 0 && talk->seg_bytes < BELOW_FULL_RATIO * talk->mss_bytes &&
	       (talk->seg_bytes < SMALL_RATIO * talk->mss_bytes || acks_come_late(talk));
}

/*
 * The other end of one that holds: each small segment that comes gets an ACK of its own, and each exchange takes 40 ms
 * more.
 */
static bool meets_a_hold(const struct wr_case *judged, const struct wr_talk *talk)
{
	double period_us = judged->features.seconds * 1e6 / talk->segs;

	return talk->in_segs >= PIECES_RATIO * talk->segs && talk->segs > 0 &&
	       talk->acks >= EACH_RATIO * talk->in_segs && talk->in_seg_bytes < BELOW_FULL_RATIO * talk->mss_bytes &&
	       period_us >= talk->min_rtt_us + DELACK_LOW_US && period_us <= 2 * talk->min_rtt_us + DELACK_HIGH_US;
}

static void prove_hold(const struct wr_talk *talk, enum wr_side side, const struct wr_end *other,
		       struct wr_finding *out)
{
	char rtt[WR_UNIT_TEXT], least[WR_UNIT_TEXT], uneven[WR_UNIT_TEXT];
	double delayed = wr_end_counter(other, "DelayedACKs");

	if (talk->held_ratio > 0)
		wr_finding_prove(out, "held_ratio", talk->held_ratio, "ratio",
				 "in %.0f %% of the snapshots %s holds a piece of a segment back while an earlier one "
				 "is not acknowledged; windows have room",
				 100 * talk->held_ratio, wr_side_name(side));
	wr_finding_prove(out, "segment_bytes", talk->seg_bytes, "bytes", "segments carry %.0f of %.0f B",
			 talk->seg_bytes, talk->mss_bytes);
	if (acks_come_late(talk))
		wr_finding_prove(out, "rtt_us", talk->rtt_us, "us",
				 "ACKs come late and unevenly: RTT %s +- %s, %s at best",
				 wr_time_text(rtt, talk->rtt_us * 1e3), wr_time_text(uneven, talk->rttvar_us * 1e3),
				 wr_time_text(least, talk->min_rtt_us * 1e3));
	if (delayed > 0)
		wr_finding_prove(out, "DelayedACKs", delayed, "count", "%s delayed %.0f ACKs",
				 side == WR_SIDE_NEAR ? "far" : "near", delayed);
}

static int from_holder(const struct wr_case *judged, enum wr_side side, struct wr_finding *out)
{
	const struct wr_talk *talk = &judged->talk[side];
	bool held = holds(talk), late = acks_come_late(talk);

	if (!held && (!late || receives_stream(talk)))
		return 0;
	out->side = side;
	out->share_ratio = isnan(talk->busy_ratio) ? 1 : fmin(talk->busy_ratio, 1);
	prove_hold(talk, side, side == WR_SIDE_NEAR ? &judged->evidence->far : &judged->evidence->near, out);
	out->confidence = held && late ? WR_CONFIDENCE_HIGH : held ? WR_CONFIDENCE_MEDIUM : WR_CONFIDENCE_LOW;
	return out->share_ratio >= BUSY_RATIO;
}

static int from_other(const struct wr_case *judged, enum wr_side side, struct wr_finding *out)
{
	const struct wr_talk *talk = &judged->talk[side];
	char period[WR_UNIT_TEXT], least[WR_UNIT_TEXT];

	if (judged->talk[1 - side].seen || !meets_a_hold(judged, talk))
		return 0;
	out->side = side == WR_SIDE_NEAR ? WR_SIDE_FAR : WR_SIDE_NEAR;
	out->share_ratio = 1;
	wr_finding_prove(out, "pieces", talk->in_segs / talk->segs, "count",
			 "%.1f small segments come for each that goes out, each with an ACK of its own",
			 talk->in_segs / talk->segs);
	wr_finding_prove(out, "period_us", judged->features.seconds * 1e6 / talk->segs, "us",
			 "an exchange takes %s at an RTT of %s: one delayed ACK in each",
			 wr_time_text(period, judged->features.seconds * 1e9 / talk->segs),
			 wr_time_text(least, talk->min_rtt_us * 1e3));
	out->confidence = WR_CONFIDENCE_LOW;
	return 1;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	struct wr_finding late = *out;

	(void)found;
	if (judged->features.stop_ratio[WR_STOP_WINDOW] > WINDOW_RATIO)
		return 0;
	/* The end that was seen holding, before one that ACKs only seem to be late for. */
	for (int side = WR_SIDE_NEAR; side <= WR_SIDE_FAR; side++) {
		if (judged->talk[side].seen && holds(&judged->talk[side]))
			return from_holder(judged, (enum wr_side)side, out);
	}
	for (int side = WR_SIDE_NEAR; side <= WR_SIDE_FAR; side++) {
		*out = late;
		if (judged->talk[side].seen &&
		    (from_holder(judged, (enum wr_side)side, out) || from_other(judged, (enum wr_side)side, out)))
			return 1;
	}
	return 0;
}

const struct wr_cause wr_cause_nagle_delack = {
	.name = "nagle-delack",
	.summary = "Small writes wait for an ACK that the other end delays.",
	.source = "net/ipv4/tcp_output.c tcp_nagle_test; net/ipv4/tcp_input.c __tcp_ack_snd_check; RFC 896, RFC 1122 "
		  "4.2.3.2",
	.eval = eval,
};
