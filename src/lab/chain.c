/* SPDX-License-Identifier: MIT */
/*
 * The chain walks depth first: an element decides about the head of a run, the head goes on to the next element,
 * then the rest of the run comes back to the same element. So each segment sees the state that its forerunners left.
 */
#include "lab/chain.h"

#include <string.h>

void wr_lab_chain_init(struct wr_lab_chain *chain, const struct wr_lab_way *way, uint64_t seed)
{
	memset(chain, 0, sizeof *chain);
	wr_stat_random_init(&chain->shared.random, seed);
	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		__typeof__(&chain->links[0]) link = &chain->links[chain->n_links];

		memset(link->state, 0, sizeof link->state);
		if (!wr_lab_elements[row]->init(link->state, &chain->shared, way))
			continue;
		link->element = wr_lab_elements[row];
		link->row = row;
		chain->n_links++;
	}
}

/* What all levels of the walk need. */
struct walk {
	struct wr_lab_chain *chain;
	struct wr_lab_drops *drops;
	void (*emit)(void *context, const struct wr_lab_run *run);
	void *context;
};

static void walk_from(const struct walk *walk, uint32_t i, struct wr_lab_run rest)
{
	struct wr_lab_chain *chain = walk->chain;

	if (i == chain->n_links) {
		walk->emit(walk->context, &rest);
		return;
	}
	while (rest.n_segs) {
		struct wr_lab_run head = rest;

		if (chain->links[i].element->pass(chain->links[i].state, &chain->shared, &head) == WR_LAB_DROP) {
			walk->drops[chain->links[i].row].n_segs += head.n_segs;
			walk->drops[chain->links[i].row].wire_bytes += wr_lab_run_wire_bytes(&head);
		} else {
			walk_from(walk, i + 1, head);
		}
		rest.first_seg += head.n_segs;
		rest.n_segs -= head.n_segs;
	}
}

void wr_lab_chain_pass(struct wr_lab_chain *chain, const struct wr_lab_run *run, struct wr_lab_drops *drops,
		       void (*emit)(void *context, const struct wr_lab_run *run), void *context)
{
	walk_from(&(struct walk){chain, drops, emit, context}, 0, *run);
}

struct wr_lab_run wr_lab_run_of(const struct wr_lab_shape *shape, uint64_t at_ns)
{
	uint32_t last = shape->n_segs - 1;

	return (struct wr_lab_run){
		.n_segs = shape->n_segs,
		.seg_wire_bytes = (uint32_t)wr_lab_packet_wire_bytes(shape, 0, 1),
		.last_wire_bytes = (uint32_t)wr_lab_packet_wire_bytes(shape, last, 1),
		.at_ns = at_ns,
	};
}
