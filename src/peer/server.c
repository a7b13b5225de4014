/* SPDX-License-Identifier: MIT */
/*
 * Accepting, cookies and the table of sessions. A connection is counted from accept to close and refused above
 * the cap; its cookie must come within COOKIE_NS, so connections that say nothing free their place.
 */
#include "peer/server.h"

#include <assert.h>
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

#define COOKIE_NS 5000000000LL
/* Room for every session's control connection and streams that are just arriving. */
#define MAX_CONNECTIONS 1024
#define MAX_REQUEST_BYTES 65536
/* iperf3's ACCESS_DENIED state, which its clients report as a busy server (iperf_api.h). */
#define IPERF3_ACCESS_DENIED 0xff

/* How long the end of the server waits for its threads. */
#define END_NS 2000000000LL
#define END_POLL_NS 5000000LL

/* @channel: none once its session has it; changes under the server's lock */
struct wr_arrival {
	struct wr_server *server;
	const struct wr_transport *transport;
	uint32_t port;
	struct wr_arrival *next, **link;
	struct wr_channel channel;
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

/* A control connection is a socket whatever the transport. */
static int arrival_take_fd(struct wr_arrival *arrival)
{
	int fd;

	pthread_mutex_lock(&arrival->server->lock);
	fd = wr_steal_fd(&arrival->channel.fd);
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
	session->transport = arrival->transport;
	session->port = arrival->port;
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

/* A data connection goes to the session that waits for it; it is closed when there is none. */
static void data_deliver(struct wr_arrival *arrival, const char *token, unsigned int stream)
{
	struct wr_server *server = arrival->server;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < WR_MAX_SESSIONS; i++) {
		struct wr_session *session = server->sessions[i];

		if (!session || strcmp(session->token, token) != 0 || stream >= session->n_expected ||
		    wr_channel_is_open(&session->data[stream]))
			continue;
		session->data[stream] = arrival->channel;
		arrival->channel = WR_CHANNEL_NONE;
		session->n_arrived++;
		pthread_cond_signal(&session->arrived);
		break;
	}
	pthread_mutex_unlock(&server->lock);
}

/* The connection may become another one by its greeting, which the end of the server must not meet half done. */
static int arrival_greet(struct wr_arrival *arrival, char cookie[WR_COOKIE_BYTES])
{
	struct wr_channel channel = arrival->channel;
	int rc = arrival->transport->greet(&channel, cookie, WR_COOKIE_BYTES, COOKIE_NS);

	pthread_mutex_lock(&arrival->server->lock);
	arrival->channel = channel;
	pthread_mutex_unlock(&arrival->server->lock);
	return rc;
}

static void arrival_handle(struct wr_arrival *arrival)
{
	char cookie[WR_COOKIE_BYTES], token[WR_TOKEN_TEXT];
	enum wr_cookie_kind kind;
	unsigned int stream;
	unsigned char denied = IPERF3_ACCESS_DENIED;

	if (arrival_greet(arrival, cookie) < 0)
		return;
	switch (wr_cookie_parse(cookie, &kind, &stream, token)) {
	case 0:
		if (kind == WR_COOKIE_DATA)
			data_deliver(arrival, token, stream);
		else if (arrival->channel.fd >= 0)
			session_new(arrival, token);
		return;
	case 1:
		(void)wr_bytes_send(arrival->channel.fd, &denied, 1, COOKIE_NS);
		wr_server_log(arrival->server, arrival->peer, "an iperf3 client was turned away: use weir run");
		return;
	default:
		return;
	}
}

static struct wr_arrival *arrival_new(struct wr_server *server, const struct wr_listener *listener,
				      struct wr_channel channel)
{
	struct wr_arrival *arrival = calloc(1, sizeof *arrival);

