/* SPDX-License-Identifier: MIT */
/*
 * What the link did, per direction: the link process writes it into shared memory, everyone else reads. Lateness is
 * how much later than due a packet left: the measure of how far the link itself can be believed.
 */
#ifndef WR_LAB_COUNTERS_H
#define WR_LAB_COUNTERS_H

#include <stdint.h>
#include <stdio.h>

#include "lab/chain.h"
#include "stat/octaves.h"

/* Packets as the stack handed them over, segments as a wire would carry them. */
struct wr_lab_traffic {
	uint64_t n_packets, n_segs, wire_bytes;
};

/*
 * @in: taken from the sender; @out: given to the receiver
 * @drops: by row of wr_lab_elements
 * @n_refused_packets: the receiving device took them not (its namespace is going, or the packet is malformed)
 * @n_overflow_packets: the sending device lost them before the link could read (a sender without any restraint)
 * @depth: bytes that each arriving packet found in the bottleneck, itself included; @sojourn: ns of each segment in it
 * @lateness: ns that each packet left after it was due; in the page that runs read
 * @n_icmp: times that the sender was told that a packet was too large
 * @n_waits: times that reading stopped because every buffer was in use
 */
struct wr_lab_way_counters {
	struct wr_lab_traffic in, out;
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS];
	uint64_t n_refused_packets, n_overflow_packets, n_icmp, n_waits;
	struct wr_stat_octaves depth, sojourn, *lateness;
};

struct wr_lab_counters {
	struct wr_lab_way_counters ways[WR_LAB_N_ENDS];
};

/* wr_lab_counters_print - the table that --stats writes. */
void wr_lab_counters_print(const struct wr_lab_counters *counters, FILE *out);

#endif
