/* SPDX-License-Identifier: MIT */
/*
 * Accepting, cookies and the table of sessions. A connection is counted from accept to close and refused above
 * the cap; its cookie must come within COOKIE_NS, so connections that say nothing free their place.
 */
#include "peer/server.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/clock.h"
#include "transport/tcp.h"

#define COOKIE_NS 5000000000LL
/* Room for every session's control connection and streams that are just arriving. */
#define MAX_CONNECTIONS 1024
#define MAX_REQUEST_BYTES 65536
/* iperf3's ACCESS_DENIED state, which its clients report as a busy server (iperf_api.h). */
#define IPERF3_ACCESS_DENIED 0xff

struct arrival {
	struct wr_server *server;
	int fd;
	char peer[80];
};

void wr_server_log(struct wr_server *server, const char *peer, const char *format, ...)
{
	char text[256];
	va_list args;

	if (!server->log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(server->log, "weir serve: %s: %s\n", peer, text);
}

static bool session_enter(struct wr_server *server, struct wr_session *session)
{
	bool entered = false;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < WR_MAX_SESSIONS && server->n_sessions < server->limits.max_sessions && !entered; i++) {
		if (server->sessions[i])
			continue;
		server->sessions[i] = session;
		server->n_sessions++;
		entered = true;
	}
	pthread_mutex_unlock(&server->lock);
	return entered;
}

static void session_leave(struct wr_server *server, struct wr_session *session)
{
	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < WR_MAX_SESSIONS; i++) {
		if (server->sessions[i] != session)
			continue;
		server->sessions[i] = NULL;
		server->n_sessions--;
	}
	pthread_mutex_unlock(&server->lock);
}

static void session_new(struct arrival *arrival, const char *token)
{
	struct wr_server *server = arrival->server;
	struct wr_session *session = calloc(1, sizeof *session);

	if (!session)
		return;
	session->server = server;
	memcpy(session->token, token, sizeof session->token);
	pthread_cond_init(&session->arrived, NULL);
	wr_control_init(&session->control, wr_steal_fd(&arrival->fd), arrival->peer, MAX_REQUEST_BYTES);
	if (session_enter(server, session)) {
		wr_session_serve(session);
		session_leave(server, session);
	} else {
		json_t *full = json_pack("{s:s,s:{s:i,s:s,s:s}}", "op", "error", "error", "code", WEIR_ERR_PEER, "text",
					 "the server has as many sessions as it takes", "hint",
					 "try again later, or raise --max-sessions there");

		(void)wr_control_send(&session->control, full, COOKIE_NS, NULL);
		wr_server_log(server, arrival->peer, "refused, %llu sessions are open",
			      (unsigned long long)server->limits.max_sessions);
	}
	wr_control_deinit(&session->control);
	pthread_cond_destroy(&session->arrived);
	free(session);
}

/* A data connection goes to the session that waits for it; its fd is closed when there is none. */
static void data_deliver(struct arrival *arrival, const char *token, unsigned int stream)
{
	struct wr_server *server = arrival->server;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < WR_MAX_SESSIONS; i++) {
		struct wr_session *session = server->sessions[i];

		if (!session || strcmp(session->token, token) != 0 || stream >= session->n_expected ||
		    session->data_fds[stream] >= 0)
			continue;
		session->data_fds[stream] = wr_steal_fd(&arrival->fd);
		session->n_arrived++;
		pthread_cond_signal(&session->arrived);
		break;
	}
	pthread_mutex_unlock(&server->lock);
}

static void arrival_handle(struct arrival *arrival)
{
	char cookie[WR_COOKIE_BYTES], token[WR_TOKEN_TEXT];
	enum wr_cookie_kind kind;
	unsigned int stream;
	unsigned char denied = IPERF3_ACCESS_DENIED;

	if (wr_bytes_receive(arrival->fd, cookie, sizeof cookie, COOKIE_NS) < 0)
		return;
	switch (wr_cookie_parse(cookie, &kind, &stream, token)) {
	case 0:
		if (kind == WR_COOKIE_CONTROL)
			session_new(arrival, token);
		else
			data_deliver(arrival, token, stream);
		return;
	case 1:
		(void)wr_bytes_send(arrival->fd, &denied, 1, COOKIE_NS);
		wr_server_log(arrival->server, arrival->peer, "an iperf3 client was turned away: use weir run");
		return;
	default:
		return;
	}
}

static void *arrival_thread(void *argument)
{
	struct arrival *arrival = argument;
	struct wr_server *server = arrival->server;

	arrival_handle(arrival);
	if (arrival->fd >= 0)
		close(arrival->fd);
	free(arrival);
	pthread_mutex_lock(&server->lock);
	server->n_connections--;
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

static bool connection_count(struct wr_server *server)
{
	bool room;

	pthread_mutex_lock(&server->lock);
	room = server->n_connections < MAX_CONNECTIONS;
	server->n_connections += room;
	pthread_mutex_unlock(&server->lock);
	return room;
}

void wr_server_admit(struct wr_server *server, int fd)
{
	struct wr_address address = {.length = sizeof address.storage};
	struct arrival *arrival = calloc(1, sizeof *arrival);
	pthread_attr_t detached;
	pthread_t thread;
	int failure = -1;

	if (arrival && connection_count(server)) {
		arrival->server = server;
		arrival->fd = fd;
		if (getpeername(fd, (struct sockaddr *)&address.storage, &address.length) == 0)
			wr_address_text(arrival->peer, &address);
		pthread_attr_init(&detached);
		pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
		failure = pthread_create(&thread, &detached, arrival_thread, arrival);
		pthread_attr_destroy(&detached);
		if (failure == 0)
			return;
		pthread_mutex_lock(&server->lock);
		server->n_connections--;
		pthread_mutex_unlock(&server->lock);
	}
	free(arrival);
	close(fd);
}

int wr_server_init(struct wr_server *server, const struct wr_server_limits *limits, FILE *log, struct weir_err *err)
{
	memset(server, 0, sizeof *server);
	server->limits = *limits;
	server->log = log;
	server->listener = -1;
	server->lab = wr_lab_here();
	server->port = (uint16_t)limits->port;
	pthread_mutex_init(&server->lock, NULL);
	return wr_tcp_listen(&server->listener, NULL, &server->port, NULL, err);
}

int wr_server_serve(struct wr_server *server, const volatile sig_atomic_t *stop, struct weir_err *err)
{
	while (!*stop) {
		struct pollfd wait = {.fd = server->listener, .events = POLLIN};
		int fd;

		if (poll(&wait, 1, 500) <= 0)
			continue;
		fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0) {
			wr_server_admit(server, fd);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			wr_server_log(server, "accept", "%s, waiting", strerror(errno));
			wr_clock_sleep_until(wr_clock_ns() + 100000000);
		} else if (errno == EBADF || errno == EINVAL) {
			return wr_err_errno(err, WEIR_ERR_HOST, "accept", errno, "the listening socket broke");
		}
	}
	return 0;
}

void wr_server_deinit(struct wr_server *server)
{
	if (server->listener >= 0)
		close(server->listener);
	server->listener = -1;
}
