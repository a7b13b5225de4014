/* SPDX-License-Identifier: MIT */
/*
 * CoDel, controlled delay. It decides when a packet leaves the queue; a fluid server with first in, first out knows
 * that instant when the packet comes, so the decision is made then: a dropped segment takes no capacity, and what comes
 * later leaves the sooner, as if it had been dropped at its turn. Only the rule that a queue of one packet is never
 * too long must look at what was ahead of a segment instead of behind it. Source: RFC 8289 section 5; names are its.
 */
#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/element.h"
#include "lab/packet.h"

#define DEFAULT_INTERVAL_NS (100 * WR_NS_PER_MS)
/* Within so many intervals of the last dropping state the count goes on (RFC 8289 section 5.4). */
#define SOON_INTERVALS 16

/* @follows: the packet behind the one that opened the dropping state; @counted: one was dropped, the next sets the time */
struct codel {
	uint64_t target_ns, interval_ns, maxpacket_bytes;
	uint64_t first_above_ns, drop_next_ns;
	uint32_t count, lastcount;
	bool ecn, dropping, follows, counted;
};

_Static_assert(sizeof(struct codel) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--codel TARGET", "", WR_LAB_SPEC_TIME, WR_LAB_WAY(codel.target_ns), 1e3, 10e9, "time", NULL, "off",
	 "the delay that may stand; 5ms is the RFC's"},
	{",interval=TIME", "interval", WR_LAB_SPEC_TIME, WR_LAB_WAY(codel.interval_ns), 1e3, 100e9, "time", NULL, "100ms",
	 "how long it may stand; about the worst RTT"},
	{",ecn", "ecn", WR_LAB_SPEC_FLAG, WR_LAB_WAY(codel.ecn), 0, 0, NULL, NULL, "drop",
	 "mark what can be marked"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	way->codel.target_ns = 0;
	way->codel.interval_ns = DEFAULT_INTERVAL_NS;
	if (wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) < 0)
		return -1;
	if (way->codel.target_ns == 0) {
		wr_err_set(err, WEIR_ERR_USAGE, "codel", "'%s' begins with no target", text);
		return wr_err_hint(err, "write it like 5ms or 5ms,interval=100ms,ecn");
	}
	if (way->rate_bps == WR_UNSET) {
		wr_err_set(err, WEIR_ERR_USAGE, "codel", "CoDel without a rate: nothing would ever wait");
		return wr_err_hint(err, "add --rate");
	}
	return 0;
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct codel *codel = state;

	(void)shared;
	codel->target_ns = way->codel.target_ns;
	codel->interval_ns = way->codel.interval_ns;
	codel->ecn = way->codel.ecn;
	codel->maxpacket_bytes = way->mtu_bytes + WR_LAB_FRAMING_BYTES;
	return way->codel.target_ns > 0;
}

static uint64_t control_law(const struct codel *codel, uint64_t from_ns)
{
	return from_ns + (uint64_t)((double)codel->interval_ns / sqrt(codel->count));
}

/* dodequeue: whether the delay has stood above the target for an interval. */
static bool ok_to_drop(struct codel *codel, uint64_t sojourn_ns, uint64_t backlog_bytes, uint64_t now_ns)
{
	if (sojourn_ns < codel->target_ns || backlog_bytes <= codel->maxpacket_bytes) {
		codel->first_above_ns = 0;
		return false;
	}
	if (codel->first_above_ns == 0) {
		codel->first_above_ns = now_ns + codel->interval_ns;
		return false;
	}
	return now_ns >= codel->first_above_ns;
}

static void open_dropping(struct codel *codel, uint64_t now_ns)
{
	uint32_t delta = codel->count - codel->lastcount;
	bool soon = now_ns < codel->drop_next_ns + SOON_INTERVALS * codel->interval_ns;

	codel->dropping = true;
	codel->count = delta > 1 && soon ? delta : 1;
	codel->drop_next_ns = control_law(codel, now_ns);
	codel->lastcount = codel->count;
	codel->follows = true;
}

/* dequeue, a packet at a time. Return: whether this one is to go. */
static bool judge(struct codel *codel, bool ok, uint64_t now_ns)
{
	bool follows = codel->follows, counted = codel->counted;

	codel->follows = codel->counted = false;
	if (follows)
		return false;
	if (!codel->dropping) {
		if (ok)
			open_dropping(codel, now_ns);
		return ok;
	}
	if (!ok) {
		codel->dropping = false;
		return false;
	}
	if (counted)
		codel->drop_next_ns = control_law(codel, codel->drop_next_ns);
	if (now_ns < codel->drop_next_ns)
		return false;
	codel->count++;
	codel->counted = true;
	return true;
}

/* What is marked instead of dropped leaves itself, so nothing follows it in its place. */
static enum wr_lab_fate go(struct codel *codel, struct wr_lab_run *run)
{
	if (!codel->ecn || !(run->traits & WR_LAB_TRAIT_ECT))
		return WR_LAB_DROP;
	if (codel->counted)
		codel->drop_next_ns = control_law(codel, codel->drop_next_ns);
	codel->follows = codel->counted = false;
	run->marks |= WR_LAB_MARK_CE;
	return WR_LAB_TOUCH;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct codel *codel = state;
	uint64_t sojourn_ns = wr_lab_server_wait_ns(&shared->server, run->at_ns), now_ns = run->at_ns + sojourn_ns;
	uint64_t backlog = wr_lab_server_backlog_bytes(&shared->server, run->at_ns);
	bool ok;

	wr_lab_run_shorten(run, 1);
	ok = ok_to_drop(codel, sojourn_ns, backlog, now_ns);
	return judge(codel, ok, now_ns) ? go(codel, run) : WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_codel = {
	.name = "codel",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "drops or marks when the delay in the queue has stood above a target for an interval",
	.source = "RFC 8289",
	.touches = "marked by CoDel",
	.option = "codel",
	.wish = offsetof(struct wr_lab_way_wish, codel),
	.parse = parse,
	.init = init,
	.pass = pass,
};
