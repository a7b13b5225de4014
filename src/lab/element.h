/* SPDX-License-Identifier: MIT */
/*
 * What a link does to packets, as elements in a chain: each row of wr_lab_elements is one effect, pure and driven
 * by the instants that it is given, so that a unit test runs it on a virtual clock. Elements see runs of segments,
 * never bytes: a super-packet is cut exactly where the fates of its segments part.
 */
#ifndef WR_LAB_ELEMENT_H
#define WR_LAB_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/config.h"
#include "stat/random.h"

/*
 * Consecutive segments of one packet that have shared their fate so far.
 * @first_seg: in the packet
 * @seg_wire_bytes: of each but the last of the run, which has @last_wire_bytes
 * @at_ns: when the run's last bit stands before the next element
 */
struct wr_lab_run {
	uint32_t first_seg, n_segs, seg_wire_bytes, last_wire_bytes;
	uint64_t at_ns;
};

enum wr_lab_fate {
	WR_LAB_PASS,
	WR_LAB_DROP,
};

/* The bottleneck of a direction: the rate element moves it on, the queue element measures the backlog by it. */
struct wr_lab_server {
	uint64_t rate_bps, busy_until_ns;
	uint64_t remainder; /* of the division that gave busy_until_ns, so that no bit is lost to rounding */
};

/* What the elements of one direction share. */
struct wr_lab_shared {
	struct wr_lab_server server;
	struct wr_stat_random random;
};

#define WR_LAB_STATE_BYTES 64

/*
 * @name: of the element and, for its drops, of the cause; @summary: one sentence; @source: where its model is from
 * @init: prepare @state (WR_LAB_STATE_BYTES, zeroed). Return: whether the configuration asks for the element.
 * @pass: decide about the first segments of @run: shorten it to those that share one fate and move its at_ns on
 *        (wr_lab_run_shorten). Return: that fate.
 */
struct wr_lab_element {
	const char *name, *summary, *source;
	bool (*init)(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way);
	enum wr_lab_fate (*pass)(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run);
};

extern const struct wr_lab_element wr_lab_element_loss, wr_lab_element_queue, wr_lab_element_rate,
	wr_lab_element_delay;

/* In the order in which a packet meets them; NULL-ended. */
extern const struct wr_lab_element *const wr_lab_elements[];

#define WR_LAB_MAX_ELEMENTS 24

/* wr_lab_run_wire_bytes - what the run occupies on the wire. */
static inline uint64_t wr_lab_run_wire_bytes(const struct wr_lab_run *run)
{
	return (uint64_t)(run->n_segs - 1) * run->seg_wire_bytes + run->last_wire_bytes;
}

/* wr_lab_run_shorten - keep the first @n_segs (1 or more) of the run. */
static inline void wr_lab_run_shorten(struct wr_lab_run *run, uint32_t n_segs)
{
	if (n_segs >= run->n_segs)
		return;
	run->n_segs = n_segs;
	run->last_wire_bytes = run->seg_wire_bytes;
}

/* wr_lab_server_backlog_bytes - what waits, or is being sent, at @at_ns. */
static inline uint64_t wr_lab_server_backlog_bytes(const struct wr_lab_server *server, uint64_t at_ns)
{
	if (server->busy_until_ns <= at_ns)
		return 0;
	return (uint64_t)((unsigned __int128)(server->busy_until_ns - at_ns) * server->rate_bps / 8000000000u);
}

#endif
