/* SPDX-License-Identifier: MIT */
/*
 * TCP. Buffers are set before connect() and listen(), because the window scale is fixed in the handshake
 * (net/ipv4/tcp_output.c tcp_select_initial_window). connect() runs without waiting and is polled, so that a
 * silent host costs the caller's timeout and not the kernel's two minutes.
 */
#include "transport/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define BACKLOG 256

int wr_tcp_resolve(const char *host, uint16_t port, int family, struct wr_address *addresses, size_t n_addresses,
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

		memcpy(&address->storage, entry->ai_addr, entry->ai_addrlen);
		address->length = entry->ai_addrlen;
	}
	freeaddrinfo(list);
	return 0;
}

const char *wr_address_text(char *out, const struct wr_address *address)
{
	char host[INET6_ADDRSTRLEN + 1] = "?", port[8] = "?";

	(void)getnameinfo((const struct sockaddr *)&address->storage, address->length, host, sizeof host, port,
			  sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
	/* An IPv4 peer of a socket that listens for both. */
	if (strncmp(host, "::ffff:", 7) == 0 && strchr(host, '.'))
		memmove(host, host + 7, strlen(host + 7) + 1);
	snprintf(out, WR_NAME_TEXT, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return out;
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

bool wr_address_is_local(const struct wr_address *address)
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

void wr_address_set_port(struct wr_address *address, uint16_t port)
{
	if (address->storage.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&address->storage)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&address->storage)->sin_port = htons(port);
}

uint16_t wr_address_port(const struct wr_address *address)
{
	return ntohs(address->storage.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&address->storage)->sin6_port
							     : ((const struct sockaddr_in *)&address->storage)->sin_port);
}

static int bind_local(int fd, const char *text, int family, struct weir_err *err)
{
	struct wr_address local;
	size_t n_found;

	if (wr_tcp_resolve(text, 0, family, &local, 1, &n_found, NULL) < 0 || n_found == 0) {
		return wr_err_set(err, WEIR_ERR_USAGE, "bind", "--bind %.100s is no local %s address", text,
				  family == AF_INET6 ? "IPv6" : "IPv4");
	}
	if (bind(fd, (struct sockaddr *)&local.storage, local.length) < 0)
		return wr_err_errno(err, WEIR_ERR_USAGE, "bind", errno, "--bind %.100s", text);
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

/* Return: 0 connected, else the errno. */
static int connect_wait(int fd, int64_t timeout_ns)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	socklen_t length = sizeof(int);
	int error = 0, rc = poll(&wait, 1, (int)(timeout_ns / 1000000) + 1);

	if (rc == 0)
		return ETIMEDOUT;
	if (rc < 0)
		return errno;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

int wr_tcp_connect(int *fd, const struct wr_address *address, const struct wr_socket_wish *wish, const char *bind_to,
		   int64_t timeout_ns, struct weir_err *err)
{
	int family = address->storage.ss_family, error = 0;
	wr_auto_fd int sock = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char peer[WR_NAME_TEXT];

	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a TCP socket");
	if ((wish && wr_socket_apply(sock, wish, err) < 0) || (bind_to && bind_local(sock, bind_to, family, err) < 0))
		return -1;
	if (connect(sock, (const struct sockaddr *)&address->storage, address->length) < 0)
		error = errno == EINPROGRESS ? connect_wait(sock, timeout_ns) : errno;
	if (error)
		return connect_failed(wr_address_text(peer, address), error, timeout_ns, err);
	if (fcntl(sock, F_SETFL, 0) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "fcntl", errno, "making a socket blocking");
	*fd = wr_steal_fd(&sock);
	return 0;
}

static int listen_socket(int *fd, const struct wr_address *address, const struct wr_socket_wish *wish,
			 struct weir_err *err)
{
	int one = 1, zero = 0;
	wr_auto_fd int sock = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char text[WR_NAME_TEXT];

	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a TCP socket");
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (address->storage.ss_family == AF_INET6)
		setsockopt(sock, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
	if (wish && wr_socket_apply(sock, wish, err) < 0)
		return -1;
	if (bind(sock, (const struct sockaddr *)&address->storage, address->length) < 0 || listen(sock, BACKLOG) < 0) {
		wr_err_errno(err, WEIR_ERR_HOST, "listen", errno, "listening on %s", wr_address_text(text, address));
		return wr_err_hint(err, "another program may have the port; --port chooses another");
	}
	*fd = wr_steal_fd(&sock);
	return 0;
}

int wr_tcp_listen(int *fd, const struct wr_address *address, uint16_t *port, const struct wr_socket_wish *wish,
		  struct weir_err *err)
{
	struct wr_address any = {.storage.ss_family = AF_INET6, .length = sizeof(struct sockaddr_in6)};
	struct wr_address got = {.length = sizeof got.storage};

	if (address)
		any = *address;
	wr_address_set_port(&any, *port);
	if (listen_socket(fd, &any, wish, err) < 0) {
		if (address || !err || !strstr(err->text, strerror(EAFNOSUPPORT)))
			return -1;
		any = (struct wr_address){.storage.ss_family = AF_INET, .length = sizeof(struct sockaddr_in)};
		wr_address_set_port(&any, *port);
		if (listen_socket(fd, &any, wish, err) < 0)
			return -1;
	}
	if (getsockname(*fd, (struct sockaddr *)&got.storage, &got.length) == 0)
		*port = ntohs(((struct sockaddr_in *)&got.storage)->sin_port);
	return 0;
}
