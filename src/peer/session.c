/* SPDX-License-Identifier: MIT */
/*
 * One session of the server: requests come one at a time, each with a deadline, and each answer is one message.
 *
 *   start {plan}            -> listening {port}, then ready {end} when all streams are here
 *   go                      -> (bytes move; an interval message now and then)
 *   set {knob, bytes}       -> set {eff_bytes}
 *   stop                    -> result {end with samples}
 *   sysctl {key, value}     -> sysctl {previous}         (in a lab's namespace only)
 *
 * What a request asks beyond the server's limits is refused with the limit and the option that raises it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/path_metrics.h"
#include "peer/server.h"
#include "weir/version.h"

#define SEND_NS 10000000000LL
#define IDLE_NS 120000000000LL
#define ARRIVAL_NS 15000000000LL
#define GO_NS 15000000000LL
#define DONE_LOOK_NS 20000000LL
/* How often the server compares what was moved with --max-bytes. */
#define BYTES_LOOK_NS 100000000LL
/* Threads of all sessions together. */
#define MAX_ALL_STREAMS 1024
/* What a run may take beyond its own time: the client's last messages over a full queue. */
#define OVERTIME_NS 30000000000LL

static int answer(struct wr_session *session, json_t *message, struct weir_err *err)
{
	return wr_control_send(&session->control, message, SEND_NS, err);
}

static int answer_error(struct wr_session *session, struct weir_err *what)
{
	wr_err_clean(what);
	return answer(session, json_pack("{s:s,s:{s:i,s:s,s:s,s:s}}", "op", "error", "error", "code", WEIR_ERR_PEER,
					 "operation", what->operation, "text", what->text, "hint", what->hint), NULL);
}

static int hello(struct wr_session *session, struct weir_err *err)
{
	const struct wr_server_limits *limits = &session->server->limits;
	json_t *greeting, *host;
	struct wr_end end;

	if (wr_end_init(&end, 0, err) < 0)
		return -1;
	wr_host_limits(&end);
	end.may_force = wr_socket_may_force();
	host = wr_end_to_json(&end, false);
	wr_end_deinit(&end);
	greeting = json_pack("{s:s,s:s,s:b,s:I,s:I,s:o}", "op", "hello", "version", WEIR_VERSION, "lab", session->server->lab,
			     "max_buffer_bytes", (json_int_t)limits->max_buffer_bytes, "max_streams",
			     (json_int_t)limits->max_streams, "host", host);
	/* Near paces to it too: a bound that is known explains itself. */
	if (limits->max_rate_bps != WR_UNSET)
		json_object_set_new(greeting, "max_rate_bps", json_integer((json_int_t)limits->max_rate_bps));
	return answer(session, greeting, err);
}

static int check_buffer(const struct wr_session *session, uint64_t bytes, struct weir_err *err)
{
	uint64_t cap = session->server->limits.max_buffer_bytes;
	char asked[WR_UNIT_TEXT], limit[WR_UNIT_TEXT];

	if (bytes == WR_UNSET || bytes <= cap)
		return 0;
	wr_err_set(err, WEIR_ERR_PEER, "buffer", "the server takes buffers up to %s, not %s",
		   wr_size_text(limit, (double)cap), wr_size_text(asked, (double)bytes));
	return wr_err_hint(err, "weir serve --max-buffer raises it");
}

static int check_plan(const struct wr_session *session, const struct wr_plan *plan, struct weir_err *err)
{
	const struct wr_server_limits *limits = &session->server->limits;

	if (plan->streams > limits->max_streams) {
		wr_err_set(err, WEIR_ERR_PEER, "streams", "the server takes up to %llu streams, not %llu",
			   (unsigned long long)limits->max_streams, (unsigned long long)plan->streams);
		return wr_err_hint(err, "weir serve --max-streams raises it");
	}
	if (plan->duration_ns != WR_UNSET && plan->duration_ns > limits->max_duration_ns) {
		wr_err_set(err, WEIR_ERR_PEER, "time", "the server takes runs up to %llu s",
			   (unsigned long long)(limits->max_duration_ns / WR_NS_PER_S));
		return wr_err_hint(err, "weir serve --max-time raises it");
	}
	return check_buffer(session, plan->far_sndbuf_bytes, err) < 0 || check_buffer(session, plan->far_rcvbuf_bytes, err) < 0
		       ? -1
		       : 0;
}

