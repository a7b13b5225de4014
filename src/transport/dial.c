/* SPDX-License-Identifier: MIT */
/*
 * connect() runs without waiting and is polled, so that a silent host costs the caller's timeout and not the kernel's
 * two minutes.
 */
#include "transport/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

/* Return: 0 connected, else the errno. */
static int connect_wait(int fd, int64_t timeout_ns)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	socklen_t length = sizeof(int);
	int error = 0, rc = poll(&wait, 1, (int)(timeout_ns / 1000000) + 1);

	if (rc == 0)
		return ETIMEDOUT;
	if (rc < 0)
		return errno;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

int wr_dial(int fd, const struct wr_address *address, const struct wr_opening *opening)
{
	int error = 0;

	if (connect(fd, (const struct sockaddr *)&address->storage, address->length) < 0)
		error = errno == EINPROGRESS ? connect_wait(fd, opening->timeout_ns) : errno;
	if (error)
		return error;
	if (fcntl(fd, F_SETFL, 0) < 0 ||
	    wr_bytes_send(fd, opening->greeting, opening->n_greeting, opening->timeout_ns) < 0)
		return errno;
	return 0;
}

int wr_dial_accept(const struct wr_listener *listener, struct wr_channel *channel)
{
	*channel = WR_CHANNEL_NONE;
	channel->fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
	return channel->fd < 0 ? -1 : 0;
}

int wr_dial_greet(struct wr_channel *channel, void *greeting, size_t n, int64_t timeout_ns)
{
	return wr_bytes_receive(channel->fd, greeting, n, timeout_ns);
}
