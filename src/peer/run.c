/* SPDX-License-Identifier: MIT */
/*
 * Driving one transfer from near. The control connection crosses the same path as the data, so its deadlines
 * allow for a full queue; but no wait is endless, and a peer that dies is noticed at once by its closed socket.
 */
#include "peer/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/path_metrics.h"
#include "weir/version.h"

#define REPLY_NS 20000000000LL
#define SILENCE_NS 15000000000LL
#define SLICE_NS 200000000LL
#define MAX_REPLY_BYTES (64U << 20)
#define MAX_ADDRESSES 8

static bool stopped(const struct wr_peer *peer)
{
	return peer->stop && *peer->stop;
}

static int interrupted(const struct wr_peer *peer, struct weir_err *err)
{
	return wr_err_set(err, WEIR_ERR_INTERRUPTED, "wait", "stopped while waiting for %s", peer->target);
}

static int remote_error(const struct wr_peer *peer, const json_t *message, struct weir_err *err)
{
	const json_t *object = json_object_get(message, "error");
	const char *text = json_string_value(json_object_get(object, "text"));
	const char *hint = json_string_value(json_object_get(object, "hint"));
	const char *operation = json_string_value(json_object_get(object, "operation"));

	wr_err_set(err, WEIR_ERR_PEER, operation && strcmp(operation, WR_MISFIT) == 0 ? WR_MISFIT : "far", "%s says: %s",
		   peer->control.peer, text ? text : "an error without words");
	return wr_err_hint(err, "%s", hint ? hint : "");
}

static void take_progress(struct wr_progress *progress, const json_t *message)
{
	const json_t *bytes = json_object_get(message, "bytes");
	size_t i;
	json_t *value;

	progress->t_ns = json_integer_value(json_object_get(message, "t_ns"));
	progress->done = json_is_true(json_object_get(message, "done"));
	progress->bytes = 0;
	json_array_foreach((json_t *)bytes, i, value)
		progress->bytes += (uint64_t)json_integer_value(value);
}

/*
 * The next message called @op; progress reports on the way are taken into @progress. Return: 0; -1.
 */
static int await(struct wr_peer *peer, const char *op, struct wr_progress *progress, int64_t timeout_ns,
		 json_t **message, struct weir_err *err)
{
	int64_t until = wr_clock_ns() + timeout_ns;

	while (wr_clock_ns() < until) {
		int rc = wr_control_receive(&peer->control, SLICE_NS, message, err);

		if (rc < 0)
			return -1;
		if (rc == 1 && stopped(peer) && strcmp(op, "result") != 0)
			return interrupted(peer, err);
		if (rc == 1)
			continue;
		if (strcmp(wr_control_op(*message), op) == 0)
			return 0;
		rc = strcmp(wr_control_op(*message), "interval") == 0 ? 1 : -1;
		if (rc == 1 && progress)
			take_progress(progress, *message);
		if (rc < 0)
			remote_error(peer, *message, err);
		json_decref(*message);
		*message = NULL;
		if (rc < 0)
			return -1;
	}
	wr_err_set(err, WEIR_ERR_PEER, "control", "%s took the connection but gave no answer within %.0f s",
		   peer->control.peer, (double)timeout_ns / 1e9);
	return wr_err_hint(err, "is it a weir server (`weir serve`)? is the path up?");
}

static int request(struct wr_peer *peer, json_t *message, const char *op, struct wr_progress *progress,
		   json_t **reply, struct weir_err *err)
{
	if (wr_control_send(&peer->control, message, REPLY_NS, err) < 0)
		return -1;
	return await(peer, op, progress, REPLY_NS, reply, err);
}

static int is_iperf3(struct wr_peer *peer, struct weir_err *err)
{
	wr_err_set(err, WEIR_ERR_PEER, "control", "%s is an iperf3 server; weir needs its own server there",
		   peer->control.peer);
	return wr_err_hint(err, "run `weir serve` on %s", peer->target);
}

