/* SPDX-License-Identifier: MIT */
/*
 * Corruption: one bit of a segment is flipped behind the last check sequence of a wire (in a router's memory, say), so
 * that only the transport's checksum can find it. Source: tc-netem(8); Stone and Partridge, "When the CRC and TCP
 * checksum disagree", 2000.
 */
#include "lab/chance.h"
#include "base/mem.h"
#include "lab/element.h"

struct corrupt {
	double ratio;
	uint64_t n_until_next;
};

_Static_assert(sizeof(struct corrupt) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--corrupt SHARE", "", WR_LAB_SPEC_SHARE, WR_LAB_WAY(corrupt_ratio), 0, 1, "share", NULL, "none",
	 "of segments"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	return wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err);
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct corrupt *corrupt = state;

	corrupt->ratio = way->corrupt_ratio;
	corrupt->n_until_next = wr_lab_chance_gap(shared->random, corrupt->ratio);
	return corrupt->ratio > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct corrupt *corrupt = state;

	if (wr_lab_chance_skip(&corrupt->n_until_next, run))
		return WR_LAB_PASS;
	run->marks |= WR_LAB_MARK_CORRUPT;
	run->chance = wr_stat_random_next(shared->random);
	corrupt->n_until_next = wr_lab_chance_gap(shared->random, corrupt->ratio);
	return WR_LAB_TOUCH;
}

const struct wr_lab_element wr_lab_element_corrupt = {
	.name = "corrupt",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "flips a bit in a share of the segments",
	.source = "tc-netem(8)",
	.touches = "corrupted",
	.option = "corrupt",
	.wish = offsetof(struct wr_lab_way_wish, corrupt),
	.parse = parse,
	.init = init,
	.pass = pass,
};
