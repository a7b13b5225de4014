/* SPDX-License-Identifier: MIT */
/*
 * The chain walks depth first: an element decides about the head of a run, the head goes on to the next element,
 * then the rest of the run comes back to the same element. So each segment sees the state that its forerunners left.
 */
#include "lab/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* A sequence per element: FNV-1a of its name beside the seed. */
static uint64_t own_seed(uint64_t seed, const char *name)
{
	uint64_t hash = 14695981039346656037u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 1099511628211u;
	return seed ^ hash;
}

/* What the elements share besides their decisions: the bottleneck. */
static int server_init(struct wr_lab_server *server, const struct wr_lab_way *way, uint64_t start_ns, struct weir_err *err)
{
	server->origin_ns = start_ns;
	if (way->rate_bps == WR_UNSET)
		return 0;
	server->rate_bps = way->rate_bps;
	if (way->queue_segs == 0)
		return 0;
	server->max_departures = way->queue_segs;
	server->departures = malloc(way->queue_segs * sizeof server->departures[0]);
	return server->departures ? 0 : wr_err_memory(err, "queue");
}

int wr_lab_chain_init(struct wr_lab_chain *chain, const struct wr_lab_way *way, uint64_t seed, uint64_t start_ns,
		      struct weir_err *err)
{
	memset(chain, 0, sizeof *chain);
	if (server_init(&chain->shared.server, way, start_ns, err) < 0)
		return -1;
	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		__typeof__(&chain->links[0]) link = &chain->links[chain->n_links];

		memset(link->state, 0, sizeof link->state);
		wr_stat_random_init(&link->random, own_seed(seed, wr_lab_elements[row]->name));
		chain->shared.random = &link->random;
		if (!wr_lab_elements[row]->init(link->state, &chain->shared, way))
			continue;
		link->element = wr_lab_elements[row];
		link->row = row;
		chain->n_links++;
	}
	return 0;
}

void wr_lab_chain_deinit(struct wr_lab_chain *chain)
{
	free(chain->shared.server.departures);
	chain->shared.server.departures = NULL;
}

/* What all levels of the walk need. */
struct walk {
	struct wr_lab_chain *chain;
	struct wr_lab_drops *drops;
	const struct wr_lab_sink *sink;
};

static void walk_from(const struct walk *walk, uint32_t i, struct wr_lab_run rest);

/* Hand the head of a run on as its fate says. */
static void follow(const struct walk *walk, uint32_t i, struct wr_lab_run head, enum wr_lab_fate fate)
{
	struct wr_lab_drops *drops = &walk->drops[walk->chain->links[i].row];

	switch (fate) {
	case WR_LAB_REFUSE:
	case WR_LAB_DROP:
		drops->n_segs += head.n_segs;
		drops->wire_bytes += wr_lab_run_wire_bytes(&head);
		if (fate == WR_LAB_REFUSE && walk->sink->refuse)
			walk->sink->refuse(walk->sink->context, &head);
		return;
	case WR_LAB_TWICE: {
		struct wr_lab_run copy = head;

		copy.marks |= WR_LAB_MARK_COPY;
		walk_from(walk, i + 1, copy);
		drops->n_touched += head.n_segs;
		break;
	}
	case WR_LAB_TOUCH:
		drops->n_touched += head.n_segs;
		break;
	default:
		break;
	}
	walk_from(walk, i + 1, head);
}

static void walk_from(const struct walk *walk, uint32_t i, struct wr_lab_run rest)
{
	struct wr_lab_chain *chain = walk->chain;

	if (i == chain->n_links) {
		walk->sink->emit(walk->sink->context, &rest);
		return;
	}
	while (rest.n_segs) {
		struct wr_lab_run head = rest;
		enum wr_lab_fate fate;

		chain->shared.random = &chain->links[i].random;
		fate = chain->links[i].element->pass(chain->links[i].state, &chain->shared, &head);
		follow(walk, i, head, fate);
		rest.first_seg += head.n_segs;
		rest.n_segs -= head.n_segs;
	}
}

void wr_lab_chain_pass(struct wr_lab_chain *chain, const struct wr_lab_run *run, struct wr_lab_drops *drops,
		       const struct wr_lab_sink *sink)
{
	walk_from(&(struct walk){chain, drops, sink}, 0, *run);
}

struct wr_lab_run wr_lab_run_of(const struct wr_lab_shape *shape, uint64_t at_ns)
{
	uint32_t last = shape->n_segs - 1;

	return (struct wr_lab_run){
		.n_segs = shape->n_segs,
		.packet_segs = shape->n_segs,
		.seg_wire_bytes = (uint32_t)wr_lab_packet_wire_bytes(shape, 0, 1),
		.last_wire_bytes = (uint32_t)wr_lab_packet_wire_bytes(shape, last, 1),
		.at_ns = at_ns,
		.left_ns = at_ns,
	};
}
