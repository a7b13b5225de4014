/* SPDX-License-Identifier: MIT */
/*
 * What a link does to packets, as elements in a chain: each row of wr_lab_elements is one effect, pure and driven
 * by the instants that it is given, so that a unit test runs it on a virtual clock. Elements see runs of segments,
 * never bytes: a super-packet is cut exactly where the fates of its segments part.
 */
#ifndef WR_LAB_ELEMENT_H
#define WR_LAB_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/config.h"
#include "lab/server.h"
#include "lab/spec.h"
#include "stat/random.h"

/* What an element may know of a packet. */
enum wr_lab_trait {
	WR_LAB_TRAIT_ECT = 1,	     /* its transport reacts to ECN marks */
	WR_LAB_TRAIT_SYN = 2,	     /* a TCP SYN, which carries the window scale */
	WR_LAB_TRAIT_FRAGMENTS = 4, /* IPv4 without "don't fragment" */
};

/* What is to be done to the bytes of a run when it leaves. */
enum wr_lab_mark {
	WR_LAB_MARK_CE = 1,
	WR_LAB_MARK_CORRUPT = 2, /* one bit, which @chance picks */
	WR_LAB_MARK_NO_WSCALE = 4,
	WR_LAB_MARK_COPY = 8, /* the same segments come once more */
};

/*
 * Consecutive segments of one packet that have shared their fate so far.
 * @first_seg: in the packet; @packet_segs: of the whole packet, as it was taken
 * @seg_wire_bytes: of each but the last of the run, which has @last_wire_bytes
 * @traits: enum wr_lab_trait; @marks: enum wr_lab_mark
 * @at_ns: when the run's last bit stands before the next element
 * @left_ns: when it left the bottleneck, after @waited_ns in it
 */
struct wr_lab_run {
	uint32_t first_seg, n_segs, seg_wire_bytes, last_wire_bytes, packet_segs;
	uint8_t traits, marks;
	uint64_t at_ns, left_ns, waited_ns, chance;
};

/* TOUCH passes too, and counts: the element has changed something. TWICE passes on a copy and the run itself. */
enum wr_lab_fate {
	WR_LAB_PASS,
	WR_LAB_TOUCH,
	WR_LAB_TWICE,
	WR_LAB_DROP,
	WR_LAB_REFUSE, /* dropped, and the sender is told that it was too large */
};

/* What the elements of one direction share. @random: the element's own, while one of its functions runs. */
struct wr_lab_shared {
	struct wr_lab_server server;
	struct wr_stat_random *random;
};

#define WR_LAB_STATE_BYTES 96

/*
 * @name: of the element and, for its drops, of the cause; @summary: one sentence; @source: where its model is from
 * @touches: what it does to segments that pass, as in "12 segments duplicated"; or NULL
 * @option: without the dashes, if its value is read by @parse (else config.c does it)
 * @keys: what can be said to it, @n_keys rows: for lists, pages and, by @parse, for wr_lab_spec_parse into the way
 * @wish: where the option's text stands in struct wr_lab_way_wish
 * @parse: the option's text into @way, whose rate, queue and delay are there already. Return: 0; -1 with @err.
 * @init: prepare @state (WR_LAB_STATE_BYTES, zeroed). Return: whether the configuration asks for the element.
 * @pass: decide about the first segments of @run: shorten it to those that share one fate and move its at_ns on
 *        (wr_lab_run_shorten). Return: that fate.
 */
struct wr_lab_element {
	const char *name, *summary, *source, *touches, *option;
	const struct wr_lab_spec *keys;
	size_t n_keys, wish;
	int (*parse)(const char *text, struct wr_lab_way *way, struct weir_err *err);
	bool (*init)(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way);
	enum wr_lab_fate (*pass)(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run);
};

extern const struct wr_lab_element wr_lab_element_outage, wr_lab_element_loss, wr_lab_element_police,
	wr_lab_element_duplicate, wr_lab_element_queue, wr_lab_element_codel, wr_lab_element_rate, wr_lab_element_delay,
	wr_lab_element_jitter, wr_lab_element_reorder, wr_lab_element_corrupt, wr_lab_element_ecn,
	wr_lab_element_path_mtu, wr_lab_element_wscale, wr_lab_element_txqueuelen, wr_lab_element_ack_policy;

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

/* wr_lab_run_fit - how many segments of the run, from its first on, @room_bytes hold. */
static inline uint32_t wr_lab_run_fit(const struct wr_lab_run *run, uint64_t room_bytes)
{
	uint32_t n_full = run->n_segs - 1; /* those of seg_wire_bytes; the last may be shorter */
	uint64_t n_fit = n_full ? room_bytes / run->seg_wire_bytes : 0;

	if (n_fit < n_full)
		return (uint32_t)n_fit;
	return n_full + (room_bytes - (uint64_t)n_full * run->seg_wire_bytes >= run->last_wire_bytes);
}

/*
 * wr_lab_run_keep - shorten the run to the @n_fit segments that pass, or to those that don't when the first does not
 *
 * The last may be shorter than the others, so it is judged alone. Return: whether what is left passes.
 */
static inline bool wr_lab_run_keep(struct wr_lab_run *run, uint32_t n_fit)
{
	if (n_fit == 0)
		wr_lab_run_shorten(run, run->n_segs > 1 ? run->n_segs - 1 : 1);
	else
		wr_lab_run_shorten(run, n_fit);
	return n_fit > 0;
}

#endif
