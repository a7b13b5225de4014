/* SPDX-License-Identifier: MIT */
/* Ends of connections, and exact numbers of bytes within a deadline. */
#include "transport/channel.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"

ssize_t wr_channel_send_parts(const struct wr_channel *channel, struct iovec *parts, size_t n_parts, int flags)
{
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};
	ssize_t sent = 0;

	if (!channel->ring)
		return sendmsg(channel->fd, &message, flags);
	for (size_t i = 0; i < n_parts; i++) {
		ssize_t n = wr_ring_write(channel->ring, parts[i].iov_base, parts[i].iov_len, flags & MSG_DONTWAIT);

		if (n < 0 && sent == 0)
			return -1;
		sent += n < 0 ? 0 : n;
		if (n < (ssize_t)parts[i].iov_len)
			break;
	}
	return sent;
}

void wr_channel_finish(const struct wr_channel *channel)
{
	if (channel->ring)
		wr_ring_finish(channel->ring);
	else
		shutdown(channel->fd, SHUT_WR);
}

void wr_channel_drop(const struct wr_channel *channel)
{
	struct linger drop = {.l_onoff = 1, .l_linger = 0};

	if (channel->ring) {
		wr_ring_drop(channel->ring);
		return;
	}
	setsockopt(channel->fd, SOL_SOCKET, SO_LINGER, &drop, sizeof drop);
	shutdown(channel->fd, SHUT_RDWR);
}

void wr_channel_close(struct wr_channel *channel)
{
	if (channel->fd >= 0)
		close(channel->fd);
	wr_ring_free(channel->ring);
	*channel = WR_CHANNEL_NONE;
}

int wr_fd_wait(int fd, short events, int64_t until_ns)
{
	struct pollfd wait = {.fd = fd, .events = events};
	int64_t left = until_ns - wr_clock_ns();
	struct timespec timeout;

	if (left < 0)
		left = 0;
	timeout = (struct timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
	return ppoll(&wait, 1, &timeout, NULL);
}

int wr_bytes_send(int fd, const void *bytes, size_t n, int64_t timeout_ns)
{
	int64_t until = wr_clock_ns() + timeout_ns;
	size_t sent = 0;

	while (sent < n) {
		ssize_t rc = send(fd, (const char *)bytes + sent, n - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (rc > 0)
			sent += (size_t)rc;
		else if (errno != EAGAIN && errno != EINTR)
			return -1;
		else if (wr_fd_wait(fd, POLLOUT, until) == 0) {
			errno = ETIMEDOUT;
			return -1;
		}
	}
	return 0;
}

int wr_bytes_receive(int fd, void *bytes, size_t n, int64_t timeout_ns)
{
	int64_t until = wr_clock_ns() + timeout_ns;
	size_t got = 0;

	while (got < n) {
		ssize_t rc = recv(fd, (char *)bytes + got, n - got, MSG_DONTWAIT);

		if (rc > 0)
			got += (size_t)rc;
		else if (rc == 0 || (errno != EAGAIN && errno != EINTR))
			return -1;
		else if (wr_fd_wait(fd, POLLIN, until) == 0) {
			errno = ETIMEDOUT;
			return -1;
		}
	}
	return 0;
}
