/* SPDX-License-Identifier: MIT */
/*
 * The row of the policy for acknowledgements. Its work is done before the chain, by wr_lab_acks (an ACK may wait for a
 * packet of the other direction); here stand its option and its counters.
 */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/element.h"

/* TcpAckFrequency 2 and TcpDelAckTicks 2, of 100 ms each. */
#define MICROSOFT_NS (200 * WR_NS_PER_MS)
#define MICROSOFT_COUNT 2

static const struct wr_lab_spec keys[] = {
	{"--ack-policy microsoft", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, NULL, NULL, "none",
	 "timer=200ms,count=2"},
	{"timer=TIME", "timer", WR_LAB_SPEC_TIME, WR_LAB_WAY(ack.timer_ns), 1e6, 10e9, "time", NULL, "200ms",
	 "the longest wait"},
	{",count=N", "count", WR_LAB_SPEC_COUNT, WR_LAB_WAY(ack.count), 2, 1000, "data segments", NULL, "2",
	 "after which it goes at once"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	way->ack.timer_ns = MICROSOFT_NS;
	way->ack.count = MICROSOFT_COUNT;
	if (strcmp(text, "microsoft") == 0 || wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) == 0)
		return 0;
	return wr_err_hint(err, "write it like microsoft, or timer=40ms,count=2");
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	(void)state;
	(void)shared;
	return way->ack.count > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	(void)state;
	(void)shared;
	(void)run;
	return WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_ack_policy = {
	.name = "ack-policy",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "holds pure ACKs until more data, data the other way, or a timer",
	.source = "RFC 1122 section 4.2.3.2; TcpAckFrequency and TcpDelAckTicks of the Microsoft stack",
	.touches = "held as the ACK policy says",
	.option = "ack-policy",
	.wish = offsetof(struct wr_lab_way_wish, ack_policy),
	.parse = parse,
	.init = init,
	.pass = pass,
};
