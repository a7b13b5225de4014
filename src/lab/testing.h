/* SPDX-License-Identifier: MIT */
/* A chain under test on a virtual clock: made from a wish, fed with packets, what comes out kept segment by segment. */
#ifndef WR_LAB_TESTING_H
#define WR_LAB_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/chain.h"

#define SEG 1538 /* a full segment on the wire at MTU 1500 */
#define MILLION 1000000
#define SEG_100MBIT_NS (SEG * 80)

/* One segment that came out. */
struct event {
	uint64_t seg, at_ns;
	uint8_t marks;
};

struct bench {
	struct wr_lab_config config;
	struct wr_lab_chain chain;
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS];
	struct event *events;
	size_t n_events, max_events;
	uint64_t base_seg;
};

static const struct wr_lab_way_wish nothing = {.rate_bps = WR_UNSET, .delay_ns = WR_UNSET};

static inline struct wr_lab_wish no_wish(void)
{
	return (struct wr_lab_wish){.both = nothing, .ends = {nothing, nothing}, .rtt_ns = WR_UNSET,
				    .mtu_bytes = WR_UNSET, .seed = WR_UNSET};
}

static inline void bench_init(struct bench *bench, const struct wr_lab_wish *wish, uint64_t seed)
{
	struct weir_err err = {0};

	memset(bench, 0, sizeof *bench);
	if (wr_lab_config_resolve(wish, &bench->config, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(wr_lab_chain_init(&bench->chain, &bench->config.ways[0], seed, 0, NULL), 0);
	bench->max_events = 2 * MILLION + 100;
	bench->events = malloc(bench->max_events * sizeof bench->events[0]);
	assert_non_null(bench->events);
}

static inline void bench_deinit(struct bench *bench)
{
	wr_lab_chain_deinit(&bench->chain);
	wr_lab_config_deinit(&bench->config);
	free(bench->events);
}

static inline void collect(void *context, const struct wr_lab_run *run)
{
	struct bench *bench = context;

	for (uint32_t i = 0; i < run->n_segs; i++) {
		assert_true(bench->n_events < bench->max_events);
		bench->events[bench->n_events++] =
			(struct event){bench->base_seg + run->first_seg + i, run->at_ns, run->marks};
	}
}

/* A packet of @n_segs full segments at @at_ns; segments are numbered on. */
static inline void send_packet(struct bench *bench, uint32_t n_segs, uint64_t at_ns, uint8_t traits)
{
	struct wr_lab_run run = {.n_segs = n_segs, .packet_segs = n_segs, .seg_wire_bytes = SEG, .last_wire_bytes = SEG,
				 .traits = traits, .at_ns = at_ns, .left_ns = at_ns};

	wr_lab_chain_pass(&bench->chain, &run, bench->drops, &(struct wr_lab_sink){.emit = collect, .context = bench});
	bench->base_seg += n_segs;
}

static inline void send_million(struct bench *bench, uint32_t n_in_packet, uint64_t gap_ns)
{
	for (uint64_t n = 0; n < MILLION; n += n_in_packet)
		send_packet(bench, n_in_packet, n * gap_ns, 0);
}

static inline uint64_t fingerprint(const struct bench *bench)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < bench->n_events; i++) {
		hash = (hash ^ bench->events[i].seg) * 1099511628211u;
		hash = (hash ^ bench->events[i].at_ns ^ bench->events[i].marks) * 1099511628211u;
	}
	return hash;
}

static const struct wr_lab_drops *drops_of(const struct bench *bench, const char *name)
{
	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		if (strcmp(wr_lab_elements[row]->name, name) == 0)
			return &bench->drops[row];
	}
	fail_msg("no element %s", name);
	return NULL;
}

static inline void near_to(double value, double expected, double tolerance)
{
	if (fabs(value - expected) > tolerance * expected)
		fail_msg("%g instead of %g", value, expected);
}

#endif
