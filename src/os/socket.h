/* SPDX-License-Identifier: MIT */
/*
 * Socket options and counters of one socket: asked for, read back, sampled; of TCP, and of kinds that have no tcp_info.
 * Linux fills it in os/linux/socket.c.
 */
#ifndef WR_OS_SOCKET_H
#define WR_OS_SOCKET_H

#include "model/evidence.h"
#include "os/sockopt.h"

/*
 * What to ask of a socket before it connects or listens; WR_UNSET of the buffers, else 0 and NULL leave the kernel's choice.
 * @reader: it only reads
 */
struct wr_socket_wish {
	uint64_t sndbuf_bytes, rcvbuf_bytes, mss_bytes, notsent_lowat_bytes;
	bool force, nodelay, cork, reader;
	const char *congestion;
	struct wr_sockopt_list set;
};

/*
 * wr_socket_apply - set the options of @wish on @fd
 *
 * With @force SO_SNDBUFFORCE and SO_RCVBUFFORCE are tried first, then the plain ones (CAP_NET_ADMIN missing).
 * Return: 0; -1 with @err (WEIR_ERR_HOST) naming the option and value, e.g. a congestion control that isn't there.
 */
int wr_socket_apply(int fd, const struct wr_socket_wish *wish, struct weir_err *err);

/*
 * wr_socket_settle - the rest of @wish, on a connected socket that has sent its greeting: what would hold that back, and
 * what a listener doesn't hand down
 * Return: 0; -1 as above.
 */
int wr_socket_settle(int fd, const struct wr_socket_wish *wish, struct weir_err *err);

/*
 * wr_socket_resize - change one buffer of a live connection
 * @receive: SO_RCVBUF (with TCP_WINDOW_CLAMP lifted, or it would have no effect), else SO_SNDBUF
 *
 * Return: 0; -1.
 * Source: facts of tcp(7), net/core/sock.c; a live SO_RCVBUF is bounded by 65535 << wscale.
 */
int wr_socket_resize(int fd, bool receive, uint64_t bytes, bool force, struct weir_err *err);

/* wr_socket_describe - fill @connection (not its series) from @fd and the wish that was applied to it. */
void wr_socket_describe(int fd, const struct wr_socket_wish *wish, struct wr_connection *connection);

/* wr_socket_sample - the TCP and memory metrics of @fd; what the kernel doesn't have becomes WR_ABSENT. */
void wr_socket_sample(int fd, struct wr_sample *sample);

/*
 * wr_socket_describe_plain, wr_socket_sample_plain - the same of a socket without tcp_info: its send buffer, the memory
 * charged to it, and what its reader has not read (SIOCINQ, left out where it tells of @one_message only)
 */
void wr_socket_describe_plain(int fd, const struct wr_socket_wish *wish, struct wr_connection *connection);
void wr_socket_sample_plain(int fd, bool one_message, struct wr_sample *sample);

/* wr_socket_rtt_ns - the smallest round trip seen on a connected TCP socket, 0 unknown. */
int64_t wr_socket_rtt_ns(int fd);

/* wr_socket_unacked_bytes - written and not yet acknowledged by the peer's kernel, sent or not. */
uint64_t wr_socket_unacked_bytes(int fd);

/* wr_socket_error - why a connection broke (and forget it). Return: an errno, EPIPE where the kernel names none. */
int wr_socket_error(int fd);

/* wr_socket_may_force - whether SO_SNDBUFFORCE works for this process. */
bool wr_socket_may_force(void);

/* wr_socket_pace - SO_MAX_PACING_RATE, in bit/s. Return: 0; -1. */
int wr_socket_pace(int fd, uint64_t bps, struct weir_err *err);

/* wr_socket_nodelay - TCP_NODELAY on a live connection. Return: 0; -1. */
int wr_socket_nodelay(int fd, bool on, struct weir_err *err);

#endif
