/* SPDX-License-Identifier: MIT */
/*
 * Unix sockets of this machine. The writer's SO_SNDBUF is what bounds them: what is queued is charged to the sender
 * until it is read, and SO_RCVBUF has no effect (unix(7), net/unix/af_unix.c).
 *
 * A server listens on a socket file that only its user may open (mode 0600), or, for the process that started it, on a
 * name without a file, where the user of who connects is looked at. Sequenced packets and datagrams come as one end of
 * a socket pair that is handed over a stream connection: no further file, so nothing can be left behind by a client
 * that is killed.
 */
#include "transport/unix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/clock.h"
#include "transport/dial.h"

#define FILE_MODE 0600
#define MESSAGE_COST 32
#define MOST_MESSAGE 4194304 /* tried: kmalloc of more fails (KMALLOC_MAX_SIZE, include/linux/slab.h) */
/* Length of an address that has a family and no name. */
#define NO_NAME offsetof(struct sockaddr_un, sun_path)

int wr_unix_resolve(struct wr_address *addresses, size_t n_addresses, size_t *n_found, const char *path,
		    const struct wr_plan *plan, struct weir_err *err)
{
	struct sockaddr_un *address = (struct sockaddr_un *)&addresses[0].storage;
	size_t n = strlen(path);

	(void)n_addresses;
	(void)plan;
	if (n == 0)
		return 1;
	if (n >= sizeof address->sun_path)
		return wr_err_set(err, WEIR_ERR_USAGE, "target", "the path of a socket may have %zu bytes, '%.60s...' has %zu",
				  sizeof address->sun_path - 1, path, n);
	memset(&addresses[0], 0, sizeof addresses[0]);
	addresses[0].transport = &wr_transport_unix;
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, n + 1);
	addresses[0].length = (socklen_t)(NO_NAME + n + 1);
	*n_found = 1;
	return 0;
}

void wr_unix_text(char *out, const struct wr_address *address)
{
	const struct sockaddr_un *name = (const struct sockaddr_un *)&address->storage;
	size_t n = address->length > NO_NAME ? address->length - NO_NAME : 0;

	if (n > 1 && name->sun_path[0] == '\0')
		snprintf(out, WR_NAME_TEXT, "unix:@%.*s", (int)(n - 1 < 50 ? n - 1 : 50), name->sun_path + 1);
	else
		snprintf(out, WR_NAME_TEXT, "unix:%.*s", (int)(n < 58 ? n : 58), n ? name->sun_path : "");
}

/* -- connecting -- */

static int connect_failed(const struct wr_address *address, int error, struct weir_err *err)
{
	char name[WR_NAME_TEXT];

	if (error == EINTR)
		return wr_err_set(err, WEIR_ERR_INTERRUPTED, "connect", "stopped while connecting to %s",
				  wr_address_text(name, address));
	wr_err_errno(err, WEIR_ERR_PEER, "connect", error, "connecting to %s", wr_address_text(name, address));
	if (error == EACCES)
		return wr_err_hint(err, "its server lets only its own user in; run as that user, or as root");
	if (error == ENOENT || error == ECONNREFUSED)
		return wr_err_hint(err, "nothing listens there: run `weir serve --unix PATH`; `unix:` without a path needs no server");
	return wr_err_hint(err, "is it the socket of a `weir serve --unix PATH`?");
}

static int stream_connect(struct wr_channel *channel, const struct wr_address *address, const struct wr_opening *opening,
			  struct weir_err *err)
{
	wr_auto_fd int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct wr_channel made = {.fd = sock};
	int error;

	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a unix socket");
	if (opening->wish && wr_unix_apply(&made, SOCK_STREAM, opening->wish, err) < 0)
		return -1;
	error = wr_dial(sock, address, opening);
	/* A listener whose queue is full says so at once. */
	if (error)
		return connect_failed(address, error, err);
	channel->fd = wr_steal_fd(&sock);
	return 0;
}

/* The greeting in one piece, with a descriptor beside it. */
static int greet_with(int fd, const struct wr_opening *opening, int passed)
{
	struct iovec piece = {.iov_base = (void *)opening->greeting, .iov_len = opening->n_greeting};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof passed)];
	} control = {0};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.room,
				 .msg_controllen = sizeof control.room};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof passed);
	memcpy(CMSG_DATA(header), &passed, sizeof passed);
	return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)opening->n_greeting ? 0 : -1;
}