	if (!arrival)
		return NULL;
	arrival->server = server;
	arrival->transport = listener->transport;
	arrival->port = wr_address_port(&listener->address);
	arrival->channel = channel;
	wr_socket_ends_text(listener->transport, channel.fd, NULL, arrival->peer);
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
	wr_channel_close(&arrival->channel);
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

int wr_server_admit(struct wr_server *server, const struct wr_listener *listener)
{
	struct wr_channel channel;
	struct wr_arrival *arrival;
	pthread_t thread;

	if (listener->transport->accept(listener, &channel) < 0)
		return -1;
	if (!connection_count(server)) {
		wr_channel_close(&channel);
		return 0;
	}
	arrival = arrival_new(server, listener, channel);
	if (arrival && wr_thread_create(&thread, true, arrival_thread, arrival) == 0)
		return 0;
	if (arrival)
		arrival_end(arrival);
	else
		wr_channel_close(&channel);
	pthread_mutex_lock(&server->lock);
	server->n_connections--;
	pthread_mutex_unlock(&server->lock);
	return 0;
}

void wr_server_init(struct wr_server *server, const struct wr_server_limits *limits, FILE *log)
{
	memset(server, 0, sizeof *server);
	server->limits = *limits;
	server->log = log;
	server->lab = wr_lab_here();
	pthread_mutex_init(&server->lock, NULL);
}

int wr_server_listen(struct wr_server *server, const struct wr_transport *transport, const char *path, uint32_t port,
		     struct weir_err *err)
{
	struct wr_listener *listener = &server->listeners[server->n_listeners];

	assert(server->n_listeners < WR_MAX_LISTENERS);
	*listener = WR_LISTENER_NONE;
	if ((transport->check && transport->check(err) < 0) || transport->listen(listener, path, port, NULL, err) < 0)
		return -1;
	server->n_listeners++;
	return 0;
}

/* Return: 0; -1 the listener is no more. */
static int admit(struct wr_server *server, const struct wr_listener *listener, struct weir_err *err)
{
	if (wr_server_admit(server, listener) == 0)
		return 0;
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
		wr_server_log(server, "accept", "%s, waiting", strerror(errno));
		wr_clock_sleep_until(wr_clock_ns() + 100000000);
	} else if (errno == EBADF || errno == EINVAL) {
		return wr_err_errno(err, WEIR_ERR_HOST, "accept", errno, "the listening socket broke");
	}
	return 0;
}

int wr_server_serve(struct wr_server *server, const volatile sig_atomic_t *stop, struct weir_err *err)
{
	struct pollfd waits[WR_MAX_LISTENERS];

	while (!*stop) {
		for (size_t i = 0; i < server->n_listeners; i++)
			waits[i] = (struct pollfd){.fd = server->listeners[i].fd, .events = POLLIN};
		if (poll(waits, server->n_listeners, 500) <= 0)
			continue;
		for (size_t i = 0; i < server->n_listeners; i++) {
			/* Who ends a server inside this process shuts its listener down; accept() would say EAGAIN for ever. */
			if (waits[i].revents & (POLLHUP | POLLERR | POLLNVAL))
				return wr_err_set(err, WEIR_ERR_HOST, "accept", "a listening socket was shut down");
			if (waits[i].revents && admit(server, &server->listeners[i], err) < 0)
				return -1;
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
		if (arrival->channel.fd >= 0)
			shutdown(arrival->channel.fd, SHUT_RDWR);
	}
	for (size_t i = 0; i < WR_MAX_SESSIONS; i++) {
		if (server->sessions[i])
			shutdown(server->sessions[i]->control.fd, SHUT_RDWR);
	}
	n = server->n_connections;
	pthread_mutex_unlock(&server->lock);
	return n;
}

bool wr_server_deinit(struct wr_server *server)
{
	int64_t until = wr_clock_ns() + END_NS;
	size_t n_left;

	while (server->n_listeners > 0)
		wr_listener_close(&server->listeners[--server->n_listeners]);
	while ((n_left = connections_end(server)) > 0 && wr_clock_ns() < until)
		wr_clock_sleep_until(wr_clock_ns() + END_POLL_NS);
	return n_left == 0;
}
