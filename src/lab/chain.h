/* SPDX-License-Identifier: MIT */
/* The elements that one direction of the link asks for, and the way of a packet through them. Pure: no fd, no clock. */
#ifndef WR_LAB_CHAIN_H
#define WR_LAB_CHAIN_H

#include <stdint.h>

#include "lab/element.h"
#include "lab/packet.h"

/* Segments and bytes on the wire that an element dropped. */
struct wr_lab_drops {
	uint64_t n_segs, wire_bytes;
};

struct wr_lab_chain {
	struct wr_lab_shared shared;
	uint32_t n_links;
	struct {
		const struct wr_lab_element *element;
		uint32_t row; /* its place in wr_lab_elements, which also indexes the drops */
		_Alignas(16) uint8_t state[WR_LAB_STATE_BYTES];
	} links[WR_LAB_MAX_ELEMENTS];
};

/* wr_lab_chain_init - the chain for one direction; @seed starts its random decisions. */
void wr_lab_chain_init(struct wr_lab_chain *chain, const struct wr_lab_way *way, uint64_t seed);

/*
 * wr_lab_chain_pass - send a packet through
 * @run: the whole packet, at_ns its arrival
 * @drops: WR_LAB_MAX_ELEMENTS counters, by row of wr_lab_elements
 * @emit: called for each run that leaves, at_ns the instant it is due; in order of segments
 */
void wr_lab_chain_pass(struct wr_lab_chain *chain, const struct wr_lab_run *run, struct wr_lab_drops *drops,
		       void (*emit)(void *context, const struct wr_lab_run *run), void *context);

/* wr_lab_run_of - the run of a whole packet that arrives at @at_ns. */
struct wr_lab_run wr_lab_run_of(const struct wr_lab_shape *shape, uint64_t at_ns);

#endif
