/* SPDX-License-Identifier: MIT */
/*
 * Windows in which nothing gets through: a cable pulled, a radio cell left. What is sent meanwhile is lost, or waits
 * at the bottleneck (hold), whose server then stands still: that part is the rate's.
 */
#include "base/err.h"
#include "base/mem.h"
#include "lab/element.h"

#define MAX_NS 86400e9
/* A segment that waits passes windows one by one: at 1 kbit/s in so much time between two of them it moves by a bit. */
#define MIN_HOLD_GAP_NS WR_NS_PER_MS

static const struct wr_lab_spec keys[] = {
	{"--outage TIME", "", WR_LAB_SPEC_TIME, WR_LAB_WAY(outage.from_ns), 0, MAX_NS, "time", NULL, "none",
	 "when the (first) window begins"},
	{",for=TIME", "for", WR_LAB_SPEC_TIME, WR_LAB_WAY(outage.length_ns), 1e3, MAX_NS, "time", NULL, "must be said",
	 "how long it lasts"},
	{",every=TIME", "every", WR_LAB_SPEC_TIME, WR_LAB_WAY(outage.every_ns), 1e3, MAX_NS, "time", NULL, "once only",
	 "from one beginning to the next; longer than for="},
	{",hold", "hold", WR_LAB_SPEC_FLAG, WR_LAB_WAY(outage.hold), 0, 0, NULL, NULL, "lose",
	 "what comes waits; needs a rate, no rate file, and 1 ms between windows"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	struct wr_lab_outage *outage = &way->outage;

	if (wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) < 0)
		return -1;
	if (outage->length_ns == 0) {
		wr_err_set(err, WEIR_ERR_USAGE, "outage", "'%s' has no length", text);
		return wr_err_hint(err, "write it like 2s,for=500ms");
	}
	if (outage->every_ns && outage->every_ns <= outage->length_ns)
		return wr_err_set(err, WEIR_ERR_USAGE, "outage", "'%s' would never end: every= is not longer than for=", text);
	if (outage->hold && outage->every_ns && outage->every_ns < outage->length_ns + MIN_HOLD_GAP_NS)
		return wr_err_set(err, WEIR_ERR_USAGE, "outage", "'%s': with hold, 1 ms at least must lie between two windows", text);
	if (outage->hold && way->rate_bps == WR_UNSET) {
		wr_err_set(err, WEIR_ERR_USAGE, "outage", "hold needs a rate: what waits must leave at some pace");
		return wr_err_hint(err, "add --rate");
	}
	if (outage->hold && way->schedule.n_steps)
		return wr_err_set(err, WEIR_ERR_USAGE, "outage", "hold beside a rate file: write a rate of 0 there instead");
	return 0;
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	(void)shared;
	*(const struct wr_lab_outage **)state = &way->outage;
	return way->outage.length_ns > 0 && !way->outage.hold;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	const struct wr_lab_outage *outage = *(const struct wr_lab_outage **)state;
	uint64_t until_ns;

	return wr_lab_outage_at(outage, run->at_ns - shared->server.origin_ns, &until_ns) ? WR_LAB_DROP : WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_outage = {
	.name = "outage",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "lets nothing through in windows of time, once or again and again",
	.source = "links that go down and come back",
	.option = "outage",
	.wish = offsetof(struct wr_lab_way_wish, outage),
	.parse = parse,
	.init = init,
	.pass = pass,
};