static int take_hello(struct wr_peer *peer, struct weir_err *err)
{
	struct weir_err problem = {0};
	json_t *message;
	int rc = await(peer, "hello", NULL, peer->connect_timeout_ns, &message, err);

	/* iperf3's PARAM_EXCHANGE is 9, its ACCESS_DENIED 0xff (iperf_api.h); both come alone. */
	if (rc < 0 && peer->control.used > 0 && (peer->control.buffer[0] == 9 || peer->control.buffer[0] == '\xff'))
		return is_iperf3(peer, err);
	if (rc < 0)
		return -1;
	rc = wr_end_from_json(&peer->host, json_object_get(message, "host"), &problem);
	if (rc < 0) {
		wr_err_set(err, WEIR_ERR_PEER, "control", "%s greets unlike a weir server of this version: %s", peer->control.peer,
			   problem.text);
		wr_err_hint(err, "this is weir %s; is the same running there?", WEIR_VERSION);
	}
	peer->lab = json_is_true(json_object_get(message, "lab")) && wr_lab_here();
	peer->max_buffer_bytes = (uint64_t)json_integer_value(json_object_get(message, "max_buffer_bytes"));
	peer->max_streams = (uint64_t)json_integer_value(json_object_get(message, "max_streams"));
	peer->max_rate_bps = WR_UNSET;
	if (json_integer_value(json_object_get(message, "max_rate_bps")) > 0)
		peer->max_rate_bps = (uint64_t)json_integer_value(json_object_get(message, "max_rate_bps"));
	json_decref(message);
	return rc;
}

static int connect_any(struct wr_peer *peer, const struct wr_address *addresses, size_t n_addresses,
		       const struct wr_plan *plan, struct weir_err *err)
{
	struct weir_err failure = {0};
	int64_t until = wr_clock_ns() + peer->connect_timeout_ns;
	char cookie[WR_COOKIE_BYTES];

	wr_cookie_make(cookie, WR_COOKIE_CONTROL, 0, peer->token);
	for (size_t i = 0; i < n_addresses; i++) {
		/* One deadline for all addresses; the last ones still get a try. */
		int64_t left = until - wr_clock_ns(), least = peer->connect_timeout_ns / 8;
		struct wr_opening opening = {.bind = plan->bind, .timeout_ns = left > least ? left : least,
					     .greeting = cookie, .n_greeting = sizeof cookie};
		struct wr_channel channel = WR_CHANNEL_NONE;
		char name[WR_NAME_TEXT], shown[160];

		if (addresses[i].transport->connect(&channel, &addresses[i], &opening, &failure) < 0) {
			if (stopped(peer))
				return interrupted(peer, err);
			/* That --bind is of the other family says less than why its own family failed. */
			if (err && (failure.code != WEIR_ERR_USAGE || !err->code))
				*err = failure;
			continue;
		}
		peer->address = addresses[i];
		wr_address_text(name, &addresses[i]);
		if (peer->beside.child || peer->beside.server)
			snprintf(shown, sizeof shown, "far");
		else if (strncmp(name, peer->target, strlen(peer->target)) == 0)
			snprintf(shown, sizeof shown, "%s", name);
		else
			snprintf(shown, sizeof shown, "%s (%s)", peer->target, name);
		wr_control_init(&peer->control, channel.fd, shown, MAX_REPLY_BYTES);
		return 0;
	}
	return -1;
}

/* What the target says, as addresses of the transport that carries control; far is started where it names none. */
static int addresses_find(struct wr_peer *peer, const char *target, const struct wr_plan *plan,
			  struct wr_address *addresses, size_t *n, struct weir_err *err)
{
	const struct wr_transport *transport;
	const char *rest;
	int rc;

	if (wr_transport_choose(&transport, &rest, target, plan, err) < 0 || (transport->check && transport->check(err) < 0))
		return -1;
	rc = transport->control->resolve(addresses, MAX_ADDRESSES, n, rest, plan, err);
	if (rc <= 0)
		return rc;
	*n = 1;
	return wr_beside_start(&peer->beside, transport, &addresses[0], err);
}

int wr_peer_open(struct wr_peer *peer, const char *target, const struct wr_plan *plan,
		 const volatile sig_atomic_t *stop, struct weir_err *err)
{
	struct wr_address addresses[MAX_ADDRESSES];
	size_t n;

	memset(peer, 0, sizeof *peer);
	peer->control.fd = -1;
	peer->stop = stop;
	peer->connect_timeout_ns = (int64_t)plan->connect_timeout_ns;
	snprintf(peer->target, sizeof peer->target, "%.63s", target);
	wr_token_random(peer->token);
	if (addresses_find(peer, target, plan, addresses, &n, err) < 0 || connect_any(peer, addresses, n, plan, err) < 0 ||
	    take_hello(peer, err) < 0) {
		wr_peer_close(peer);
		return -1;
	}
	peer->local = wr_address_is_local(&peer->address) || wr_lab_here();
	peer->rtt_ns = wr_socket_rtt_ns(peer->control.fd);
	return 0;
}

