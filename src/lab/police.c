/* SPDX-License-Identifier: MIT */
/*
 * A policer: a token bucket without a queue. Tokens come at the rate up to the burst; a segment that finds too few is
 * dropped, one that passes is not delayed. Counted on the wire, as the rate is. Source: RFC 2697; tc-police(8).
 */
#include "base/err.h"
#include "base/mem.h"
#include "lab/element.h"

#define DEFAULT_BURST_BYTES 65536
#define WORK_PER_BYTE 8000000000ULL

/* Tokens are bits x 10^9: rate x nanoseconds. */
struct police {
	uint64_t rate_bps, filled_ns;
	unsigned __int128 tokens, most;
};

_Static_assert(sizeof(struct police) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--police RATE", "", WR_LAB_SPEC_RATE, WR_LAB_WAY(police.rate_bps), 1e3, 1e12, "bit/s on the wire", NULL, "none",
	 "of the tokens"},
	{",burst=SIZE", "burst", WR_LAB_SPEC_SIZE, WR_LAB_WAY(police.burst_bytes), 1600, 1 << 30, "bytes on the wire", "1600 B to 1 GiB", "64K",
	 "the bucket"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	way->police.rate_bps = 0;
	way->police.burst_bytes = DEFAULT_BURST_BYTES;
	if (wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) < 0)
		return -1;
	if (way->police.rate_bps)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "police", "'%s' begins with no rate", text);
	return wr_err_hint(err, "write it like 50mbit,burst=64K");
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct police *police = state;

	police->rate_bps = way->police.rate_bps;
	police->filled_ns = shared->server.origin_ns;
	police->most = (unsigned __int128)way->police.burst_bytes * WORK_PER_BYTE;
	police->tokens = police->most;
	return way->police.rate_bps > 0;
}

static void fill(struct police *police, uint64_t at_ns)
{
	police->tokens += (unsigned __int128)police->rate_bps * (at_ns - police->filled_ns);
	if (police->tokens > police->most)
		police->tokens = police->most;
	police->filled_ns = at_ns;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	struct police *police = state;

	(void)shared;
	fill(police, run->at_ns);
	if (!wr_lab_run_keep(run, wr_lab_run_fit(run, (uint64_t)(police->tokens / WORK_PER_BYTE))))
		return WR_LAB_DROP;
	police->tokens -= (unsigned __int128)wr_lab_run_wire_bytes(run) * WORK_PER_BYTE;
	return WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_police = {
	.name = "police",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "drops what exceeds a rate and a burst, without a queue",
	.source = "RFC 2697, tc-police(8)",
	.option = "police",
	.wish = offsetof(struct wr_lab_way_wish, police),
	.parse = parse,
	.init = init,
	.pass = pass,
};
