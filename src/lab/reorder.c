/* SPDX-License-Identifier: MIT */
/*
 * Reordering: a share of the segments is late, so that those sent after them overtake. The distance is a time, or a
 * number of full segments at the rate. It stands last: neither capacity nor loss is changed. Source: RFC 4737.
 */
#include "base/err.h"
#include "base/mem.h"
#include "lab/chance.h"
#include "lab/element.h"
#include "lab/packet.h"

/* What TCP takes for a loss: three segments overtake (RFC 5681, the duplicate ACK threshold). */
#define DEFAULT_BY 3

struct reorder {
	double ratio;
	uint64_t late_ns, n_until_next;
};

_Static_assert(sizeof(struct reorder) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--reorder SHARE", "", WR_LAB_SPEC_SHARE, WR_LAB_WAY(reorder.ratio), 0, 1, "share", NULL, "none",
	 "of segments"},
	{",by=N", "by", WR_LAB_SPEC_COUNT, WR_LAB_WAY(reorder.by_segs), 1, 10000, "full segments at the rate", NULL, "3",
	 "overtaken by; needs a rate"},
	{",late=TIME", "late", WR_LAB_SPEC_TIME, WR_LAB_WAY(reorder.late_ns), 1e3, 60e9, "time", NULL, NULL,
	 "instead of by="},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	uint64_t half_segments;

	way->reorder.late_ns = 0;
	if (wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) < 0)
		return -1;
	if (way->reorder.by_segs && way->reorder.late_ns)
		return wr_err_set(err, WEIR_ERR_USAGE, "reorder", "'%s': by= and late= contradict each other", text);
	if (way->reorder.late_ns || way->reorder.ratio <= 0)
		return 0;
	if (way->rate_bps == WR_UNSET) {
		wr_err_set(err, WEIR_ERR_USAGE, "reorder", "a distance in segments needs a rate");
		return wr_err_hint(err, "add --rate, or say it in time: %s,late=1ms", text);
	}
	/* Half a segment more, so that the last that shall overtake has gone. */
	half_segments = 2 * (way->reorder.by_segs ? way->reorder.by_segs : DEFAULT_BY) + 1;
	way->reorder.late_ns = half_segments * (way->mtu_bytes + WR_LAB_FRAMING_BYTES) * 4000000000u / way->rate_bps;
	return 0;
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct reorder *reorder = state;

	reorder->ratio = way->reorder.ratio;
	reorder->late_ns = way->reorder.late_ns;
	reorder->n_until_next = wr_lab_chance_gap(shared->random, reorder->ratio);
	return reorder->ratio > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct reorder *reorder = state;

	if (wr_lab_chance_skip(&reorder->n_until_next, run))
		return WR_LAB_PASS;
	reorder->n_until_next = wr_lab_chance_gap(shared->random, reorder->ratio);
	run->at_ns += reorder->late_ns;
	return WR_LAB_TOUCH;
}

const struct wr_lab_element wr_lab_element_reorder = {
	.name = "reorder",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "lets a share of the segments come late, so that later ones overtake",
	.source = "RFC 4737, tc-netem(8)",
	.touches = "held back",
	.option = "reorder",
	.wish = offsetof(struct wr_lab_way_wish, reorder),
	.parse = parse,
	.init = init,
	.pass = pass,
};
