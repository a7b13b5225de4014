/* SPDX-License-Identifier: MIT */
/* TCP connections: resolve, connect with a deadline, listen; options are set before connect() and listen(). */
#ifndef WR_TRANSPORT_TCP_H
#define WR_TRANSPORT_TCP_H

#include <sys/socket.h>

#include "os/socket.h"

struct wr_address {
	struct sockaddr_storage storage;
	socklen_t length;
};

/*
 * wr_tcp_resolve - every address of @host
 * @family: AF_UNSPEC, AF_INET or AF_INET6
 * @addresses: room for @n_addresses; @n_found how many there were, at most that
 *
 * Return: 0; -1 (WEIR_ERR_PEER) unresolvable.
 */
int wr_tcp_resolve(const char *host, uint16_t port, int family, struct wr_address *addresses, size_t n_addresses,
		   size_t *n_found, struct weir_err *err);

/* wr_address_text - "198.18.0.2:5201" or "[2001:2::2]:5201" into WR_NAME_TEXT bytes. Return: @out. */
const char *wr_address_text(char *out, const struct wr_address *address);

/* wr_address_is_local - whether @address belongs to this host, so that both ends share its CPUs. */
bool wr_address_is_local(const struct wr_address *address);

/* wr_address_set_port - change the port in place; wr_address_port - read it. */
uint16_t wr_address_port(const struct wr_address *address);
void wr_address_set_port(struct wr_address *address, uint16_t port);

/*
 * wr_tcp_connect - connect to @address with @wish in force
 * @bind_to: local address text or NULL
 * @fd: out: the connected, blocking socket
 *
 * Return: 0; -1 (WEIR_ERR_PEER: refused, silent, unreachable, with address and time waited).
 */
int wr_tcp_connect(int *fd, const struct wr_address *address, const struct wr_socket_wish *wish, const char *bind_to,
		   int64_t timeout_ns, struct weir_err *err);

/*
 * wr_tcp_listen - listen with @wish in force
 * @address: NULL for every address, IPv6 and IPv4
 * @port: 0 for any free one; out: the port
 *
 * Return: 0; -1 (WEIR_ERR_HOST).
 */
int wr_tcp_listen(int *fd, const struct wr_address *address, uint16_t *port, const struct wr_socket_wish *wish,
		  struct weir_err *err);

#endif
