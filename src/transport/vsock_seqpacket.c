/* SPDX-License-Identifier: MIT */
/* AF_VSOCK that keeps the bounds of messages (5.14): a message may be as large as the reader's credit. */
#include "transport/dial.h"
#include "transport/vsock.h"

static int seqpacket_connect(struct wr_channel *channel, const struct wr_address *address,
			     const struct wr_opening *opening, struct weir_err *err)
{
	return wr_vsock_connect(channel, SOCK_SEQPACKET, address, opening, err);
}

static int seqpacket_listen(struct wr_listener *listener, const char *path, uint32_t port,
			    const struct wr_socket_wish *wish, struct weir_err *err)
{
	(void)path;
	return wr_vsock_listen(listener, &wr_transport_vsock_seqpacket, SOCK_SEQPACKET, port, wish, err);
}

/* virtio_transport_seqpacket_enqueue */
static uint64_t largest(const struct wr_channel *channel, uint64_t reader_bytes)
{
	(void)channel;
	return reader_bytes == WR_UNSET ? WR_VSOCK_DEFAULT_BYTES : reader_bytes;
}

const struct wr_transport wr_transport_vsock_seqpacket = {
	.name = "vsock-seqpacket",
	.prefix = "vsock:",
	.target = "vsock:CID[:PORT]",
	.summary = "the same with messages kept apart",
	.needs = WR_VSOCK_NEEDS,
	.source = "vsock(7), net/vmw_vsock/virtio_transport_common.c",
	.rcvbuf = "SO_VM_SOCKETS_BUFFER_SIZE",
	.control = &wr_transport_vsock,
	.messages = true,
	.early = true,
	.check = wr_vsock_check,
	.connect = seqpacket_connect,
	.listen = seqpacket_listen,
	.accept = wr_dial_accept,
	.greet = wr_dial_greet,
	.apply = wr_vsock_apply,
	.resize = wr_vsock_resize,
	.describe = wr_vsock_describe,
	.sample = wr_vsock_sample,
	.largest = largest,
	.text = wr_vsock_text,
	.port = wr_vsock_port,
	.set_port = wr_vsock_set_port,
	.is_local = wr_vsock_is_local,
};
