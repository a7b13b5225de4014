/* SPDX-License-Identifier: MIT */
/*
 * The packets of one direction that wait for their time. Nearly all come in order of due times and stand in a list;
 * those that come out of order (jitter, reordering) stand in a heap, so that neither costs a search.
 */
#ifndef WR_LAB_WAITING_H
#define WR_LAB_WAITING_H

#include "lab/pool.h"

struct wr_lab_waiting {
	struct wr_lab_packet *first, *last;
	struct wr_lab_waiting_entry *heap; /* n_heap entries; room for max_heap */
	size_t n_heap, max_heap;
	uint64_t n_added;
};

/* wr_lab_waiting_init - @max_packets: the most that may wait out of order; memory is used as they come */
int wr_lab_waiting_init(struct wr_lab_waiting *waiting, size_t max_packets, struct weir_err *err);
void wr_lab_waiting_deinit(struct wr_lab_waiting *waiting);

/* wr_lab_waiting_add - by its due_ns; packets that are due at once leave in the order in which they were added. */
void wr_lab_waiting_add(struct wr_lab_waiting *waiting, struct wr_lab_packet *packet);

/* wr_lab_waiting_due_ns - when the next one is due. Return: ns; WR_UNSET when none waits. */
uint64_t wr_lab_waiting_due_ns(const struct wr_lab_waiting *waiting);

/* wr_lab_waiting_take - the next one. Return: NULL when none waits. */
struct wr_lab_packet *wr_lab_waiting_take(struct wr_lab_waiting *waiting);

#endif
