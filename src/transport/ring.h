/* SPDX-License-Identifier: MIT */
/*
 * A connection inside one process: two bounded rings of bytes, one a direction, each with one writer and one reader.
 * It costs a copy in and a copy out and no system call while neither side waits, so it bounds what the harness around
 * it can do.
 */
#ifndef WR_TRANSPORT_RING_H
#define WR_TRANSPORT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "weir/err.h"

#define WR_RING_DEFAULT_BYTES 262144
#define WR_RING_LEAST_BYTES 64

struct wr_ring_end;

/* wr_ring_new - a connected pair of ends with rings of the default size. Return: 0; -1 out of memory. */
int wr_ring_new(struct wr_ring_end **one, struct wr_ring_end **other, struct weir_err *err);

/* wr_ring_free - let go of an end; the other one reads what is queued and then the end. Takes NULL, returns NULL. */
struct wr_ring_end *wr_ring_free(struct wr_ring_end *end);

/*
 * wr_ring_resize - the size of the ring that @end writes, before traffic in that direction begins
 * Return: 0; -1 out of memory, or bytes are queued in it.
 */
int wr_ring_resize(struct wr_ring_end *end, uint64_t bytes, struct weir_err *err);

/*
 * wr_ring_write - as send(2) on a byte stream
 * @now: don't wait: take what fits
 * Return: bytes taken, all @n unless @now or the connection ended meanwhile; -1 with errno EAGAIN or EPIPE.
 */
ssize_t wr_ring_write(struct wr_ring_end *end, const void *bytes, size_t n, bool now);

/* wr_ring_read - as recv(2). Return: bytes, at least one; 0 the end; -1 with errno EAGAIN (only with @now). */
ssize_t wr_ring_read(struct wr_ring_end *end, void *bytes, size_t n, bool now);

/* wr_ring_finish - the reader of what @end wrote reads the rest and then the end. */
void wr_ring_finish(struct wr_ring_end *end);

/* wr_ring_drop - both directions end at once; every wait returns. */
void wr_ring_drop(struct wr_ring_end *end);

/* What stands in the ring that @end writes (@out) or reads, and how much it can hold. */
uint64_t wr_ring_queued(const struct wr_ring_end *end, bool out);
uint64_t wr_ring_size(const struct wr_ring_end *end, bool out);

#endif
