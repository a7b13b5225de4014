/* SPDX-License-Identifier: MIT */
/*
 * Random loss: each segment is lost with the same chance, independently. It stands before the bottleneck, as
 * netem's does, so a lost segment takes no capacity. Source: tc-netem(8), "loss random".
 */
#include "lab/chance.h"
#include "lab/element.h"

struct loss {
	double ratio;
	uint64_t n_until_loss;
};

_Static_assert(sizeof(struct loss) <= WR_LAB_STATE_BYTES, "state");

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct loss *loss = state;

	loss->ratio = way->loss_ratio;
	loss->n_until_loss = wr_lab_chance_gap(&shared->random, loss->ratio);
	return loss->ratio > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct loss *loss = state;

	if (loss->n_until_loss == 0) {
		wr_lab_run_shorten(run, 1);
		loss->n_until_loss = wr_lab_chance_gap(&shared->random, loss->ratio);
		return WR_LAB_DROP;
	}
	if (loss->n_until_loss < run->n_segs)
		wr_lab_run_shorten(run, (uint32_t)loss->n_until_loss);
	if (loss->n_until_loss != UINT64_MAX)
		loss->n_until_loss -= run->n_segs;
	return WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_loss = {
	.name = "loss",
	.summary = "loses each segment with the same chance, independently of all others",
	.source = "tc-netem(8)",
	.init = init,
	.pass = pass,
};