void wr_peer_close(struct wr_peer *peer)
{
	wr_control_deinit(&peer->control);
	wr_beside_end(&peer->beside);
	wr_end_deinit(&peer->host);
}

int wr_peer_sysctl(struct wr_peer *peer, const char *key, const char *value, struct weir_err *err)
{
	json_t *reply;

	if (request(peer, json_pack("{s:s,s:s,s:s}", "op", "sysctl", "key", key, "value", value), "sysctl", NULL, &reply,
		    err) < 0)
		return -1;
	json_decref(reply);
	return 0;
}

/* Return: 0; 1 all are connected, but near's messages don't fit, which @err says; -1. */
static int connect_streams(struct wr_run *run, uint32_t port, struct weir_err *err)
{
	const struct wr_transport *transport = run->near.transport;
	struct wr_address address = run->peer->address;
	char cookie[WR_COOKIE_BYTES];
	struct wr_opening opening = {.wish = &run->near.wish, .bind = run->plan.bind,
				     .timeout_ns = run->peer->connect_timeout_ns, .greeting = cookie,
				     .n_greeting = sizeof cookie};
	int rc = 0;

	if (transport->set_port)
		transport->set_port(&address, port);
	for (size_t i = 0; i < run->plan.streams; i++) {
		struct wr_channel channel = WR_CHANNEL_NONE;

		wr_cookie_make(cookie, WR_COOKIE_DATA, (unsigned int)i, run->peer->token);
		if (transport->connect(&channel, &address, &opening, err) < 0) {
			if (err && err->code == WEIR_ERR_PEER && port != wr_address_port(&run->peer->address))
				wr_err_hint(err, "data connection %zu of %llu: what is set on far needs a port of its own; "
						 "is a firewall between?", i + 1, (unsigned long long)run->plan.streams);
			return -1;
		}
		if (wr_end_run_adopt(&run->near, &run->plan, i, channel, err) < 0)
			rc = 1;
	}
	return rc;
}

static int start(struct wr_run *run, const struct wr_transport *transport, struct weir_err *err)
{
	json_t *reply;
	json_int_t port;
	int rc;

	if (run->plan.forget && !run->plan.reverse && transport->tcp)
		(void)wr_path_metrics_forget((const struct sockaddr *)&run->peer->address.storage);
	if (wr_end_run_init(&run->near, transport, &run->plan, false, err) < 0 ||
	    request(run->peer, json_pack("{s:s,s:o}", "op", "start", "plan", wr_plan_to_json(&run->plan)), "listening", NULL,
		    &reply, err) < 0)
		return -1;
	port = json_integer_value(json_object_get(reply, "port"));
	json_decref(reply);
	if (transport->set_port && (port < 1 || port > UINT32_MAX))
		return wr_err_set(err, WEIR_ERR_PEER, "control", "%s names no port for the data", run->peer->control.peer);
	rc = connect_streams(run, (uint32_t)port, err);
	/* Messages that don't fit end this run, not the session: far is let come to where it waits for a request. */
	if (rc < 0 || (rc == 0 && wr_end_run_spawn(&run->near, err) < 0) ||
	    await(run->peer, "ready", NULL, REPLY_NS, &reply, err) < 0)
		return -1;
	json_decref(reply);
	if (rc == 1)
		return -1;
	if (wr_control_send(&run->peer->control, json_pack("{s:s}", "op", "go"), REPLY_NS, err) < 0)
		return -1;
	return wr_end_run_go(&run->near, err);
}

int wr_run_start(struct wr_run *run, struct wr_peer *peer, const struct wr_plan *plan, struct weir_err *err)
{
	const struct wr_transport *transport;

	memset(run, 0, sizeof *run);
	if (wr_transport_choose(&transport, NULL, peer->target, plan, err) < 0)
		return -1;
	run->peer = peer;
	run->plan = *plan;
	run->plan.texts = NULL;
	run->plan.transport = transport->name;
	if (peer->local && !plan->cpu)
		run->plan.cpu = "0,1";
	/* Far's cap on the rate is the writer's pace, so that the verdict names it as such. */
	if (peer->max_rate_bps != WR_UNSET && peer->max_rate_bps / run->plan.streams < run->plan.write_bps)
		run->plan.write_bps = peer->max_rate_bps / run->plan.streams;
	run->ends = wr_work_ends(plan);
	run->open = true;
	if (start(run, transport, err) == 0)
		return 0;
	wr_run_abandon(run);
	return -1;
}

