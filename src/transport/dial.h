/* SPDX-License-Identifier: MIT */
/* What the transports whose connections are stream sockets share: connecting within a deadline, accepting, greetings. */
#ifndef WR_TRANSPORT_DIAL_H
#define WR_TRANSPORT_DIAL_H

#include "transport/transport.h"

#define WR_BACKLOG 256

/*
 * wr_dial - connect the non-blocking @fd to @address, make it blocking, send the greeting
 * Return: 0; an errno: ETIMEDOUT after opening->timeout_ns, EINTR a signal came.
 */
int wr_dial(int fd, const struct wr_address *address, const struct wr_opening *opening);

/* wr_dial_accept, wr_dial_greet - the slots accept and greet of a stream socket. */
int wr_dial_accept(const struct wr_listener *listener, struct wr_channel *channel);
int wr_dial_greet(struct wr_channel *channel, void *greeting, size_t n, int64_t timeout_ns);

#endif
