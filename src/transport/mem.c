/* SPDX-License-Identifier: MIT */
/*
 * A ring inside this process, both ends threads of it: no kernel, no socket. What runs over it bounds what the harness
 * itself can do. Listeners are numbers; who connects puts the other end of a new ring into the listener's queue, with
 * the greeting in it, and a byte into the pipe that makes the listener readable.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/units.h"
#include "transport/transport.h"

#define MOST_LISTENERS 16
#define MOST_WAITING WR_MAX_STREAMS

/* An address: the number of a listener. */
struct name {
	sa_family_t family;
	uint32_t number;
};

/* @number: 0 free; @bell: the pipe's writing end; @waiting: who connected and was not accepted, oldest first */
struct queue {
	uint32_t number;
	int bell;
	struct wr_ring_end *waiting[MOST_WAITING];
	size_t n_waiting;
};

static struct {
	pthread_mutex_t lock;
	struct queue queues[MOST_LISTENERS];
	uint32_t last_number;
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t port(const struct wr_address *address)
{
	return ((const struct name *)&address->storage)->number;
}

static void set_port(struct wr_address *address, uint32_t number)
{
	struct name name = {.family = AF_UNSPEC, .number = number};

	memcpy(&address->storage, &name, sizeof name);
	address->length = sizeof name;
}

static void text(char *out, const struct wr_address *address)
{
	(void)address;
	snprintf(out, WR_NAME_TEXT, "mem:");
}

/* Under the lock. */
static struct queue *find(uint32_t number)
{
	for (size_t i = 0; i < MOST_LISTENERS; i++) {
		if (names.queues[i].number == number)
			return &names.queues[i];
	}
	return NULL;
}

static int apply(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err)
{
	return wish->sndbuf_bytes == WR_UNSET ? 0 : wr_ring_resize(channel->ring, wish->sndbuf_bytes, err);
}

/* Return: whether a listener took it. */
static bool enqueue(uint32_t number, struct wr_ring_end *end)
{
	struct queue *queue;
	bool taken;

	pthread_mutex_lock(&names.lock);
	queue = number ? find(number) : NULL;
	taken = queue && queue->n_waiting < MOST_WAITING && write(queue->bell, "", 1) == 1;
	if (taken)
		queue->waiting[queue->n_waiting++] = end;
	pthread_mutex_unlock(&names.lock);
	return taken;
}

static int mem_connect(struct wr_channel *channel, const struct wr_address *address, const struct wr_opening *opening,
		       struct weir_err *err)
{
	struct wr_ring_end *far;

	*channel = WR_CHANNEL_NONE;
	if (wr_ring_new(&channel->ring, &far, err) < 0)
		return -1;
	if ((!opening->wish || apply(channel, opening->wish, err) == 0) &&
	    wr_ring_write(channel->ring, opening->greeting, opening->n_greeting, true) == (ssize_t)opening->n_greeting) {
		if (enqueue(port(address), far))
			return 0;
		wr_err_set(err, WEIR_ERR_PEER, "connect", "nothing listens inside this process");
	}
	wr_ring_free(far);
	wr_channel_close(channel);
	return -1;
}

static int mem_listen(struct wr_listener *listener, const char *path, uint32_t number, const struct wr_socket_wish *wish,
		      struct weir_err *err)
{
	struct queue *queue;
	int bell[2];

	(void)path;
	(void)number;
	(void)wish;
	if (pipe2(bell, O_CLOEXEC | O_NONBLOCK) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "pipe", errno, "listening inside this process");
	pthread_mutex_lock(&names.lock);
	queue = find(0);
	if (queue)
		*queue = (struct queue){.number = ++names.last_number, .bell = bell[1]};
	pthread_mutex_unlock(&names.lock);
	if (!queue) {
		close(bell[0]);
		close(bell[1]);
		return wr_err_set(err, WEIR_ERR_HOST, "listen", "%d transfers inside this process are going on already",
				  MOST_LISTENERS);
	}
	*listener = (struct wr_listener){.transport = &wr_transport_mem, .fd = bell[0],
					 .address.transport = &wr_transport_mem};
	set_port(&listener->address, queue->number);
	return 0;
}

static void unlisten(struct wr_listener *listener)
{
	struct queue *queue;

	pthread_mutex_lock(&names.lock);
	queue = find(port(&listener->address));
	for (size_t i = 0; queue && i < queue->n_waiting; i++)
		wr_ring_free(queue->waiting[i]);
	if (queue) {
		close(queue->bell);
		queue->number = 0;
	}
	pthread_mutex_unlock(&names.lock);
}

static int mem_accept(const struct wr_listener *listener, struct wr_channel *channel)
{
	struct queue *queue;
	char rung;

	*channel = WR_CHANNEL_NONE;
	if (read(listener->fd, &rung, 1) != 1)
		return -1;
	pthread_mutex_lock(&names.lock);
	queue = find(port(&listener->address));
	channel->ring = queue->waiting[0];
	queue->n_waiting--;
	for (size_t i = 0; i < queue->n_waiting; i++)
		queue->waiting[i] = queue->waiting[i + 1];
	pthread_mutex_unlock(&names.lock);
	return 0;
}

static int greet(struct wr_channel *channel, void *greeting, size_t n, int64_t timeout_ns)
{
	(void)timeout_ns;
	return wr_ring_read(channel->ring, greeting, n, true) == (ssize_t)n ? 0 : -1;
}

static void describe(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct wr_connection *connection)
{
	connection->sndbuf_req_bytes = wish->sndbuf_bytes;
	connection->rcvbuf_req_bytes = wish->rcvbuf_bytes;
	connection->sndbuf_eff_bytes = wr_ring_size(channel->ring, true);
	connection->rcvbuf_eff_bytes = WR_UNSET;
	connection->ran_on_cpu = -1;
	text(connection->local, NULL);
	text(connection->peer, NULL);
}

static void sample(const struct wr_channel *channel, struct wr_sample *out)
{
	for (int id = WR_M_CA_STATE; id < WR_N_METRICS; id++)
		out->value[id] = WR_ABSENT;
	out->value[WR_M_SNDBUF_BYTES] = (int64_t)wr_ring_size(channel->ring, true);
	out->value[WR_M_WMEM_BYTES] = (int64_t)wr_ring_queued(channel->ring, true);
	out->value[WR_M_UNREAD_BYTES] = (int64_t)wr_ring_queued(channel->ring, false);
}

const struct wr_transport wr_transport_mem = {
	.name = "mem",
	.prefix = "mem:",
	.target = "mem:",
	.summary = "a ring inside this process, which bounds what the harness itself can do",
	.source = "src/transport/ring.c",
	.sndbuf = "ring size",
	.control = &wr_transport_unix,
	.inside = true,
	.connect = mem_connect,
	.listen = mem_listen,
	.unlisten = unlisten,
	.accept = mem_accept,
	.greet = greet,
	.apply = apply,
	.describe = describe,
	.sample = sample,
	.text = text,
	.port = port,
	.set_port = set_port,
};
