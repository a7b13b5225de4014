/* SPDX-License-Identifier: MIT */
/* A list and a binary heap; the next packet is the earlier of their two first ones. */
#include "lab/waiting.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/units.h"

/* The due time and number stand beside the pointer: sifting then touches no packet. */
struct wr_lab_waiting_entry {
	uint64_t due_ns, number;
	struct wr_lab_packet *packet;
};

int wr_lab_waiting_init(struct wr_lab_waiting *waiting, size_t max_packets, struct weir_err *err)
{
	void *heap = mmap(NULL, max_packets * sizeof waiting->heap[0], PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	memset(waiting, 0, sizeof *waiting);
	if (heap == MAP_FAILED)
		return wr_err_memory(err, "waiting packets");
	waiting->heap = heap;
	waiting->max_heap = max_packets;
	return 0;
}

void wr_lab_waiting_deinit(struct wr_lab_waiting *waiting)
{
	if (waiting->heap)
		munmap(waiting->heap, waiting->max_heap * sizeof waiting->heap[0]);
	memset(waiting, 0, sizeof *waiting);
}

static bool before(const struct wr_lab_waiting_entry *a, const struct wr_lab_waiting_entry *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

static void heap_add(struct wr_lab_waiting *waiting, struct wr_lab_packet *packet)
{
	struct wr_lab_waiting_entry entry = {packet->due_ns, packet->number, packet};
	size_t at = waiting->n_heap++;

	assert(at < waiting->max_heap);
	for (; at > 0 && before(&entry, &waiting->heap[(at - 1) / 2]); at = (at - 1) / 2)
		waiting->heap[at] = waiting->heap[(at - 1) / 2];
	waiting->heap[at] = entry;
}

static struct wr_lab_packet *heap_take(struct wr_lab_waiting *waiting)
{
	struct wr_lab_packet *packet = waiting->heap[0].packet;
	struct wr_lab_waiting_entry entry = waiting->heap[--waiting->n_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < waiting->n_heap) {
		if (child + 1 < waiting->n_heap && before(&waiting->heap[child + 1], &waiting->heap[child]))
			child++;
		if (!before(&waiting->heap[child], &entry))
			break;
		waiting->heap[at] = waiting->heap[child];
		at = child;
	}
	waiting->heap[at] = entry;
	return packet;
}

void wr_lab_waiting_add(struct wr_lab_waiting *waiting, struct wr_lab_packet *packet)
{
	packet->number = waiting->n_added++;
	packet->next = NULL;
	if (waiting->last && packet->due_ns < waiting->last->due_ns) {
		heap_add(waiting, packet);
		return;
	}
	if (waiting->last)
		waiting->last->next = packet;
	else
		waiting->first = packet;
	waiting->last = packet;
}

uint64_t wr_lab_waiting_due_ns(const struct wr_lab_waiting *waiting)
{
	uint64_t due_ns = waiting->first ? waiting->first->due_ns : WR_UNSET;

	return waiting->n_heap && waiting->heap[0].due_ns < due_ns ? waiting->heap[0].due_ns : due_ns;
}

struct wr_lab_packet *wr_lab_waiting_take(struct wr_lab_waiting *waiting)
{
	struct wr_lab_packet *packet = waiting->first;

	if (waiting->n_heap &&
	    (!packet || before(&waiting->heap[0], &(struct wr_lab_waiting_entry){packet->due_ns, packet->number, packet})))
		return heap_take(waiting);
	if (!packet)
		return NULL;
	waiting->first = packet->next;
	if (!waiting->first)
		waiting->last = NULL;
	return packet;
}
