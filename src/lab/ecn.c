/* SPDX-License-Identifier: MIT */
/*
 * ECN by a threshold: a segment that finds more than so much waiting is marked, if its transport says that it
 * reacts; others pass as they are and meet the queue's limit. Source: RFC 3168; RFC 8257 section 3.1 (DCTCP's marking).
 */
#include "base/err.h"
#include "base/mem.h"
#include "lab/element.h"

struct ecn {
	uint64_t limit_bytes, limit_ns; /* one of them */
};

_Static_assert(sizeof(struct ecn) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--ecn SIZE", "", WR_LAB_SPEC_SIZE, WR_LAB_WAY(ecn.above_bytes), 1, 512 << 20, "bytes on the wire", NULL, "none",
	 "what waits"},
	{"--ecn TIME", "", WR_LAB_SPEC_TIME, WR_LAB_WAY(ecn.above_ns), 1e3, 60e9, "time", NULL, NULL,
	 "what a segment would wait"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	way->ecn.above_ns = way->ecn.above_bytes = 0;
	if (wr_lab_spec_parse(text, &keys[wr_lab_spec_is_time(text)], 1, way, err) < 0)
		return -1;
	if (way->rate_bps != WR_UNSET)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "ecn", "a threshold without a rate: nothing would ever wait");
	return wr_err_hint(err, "add --rate");
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct ecn *ecn = state;

	(void)shared;
	ecn->limit_bytes = way->ecn.above_bytes;
	ecn->limit_ns = way->ecn.above_ns;
	return ecn->limit_bytes || ecn->limit_ns;
}

static bool is_above(const struct ecn *ecn, struct wr_lab_server *server, struct wr_lab_run *run)
{
	uint64_t backlog, n_below;

	if (ecn->limit_ns) { /* each segment by itself, as each moves the end on */
		wr_lab_run_shorten(run, 1);
		return wr_lab_server_wait_ns(server, run->at_ns) >= ecn->limit_ns;
	}
	backlog = wr_lab_server_backlog_bytes(server, run->at_ns);
	if (backlog >= ecn->limit_bytes)
		return true;
	n_below = (ecn->limit_bytes - backlog + run->seg_wire_bytes - 1) / run->seg_wire_bytes;
	if (n_below < run->n_segs)
		wr_lab_run_shorten(run, (uint32_t)n_below);
	return false;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	if (!(run->traits & WR_LAB_TRAIT_ECT) || !is_above(state, &shared->server, run))
		return WR_LAB_PASS;
	run->marks |= WR_LAB_MARK_CE;
	return WR_LAB_TOUCH;
}

const struct wr_lab_element wr_lab_element_ecn = {
	.name = "ecn",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "marks ECN-capable segments that find more than a threshold waiting",
	.source = "RFC 3168, RFC 8257",
	.touches = "marked by ECN",
	.option = "ecn",
	.wish = offsetof(struct wr_lab_way_wish, ecn),
	.parse = parse,
	.init = init,
	.pass = pass,
};
