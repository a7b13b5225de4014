/* SPDX-License-Identifier: MIT */
/* What the three kinds of unix sockets share. */
#ifndef WR_TRANSPORT_UNIX_H
#define WR_TRANSPORT_UNIX_H

#include "transport/transport.h"

int wr_unix_resolve(struct wr_address *addresses, size_t n_addresses, size_t *n_found, const char *path,
		    const struct wr_plan *plan, struct weir_err *err);
void wr_unix_text(char *out, const struct wr_address *address);

/*
 * wr_unix_connect_pair - a connection of @type beside stream connections: a socket pair, whose far end is handed over
 * with the greeting through a stream connection to @address. Nothing of it is in the file system.
 *
 * Return: 0; -1.
 */
int wr_unix_connect_pair(struct wr_channel *channel, int type, const struct wr_address *address,
			 const struct wr_opening *opening, struct weir_err *err);

/* wr_unix_apply - the options of @wish, after a look whether @channel is a unix socket of @type at all. Return: 0; -1. */
int wr_unix_apply(const struct wr_channel *channel, int type, const struct wr_socket_wish *wish, struct weir_err *err);

/* wr_unix_resize - the slot: SO_SNDBUF; a larger one counts from the next write on. */
int wr_unix_resize(const struct wr_channel *channel, bool receive, uint64_t bytes, bool force, struct weir_err *err);

/* wr_unix_describe, wr_unix_sample, wr_unix_largest - the slots. */
void wr_unix_describe(const struct wr_channel *channel, const struct wr_socket_wish *wish,
		      struct wr_connection *connection);
void wr_unix_sample(const struct wr_channel *channel, struct wr_sample *sample);
uint64_t wr_unix_largest(const struct wr_channel *channel, uint64_t reader_bytes);

#endif
