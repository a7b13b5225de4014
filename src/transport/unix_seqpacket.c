/* SPDX-License-Identifier: MIT */
/* Unix sockets that keep the bounds of messages: a read takes one whole message, the reader sees the writer's end. */
#include "transport/unix.h"

static int seqpacket_connect(struct wr_channel *channel, const struct wr_address *address,
			     const struct wr_opening *opening, struct weir_err *err)
{
	return wr_unix_connect_pair(channel, SOCK_SEQPACKET, address, opening, err);
}

static int apply(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err)
{
	return wr_unix_apply(channel, SOCK_SEQPACKET, wish, err);
}

const struct wr_transport wr_transport_unix_seqpacket = {
	.name = "unix-seqpacket",
	.prefix = "unix:",
	.target = "unix:[PATH]",
	.summary = "unix sockets of this machine that keep messages apart",
	.source = "unix(7), net/unix/af_unix.c",
	.sndbuf = "SO_SNDBUF",
	.control = &wr_transport_unix,
	.messages = true,
	.shares = true,
	.connect = seqpacket_connect,
	.apply = apply,
	.resize = wr_unix_resize,
	.describe = wr_unix_describe,
	.sample = wr_unix_sample,
	.largest = wr_unix_largest,
	.text = wr_unix_text,
};
