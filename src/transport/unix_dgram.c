/* SPDX-License-Identifier: MIT */
/*
 * Unix datagrams. They are never dropped: a writer waits for room in its SO_SNDBUF, and, where the reader is not
 * connected back to it, until fewer than net.unix.max_dgram_qlen messages stand before the reader. Readers that only
 * read (syslog, sd_notify) are not connected back, so neither is weir's.
 */
#include <errno.h>
#include <sys/time.h>

#include "base/err.h"
#include "transport/unix.h"

/* shutdown() doesn't wake a writer that waits for the reader's queue (unix_wait_for_peer). */
#define WAIT_US 200000

static int dgram_connect(struct wr_channel *channel, const struct wr_address *address, const struct wr_opening *opening,
			 struct weir_err *err)
{
	return wr_unix_connect_pair(channel, SOCK_DGRAM, address, opening, err);
}

static int apply(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err)
{
	struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	struct timeval wait = {.tv_usec = WAIT_US};

	if (wr_unix_apply(channel, SOCK_DGRAM, wish, err) < 0)
		return -1;
	if (setsockopt(channel->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0 ||
	    (wish->reader && connect(channel->fd, &nobody, sizeof nobody) < 0))
		return wr_err_errno(err, WEIR_ERR_HOST, "connect", errno, "making a reader of datagrams");
	return 0;
}

/* SIOCINQ is the size of the first datagram, not of all. */
static void sample(const struct wr_channel *channel, struct wr_sample *out)
{
	wr_socket_sample_plain(channel->fd, true, out);
}

const struct wr_transport wr_transport_unix_dgram = {
	.name = "unix-dgram",
	.prefix = "unix:",
	.target = "unix:[PATH]",
	.summary = "unix datagrams of this machine, which wait instead of being dropped",
	.source = "unix(7), net/unix/af_unix.c unix_dgram_sendmsg",
	.sndbuf = "SO_SNDBUF",
	.control = &wr_transport_unix,
	.messages = true,
	.shares = true,
	.connect = dgram_connect,
	.apply = apply,
	.resize = wr_unix_resize,
	.describe = wr_unix_describe,
	.sample = sample,
	.largest = wr_unix_largest,
	.text = wr_unix_text,
};
