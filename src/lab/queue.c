/* SPDX-License-Identifier: MIT */
/*
 * The bottleneck's buffer: drop-tail, counted in bytes on the wire, in segments or in time, decided for each segment. The backlog is
 * what the server still has to send, the segment on the wire included. A segment that finds the server idle is
 * taken whatever the limit, as a device without any queue would.
 */
#include "base/mem.h"
#include "lab/element.h"

struct queue {
	uint64_t limit_bytes, limit_ns;
	uint32_t limit_segs;
};

_Static_assert(sizeof(struct queue) <= WR_LAB_STATE_BYTES, "state");

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct queue *queue = state;

	(void)shared;
	queue->limit_bytes = way->queue_bytes;
	queue->limit_ns = way->queue_ns;
	queue->limit_segs = way->queue_segs;
	return way->rate_bps != WR_UNSET && (way->queue_bytes != WR_UNSET || way->queue_ns || way->queue_segs);
}

static uint32_t room_segs(uint32_t limit, uint32_t backlog)
{
	return limit > backlog ? limit - backlog : 0;
}

/* How many of the run's first segments find room, beside what waits already. */
static uint32_t n_fit(const struct queue *queue, struct wr_lab_server *server, const struct wr_lab_run *run)
{
	uint64_t backlog;
	uint32_t n;

	if (queue->limit_segs) {
		n = room_segs(queue->limit_segs, wr_lab_server_backlog_segs(server, run->at_ns));
		return n < run->n_segs ? n : run->n_segs;
	}
	if (queue->limit_ns) /* in time: each segment by itself, as each moves the end on */
		return wr_lab_server_wait_ns(server, run->at_ns) < queue->limit_ns ? 1 : 0;
	backlog = wr_lab_server_backlog_bytes(server, run->at_ns);
	n = wr_lab_run_fit(run, queue->limit_bytes > backlog ? queue->limit_bytes - backlog : 0);
	return n == 0 && backlog == 0 ? 1 : n;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	return wr_lab_run_keep(run, n_fit(state, &shared->server, run)) ? WR_LAB_PASS : WR_LAB_DROP;
}

static const struct wr_lab_spec keys[] = {
	{"--queue SIZE", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, "bytes on the wire", "0 to 512 MiB", "rate x RTT, 1M at least",
	 "the limit"},
	{"--queue TIME", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, "time at the rate", "0 to 512 MiB of it", NULL,
	 "the limit in time"},
	{"--queue Np", NULL, WR_LAB_SPEC_OTHER, 0, 0, 0, "segments", "1p to 200000p", NULL,
	 "the limit in segments"},
};

const struct wr_lab_element wr_lab_element_queue = {
	.name = "queue",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "drops the segments that find the bottleneck's buffer full, counted in bytes, time or segments",
	.source = "tc-bfifo(8), tc-pfifo(8)",
	.init = init,
	.pass = pass,
};
