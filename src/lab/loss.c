/* SPDX-License-Identifier: MIT */
/*
 * Loss before the bottleneck, as netem's, so that a lost segment takes no capacity: independent, in bursts by the
 * Gilbert-Elliott chain (two states, each with its own chance), each n-th, or whole super-packets, as a card does
 * whose segmentation is broken. Source: tc-netem(8); Hasslinger and Hohlfeld, "The Gilbert-Elliott model", 2008.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/chance.h"
#include "lab/element.h"

struct loss {
	struct wr_lab_loss model;
	bool bad;
	uint64_t n_until_loss, n_until_change;
};

_Static_assert(sizeof(struct loss) <= WR_LAB_STATE_BYTES, "state");

/* Where the ways of saying it stand in the rows. */
enum { KEY_RATIO, KEY_BURSTS, N_BURSTS = 4, KEY_EVERY = KEY_BURSTS + N_BURSTS, KEY_GSO };

static const struct wr_lab_spec keys[] = {
	{"--loss SHARE", "", WR_LAB_SPEC_SHARE, WR_LAB_WAY(loss.ratio), 0, 1, "share", NULL, "none",
	 "independent"},
	{"--loss ge:p=SHARE", "p", WR_LAB_SPEC_SHARE, WR_LAB_WAY(loss.p), 0, 1, "share", NULL, "must be said",
	 "to bad, per segment"},
	{",r=SHARE", "r", WR_LAB_SPEC_SHARE, WR_LAB_WAY(loss.r), 1e-9, 1, "share", "above 0 to 100 %", "must be said",
	 "back to good, per segment"},
	{",h=SHARE", "h", WR_LAB_SPEC_SHARE, WR_LAB_WAY(loss.h), 0, 1, "share", NULL, "0",
	 "gets through while bad"},
	{",k=SHARE", "k", WR_LAB_SPEC_SHARE, WR_LAB_WAY(loss.k), 0, 1, "share", NULL, "100 %",
	 "gets through while good"},
	{"--loss every:N", "", WR_LAB_SPEC_COUNT, WR_LAB_WAY(loss.every), 1, 1e9, "segments", NULL, NULL,
	 "each N-th"},
	{"--loss gso:SHARE", "", WR_LAB_SPEC_SHARE, WR_LAB_WAY(loss.ratio), 0, 1, "share", NULL, NULL,
	 "of super-packets"},
};

static int parse_bursts(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	struct wr_lab_loss *loss = &way->loss;

	*loss = (struct wr_lab_loss){.kind = WR_LAB_LOSS_BURSTS, .p = -1, .r = -1, .k = 1};
	if (wr_lab_spec_parse(text, keys + KEY_BURSTS, N_BURSTS, way, err) < 0)
		return -1;
	if (loss->p >= 0 && loss->r >= 0)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "loss", "bursts need p= (to bad) and r= (back to good)");
	return wr_err_hint(err, "write it like ge:p=0.5%%,r=30%%: 1.6 %% lost, 3.3 segments in a row");
}

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	struct wr_lab_loss *loss = &way->loss;

	if (strncmp(text, "ge:", 3) == 0)
		return parse_bursts(text + 3, way, err);
	*loss = (struct wr_lab_loss){.kind = WR_LAB_LOSS_RANDOM};
	if (strncmp(text, "every:", 6) == 0) {
		loss->kind = WR_LAB_LOSS_EVERY;
		return wr_lab_spec_parse(text + 6, &keys[KEY_EVERY], 1, way, err);
	}
	if (strncmp(text, "gso:", 4) == 0) {
		loss->kind = WR_LAB_LOSS_GSO;
		return wr_lab_spec_parse(text + 4, &keys[KEY_GSO], 1, way, err);
	}
	return wr_lab_spec_parse(text, &keys[KEY_RATIO], 1, way, err);
}

/* The chance of the state that the chain is in. */
static void draw_gap(struct loss *loss, struct wr_stat_random *random)
{
	double ratio = loss->model.ratio;

	if (loss->model.kind == WR_LAB_LOSS_BURSTS)
		ratio = 1 - (loss->bad ? loss->model.h : loss->model.k);
	loss->n_until_loss = loss->model.kind == WR_LAB_LOSS_EVERY ? loss->model.every - 1 : wr_lab_chance_gap(random, ratio);
}

/* A state lasts one segment at least; the chain may leave it after each. */
static void draw_state(struct loss *loss, struct wr_stat_random *random)
{
	uint64_t gap = wr_lab_chance_gap(random, loss->bad ? loss->model.r : loss->model.p);

	loss->n_until_change = gap == UINT64_MAX ? gap : gap + 1;
	draw_gap(loss, random);
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct loss *loss = state;

	loss->model = way->loss;
	loss->n_until_change = UINT64_MAX;
	if (way->loss.kind == WR_LAB_LOSS_BURSTS)
		draw_state(loss, shared->random);
	else
		draw_gap(loss, shared->random);
	return way->loss.ratio > 0 || way->loss.every > 0 || (way->loss.kind == WR_LAB_LOSS_BURSTS && way->loss.r > 0);
}

static void count_down(uint64_t *counter, uint32_t n)
{
	if (*counter != UINT64_MAX)
		*counter -= n;
}

static enum wr_lab_fate pass_super(struct loss *loss, struct wr_stat_random *random, const struct wr_lab_run *run)
{
	if (run->packet_segs < 2)
		return WR_LAB_PASS;
	if (loss->n_until_loss) {
		count_down(&loss->n_until_loss, 1);
		return WR_LAB_PASS;
	}
	draw_gap(loss, random);
	return WR_LAB_DROP;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct loss *loss = state;
	enum wr_lab_fate fate = WR_LAB_PASS;

	if (loss->model.kind == WR_LAB_LOSS_GSO)
		return pass_super(loss, shared->random, run);
	if (loss->n_until_change < run->n_segs)
		wr_lab_run_shorten(run, (uint32_t)loss->n_until_change);
	if (loss->n_until_loss == 0) {
		/* In a bad state that lets nothing through, all of it goes at once. */
		if (!(loss->model.kind == WR_LAB_LOSS_BURSTS && loss->bad && loss->model.h <= 0))
			wr_lab_run_shorten(run, 1);
		fate = WR_LAB_DROP;
		draw_gap(loss, shared->random); /* takes no number where the chance is 1 */
	} else {
		if (loss->n_until_loss < run->n_segs)
			wr_lab_run_shorten(run, (uint32_t)loss->n_until_loss);
		count_down(&loss->n_until_loss, run->n_segs);
	}
	count_down(&loss->n_until_change, run->n_segs);
	if (loss->n_until_change == 0) {
		loss->bad = !loss->bad;
		draw_state(loss, shared->random);
	}
	return fate;
}

const struct wr_lab_element wr_lab_element_loss = {
	.name = "loss",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "loses segments: independently, in bursts, each n-th, or whole super-packets",
	.source = "tc-netem(8); Gilbert 1960, Elliott 1963",
	.option = "loss",
	.wish = offsetof(struct wr_lab_way_wish, loss),
	.parse = parse,
	.init = init,
	.pass = pass,
};
