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
#include "os/thread.h"
#include "transport/tcp.h"

#define COOKIE_NS 5000000000LL
/* Room for every session's control connection and streams that are just arriving. */
#define MAX_CONNECTIONS 1024
#define MAX_REQUEST_BYTES 65536
/* iperf3's ACCESS_DENIED state, which its clients report as a busy server (iperf_api.h). */
#define IPERF3_ACCESS_DENIED 0xff

/* How long the end of the server waits for its threads. */
#define END_NS 2000000000LL
#define END_POLL_NS 5000000LL

/* @fd: -1 once its session has it; changes under the server's lock */
struct wr_arrival {
	struct wr_server *server;
	struct wr_arrival *next, **link;
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
	for (size_t i = 0; i < WR_MAX_SESSIONS && server->n_sessions < server->limits.max_sessions && !entered &&
			   !server->stopping; i++) {
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

static int arrival_take_fd(struct wr_arrival *arrival)
{
	int fd;

	pthread_mutex_lock(&arrival->server->lock);
	fd = wr_steal_fd(&arrival->fd);
	pthread_mutex_unlock(&arrival->server->lock);
	return fd;
}

static void session_new(struct wr_arrival *arrival, const char *token)
{
	struct wr_server *server = arrival->server;
	struct wr_session *session = calloc(1, sizeof *session);

	if (!session)
		return;
	session->server = server;
	memcpy(session->token, token, sizeof session->token);
	pthread_cond_init(&session->arrived, NULL);
	wr_control_init(&session->control, arrival_take_fd(arrival), arrival->peer, MAX_REQUEST_BYTES);
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
static void data_deliver(struct wr_arrival *arrival, const char *token, unsigned int stream)
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

static void arrival_handle(struct wr_arrival *arrival)
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

static struct wr_arrival *arrival_new(struct wr_server *server, int fd)
{
	struct wr_address address = {.length = sizeof address.storage};
	struct wr_arrival *arrival = calloc(1, sizeof *arrival);

	if (!arrival)
		return NULL;
	arrival->server = server;
	arrival->fd = fd;
	if (getpeername(fd, (struct sockaddr *)&address.storage, &address.length) == 0)
		wr_address_text(arrival->peer, &address);
	pthread_mutex_lock(&server->lock);
	arrival->next = server->arrivals;
	arrival->link = &server->arrivals;
	if (arrival->next)
		arrival->next->link = &arrival->next;
	server->arrivals = arrival;
	pthread_mutex_unlock(&server->lock);
	return arrival;
}

static void arrival_end(struct wr_arrival *arrival)
{
	struct wr_server *server = arrival->server;

	pthread_mutex_lock(&server->lock);
	*arrival->link = arrival->next;
	if (arrival->next)
		arrival->next->link = arrival->link;
	pthread_mutex_unlock(&server->lock);
	if (arrival->fd >= 0)
		close(arrival->fd);
	free(arrival);
}

static void *arrival_thread(void *argument)
{
	struct wr_arrival *arrival = argument;
	struct wr_server *server = arrival->server;

	arrival_handle(arrival);
	arrival_end(arrival);
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
	struct wr_arrival *arrival;
	pthread_t thread;

	if (!connection_count(server)) {
		close(fd);
		return;
	}
	arrival = arrival_new(server, fd);
	if (arrival && wr_thread_create(&thread, true, arrival_thread, arrival) == 0)
		return;
	if (arrival)
		arrival_end(arrival);
	else
		close(fd);
	pthread_mutex_lock(&server->lock);
	server->n_connections--;
	pthread_mutex_unlock(&server->lock);
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

/* Every wait of a session and of an arrival is on its connection, so shutting that down ends it. */
static size_t connections_end(struct wr_server *server)
{
	size_t n;

	pthread_mutex_lock(&server->lock);
	server->stopping = true;
	for (struct wr_arrival *arrival = server->arrivals; arrival; arrival = arrival->next) {
		if (arrival->fd >= 0)
			shutdown(arrival->fd, SHUT_RDWR);
	}
	for (size_t i = 0; i < WR_MAX_SESSIONS; i++) {
		if (server->sessions[i])
			shutdown(server->sessions[i]->control.fd, SHUT_RDWR);
	}
	n = server->n_connections;
	pthread_mutex_unlock(&server->lock);
	return n;
}

void wr_server_deinit(struct wr_server *server)
{
	int64_t until = wr_clock_ns() + END_NS;

	if (server->listener >= 0)
		close(server->listener);
	server->listener = -1;
	while (connections_end(server) > 0 && wr_clock_ns() < until)
		wr_clock_sleep_until(wr_clock_ns() + END_POLL_NS);
}