static void expect_none(struct wr_session *session)
{
	pthread_mutex_lock(&session->server->lock);
	for (size_t i = 0; i < session->n_expected; i++)
		wr_channel_close(&session->data[i]);
	free(session->data);
	session->data = NULL;
	session->n_expected = session->n_arrived = 0;
	pthread_mutex_unlock(&session->server->lock);
}

static int expect_streams(struct wr_session *session, size_t n, struct weir_err *err)
{
	struct wr_channel *data = malloc(n * sizeof *data);

	if (!data)
		return wr_err_memory(err, "streams");
	for (size_t i = 0; i < n; i++)
		data[i] = WR_CHANNEL_NONE;
	pthread_mutex_lock(&session->server->lock);
	session->data = data;
	session->n_arrived = 0;
	session->n_expected = n;
	pthread_mutex_unlock(&session->server->lock);
	return 0;
}

/*
 * Where data connections are to come: to a listener of the server, or, where options must be set before listen() or
 * control runs over something else, to one that this run has for itself. @port: out, 0 where there are no ports.
 */
static int data_listen(struct wr_session *session, struct wr_listener *own, uint32_t *port, struct weir_err *err)
{
	const struct wr_transport *transport = session->run.transport;
	const struct wr_socket_wish *wish = &session->run.wish;
	bool early = transport->early && (wish->sndbuf_bytes != WR_UNSET || wish->rcvbuf_bytes != WR_UNSET ||
					   wish->mss_bytes || wish->set.n_values);

	*port = session->port;
	if (transport->shares && !early)
		return 0;
	if (transport->listen(own, NULL, 0, wish, err) < 0)
		return -1;
	*port = wr_address_port(&own->address);
	return 0;
}

static size_t arrived(struct wr_session *session)
{
	size_t n;

	pthread_mutex_lock(&session->server->lock);
	n = session->n_arrived;
	pthread_mutex_unlock(&session->server->lock);
	return n;
}

