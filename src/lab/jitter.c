/* SPDX-License-Identifier: MIT */
/*
 * Delay that varies around the set one, drawn for each segment: uniform within +- the spread, or normal with the
 * spread as standard deviation. In order unless reordering is asked for: a segment then waits for those before it, so
 * the mean delay grows a little, as in a real queue. Source: tc-netem(8), "delay TIME JITTER".
 */
#include "base/err.h"
#include "base/mem.h"
#include "lab/chance.h"
#include "lab/element.h"

/* Beyond it a normal value is drawn again: 6 in 100000. */
#define MOST_DEVIATIONS 4

struct jitter {
	double spread_ns, most_ns;
	bool normal, reorder;
	int64_t next_ns; /* drawn already, for the next segment */
	uint64_t last_ns;
};

_Static_assert(sizeof(struct jitter) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--jitter TIME", "", WR_LAB_SPEC_TIME, WR_LAB_WAY(jitter.spread_ns), 0, 60e9, "time", "0 to the one-way delay", "none",
	 "spread, or standard deviation"},
	{",normal", "normal", WR_LAB_SPEC_FLAG, WR_LAB_WAY(jitter.normal), 0, 0, NULL, NULL, "uniform",
	 "the distribution"},
	{",reorder", "reorder", WR_LAB_SPEC_FLAG, WR_LAB_WAY(jitter.reorder), 0, 0, NULL, NULL, "in order",
	 "segments may overtake each other"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	char delay[WR_UNIT_TEXT];

	if (wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) < 0)
		return -1;
	if (way->jitter.spread_ns <= way->delay_ns)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "jitter", "'%s' is more than the delay it varies, %s one way", text,
		   wr_time_text(delay, (double)way->delay_ns));
	return wr_err_hint(err, "add --delay of at least that, or --rtt of twice as much");
}

static int64_t draw(const struct jitter *jitter, struct wr_stat_random *random)
{
	return (int64_t)wr_lab_chance_spread(random, jitter->spread_ns, jitter->normal, jitter->most_ns);
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct jitter *jitter = state;

	jitter->spread_ns = (double)way->jitter.spread_ns;
	jitter->most_ns = MOST_DEVIATIONS * jitter->spread_ns;
	if (jitter->most_ns > (double)way->delay_ns)
		jitter->most_ns = (double)way->delay_ns;
	jitter->normal = way->jitter.normal;
	jitter->reorder = way->jitter.reorder;
	jitter->next_ns = draw(jitter, shared->random);
	return way->jitter.spread_ns > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct jitter *jitter = state;
	uint64_t base_ns = run->at_ns, at_ns = base_ns + (uint64_t)jitter->next_ns;
	uint32_t n = 1;

	if (!jitter->reorder && at_ns < jitter->last_ns)
		at_ns = jitter->last_ns;
	jitter->next_ns = draw(jitter, shared->random);
	/* In order, a segment that would come before this one comes with it: the two stay one run. */
	while (!jitter->reorder && n < run->n_segs && base_ns + (uint64_t)jitter->next_ns <= at_ns) {
		jitter->next_ns = draw(jitter, shared->random);
		n++;
	}
	wr_lab_run_shorten(run, n);
	run->at_ns = at_ns;
	jitter->last_ns = at_ns;
	return WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_jitter = {
	.name = "jitter",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "lets the delay vary from segment to segment, in order or not",
	.source = "tc-netem(8)",
	.option = "jitter",
	.wish = offsetof(struct wr_lab_way_wish, jitter),
	.parse = parse,
	.init = init,
	.pass = pass,
};
