/* SPDX-License-Identifier: MIT */
/* Propagation delay: everything arrives so much later, in order. The path's RTT is the sum of both directions. */
#include "base/mem.h"
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

static const struct wr_lab_spec keys[] = {
	{"--rtt TIME", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, "time", "0 to 120 s", "0",
	 "half of it each way"},
	{"--delay TIME", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, "time", "0 to 60 s", "0",
	 "one way; not with --rtt"},
};

const struct wr_lab_element wr_lab_element_delay = {
	.name = "delay",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "lets everything arrive later by the same time",
	.source = "propagation: about 5 us a kilometre of fibre",
	.init = init,
	.pass = pass,
};