/* A peer that said something and left is gone all the same. */
static bool peer_gone(const struct wr_session *session)
{
	struct pollfd look = {.fd = session->control.fd, .events = POLLRDHUP};

	return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static int wait_streams(struct wr_session *session, const struct wr_listener *listener, struct weir_err *err)
{
	int64_t until = wr_clock_ns() + ARRIVAL_NS;

	while (arrived(session) < session->n_expected) {
		struct pollfd wait = {.fd = listener->fd, .events = POLLIN};

		if (wr_clock_ns() > until)
			return wr_err_set(err, WEIR_ERR_PEER, "streams", "only %zu of %zu data connections arrived within %.0f s",
					  arrived(session), session->n_expected, ARRIVAL_NS / 1e9);
		if (peer_gone(session))
			return wr_err_set(err, WEIR_ERR_PEER, "control", "the client left while connecting");
		if (poll(&wait, listener->fd >= 0, 5) > 0)
			(void)wr_server_admit(session->server, listener);
	}
	return 0;
}

static int adopt_streams(struct wr_session *session, struct weir_err *err)
{
	const struct wr_transport *transport = session->run.transport;

	for (size_t i = 0; i < session->n_expected; i++) {
		struct wr_socket_wish late = session->run.wish;
		struct wr_channel channel;

		/* Taken over first: whatever fails then, the run closes it. */
		pthread_mutex_lock(&session->server->lock);
		channel = session->data[i];
		session->data[i] = WR_CHANNEL_NONE;
		pthread_mutex_unlock(&session->server->lock);
		session->run.crew.streams[i].channel = channel;
		/* A listener of its own has set the buffers already. */
		if (transport->early)
			late.sndbuf_bytes = late.rcvbuf_bytes = WR_UNSET;
		if (transport->apply(&channel, &late, err) < 0 ||
		    wr_end_run_adopt(&session->run, &session->plan, i, channel, err) < 0)
			return -1;
	}
	return wr_end_run_spawn(&session->run, err);
}

/* Streams are threads: all sessions together share MAX_ALL_STREAMS. Return: 0; -1 no room. */
static int streams_take(struct wr_session *session, size_t n, struct weir_err *err)
{
	struct wr_server *server = session->server;
	bool room;

	pthread_mutex_lock(&server->lock);
	server->n_streams -= session->n_streams;
	room = server->n_streams + n <= MAX_ALL_STREAMS;
	session->n_streams = room ? n : 0;
	server->n_streams += session->n_streams;
	pthread_mutex_unlock(&server->lock);
	if (room)
		return 0;
	return wr_err_set(err, WEIR_ERR_PEER, "streams", "the server's clients have %d streams already", MAX_ALL_STREAMS);
}

/* The server's own rate cap: every stream is paced to its part, writing or reading. */
static void rate_cap(struct wr_session *session)
{
	uint64_t cap = session->server->limits.max_rate_bps;

	for (size_t i = 0; i < session->run.crew.n_streams && cap != WR_UNSET; i++) {
		struct wr_stream *stream = &session->run.crew.streams[i];

		if (stream->pace_bps > cap / session->run.crew.n_streams)
			stream->pace_bps = cap / session->run.crew.n_streams;
	}
}

/* Far sends: what its kernel remembers of the client must not help or harm the run that begins. */
static void forget_client(const struct wr_session *session)
{
	struct sockaddr_storage client;
	socklen_t length = sizeof client;

	if (getpeername(session->control.fd, (struct sockaddr *)&client, &length) == 0)
		(void)wr_path_metrics_forget((const struct sockaddr *)&client);
}

static void run_end(struct wr_session *session)
{
	session->running = false;
	(void)streams_take(session, 0, NULL);
	wr_end_run_deinit(&session->run);
	memset(&session->run, 0, sizeof session->run);
	expect_none(session);
	wr_plan_deinit(&session->plan);
}

/* What data runs over must lead to this client alone: beside its control connection, or over what that runs over. */
static int plan_transport(const struct wr_session *session, const struct wr_transport **transport, struct weir_err *err)
{
	*transport = wr_transport_find(session->plan.transport);
	if (!*transport || (*transport)->control != session->transport || ((*transport)->inside && !session->server->inside))
		return wr_err_set(err, WEIR_ERR_PEER, "transport", "the server has no transport '%.40s' beside %s",
				  session->plan.transport ? session->plan.transport : wr_transport_tcp.name,
				  session->transport->name);
	return 0;
}

static int take_run(struct wr_session *session, struct wr_listener *own, uint32_t *port, struct weir_err *err)
{
	const struct wr_transport *transport;

	if (plan_transport(session, &transport, err) < 0 || check_plan(session, &session->plan, err) < 0 ||
	    streams_take(session, session->plan.streams, err) < 0 ||
	    wr_end_run_init(&session->run, transport, &session->plan, true, err) < 0 ||
	    expect_streams(session, session->plan.streams, err) < 0 || data_listen(session, own, port, err) < 0)
		return -1;
	rate_cap(session);
	if (session->plan.forget && session->plan.reverse && transport->tcp)
		forget_client(session);
	return 0;
}

static int start_run(struct wr_session *session, const json_t *request, struct weir_err *err)
{
	struct wr_listener own = WR_LISTENER_NONE;
	uint32_t port;
	int rc = -1;

	run_end(session);
	if (wr_plan_from_json(&session->plan, json_object_get(request, "plan"), err) == 0 &&
	    take_run(session, &own, &port, err) == 0 &&
	    answer(session, json_pack("{s:s,s:I}", "op", "listening", "port", (json_int_t)port), err) == 0)
		rc = wait_streams(session, &own, err);
	wr_listener_close(&own);
	if (rc < 0 || adopt_streams(session, err) < 0)
		return -1;
	return answer(session, json_pack("{s:s,s:o}", "op", "ready", "end", wr_end_to_json(&session->run.end, false)), err);
}

/* A start that failed leaves nothing half made. */
static int start(struct wr_session *session, const json_t *request, struct weir_err *err)
{
	int rc = start_run(session, request, err);

	if (rc < 0)
		run_end(session);
	return rc;
}

/* Whatever a client sets, the server's own caps hold. */
static int set(struct wr_session *session, const json_t *request, struct weir_err *err)
{
	const char *knob = json_string_value(json_object_get(request, "knob"));
	json_int_t value = json_integer_value(json_object_get(request, "value"));
	uint64_t effective;

	if (!session->running || !knob || value < 0)
		return wr_err_set(err, WEIR_ERR_PEER, "set", "a set request needs a running transfer, a knob and a value");
	if (strstr(knob, "buf") && (value == 0 || check_buffer(session, (uint64_t)value, err) < 0))
		return value == 0 ? wr_err_set(err, WEIR_ERR_PEER, "set", "a buffer of no bytes") : -1;
	if (wr_end_run_set(&session->run, knob, (uint64_t)value, &effective, err) < 0)
		return -1;
	rate_cap(session);
	return answer(session, json_pack("{s:s,s:I}", "op", "set", "effective", (json_int_t)effective), err);
}

/* Only the two limits that weir's advice names, and only where the namespace is a lab's own. */
static int sysctl(struct wr_session *session, const json_t *request, struct weir_err *err)
{
	const char *key = json_string_value(json_object_get(request, "key"));
	const char *value = json_string_value(json_object_get(request, "value"));
	bool rmem = key && strcmp(key, "net.ipv4.tcp_rmem") == 0, wmem = key && strcmp(key, "net.ipv4.tcp_wmem") == 0;
	char *saved = rmem ? session->saved_rmem : session->saved_wmem;
	char previous[96];

	if (!session->server->lab || (!rmem && !wmem) || !value)
		return wr_err_set(err, WEIR_ERR_PEER, "sysctl", "the server changes no sysctl for a peer");
	if (wr_sysctl_read(key, previous, sizeof previous) < 0)
		return wr_err_set(err, WEIR_ERR_PEER, "sysctl", "%s can't be read", key);
	if (!saved[0])
		memcpy(saved, previous, sizeof previous);
	if (wr_sysctl_write(key, value, err) < 0)
		return -1;
	return answer(session, json_pack("{s:s,s:s}", "op", "sysctl", "previous", previous), err);
}

static void sysctls_restore(struct wr_session *session)
{
	if (session->saved_rmem[0])
		(void)wr_sysctl_write("net.ipv4.tcp_rmem", session->saved_rmem, NULL);
	if (session->saved_wmem[0])
		(void)wr_sysctl_write("net.ipv4.tcp_wmem", session->saved_wmem, NULL);
}

/* Looked at whatever interval the client asked for and however often it sends requests. */
static int check_bytes(struct wr_session *session, struct weir_err *err)
{
	uint64_t moved = 0;

	for (size_t i = 0; i < session->run.crew.n_streams; i++)
		moved += wr_end_run_bytes(&session->run, i);
	if (moved <= session->server->limits.max_bytes)
		return 0;
	wr_err_set(err, WEIR_ERR_PEER, "bytes", "the server ends a run after %llu bytes",
		   (unsigned long long)session->server->limits.max_bytes);
	wr_err_hint(err, "weir serve --max-bytes raises it");
	(void)answer_error(session, err);
	return -1;
}

static int send_interval(struct wr_session *session, struct weir_err *err)
{
	json_t *bytes = json_array();

	for (size_t i = 0; i < session->run.crew.n_streams; i++)
		json_array_append_new(bytes, json_integer((json_int_t)wr_end_run_bytes(&session->run, i)));
	return answer(session, json_pack("{s:s,s:I,s:o,s:b}", "op", "interval", "t_ns",
					 (json_int_t)(wr_clock_ns() - session->run.crew.start_ns), "bytes", bytes, "done",
					 wr_crew_all_done(&session->run.crew)), err);
}

static int stop(struct wr_session *session, struct weir_err *err)
{
	json_t *end;

	if (!session->running)
		return wr_err_set(err, WEIR_ERR_PEER, "stop", "nothing runs");
	wr_end_run_stop(&session->run);
	end = wr_end_to_json(&session->run.end, true);
	run_end(session);
	return answer(session, json_pack("{s:s,s:o}", "op", "result", "end", end), err);
}

static int go(struct wr_session *session, struct weir_err *err)
{
	if (!session->run.crew.n_streams || session->running || !wr_channel_is_open(&session->run.crew.streams[0].channel))
		return wr_err_set(err, WEIR_ERR_PEER, "go", "nothing is ready to go");
	session->run_ends = wr_work_ends(&session->plan);
	session->running = true;
	session->said_done = false;
	return wr_end_run_go(&session->run, err);
}

static int handle(struct wr_session *session, const json_t *request, struct weir_err *err)
{
	const char *op = wr_control_op(request);

	if (strcmp(op, "start") == 0)
		return start(session, request, err);
	if (strcmp(op, "go") == 0)
		return go(session, err);
	if (strcmp(op, "set") == 0)
		return set(session, request, err);
	if (strcmp(op, "stop") == 0)
		return stop(session, err);
	if (strcmp(op, "sysctl") == 0)
		return sysctl(session, request, err);
	return wr_err_set(err, WEIR_ERR_PEER, "control", "there is no request '%.40s'", op);
}

/* When the present state ends for a peer that says nothing. */
static int64_t state_deadline(const struct wr_session *session)
{
	int64_t now = wr_clock_ns();

	if (!session->running)
		return now + (session->run.crew.n_streams ? GO_NS : IDLE_NS);
	return session->run.crew.start_ns + OVERTIME_NS +
	       (int64_t)(session->plan.duration_ns != WR_UNSET ? session->plan.duration_ns
							       : session->server->limits.max_duration_ns);
}

/* Return: 0 handled; 1 the deadline of the state passed; -1 the session is over. */
static int next_request(struct wr_session *session, json_t **request, struct weir_err *err)
{
	int64_t deadline = state_deadline(session), report = wr_clock_ns() + (int64_t)session->plan.interval_ns;

	for (;;) {
		int64_t until = session->running && report < deadline ? report : deadline;
		int64_t wait = until - wr_clock_ns();
		bool done;
		int rc;

		if (deadline <= wr_clock_ns())
			return 1;
		if (session->running && check_bytes(session, err) < 0)
			return -1;
		if (session->running && session->server->limits.max_bytes != WR_UNSET && wait > BYTES_LOOK_NS)
			wait = BYTES_LOOK_NS;
		/* The end of a transfer of so many bytes or messages is told at once. */
		if (session->running && !session->said_done && session->run_ends && wait > DONE_LOOK_NS)
			wait = DONE_LOOK_NS;
		rc = wr_control_receive(&session->control, wait > 0 ? wait : 0, request, err);
		if (rc <= 0)
			return rc;
		done = session->running && !session->said_done && wr_crew_all_done(&session->run.crew);
		if (!session->running || (wr_clock_ns() < report && !done))
			continue;
		session->said_done |= done;
		report = wr_clock_ns() + (int64_t)session->plan.interval_ns;
		if (send_interval(session, err) < 0)
			return -1;
	}
}

void wr_session_serve(struct wr_session *session)
{
	struct weir_err err = {0};
	int rc = hello(session, &err);

	wr_server_log(session->server, session->control.peer, "session opened");
	while (rc == 0) {
		json_t *request = NULL;

		rc = next_request(session, &request, &err);
		if (rc == 0 && handle(session, request, &err) < 0)
			rc = answer_error(session, &err);
		json_decref(request);
	}
	if (rc == 1)
		wr_server_log(session->server, session->control.peer, "said nothing for too long, session closed");
	else
		wr_server_log(session->server, session->control.peer, "session closed: %s", err.text);
	run_end(session);
	sysctls_restore(session);
}
