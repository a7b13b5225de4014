/* SPDX-License-Identifier: MIT */
/*
 * TCP. Buffers are set before connect() and listen(), because the window scale is fixed in the handshake
 * (net/ipv4/tcp_output.c tcp_select_initial_window).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "transport/dial.h"

static int lookup(const char *host, uint16_t port, int family, struct wr_address *addresses, size_t n_addresses,
		  size_t *n_found, struct weir_err *err)
{
	struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *list = NULL;
	char service[8];
	int rc;

	snprintf(service, sizeof service, "%u", port);
	rc = getaddrinfo(host, service, &hints, &list);
	if (rc != 0) {
		wr_err_set(err, WEIR_ERR_PEER, "getaddrinfo", "'%.200s' has no%s address: %s", host,
			   family == AF_INET ? " IPv4" : family == AF_INET6 ? " IPv6" : "", gai_strerror(rc));
		return wr_err_hint(err, "check the name, or give the address");
	}
	*n_found = 0;
	for (struct addrinfo *entry = list; entry && *n_found < n_addresses; entry = entry->ai_next) {
		struct wr_address *address = &addresses[(*n_found)++];

		address->transport = &wr_transport_tcp;
		memcpy(&address->storage, entry->ai_addr, entry->ai_addrlen);
		address->length = entry->ai_addrlen;
	}
	freeaddrinfo(list);
	return 0;
}

/* "host", "host:port", "[v6]:port", "v6" into host and port. */
static int target_split(const char *target, uint16_t default_port, char *host, size_t n_host, uint16_t *port,
			struct weir_err *err)
{
	const char *colon = strrchr(target, ':'), *end = target + strlen(target), *start = target;
	char *rest;
	unsigned long number;

	*port = default_port;
	if (target[0] == '[') {
		start = target + 1;
		end = strchr(target, ']');
		if (!end || (end[1] != '\0' && end[1] != ':'))
			return wr_err_set(err, WEIR_ERR_USAGE, "target", "'%.100s' is not [ADDRESS]:PORT", target);
		colon = end[1] == ':' ? end + 1 : NULL;
	} else if (colon && strchr(target, ':') != colon) {
		colon = NULL; /* a bare IPv6 address */
	}
	if (colon) {
		number = strtoul(colon + 1, &rest, 10);
		if (colon[1] < '0' || colon[1] > '9' || *rest || number < 1 || number > 65535)
			return wr_err_set(err, WEIR_ERR_USAGE, "target", "'%.100s' has no port from 1 to 65535 after the colon",
					  target);
		*port = (uint16_t)number;
		if (target[0] != '[')
			end = colon;
	}
	if (end == start || (size_t)(end - start) >= n_host)
		return wr_err_set(err, WEIR_ERR_USAGE, "target", "'%.100s' names no host", target);
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = '\0';
	return 0;
}

static int resolve(struct wr_address *addresses, size_t n_addresses, size_t *n_found, const char *text,
		   const struct wr_plan *plan, struct weir_err *err)
{
	char host[256];
	uint16_t port;

	if (target_split(text, plan->port == WR_UNSET ? WR_DEFAULT_PORT : (uint16_t)plan->port, host, sizeof host, &port,
			 err) < 0)
		return -1;
	return lookup(host, port, plan->v4 ? AF_INET : plan->v6 ? AF_INET6 : AF_UNSPEC, addresses, n_addresses, n_found, err);
}

static void text(char *out, const struct wr_address *address)
{
	char host[INET6_ADDRSTRLEN + 1] = "?", port[8] = "?";

	(void)getnameinfo((const struct sockaddr *)&address->storage, address->length, host, sizeof host, port,
			  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
	/* An IPv4 peer of a socket that listens for both. */
	if (strncmp(host, "::ffff:", 7) == 0 && strchr(host, '.'))
		memmove(host, host + 7, strlen(host + 7) + 1);
	snprintf(out, WR_NAME_TEXT, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static bool same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr == ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
						  &((const struct sockaddr_in6 *)b)->sin6_addr, 16) == 0;
}

static bool is_local(const struct wr_address *address)
{
	const struct sockaddr *wanted = (const struct sockaddr *)&address->storage;
	struct ifaddrs *list = NULL;
	bool found = false;

	if (wanted->sa_family == AF_INET &&
	    (ntohl(((const struct sockaddr_in *)wanted)->sin_addr.s_addr) >> 24) == 127)
		return true;
	if (getifaddrs(&list) < 0)
		return false;
	for (struct ifaddrs *entry = list; entry && !found; entry = entry->ifa_next)
		found = entry->ifa_addr && same_host(entry->ifa_addr, wanted);
	freeifaddrs(list);
	return found;
}

static uint32_t port_of(const struct wr_address *address)
{
	return ntohs(address->storage.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&address->storage)->sin6_port
							     : ((const struct sockaddr_in *)&address->storage)->sin_port);
}

static void set_port(struct wr_address *address, uint32_t port)
{
	if (address->storage.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&address->storage)->sin6_port = htons((uint16_t)port);
	else
		((struct sockaddr_in *)&address->storage)->sin_port = htons((uint16_t)port);
}

