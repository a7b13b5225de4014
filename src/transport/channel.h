/* SPDX-License-Identifier: MIT */
/*
 * One end of a connection that carries data: a socket, or one end of a ring inside this process. The traffic loops
 * send and receive through it; telling the two apart costs a branch that is always taken the same way.
 */
#ifndef WR_TRANSPORT_CHANNEL_H
#define WR_TRANSPORT_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "transport/ring.h"

/* @fd: a connected socket, -1 without; @ring: the end of a ring, NULL without. Both owned. */
struct wr_channel {
	int fd;
	struct wr_ring_end *ring;
};

#define WR_CHANNEL_NONE ((struct wr_channel){.fd = -1})

static inline bool wr_channel_is_open(const struct wr_channel *channel)
{
	return channel->fd >= 0 || channel->ring;
}

/* wr_channel_send, wr_channel_receive - as send(2) and recv(2) with @flags of MSG_DONTWAIT, MSG_NOSIGNAL. */
static inline ssize_t wr_channel_send(const struct wr_channel *channel, const void *bytes, size_t n, int flags)
{
	return channel->ring ? wr_ring_write(channel->ring, bytes, n, flags & MSG_DONTWAIT)
			     : send(channel->fd, bytes, n, flags);
}
static inline ssize_t wr_channel_receive(const struct wr_channel *channel, void *bytes, size_t n, int flags)
{
	return channel->ring ? wr_ring_read(channel->ring, bytes, n, flags & MSG_DONTWAIT)
			     : recv(channel->fd, bytes, n, flags);
}

/* wr_channel_send_parts - as sendmsg(2): all @parts in one call, one message where the transport has such. */
ssize_t wr_channel_send_parts(const struct wr_channel *channel, struct iovec *parts, size_t n_parts, int flags);

/* wr_channel_finish - nothing more will be sent; the peer reads what is queued and then the end. */
void wr_channel_finish(const struct wr_channel *channel);

/* wr_channel_drop - end both directions at once, what is queued is dropped; every wait on it returns. */
void wr_channel_drop(const struct wr_channel *channel);

/* wr_channel_close - give it back; it is none afterwards. */
void wr_channel_close(struct wr_channel *channel);

/* wr_bytes_send, wr_bytes_receive - exactly @n bytes on a blocking or non-blocking socket. Return: 0; -1 (errno). */
int wr_bytes_send(int fd, const void *bytes, size_t n, int64_t timeout_ns);
int wr_bytes_receive(int fd, void *bytes, size_t n, int64_t timeout_ns);

/* wr_fd_wait - poll(2) for @events until an instant. Return: 1 ready; 0 the deadline passed; -1 a signal, a failure. */
int wr_fd_wait(int fd, short events, int64_t until_ns);

#endif
