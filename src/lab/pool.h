/* SPDX-License-Identifier: MIT */
/*
 * Packet buffers in two sizes from one reservation, handed out last in, first out so that they stay warm in the
 * cache (a ring of cold 64 KiB buffers forwarded 2-5 Gbit/s, warm ones 27). Memory that was never needed costs nothing.
 */
#ifndef WR_LAB_POOL_H
#define WR_LAB_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "lab/packet.h"
#include "weir/err.h"

/* A packet on its way, and the list it is in. */
struct wr_lab_packet {
	struct wr_lab_packet *next;
	uint64_t due_ns, left_ns, number; /* number: which came first of those due at once */
	uint32_t n_bytes, n_segs, n_wire_bytes;
	uint16_t size;
	uint8_t data[];
};

/* Nearly all packets are below the first bound, or far above it: a 1500-byte packet then costs 2 KiB, not 64. */
enum wr_lab_pool_size {
	WR_LAB_POOL_SMALL,
	WR_LAB_POOL_LARGE,
	WR_LAB_N_POOL_SIZES,
};

struct wr_lab_pool {
	struct {
		uint8_t *base;
		struct wr_lab_packet *free;
		size_t stride_bytes, data_bytes, n_slots, n_touched, n_used;
	} sizes[WR_LAB_N_POOL_SIZES];
};

/* The most packets that can be under way at all. */
#define WR_LAB_POOL_MAX_PACKETS (262144 + 16384)

int wr_lab_pool_init(struct wr_lab_pool *pool, struct weir_err *err);
void wr_lab_pool_deinit(struct wr_lab_pool *pool);

/* wr_lab_pool_get - a buffer for @n_bytes of data. Return: NULL when all of that size are in use. */
struct wr_lab_packet *wr_lab_pool_get(struct wr_lab_pool *pool, size_t n_bytes);

void wr_lab_pool_put(struct wr_lab_pool *pool, struct wr_lab_packet *packet);

/*
 * wr_lab_pool_has_room - whether one more packet can be read and cut into its segments without running out
 *
 * When not, the link stops reading: the device's queue then holds what comes, instead of a loss nobody asked for.
 */
int wr_lab_pool_has_room(const struct wr_lab_pool *pool);

#endif
