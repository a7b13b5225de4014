/* SPDX-License-Identifier: MIT */
/* What stream and seqpacket sockets of AF_VSOCK share: the slots of their rows. */
#ifndef WR_TRANSPORT_VSOCK_H
#define WR_TRANSPORT_VSOCK_H

#include "transport/transport.h"

int wr_vsock_check(struct weir_err *err);
int wr_vsock_connect(struct wr_channel *channel, int type, const struct wr_address *address,
		     const struct wr_opening *opening, struct weir_err *err);
int wr_vsock_listen(struct wr_listener *listener, const struct wr_transport *transport, int type, uint32_t port,
		    const struct wr_socket_wish *wish, struct weir_err *err);
int wr_vsock_apply(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err);
int wr_vsock_resize(const struct wr_channel *channel, bool receive, uint64_t bytes, bool force, struct weir_err *err);
void wr_vsock_describe(const struct wr_channel *channel, const struct wr_socket_wish *wish,
		       struct wr_connection *connection);
void wr_vsock_sample(const struct wr_channel *channel, struct wr_sample *sample);
void wr_vsock_text(char *out, const struct wr_address *address);
uint32_t wr_vsock_port(const struct wr_address *address);
void wr_vsock_set_port(struct wr_address *address, uint32_t port);
bool wr_vsock_is_local(const struct wr_address *address);

#define WR_VSOCK_NEEDS "AF_VSOCK of the kernel; both ends on one machine: module vsock_loopback (5.6)"

/* Credit that a reader gives unless told otherwise, net/vmw_vsock/af_vsock.c. */
#define WR_VSOCK_DEFAULT_BYTES 262144

#endif
