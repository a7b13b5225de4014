/* SPDX-License-Identifier: MIT */
/*
 * The server's sessions, over loopback: the input is what a client says, a line a message, each answered before the
 * next. What a start asks for is connected, so that streams run. However it ends, the server must be at rest soon.
 * A first byte of '!' says that the rest is sent as it is.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "os/clock.h"
#include "peer/server.h"

#define MOST_STREAMS 4
#define MOST_LINES 16
#define MOST_DATA (MOST_STREAMS * MOST_LINES)
#define ANSWER_NS 100000000LL
#define REST_NS 20000000000LL
#define REST_POLL_NS 200000LL
#define SEND_NS 1000000000LL
#define MOST_ANSWER_BYTES (16U << 20)

static const char token[] = "0123456789abcdefghijklmnopqr";

static struct wr_server server;
static volatile sig_atomic_t stopping;

struct client {
	struct wr_control control;
	int data[MOST_DATA];
	size_t n_data;
};

static void *serve(void *unused)
{
	(void)unused;
	(void)wr_server_serve(&server, &stopping, NULL);
	return NULL;
}

static void server_start(void)
{
	static const struct wr_server_limits limits = {
		.max_sessions = 8,
		.max_streams = MOST_STREAMS,
		.max_buffer_bytes = 1U << 20,
		.max_duration_ns = 1000000000,
		.max_rate_bps = WR_UNSET,
		.max_bytes = WR_UNSET,
	};
	struct weir_err err = {0};
	pthread_t thread;

	wr_server_init(&server, &limits, NULL);
	CHECK(wr_server_listen(&server, &wr_transport_tcp, NULL, 0, &err) == 0, "%s", err.text);
	CHECK(pthread_create(&thread, NULL, serve, NULL) == 0, "no thread");
	pthread_detach(thread);
}

static int connect_to(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons((uint16_t)port)};
	/* Closed by a reset: thousands of inputs a second would use up the ports otherwise. */
	struct linger reset = {.l_onoff = 1};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0, "no socket");
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	close(fd);
	return -1;
}

static void data_connect(struct client *client, const json_t *message)
{
	int port = (int)json_integer_value(json_object_get(message, "port"));

	for (size_t i = 0; i < MOST_STREAMS && client->n_data < MOST_DATA; i++) {
		char cookie[WR_COOKIE_BYTES];
		int fd = connect_to(port);

		if (fd < 0)
			return;
		wr_cookie_make(cookie, WR_COOKIE_DATA, (unsigned int)i, token);
		(void)wr_bytes_send(fd, cookie, sizeof cookie, SEND_NS);
		client->data[client->n_data++] = fd;
	}
}

/*
 * The answer to a line; intervals may come before it, and a start has two. Return: false the session is over: also when
 * streams are waited for that don't come, since a client that leaves something unread there holds its place for 15 s.
 */
static bool answer(struct client *client)
{
	bool listening = false;

	for (;;) {
		json_t *message = NULL;
		int rc = wr_control_receive(&client->control, ANSWER_NS, &message, NULL);
		const char *op;

		if (rc != 0)
			return rc > 0 && !listening;
		op = wr_control_op(message);
		if (strcmp(op, "listening") == 0) {
			listening = true;
			data_connect(client, message);
		} else if (strcmp(op, "interval") != 0) {
			json_decref(message);
			return true;
		}
		json_decref(message);
	}
}

static bool say(struct client *client, const char *line, size_t n)
{
	uint32_t length = htonl((uint32_t)n);
	bool quiet = n == strlen("{\"op\":\"go\"}") && memcmp(line, "{\"op\":\"go\"}", n) == 0;

	if (wr_bytes_send(client->control.fd, &length, sizeof length, SEND_NS) < 0 ||
	    wr_bytes_send(client->control.fd, line, n, SEND_NS) < 0)
		return false;
	return quiet || answer(client);
}

static void converse(struct client *client, const char *text, size_t size)
{
	int n_lines = 0;

	while (size > 0 && n_lines++ < MOST_LINES) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) : size;

		if (n > 0 && !say(client, text, n))
			return;
		text += n + (end != NULL);
		size -= n + (end != NULL);
	}
}

static void await_rest(void)
{
	int64_t until = wr_clock_ns() + REST_NS;

	for (;;) {
		size_t n_connections, n_streams, n_sessions;

		pthread_mutex_lock(&server.lock);
		n_connections = server.n_connections;
		n_sessions = server.n_sessions;
		n_streams = server.n_streams;
		pthread_mutex_unlock(&server.lock);
		if (n_connections == 0) {
			CHECK(n_sessions == 0 && n_streams == 0, "%zu sessions, %zu streams are left", n_sessions, n_streams);
			return;
		}
		CHECK(wr_clock_ns() < until, "%zu connections are left", n_connections);
		wr_clock_sleep_until(wr_clock_ns() + REST_POLL_NS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct client client = {.n_data = 0};
	char cookie[WR_COOKIE_BYTES];
	int fd;

	if (size == 0 || size > 4096)
		return 0;
	if (server.n_listeners == 0)
		server_start();
	fd = connect_to((int)wr_address_port(&server.listeners[0].address));
	CHECK(fd >= 0, "the server takes no connection");
	wr_control_init(&client.control, fd, "server", MOST_ANSWER_BYTES);
	if (data[0] == '!') {
		(void)wr_bytes_send(fd, data + 1, size - 1, SEND_NS);
	} else {
		wr_cookie_make(cookie, WR_COOKIE_CONTROL, 0, token);
		(void)wr_bytes_send(fd, cookie, sizeof cookie, SEND_NS);
		if (answer(&client))
			converse(&client, (const char *)data, size);
	}
	for (size_t i = 0; i < client.n_data; i++)
		close(client.data[i]);
	wr_control_deinit(&client.control);
	await_rest();
	return 0;
}
