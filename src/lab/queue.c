/* SPDX-License-Identifier: MIT */
/*
 * The bottleneck's buffer: drop-tail, counted in bytes on the wire, decided for each segment. The backlog is
 * what the server still has to send, the segment on the wire included. A segment that finds the server idle is
 * taken whatever the limit, as a device without any queue would.
 */
#include "lab/element.h"

struct queue {
	uint64_t limit_bytes;
};

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct queue *queue = state;

	(void)shared;
	queue->limit_bytes = way->queue_bytes;
	return way->rate_bps != WR_UNSET && way->queue_bytes != WR_UNSET;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	const struct queue *queue = state;
	uint64_t backlog = wr_lab_server_backlog_bytes(&shared->server, run->at_ns);
	uint64_t room = queue->limit_bytes > backlog ? queue->limit_bytes - backlog : 0;
	uint32_t n_full = run->n_segs - 1; /* those of seg_wire_bytes; the last may be shorter */
	uint64_t first = n_full ? run->seg_wire_bytes : run->last_wire_bytes;
	uint64_t n_fit;

	if (backlog == 0 && room < first)
		room = first;
	if (room < first) {
		wr_lab_run_shorten(run, n_full ? n_full : 1);
		return WR_LAB_DROP;
	}
	if (n_full == 0)
		return WR_LAB_PASS;
	n_fit = room / run->seg_wire_bytes;
	if (n_fit < n_full)
		wr_lab_run_shorten(run, (uint32_t)n_fit);
	else if (room - (uint64_t)n_full * run->seg_wire_bytes < run->last_wire_bytes)
		wr_lab_run_shorten(run, n_full);
	return WR_LAB_PASS;
}

const struct wr_lab_element wr_lab_element_queue = {
	.name = "queue",
	.summary = "drops the segments that find the bottleneck's buffer full",
	.source = "tc-bfifo(8)",
	.init = init,
	.pass = pass,
};