static int bind_local(int fd, const char *name, int family, struct weir_err *err)
{
	struct wr_address local;
	size_t n_found;

	if (lookup(name, 0, family, &local, 1, &n_found, NULL) < 0 || n_found == 0) {
		return wr_err_set(err, WEIR_ERR_USAGE, "bind", "--bind %.100s is no local %s address", name,
				  family == AF_INET6 ? "IPv6" : "IPv4");
	}
	if (bind(fd, (struct sockaddr *)&local.storage, local.length) < 0)
		return wr_err_errno(err, WEIR_ERR_USAGE, "bind", errno, "--bind %.100s", name);
	return 0;
}

static int connect_failed(const char *peer, int error, int64_t timeout_ns, struct weir_err *err)
{
	if (error == ETIMEDOUT || error == EINPROGRESS) {
		wr_err_set(err, WEIR_ERR_PEER, "connect", "%s did not answer within %.1f s", peer,
			   (double)timeout_ns / 1e9);
		return wr_err_hint(err, "check the address, the route and the firewalls between");
	}
	if (error == EINTR)
		return wr_err_set(err, WEIR_ERR_INTERRUPTED, "connect", "stopped while connecting to %s", peer);
	wr_err_errno(err, WEIR_ERR_PEER, "connect", error, "connecting to %s", peer);
	if (error == ECONNREFUSED)
		return wr_err_hint(err, "nothing listens there: run `weir serve` on that host, or name its port");
	return wr_err_hint(err, "check the address, the route and the firewalls between");
}

static int tcp_connect(struct wr_channel *channel, const struct wr_address *address, const struct wr_opening *opening,
		       struct weir_err *err)
{
	int family = address->storage.ss_family, error;
	wr_auto_fd int sock = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char peer[WR_NAME_TEXT];

	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a TCP socket");
	if ((opening->wish && wr_socket_apply(sock, opening->wish, err) < 0) ||
	    (opening->bind && bind_local(sock, opening->bind, family, err) < 0))
		return -1;
	error = wr_dial(sock, address, opening);
	if (error)
		return connect_failed(wr_address_text(peer, address), error, opening->timeout_ns, err);
	channel->fd = wr_steal_fd(&sock);
	return 0;
}

static int listen_on(int *fd, const struct wr_address *address, const struct wr_socket_wish *wish, struct weir_err *err)
{
	int one = 1, zero = 0;
	wr_auto_fd int sock = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char name[WR_NAME_TEXT];

	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a TCP socket");
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (address->storage.ss_family == AF_INET6)
		setsockopt(sock, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
	if (wish && wr_socket_apply(sock, wish, err) < 0)
		return -1;
	if (bind(sock, (const struct sockaddr *)&address->storage, address->length) < 0 || listen(sock, WR_BACKLOG) < 0) {
		wr_err_errno(err, WEIR_ERR_HOST, "listen", errno, "listening on %s", wr_address_text(name, address));
		return wr_err_hint(err, "another program may have the port; --port chooses another");
	}
	*fd = wr_steal_fd(&sock);
	return 0;
}

/* Every address, IPv6 and IPv4; IPv4 alone where the kernel has no IPv6. */
static int tcp_listen(struct wr_listener *listener, const char *path, uint32_t port, const struct wr_socket_wish *wish,
		      struct weir_err *err)
{
	struct wr_address any = {&wr_transport_tcp, {.ss_family = AF_INET6}, sizeof(struct sockaddr_in6)};
	wr_auto_fd int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)path;
	if (probe < 0 && errno == EAFNOSUPPORT)
		any = (struct wr_address){&wr_transport_tcp, {.ss_family = AF_INET}, sizeof(struct sockaddr_in)};
	set_port(&any, port);
	if (listen_on(&listener->fd, &any, wish, err) < 0)
		return -1;
	listener->transport = &wr_transport_tcp;
	listener->address = any;
	(void)getsockname(listener->fd, (struct sockaddr *)&listener->address.storage, &listener->address.length);
	return 0;
}

static int apply(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err)
{
	return wr_socket_apply(channel->fd, wish, err);
}

static int resize(const struct wr_channel *channel, bool receive, uint64_t bytes, bool force, struct weir_err *err)
{
	return wr_socket_resize(channel->fd, receive, bytes, force, err);
}

static void describe(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct wr_connection *connection)
{
	wr_socket_describe(channel->fd, wish, connection);
}

static void sample(const struct wr_channel *channel, struct wr_sample *out)
{
	wr_socket_sample(channel->fd, out);
}

const struct wr_transport wr_transport_tcp = {
	.name = "tcp",
	.prefix = "",
	.target = "HOST[:PORT]",
	.summary = "TCP over IPv4 or IPv6",
	.source = "tcp(7), RFC 9293",
	.sndbuf = "SO_SNDBUF",
	.rcvbuf = "SO_RCVBUF",
	.control = &wr_transport_tcp,
	.tcp = true,
	.early = true,
	.shares = true,
	.resolve = resolve,
	.connect = tcp_connect,
	.listen = tcp_listen,
	.accept = wr_dial_accept,
	.greet = wr_dial_greet,
	.apply = apply,
	.resize = resize,
	.describe = describe,
	.sample = sample,
	.text = text,
	.port = port_of,
	.set_port = set_port,
	.is_local = is_local,
};