int wr_unix_connect_pair(struct wr_channel *channel, int type, const struct wr_address *address,
			 const struct wr_opening *opening, struct weir_err *err)
{
	struct wr_opening bare = {.timeout_ns = opening->timeout_ns};
	struct wr_channel bridge = WR_CHANNEL_NONE;
	int ends[2], rc;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socketpair", errno, "making a pair of unix sockets");
	*channel = (struct wr_channel){.fd = ends[0]};
	rc = opening->wish ? wr_unix_apply(channel, type, opening->wish, err) : 0;
	if (rc == 0)
		rc = stream_connect(&bridge, address, &bare, err);
	if (rc == 0 && greet_with(bridge.fd, opening, ends[1]) < 0)
		rc = wr_err_errno(err, WEIR_ERR_PEER, "connect", errno, "handing a data connection over");
	wr_channel_close(&bridge);
	close(ends[1]);
	if (rc < 0)
		wr_channel_close(channel);
	return rc;
}

/* -- listening -- */

/* Return: 0 nothing is there, or was and nobody listened to it any more; -1. */
static int stale_remove(const struct sockaddr_un *address, socklen_t length, struct weir_err *err)
{
	wr_auto_fd int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat file;

	if (lstat(address->sun_path, &file) < 0)
		return 0;
	if (!S_ISSOCK(file.st_mode)) {
		wr_err_set(err, WEIR_ERR_HOST, "listen", "%s is there already and is no socket", address->sun_path);
		return wr_err_hint(err, "name another path");
	}
	if (probe < 0 || connect(probe, (const struct sockaddr *)address, length) == 0 || errno != ECONNREFUSED) {
		wr_err_set(err, WEIR_ERR_HOST, "listen", "another program listens on %s", address->sun_path);
		return wr_err_hint(err, "stop it, or name another path");
	}
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return wr_err_errno(err, WEIR_ERR_HOST, "unlink", errno, "removing %s, to which nobody listens any more",
				    address->sun_path);
	return 0;
}

static int bind_failed(const struct wr_address *address, struct weir_err *err)
{
	char name[WR_NAME_TEXT];

	wr_err_errno(err, WEIR_ERR_HOST, "listen", errno, "listening on %s", wr_address_text(name, address));
	return wr_err_hint(err, "the folder must exist, and this user must be allowed to write there");
}

static int stream_listen(struct wr_listener *listener, const char *path, uint32_t port, const struct wr_socket_wish *wish,
			 struct weir_err *err)
{
	wr_auto_fd int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct wr_address address = {&wr_transport_unix, {.ss_family = AF_UNIX}, NO_NAME};
	struct stat file = {0};
	size_t n_found;

	(void)port;
	(void)wish;
	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a unix socket");
	/* The file gets its mode from the socket, so at no time anybody else can open it (unix_bind_bsd). */
	if (path && (wr_unix_resolve(&address, 1, &n_found, path, NULL, err) < 0 || fchmod(sock, FILE_MODE) < 0 ||
		     stale_remove((const struct sockaddr_un *)&address.storage, address.length, err) < 0))
		return -1;
	/* An address without a name asks the kernel for one that is no file (unix(7), autobind). */
	if (bind(sock, (const struct sockaddr *)&address.storage, address.length) < 0 || listen(sock, WR_BACKLOG) < 0)
		return bind_failed(&address, err);
	if (path && stat(path, &file) < 0)
		return bind_failed(&address, err);
	address.length = sizeof address.storage;
	(void)getsockname(sock, (struct sockaddr *)&address.storage, &address.length);
	*listener = (struct wr_listener){.transport = &wr_transport_unix, .fd = wr_steal_fd(&sock), .address = address,
					 .device = file.st_dev, .inode = file.st_ino};
	return 0;
}

/* Another server may have put a file of its own there meanwhile. */
static void unlisten(struct wr_listener *listener)
{
	const struct sockaddr_un *address = (const struct sockaddr_un *)&listener->address.storage;
	struct stat file;

	if (listener->inode && stat(address->sun_path, &file) == 0 && (uint64_t)file.st_dev == listener->device &&
	    (uint64_t)file.st_ino == listener->inode)
		unlink(address->sun_path);
}

