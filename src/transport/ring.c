/* SPDX-License-Identifier: MIT */
/*
 * Head and tail only grow; their difference is what is queued. Each is written by one side and read by the other.
 * A side that finds no room or no bytes says what it wants and looks again before it sleeps; the other side publishes
 * its index and looks at the want after that. Both in sequentially consistent order, so one of them sees the other
 * (Dekker). A waiting writer wants half of the ring, so that it is not woken for every byte.
 */
#include "transport/ring.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define LINE 64
/* Looks at the other side's index before sleeping, some 10 us: less than being put to sleep and woken costs. */
#define SPINS 5000

/* @closed: the writer writes no more; @dropped: nobody uses it any more */
struct ring {
	char *bytes;
	uint64_t size;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Alignas(LINE) _Atomic uint64_t head;
	_Atomic uint64_t room_wanted;
	_Alignas(LINE) _Atomic uint64_t tail;
	_Atomic bool bytes_wanted, closed, dropped;
};

struct pair;

struct wr_ring_end {
	struct pair *pair;
	struct ring *out, *in;
};

struct pair {
	struct ring rings[2];
	struct wr_ring_end ends[2];
	_Atomic int n_ends;
};

static void pair_free(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		free(pair->rings[i].bytes);
		pthread_mutex_destroy(&pair->rings[i].lock);
		pthread_cond_destroy(&pair->rings[i].changed);
	}
	free(pair);
}

int wr_ring_new(struct wr_ring_end **one, struct wr_ring_end **other, struct weir_err *err)
{
	struct pair *pair = aligned_alloc(LINE, (sizeof *pair + LINE - 1) / LINE * LINE);

	if (!pair)
		return wr_err_memory(err, "ring");
	memset(pair, 0, sizeof *pair);
	pair->n_ends = 2;
	for (int i = 0; i < 2; i++) {
		pthread_mutex_init(&pair->rings[i].lock, NULL);
		pthread_cond_init(&pair->rings[i].changed, NULL);
		pair->rings[i].size = WR_RING_DEFAULT_BYTES;
		pair->rings[i].bytes = malloc(WR_RING_DEFAULT_BYTES);
		pair->ends[i] = (struct wr_ring_end){.pair = pair, .out = &pair->rings[i], .in = &pair->rings[1 - i]};
	}
	if (!pair->rings[0].bytes || !pair->rings[1].bytes) {
		pair_free(pair);
		return wr_err_memory(err, "ring");
	}
	*one = &pair->ends[0];
	*other = &pair->ends[1];
	return 0;
}

static void wake(struct ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	pthread_cond_broadcast(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
}

struct wr_ring_end *wr_ring_free(struct wr_ring_end *end)
{
	if (!end)
		return NULL;
	wr_ring_finish(end);
	atomic_store(&end->in->dropped, true);
	wake(end->in);
	if (atomic_fetch_sub(&end->pair->n_ends, 1) == 1)
		pair_free(end->pair);
	return NULL;
}

uint64_t wr_ring_queued(const struct wr_ring_end *end, bool out)
{
	const struct ring *ring = out ? end->out : end->in;
	/* The head first: it never overtakes a tail that is read later. */
	uint64_t head = atomic_load(&ring->head);

	return atomic_load(&ring->tail) - head;
}

uint64_t wr_ring_size(const struct wr_ring_end *end, bool out)
{
	return out ? end->out->size : end->in->size;
}

int wr_ring_resize(struct wr_ring_end *end, uint64_t bytes, struct weir_err *err)
{
	char *room;

	if (bytes < WR_RING_LEAST_BYTES)
		bytes = WR_RING_LEAST_BYTES;
	if (wr_ring_queued(end, true) > 0)
		return wr_err_set(err, WEIR_ERR_HOST, "ring", "a ring that holds bytes can't be resized");
	room = malloc(bytes);
	if (!room)
		return wr_err_set(err, WEIR_ERR_HOST, "ring", "out of memory for a ring of %llu bytes", (unsigned long long)bytes);
	free(end->out->bytes);
	end->out->bytes = room;
	end->out->size = bytes;
	atomic_store(&end->out->head, 0);
	atomic_store(&end->out->tail, 0);
	return 0;
}

static uint64_t room_of(struct ring *ring)
{
	return ring->size - (atomic_load_explicit(&ring->tail, memory_order_relaxed) - atomic_load(&ring->head));
}

static void room_wait(struct ring *ring, uint64_t wanted)
{
	for (int i = 0; i < SPINS; i++) {
		if (room_of(ring) >= wanted)
			return;
	}
	pthread_mutex_lock(&ring->lock);
	atomic_store(&ring->room_wanted, wanted);
	while (room_of(ring) < wanted && !atomic_load(&ring->dropped))
		pthread_cond_wait(&ring->changed, &ring->lock);
	atomic_store(&ring->room_wanted, 0);
	pthread_mutex_unlock(&ring->lock);
}

/* As much of @bytes as has room now. */
static size_t put(struct ring *ring, const char *bytes, size_t n)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed), room = room_of(ring);
	size_t at = (size_t)(tail % ring->size), first;

	if (n > room)
		n = (size_t)room;
	if (n == 0)
		return 0;
	first = n < ring->size - at ? n : (size_t)ring->size - at;
	memcpy(ring->bytes + at, bytes, first);
	memcpy(ring->bytes, bytes + first, n - first);
	atomic_store(&ring->tail, tail + n);
	if (atomic_load(&ring->bytes_wanted))
		wake(ring);
	return n;
}

