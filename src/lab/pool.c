/* SPDX-License-Identifier: MIT */
/*
 * The pool: address space is reserved for the most that may be under way and touched slot by slot, so memory in
 * use follows the longest queue there was. No allocation happens after init.
 */
#include "lab/pool.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"

#define SMALL_STRIDE_BYTES 2048
#define LARGE_STRIDE_BYTES (68 * 1024)
/* The most that may be under way in both directions: 512 MiB of small packets and 1 GiB of large ones. */
#define N_SMALL 262144
#define N_LARGE 16384
#define MIN_SLOTS 4096
/* One packet makes at most so many pieces, each of them twice; and of pieces larger than a small slot so many. */
#define RESERVE_SMALL (2 * WR_LAB_MAX_SEGS)
#define RESERVE_LARGE (2 * (WR_LAB_MAX_PACKET_BYTES / (SMALL_STRIDE_BYTES - WR_LAB_MAX_HEADER_BYTES - 128) + 1))

_Static_assert(WR_LAB_POOL_MAX_PACKETS == N_SMALL + N_LARGE, "all of both sizes");

static int reserve(struct wr_lab_pool *pool, int size, size_t stride_bytes, size_t n_slots, struct weir_err *err)
{
	void *base = MAP_FAILED;

	/* A system that counts reservations as use (vm.overcommit_memory 2) may grant less. */
	for (; base == MAP_FAILED && n_slots >= MIN_SLOTS; n_slots /= 2)
		base = mmap(NULL, stride_bytes * n_slots, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return wr_err_memory(err, "packet buffers");
	n_slots *= 2; /* the step after the one that succeeded */
	pool->sizes[size].base = base;
	pool->sizes[size].stride_bytes = stride_bytes;
	pool->sizes[size].data_bytes = stride_bytes - sizeof(struct wr_lab_packet);
	pool->sizes[size].n_slots = n_slots;
	return 0;
}

int wr_lab_pool_init(struct wr_lab_pool *pool, struct weir_err *err)
{
	memset(pool, 0, sizeof *pool);
	if (reserve(pool, WR_LAB_POOL_SMALL, SMALL_STRIDE_BYTES, N_SMALL, err) < 0)
		return -1;
	if (reserve(pool, WR_LAB_POOL_LARGE, LARGE_STRIDE_BYTES, N_LARGE, err) < 0) {
		wr_lab_pool_deinit(pool);
		return -1;
	}
	return 0;
}

void wr_lab_pool_deinit(struct wr_lab_pool *pool)
{
	for (int i = 0; i < WR_LAB_N_POOL_SIZES; i++) {
		if (pool->sizes[i].base)
			munmap(pool->sizes[i].base, pool->sizes[i].stride_bytes * pool->sizes[i].n_slots);
	}
	memset(pool, 0, sizeof *pool);
}

struct wr_lab_packet *wr_lab_pool_get(struct wr_lab_pool *pool, size_t n_bytes)
{
	int size = n_bytes <= pool->sizes[WR_LAB_POOL_SMALL].data_bytes ? WR_LAB_POOL_SMALL : WR_LAB_POOL_LARGE;
	__typeof__(&pool->sizes[0]) slots = &pool->sizes[size];
	struct wr_lab_packet *packet = slots->free;

	if (packet)
		slots->free = packet->next;
	else if (slots->n_touched < slots->n_slots)
		packet = (struct wr_lab_packet *)(slots->base + slots->stride_bytes * slots->n_touched++);
	else
		return NULL;
	slots->n_used++;
	packet->next = NULL;
	packet->size = (uint16_t)size;
	return packet;
}

void wr_lab_pool_put(struct wr_lab_pool *pool, struct wr_lab_packet *packet)
{
	__typeof__(&pool->sizes[0]) slots = &pool->sizes[packet->size];

	packet->next = slots->free;
	slots->free = packet;
	slots->n_used--;
}

int wr_lab_pool_has_room(const struct wr_lab_pool *pool)
{
	return pool->sizes[WR_LAB_POOL_SMALL].n_used + RESERVE_SMALL <= pool->sizes[WR_LAB_POOL_SMALL].n_slots &&
	       pool->sizes[WR_LAB_POOL_LARGE].n_used + RESERVE_LARGE <= pool->sizes[WR_LAB_POOL_LARGE].n_slots;
}
