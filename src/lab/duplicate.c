/* SPDX-License-Identifier: MIT */
/* Duplication before the bottleneck, as netem's: the copy follows at once and takes capacity. Source: tc-netem(8). */
#include "lab/chance.h"
#include "base/mem.h"
#include "lab/element.h"

struct duplicate {
	double ratio;
	uint64_t n_until_next;
};

_Static_assert(sizeof(struct duplicate) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--duplicate SHARE", "", WR_LAB_SPEC_SHARE, WR_LAB_WAY(duplicate_ratio), 0, 1, "share", NULL, "none",
	 "of segments"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	return wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err);
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct duplicate *duplicate = state;

	duplicate->ratio = way->duplicate_ratio;
	duplicate->n_until_next = wr_lab_chance_gap(shared->random, duplicate->ratio);
	return duplicate->ratio > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct duplicate *duplicate = state;

	if (wr_lab_chance_skip(&duplicate->n_until_next, run))
		return WR_LAB_PASS;
	duplicate->n_until_next = wr_lab_chance_gap(shared->random, duplicate->ratio);
	return WR_LAB_TWICE;
}

const struct wr_lab_element wr_lab_element_duplicate = {
	.name = "duplicate",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "lets a share of the segments come twice",
	.source = "tc-netem(8)",
	.touches = "duplicated",
	.option = "duplicate",
	.wish = offsetof(struct wr_lab_way_wish, duplicate),
	.parse = parse,
	.init = init,
	.pass = pass,
};