int64_t wr_run_now_ns(const struct wr_run *run)
{
	return wr_clock_ns() - run->near.crew.start_ns;
}

static int stream_error(const struct wr_run *run, struct weir_err *err)
{
	for (size_t i = 0; i < run->near.crew.n_streams; i++) {
		int error = atomic_load(&run->near.crew.streams[i].error);

		if (error)
			return wr_err_errno(err, WEIR_ERR_PEER, "transfer", error, "data connection %zu to %s broke", i + 1,
					    run->peer->control.peer);
	}
	return 0;
}

/* The receiver decides when a transfer of so many bytes or messages is through. */
static bool all_through(const struct wr_run *run)
{
	return run->ends && (run->plan.reverse ? wr_crew_all_done(&run->near.crew) : run->far.done);
}

int wr_run_wait(struct wr_run *run, int64_t until_ns, struct weir_err *err)
{
	int64_t silence_ns = SILENCE_NS + (int64_t)run->plan.interval_ns;

	for (;;) {
		int64_t now = wr_run_now_ns(run), wait = until_ns - now;
		json_t *message;
		int rc;

		if (stopped(run->peer))
			return 3;
		if (stream_error(run, err) < 0)
			return -1;
		if (all_through(run))
			return 2;
		if (wait <= 0)
			return 0;
		rc = wr_control_receive(&run->peer->control, wait < SLICE_NS ? wait : SLICE_NS, &message, err);
		if (rc < 0)
			return -1;
		if (rc == 1) {
			if (now - run->heard_ns > silence_ns)
				return wr_err_set(err, WEIR_ERR_PEER, "control", "%s went silent %.0f s ago, %.1f s into the run",
						  run->peer->control.peer, (double)(now - run->heard_ns) / 1e9, (double)now / 1e9);
			continue;
		}
		run->heard_ns = wr_run_now_ns(run);
		rc = strcmp(wr_control_op(message), "interval") == 0 ? 1 : -1;
		if (rc == 1)
			take_progress(&run->far, message);
		else
			remote_error(run->peer, message, err);
		json_decref(message);
		return rc;
	}
}

int wr_run_set(struct wr_run *run, bool far, const char *knob, uint64_t value, uint64_t *effective, struct weir_err *err)
{
	json_t *reply;

	if (!far)
		return wr_end_run_set(&run->near, knob, value, effective, err);
	if (request(run->peer, json_pack("{s:s,s:s,s:I}", "op", "set", "knob", knob, "value", (json_int_t)value), "set", &run->far,
		    &reply, err) < 0)
		return -1;
	*effective = (uint64_t)json_integer_value(json_object_get(reply, "effective"));
	json_decref(reply);
	return 0;
}

int wr_run_stop(struct wr_run *run, struct wr_evidence *evidence, struct weir_err *err)
{
	json_t *reply = NULL;
	int rc = wr_control_send(&run->peer->control, json_pack("{s:s}", "op", "stop"), REPLY_NS, err);

	memset(evidence, 0, sizeof *evidence);
	/* The first end to stop resets the connections: samples of both must be in before. */
	if (rc == 0)
		wr_sampler_stop(&run->near.sampler);
	if (rc == 0)
		rc = await(run->peer, "result", &run->far, REPLY_NS, &reply, err);
	wr_end_run_stop(&run->near);
	if (rc == 0)
		rc = wr_end_from_json(&evidence->far, json_object_get(reply, "end"), err);
	json_decref(reply);
	evidence->plan = run->plan;
	evidence->path_rtt_ns = run->peer->rtt_ns;
	evidence->complete = rc == 0;
	evidence->near = run->near.end;
	run->near.end.connections = NULL;
	run->near.end.n_connections = 0;
	wr_crew_deinit(&run->near.crew);
	run->open = false;
	if (rc < 0)
		wr_evidence_deinit(evidence);
	return rc;
}

void wr_run_abandon(struct wr_run *run)
{
	if (run->open)
		wr_end_run_deinit(&run->near);
	run->open = false;
}
