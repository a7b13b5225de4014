/* SPDX-License-Identifier: MIT */
/*
 * A slow device with a short queue of its own: the link takes packets from the sender's device only as fast as the
 * bottleneck sends them, so they wait in the device's queue and are dropped there, which the sender's stack sees at
 * once (local congestion, no loss on the path). Source: ip-link(8), txqueuelen; net/ipv4/tcp_output.c, tcp_enter_cwr.
 */
#include "base/err.h"
#include "base/mem.h"
#include "lab/element.h"

static const struct wr_lab_spec keys[] = {
	{"--txqueuelen N", "", WR_LAB_SPEC_COUNT, WR_LAB_WAY(device_packets), 1, 200000, "packets, super-packets as one", NULL, "none",
	 "the device's queue; needs a rate"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	if (wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) < 0)
		return -1;
	if (way->rate_bps != WR_UNSET)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "txqueuelen", "a device's queue without a rate: nothing would ever wait in it");
	return wr_err_hint(err, "add --rate");
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	(void)state;
	(void)shared;
	return way->device_packets > 0;
}

/* The waiting is the link's part: it does not read while the server is busy. */
static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	(void)state;
	(void)shared;
	(void)run;
	return WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_txqueuelen = {
	.name = "txqueuelen",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "lets packets wait in the sender's own device, which drops them when it is full",
	.source = "ip-link(8)",
	.option = "txqueuelen",
	.wish = offsetof(struct wr_lab_way_wish, txqueuelen),
	.parse = parse,
	.init = init,
	.pass = pass,
};
