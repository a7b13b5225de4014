/* SPDX-License-Identifier: MIT */
/*
 * The bottleneck's rate, as a fluid server: a run of segments leaves when its last bit has been sent. Super-packets
 * are let go in grains, so that the far end sees them arrive as a card would deliver them (a few at a time) and the
 * acknowledgement clock keeps ticking on slow links; at 10 Gbit/s nothing is cut any more.
 */
#include "base/mem.h"
#include "lab/element.h"

/* Two full segments at 100 Mbit/s, 20 at 1 Gbit/s: about what a receiving card gathers before it interrupts. */
#define GRAIN_NS 250000ULL
#define BITS_NS 8000000000ULL

/* @grain_bytes: where the rate stays the same. */
struct rate {
	uint64_t grain_bytes;
};

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct rate *rate = state;

	if (way->rate_bps == WR_UNSET)
		return false;
	shared->server.rate_bps = way->rate_bps;
	shared->server.schedule = way->schedule.n_steps ? &way->schedule : NULL;
	shared->server.stops = way->outage.hold ? &way->outage : NULL;
	rate->grain_bytes = (uint64_t)((unsigned __int128)way->rate_bps * GRAIN_NS / BITS_NS);
	return true;
}

static uint64_t grain_bytes(const struct rate *rate, const struct wr_lab_server *server, uint64_t at_ns)
{
	uint64_t from_ns = server->busy_until_ns > at_ns ? server->busy_until_ns : at_ns, until_ns;

	if (!server->schedule && !server->stops)
		return rate->grain_bytes;
	return (uint64_t)((unsigned __int128)wr_lab_server_rate_at(server, from_ns, &until_ns) * GRAIN_NS / BITS_NS);
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	uint64_t n_grain = grain_bytes(state, &shared->server, run->at_ns) / run->seg_wire_bytes;

	if (n_grain < run->n_segs)
		wr_lab_run_shorten(run, n_grain ? (uint32_t)n_grain : 1);
	for (uint32_t i = 1; shared->server.departures && i < run->n_segs; i++)
		wr_lab_server_serve(&shared->server, run->at_ns, run->seg_wire_bytes);
	wr_lab_server_serve(&shared->server, run->at_ns,
			    shared->server.departures ? run->last_wire_bytes : wr_lab_run_wire_bytes(run));
	run->waited_ns = shared->server.busy_until_ns - run->at_ns;
	run->at_ns = shared->server.busy_until_ns;
	run->left_ns = run->at_ns;
	return WR_LAB_PASS;
}

static const struct wr_lab_spec keys[] = {
	{"--rate RATE", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, "bit/s on the wire", "1 kbit/s to 1000 Gbit/s", "no limit",
	 "always the same"},
	{"--rate-file FILE", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, "lines of TIME RATE", "100000 lines, 4 MiB", "none",
	 "on a schedule, first line at 0; rates 0 or as above; not with --rate"},
};

const struct wr_lab_element wr_lab_element_rate = {
	.name = "rate",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "sends so many bits a second, headers and Ethernet framing of every segment included",
	.source = "IEEE 802.3 framing, 38 bytes a segment",
	.init = init,
	.pass = pass,
};
