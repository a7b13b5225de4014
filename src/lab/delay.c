/* SPDX-License-Identifier: MIT */
/* Propagation delay: everything arrives so much later, in order. The path's RTT is the sum of both directions. */
#include "lab/element.h"

struct delay {
	uint64_t delay_ns;
};

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct delay *delay = state;

	(void)shared;
	delay->delay_ns = way->delay_ns;
	return way->delay_ns > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	const struct delay *delay = state;

	(void)shared;
	run->at_ns += delay->delay_ns;
	return WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_delay = {
	.name = "delay",
	.summary = "lets everything arrive later by the same time",
	.source = "propagation: about 5 us a kilometre of fibre",
	.init = init,
	.pass = pass,
};