/* A name without a file lets everybody connect who shares the network namespace. */
static bool is_same_user(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

static int stream_accept(const struct wr_listener *listener, struct wr_channel *channel)
{
	if (wr_dial_accept(listener, channel) < 0)
		return -1;
	if (listener->inode || is_same_user(channel->fd))
		return 0;
	wr_channel_close(channel);
	errno = EACCES;
	return -1;
}

/* One piece of a greeting; a descriptor that comes with it is kept in @passed. Return: as recv(2). */
static ssize_t greeting_piece(int fd, void *bytes, size_t n, int *passed)
{
	struct iovec piece = {.iov_base = bytes, .iov_len = n};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.room,
				 .msg_controllen = sizeof control.room};
	ssize_t rc = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = rc > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int))) {
		if (*passed >= 0)
			close(*passed);
		memcpy(passed, CMSG_DATA(header), sizeof *passed);
	}
	return rc;
}

/* A descriptor that came with the greeting is the data connection. */
static int stream_greet(struct wr_channel *channel, void *greeting, size_t n, int64_t timeout_ns)
{
	int64_t until = wr_clock_ns() + timeout_ns;
	wr_auto_fd int passed = -1;
	size_t got = 0;

	while (got < n) {
		ssize_t rc = greeting_piece(channel->fd, (char *)greeting + got, n - got, &passed);

		if (rc > 0)
			got += (size_t)rc;
		else if (rc == 0 || (errno != EAGAIN && errno != EINTR) || wr_fd_wait(channel->fd, POLLIN, until) == 0)
			return -1;
	}
	if (passed >= 0) {
		close(channel->fd);
		channel->fd = wr_steal_fd(&passed);
	}
	return 0;
}

/* -- the open connection -- */

int wr_unix_apply(const struct wr_channel *channel, int type, const struct wr_socket_wish *wish, struct weir_err *err)
{
	int got_domain = -1, got_type = -1;
	socklen_t length = sizeof got_type;

	if (getsockopt(channel->fd, SOL_SOCKET, SO_DOMAIN, &got_domain, &length) < 0 ||
	    getsockopt(channel->fd, SOL_SOCKET, SO_TYPE, &got_type, &length) < 0 || got_domain != AF_UNIX || got_type != type)
		return wr_err_set(err, WEIR_ERR_PEER, "connect", "a data connection is not of the kind that was announced");
	return wr_socket_apply(channel->fd, wish, err);
}

static int stream_apply(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err)
{
	return wr_unix_apply(channel, SOCK_STREAM, wish, err);
}

int wr_unix_resize(const struct wr_channel *channel, bool receive, uint64_t bytes, bool force, struct weir_err *err)
{
	struct wr_socket_wish wish = {.sndbuf_bytes = bytes, .rcvbuf_bytes = WR_UNSET, .force = force};

	if (receive)
		return wr_err_set(err, WEIR_ERR_USAGE, "set", "nothing bounds the reading end of a unix socket");
	return wr_socket_apply(channel->fd, &wish, err);
}

void wr_unix_describe(const struct wr_channel *channel, const struct wr_socket_wish *wish,
		      struct wr_connection *connection)
{
	wr_socket_describe_plain(channel->fd, wish, connection);
	wr_socket_ends_text(&wr_transport_unix, channel->fd, connection->local, connection->peer);
}

void wr_unix_sample(const struct wr_channel *channel, struct wr_sample *sample)
{
	wr_socket_sample_plain(channel->fd, false, sample);
}

/* A message may have SO_SNDBUF less 32 bytes (unix_dgram_sendmsg), and the kernel must find that much memory in a row. */
uint64_t wr_unix_largest(const struct wr_channel *channel, uint64_t reader_bytes)
{
	int sndbuf = 0;
	socklen_t length = sizeof sndbuf;

	(void)reader_bytes;
	(void)getsockopt(channel->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, &length);
	if (sndbuf <= MESSAGE_COST)
		return 0;
	return sndbuf - MESSAGE_COST < MOST_MESSAGE ? (uint64_t)(sndbuf - MESSAGE_COST) : MOST_MESSAGE;
}

const struct wr_transport wr_transport_unix = {
	.name = "unix",
	.prefix = "unix:",
	.target = "unix:[PATH]",
	.summary = "unix stream sockets of this machine",
	.source = "unix(7), net/unix/af_unix.c",
	.sndbuf = "SO_SNDBUF",
	.control = &wr_transport_unix,
	.shares = true,
	.resolve = wr_unix_resolve,
	.connect = stream_connect,
	.listen = stream_listen,
	.unlisten = unlisten,
	.accept = stream_accept,
	.greet = stream_greet,
	.apply = stream_apply,
	.resize = wr_unix_resize,
	.describe = wr_unix_describe,
	.sample = wr_unix_sample,
	.text = wr_unix_text,
};
