/* SPDX-License-Identifier: MIT */
/*
 * A middlebox that takes the window scale out of SYNs. In both directions the connection stays below 64 KiB of window;
 * out of the SYN-ACK alone the two ends disagree about what a window means. Source: RFC 7323 section 2.3, and the
 * firewalls of which https://lwn.net/Articles/92727/ tells.
 */
#include "base/mem.h"
#include "lab/element.h"

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	(void)state;
	(void)shared;
	return way->strip_wscale;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	(void)state;
	(void)shared;
	if (!(run->traits & WR_LAB_TRAIT_SYN))
		return WR_LAB_PASS;
	run->marks |= WR_LAB_MARK_NO_WSCALE;
	return WR_LAB_TOUCH;
}

static const struct wr_lab_spec keys[] = {
	{"--strip-wscale", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, NULL, NULL, "off",
	 "take it out"},
};

const struct wr_lab_element wr_lab_element_wscale = {
	.name = "strip-wscale",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "takes the window scale option out of TCP SYNs",
	.source = "RFC 7323",
	.touches = "stripped of the window scale",
	.init = init,
	.pass = pass,
};
