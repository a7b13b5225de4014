/* SPDX-License-Identifier: MIT */
/* Duplication before the bottleneck, as netem's: the copy follows at once and takes capacity. Source: tc-netem(8). */
#include "lab/chance.h"
#include "lab/element.h"
#include "lab/spec.h"

struct duplicate {
	double ratio;
	uint64_t n_until_next;
};

_Static_assert(sizeof(struct duplicate) <= WR_LAB_STATE_BYTES, "state");

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	const struct wr_lab_spec specs[] = {{"", WR_LAB_SPEC_SHARE, &way->duplicate_ratio, 0, 1}, {0}};

	return wr_lab_spec_parse(text, specs, err);
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
	.summary = "lets a share of the segments come twice",
	.source = "tc-netem(8)",
	.touches = "duplicated",
	.option = "duplicate",
	.wish = offsetof(struct wr_lab_way_wish, duplicate),
	.parse = parse,
	.init = init,
	.pass = pass,
};
