/* SPDX-License-Identifier: MIT */
/* The elements that one direction of the link asks for, and the way of a packet through them. Pure: no fd, no clock. */
#ifndef WR_LAB_CHAIN_H
#define WR_LAB_CHAIN_H

#include <stdint.h>

#include "lab/element.h"
#include "lab/packet.h"

/* Segments and bytes on the wire that an element dropped, and segments that it changed. */
struct wr_lab_drops {
	uint64_t n_segs, wire_bytes, n_touched;
};

/*
 * Where a packet's runs go, with @context.
 * @emit: a run leaves, at_ns the instant it is due; in order of segments
 * @refuse: a run was dropped as too large, of which its sender is to be told; or NULL
 */
struct wr_lab_sink {
	void (*emit)(void *context, const struct wr_lab_run *run);
	void (*refuse)(void *context, const struct wr_lab_run *run);
	void *context;
};

struct wr_lab_chain {
	struct wr_lab_shared shared;
	uint32_t n_links;
	struct {
		const struct wr_lab_element *element;
		uint32_t row; /* its place in wr_lab_elements, which also indexes the drops */
		struct wr_stat_random random;
		_Alignas(16) uint8_t state[WR_LAB_STATE_BYTES];
	} links[WR_LAB_MAX_ELEMENTS];
};

/*
 * wr_lab_chain_init - the chain for one direction
 * @way: must outlive the chain
 * @seed: starts the random decisions. Each element has a sequence of its own, so that adding one leaves the others' be.
 * @start_ns: of the link, from which schedules and outages count
 *
 * Return: 0; -1 with @err when there is no memory.
 */
int wr_lab_chain_init(struct wr_lab_chain *chain, const struct wr_lab_way *way, uint64_t seed, uint64_t start_ns,
		      struct weir_err *err);
void wr_lab_chain_deinit(struct wr_lab_chain *chain);

/*
 * wr_lab_chain_pass - send a packet through
 * @run: the whole packet, at_ns its arrival
 * @drops: WR_LAB_MAX_ELEMENTS counters, by row of wr_lab_elements
 */
void wr_lab_chain_pass(struct wr_lab_chain *chain, const struct wr_lab_run *run, struct wr_lab_drops *drops,
		       const struct wr_lab_sink *sink);

/* wr_lab_run_of - the run of a whole packet that arrives at @at_ns. */
struct wr_lab_run wr_lab_run_of(const struct wr_lab_shape *shape, uint64_t at_ns);

#endif