ssize_t wr_ring_write(struct wr_ring_end *end, const void *bytes, size_t n, bool now)
{
	struct ring *ring = end->out;
	size_t done = 0;

	for (;;) {
		uint64_t half = ring->size / 2;

		if (atomic_load_explicit(&ring->dropped, memory_order_relaxed) ||
		    atomic_load_explicit(&ring->closed, memory_order_relaxed)) {
			errno = EPIPE;
			return done ? (ssize_t)done : -1;
		}
		done += put(ring, (const char *)bytes + done, n - done);
		if (done == n || (now && done))
			return (ssize_t)done;
		if (now) {
			errno = EAGAIN;
			return -1;
		}
		room_wait(ring, n - done < half ? n - done : half);
	}
}

static void bytes_wait(struct ring *ring)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load(&ring->tail) != atomic_load_explicit(&ring->head, memory_order_relaxed))
			return;
	}
	pthread_mutex_lock(&ring->lock);
	atomic_store(&ring->bytes_wanted, true);
	while (atomic_load(&ring->tail) == atomic_load_explicit(&ring->head, memory_order_relaxed) &&
	       !atomic_load(&ring->closed) && !atomic_load(&ring->dropped))
		pthread_cond_wait(&ring->changed, &ring->lock);
	atomic_store(&ring->bytes_wanted, false);
	pthread_mutex_unlock(&ring->lock);
}

/* As many bytes as there are, up to @n. */
static size_t take(struct ring *ring, char *bytes, size_t n)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed), queued = atomic_load(&ring->tail) - head;
	uint64_t wanted;
	size_t at = (size_t)(head % ring->size), first;

	if (n > queued)
		n = (size_t)queued;
	if (n == 0)
		return 0;
	first = n < ring->size - at ? n : (size_t)ring->size - at;
	memcpy(bytes, ring->bytes + at, first);
	memcpy(bytes + first, ring->bytes, n - first);
	atomic_store(&ring->head, head + n);
	wanted = atomic_load(&ring->room_wanted);
	if (wanted && ring->size - (queued - n) >= wanted)
		wake(ring);
	return n;
}

ssize_t wr_ring_read(struct wr_ring_end *end, void *bytes, size_t n, bool now)
{
	struct ring *ring = end->in;

	for (;;) {
		bool closed = atomic_load(&ring->closed);
		size_t done;

		if (atomic_load_explicit(&ring->dropped, memory_order_relaxed))
			return 0;
		done = take(ring, bytes, n);
		if (done || closed)
			return (ssize_t)done;
		if (now) {
			errno = EAGAIN;
			return -1;
		}
		bytes_wait(ring);
	}
}

void wr_ring_finish(struct wr_ring_end *end)
{
	atomic_store(&end->out->closed, true);
	wake(end->out);
}

void wr_ring_drop(struct wr_ring_end *end)
{
	for (int i = 0; i < 2; i++) {
		atomic_store(&end->pair->rings[i].dropped, true);
		wake(&end->pair->rings[i]);
	}
}
