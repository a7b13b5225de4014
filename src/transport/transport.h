/* SPDX-License-Identifier: MIT */
/*
 * What a connection can run over: a row of wr_transports, one file each. A row says which targets are its own, what it
 * needs, how it connects and listens with buffers in force, and what can be read of it.
 *
 * A session has one control connection and data connections beside it. Rows whose data kind can't carry a byte stream
 * (or is no socket at all) name another row for control.
 */
#ifndef WR_TRANSPORT_TRANSPORT_H
#define WR_TRANSPORT_TRANSPORT_H

#include <sys/socket.h>

#include "os/socket.h"
#include "transport/channel.h"

struct wr_transport;

/* Where something listens, or who connected. @transport: how its parts are read. */
struct wr_address {
	const struct wr_transport *transport;
	struct sockaddr_storage storage;
	socklen_t length;
};

/* @fd: readable when somebody is to be accepted; owned. @device, @inode: of the file that bind made, to remove it. */
struct wr_listener {
	const struct wr_transport *transport;
	int fd;
	struct wr_address address;
	uint64_t device, inode;
};

#define WR_LISTENER_NONE ((struct wr_listener){.fd = -1})

/*
 * How to connect.
 *
 * @wish: options to set before, or NULL; @bind: local address, or NULL
 * @greeting: the first @n_greeting bytes, by which the server tells whose connection it is
 */
struct wr_opening {
	const struct wr_socket_wish *wish;
	const char *bind;
	int64_t timeout_ns;
	const void *greeting;
	size_t n_greeting;
};

/*
 * @name: as --transport has it; @prefix: of its targets, "" for a host; @target: how one is written, for help
 * @needs: in words, or NULL; @source: where its facts come from
 * @sndbuf, @rcvbuf: the options that bound what the writing and the reading end queue; NULL: nothing does
 * @control: the row that carries the control connection
 * @tcp: has tcp_info, congestion control and Nagle's algorithm
 * @inside: both ends are threads of one process
 * @messages: keeps the bounds of messages
 * @early: buffers must be set before listen()
 * @shares: its data connections arrive where control connections do; else it listens anew for each transfer
 *
 * check: whether it works here; NULL: always. Return: 0; -1 (WEIR_ERR_HOST) with what is missing and what to do.
 * resolve: @text is the target without its prefix. Return: 0; 1 it names no server, far is to be started beside near; -1.
 * connect: Return: 0 @channel is connected, blocking, and has sent the greeting; -1 (WEIR_ERR_PEER ...).
 * listen: @path: of a socket file, NULL: none, or not that kind; @port: 0: any free one. Return: 0; -1 (WEIR_ERR_HOST).
 * unlisten: remove what listen left behind; NULL: nothing. accept: Return: 0; -1 with errno.
 * greet: take a greeting of @n bytes from an accepted @channel, which may become another one by it. Return: 0; -1.
 * apply: set the options of @wish on a connected channel. Return: 0; -1.
 * resize: a buffer of a channel that carries data; NULL: never. Return: 0; -1.
 * describe: fill @connection, but for its series. sample: what it has of metrics, the rest becomes WR_ABSENT.
 * largest: bytes of the largest message; @reader_bytes: the reading end's buffer, WR_UNSET not asked. NULL: any size.
 * text: an address as a user would write it, into WR_NAME_TEXT bytes.
 * port, set_port: of an address; NULL: there are none.
 * is_local: whether an address is of this host, so that both ends share its CPUs; NULL: always.
 */
struct wr_transport {
	const char *name, *prefix, *target, *summary, *needs, *source, *sndbuf, *rcvbuf;
	const struct wr_transport *control;
	bool tcp, inside, messages, early, shares;
	int (*check)(struct weir_err *err);
	int (*resolve)(struct wr_address *addresses, size_t n_addresses, size_t *n_found, const char *text,
		       const struct wr_plan *plan, struct weir_err *err);
	int (*connect)(struct wr_channel *channel, const struct wr_address *address, const struct wr_opening *opening,
		       struct weir_err *err);
	int (*listen)(struct wr_listener *listener, const char *path, uint32_t port, const struct wr_socket_wish *wish,
		      struct weir_err *err);
	void (*unlisten)(struct wr_listener *listener);
	int (*accept)(const struct wr_listener *listener, struct wr_channel *channel);
	int (*greet)(struct wr_channel *channel, void *greeting, size_t n, int64_t timeout_ns);
	int (*apply)(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err);
	int (*resize)(const struct wr_channel *channel, bool receive, uint64_t bytes, bool force, struct weir_err *err);
	void (*describe)(const struct wr_channel *channel, const struct wr_socket_wish *wish,
			 struct wr_connection *connection);
	void (*sample)(const struct wr_channel *channel, struct wr_sample *sample);
	uint64_t (*largest)(const struct wr_channel *channel, uint64_t reader_bytes);
	void (*text)(char *out, const struct wr_address *address);
	uint32_t (*port)(const struct wr_address *address);
	void (*set_port)(struct wr_address *address, uint32_t port);
	bool (*is_local)(const struct wr_address *address);
};

/* Every transport, in display order; NULL-ended. */
extern const struct wr_transport *const wr_transports[];

extern const struct wr_transport wr_transport_tcp, wr_transport_unix, wr_transport_unix_seqpacket,
	wr_transport_unix_dgram, wr_transport_vsock, wr_transport_vsock_seqpacket, wr_transport_mem;

/* wr_transport_find - the row called @name; NULL is tcp's. Return: NULL without one. */
const struct wr_transport *wr_transport_find(const char *name);

/* wr_transport_of_target - the first row whose prefix @target has; a host has none. */
const struct wr_transport *wr_transport_of_target(const char *target);

/*
 * wr_transport_choose - the row that @target and plan->transport mean together
 * @rest: out: the target without its prefix, or NULL
 *
 * Return: 0; -1 (WEIR_ERR_USAGE) they contradict each other, or the plan asks for what the transport doesn't have.
 */
int wr_transport_choose(const struct wr_transport **transport, const char **rest, const char *target,
			const struct wr_plan *plan, struct weir_err *err);

/* wr_address_text - "198.18.0.2:5201", "[2001:2::2]:5201", "unix:/run/weir" into WR_NAME_TEXT bytes. Return: @out. */
const char *wr_address_text(char *out, const struct wr_address *address);

/* wr_socket_ends_text - both addresses of the socket @fd as texts, "" where unknown; either may be NULL. */
void wr_socket_ends_text(const struct wr_transport *transport, int fd, char *local, char *peer);

/* wr_address_is_local, wr_address_port - the row's slots with their defaults: true, 0. */
bool wr_address_is_local(const struct wr_address *address);
uint32_t wr_address_port(const struct wr_address *address);

/* wr_listener_close - stop listening and remove what it left in the file system. */
void wr_listener_close(struct wr_listener *listener);

#endif
