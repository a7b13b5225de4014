/* SPDX-License-Identifier: MIT */
/*
 * From sockets that were seen to cases: the two ends of a connection are matched, by addresses, or by ports alone where
 * something rewrites addresses in between; snapshots get their place in time; and each case becomes evidence.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "paste/infer.h"

int wr_paste_new(struct wr_paste **out, struct weir_err *err)
{
	struct wr_paste *paste = calloc(1, sizeof *paste);

	if (!paste)
		return wr_err_memory(err, "paste");
	paste->interval_s = NAN;
	*out = paste;
	return 0;
}

struct wr_paste *wr_paste_free(struct wr_paste *paste)
{
	if (!paste)
		return NULL;
	for (size_t i = 0; i < paste->n_sockets; i++)
		wr_series_deinit(&paste->sockets[i].connection.series);
	for (size_t i = 0; i < paste->n_hosts; i++)
		free(paste->hosts[i]);
	for (size_t i = 0; i < paste->n_stored; i++)
		wr_evidence_deinit(&paste->stored[i]);
	free(paste->sockets);
	free(paste->slots);
	free(paste->cases);
	free(paste->stored);
	free(paste);
	return NULL;
}

/* -- the two ends -- */

static bool is_judged(const struct wr_paste_socket *socket)
{
	return socket->state == WR_SOCKET_OPEN;
}

/* The other end: its addresses are these, swapped; on another host or, through the loopback device, on this one. */
static size_t end_by_address(const struct wr_paste *paste, size_t index)
{
	const struct wr_paste_socket *socket = &paste->sockets[index];

	for (size_t host = 0; host < paste->n_hosts; host++) {
		const struct wr_paste_socket *other =
			wr_paste_find(paste, host, socket->protocol, socket->connection.peer, socket->connection.local);

		if (other && other != socket && is_judged(other))
			return (size_t)(other - paste->sockets);
	}
	return index;
}

/*
 * With addresses rewritten in between (NAT) the ports stay, of one end at least; a port that is met twice proves
 * nothing.
 */
static size_t end_by_ports(const struct wr_paste *paste, size_t index)
{
	const struct wr_paste_socket *socket = &paste->sockets[index];
	const char *local = wr_paste_address_port(socket->connection.local),
		   *peer = wr_paste_address_port(socket->connection.peer);
	size_t found = index;

	for (size_t i = 0; i < paste->n_sockets; i++) {
		const struct wr_paste_socket *other = &paste->sockets[i];

		if (other->host == socket->host || other->protocol != WR_TCP || other->pair != i || !is_judged(other) ||
		    strcmp(wr_paste_address_port(other->connection.peer), local) != 0 ||
		    strcmp(wr_paste_address_port(other->connection.local), peer) != 0)
			continue;
		if (found != index)
			return index;
		found = i;
	}
	return found;
}

/* Comparing all with all is for a few sockets only. */
#define MOST_BY_PORTS 400

static void match(struct wr_paste *paste)
{
	for (size_t i = 0; i < paste->n_sockets; i++) {
		struct wr_paste_socket *socket = &paste->sockets[i];
		size_t other;

		if (socket->protocol != WR_TCP || socket->pair != i || !is_judged(socket) ||
		    socket->connection.local[0] == '?')
			continue;
		other = end_by_address(paste, i);
		if (other == i && paste->n_hosts > 1 && paste->n_sockets <= MOST_BY_PORTS)
			other = end_by_ports(paste, i);
		if (other == i || paste->sockets[other].pair != other)
			continue;
		socket->pair = other;
		paste->sockets[other].pair = i;
	}
}

/* -- evidence -- */

static int cases_list(struct wr_paste *paste, struct weir_err *err)
{
	paste->cases = calloc(paste->n_sockets + 1, sizeof *paste->cases);
	if (!paste->cases)
		return wr_err_memory(err, "cases");
	for (size_t i = 0; i < paste->n_sockets; i++) {
		if (is_judged(&paste->sockets[i]) && paste->sockets[i].pair >= i)
			paste->cases[paste->n_cases++] = i;
	}
	return 0;
}

/* Lines with nothing but a send queue are of the only connection that there is. */
static void give_glimpses(struct wr_paste *paste)
{
	for (size_t host = 0; host < paste->n_hosts; host++) {
		struct wr_connection *only = NULL;
		size_t n = 0;

		for (size_t i = 0; i < paste->n_sockets; i++) {
			if (paste->sockets[i].host != host || paste->sockets[i].protocol != WR_TCP ||
			    !is_judged(&paste->sockets[i]))
				continue;
			only = &paste->sockets[i].connection;
			n++;
		}
		if (n != 1)
			continue;
		only->n_glimpses = paste->hosts[host]->n_glimpses;
		only->n_held = paste->hosts[host]->n_held;
	}
}

int wr_paste_finish(struct wr_paste *paste, uint64_t interval_ns, struct weir_err *err)
{
	match(paste);
	give_glimpses(paste);
	for (size_t i = 0; i < paste->n_sockets; i++)
		wr_infer_window(paste, &paste->sockets[i]);
	if (wr_infer_times(paste, interval_ns, err) < 0)
		return -1;
	for (size_t i = 0; i < paste->n_sockets; i++)
		wr_infer_locks(paste, &paste->sockets[i]);
	return cases_list(paste, err);
}

void wr_paste_summarize(const struct wr_paste *paste, struct wr_paste_summary *summary)
{
	size_t used = 0;

	*summary = (struct wr_paste_summary){
		.n_lines = paste->n_lines,
		.n_skipped = paste->n_skipped,
		.n_sockets = paste->n_sockets,
		.n_cases = paste->n_cases + paste->n_stored + (paste->n_hosts > 0),
		.interval_s = paste->interval_s,
		.bounded = paste->bounded,
	};
	for (size_t i = 0; wr_paste_kinds[i]; i++) {
		if (paste->kinds[i] && used < sizeof summary->kinds)
			used += (size_t)snprintf(summary->kinds + used, sizeof summary->kinds - used, "%s%s",
						 used ? ", " : "", wr_paste_kinds[i]->name);
	}
}

/* Bytes that left by this end's account, or came in by the other's. */
static double sent_bytes(const struct wr_paste_socket *end, const struct wr_paste_socket *other)
{
	double sent = wr_infer_delta(end, WR_M_BYTES_ACKED),
	       received = other ? wr_infer_delta(other, WR_M_BYTES_RECEIVED) : NAN;

	sent = isnan(sent) ? wr_infer_delta(end, WR_M_BYTES_SENT) : sent;
	return isnan(received) ? sent : isnan(sent) ? received : fmax(sent, received);
}

static double received_bytes(const struct wr_paste_socket *end)
{
	return wr_infer_delta(end, WR_M_BYTES_RECEIVED);
}

static double queued(const struct wr_paste_socket *end, enum wr_metric_id id)
{
	const struct wr_sample *last = wr_series_at(&end->connection.series, INT64_MAX);

	return last ? wr_sample_get(last, id, 0) : 0;
}

/* Whether data flow towards the socket: more comes in than goes out; without a count, what is queued tells. */
static bool is_receiver(const struct wr_paste_socket *end, const struct wr_paste_socket *other)
{
	double out = sent_bytes(end, other), in = other ? sent_bytes(other, end) : received_bytes(end);

	if (out > 0 || in > 0)
		return (isnan(in) ? 0 : in) > (isnan(out) ? 0 : out);
	if (queued(end, WR_M_SEND_Q_BYTES) > 0)
		return false;
	return queued(end, WR_M_RECV_Q_BYTES) > 0 || (other && queued(other, WR_M_SEND_Q_BYTES) > 0);
}

static void end_fill(const struct wr_paste *paste, struct wr_end *end, size_t host, struct wr_paste_socket *socket)
{
	wr_end_blank(end);
	wr_paste_facts_to_end(host < paste->n_hosts ? &paste->hosts[host]->facts : &(struct wr_paste_facts){0}, end);
	end->connections = socket ? &socket->connection : NULL;
	end->n_connections = socket != NULL;
}

static size_t host_labelled(const struct wr_paste *paste, enum wr_paste_from from)
{
	size_t i = 0;

	while (i < paste->n_hosts && paste->hosts[i]->from != from)
		i++;
	return i;
}

/* The host that is at the other side: the labelled one, or the only other. */
static size_t other_host(const struct wr_paste *paste, size_t host)
{
	enum wr_paste_from from = host < paste->n_hosts ? paste->hosts[host]->from : WR_PASTE_UNKNOWN;

	if (from != WR_PASTE_UNKNOWN)
		return host_labelled(paste, from == WR_PASTE_NEAR ? WR_PASTE_FAR : WR_PASTE_NEAR);
	return paste->n_hosts == 2 ? 1 - host : paste->n_hosts;
}

/* Least round trip that a ping saw. */
static int64_t ping_ns(const struct wr_evidence *evidence)
{
	double ms =
		fmin(wr_end_number(&evidence->near, "ping.min_ms", 0), wr_end_number(&evidence->far, "ping.min_ms", 0));

	return ms > 0 && ms < 1e6 ? llround(ms * 1e6) : 0;
}

/* Which side a lone socket stands for: the label of its text, else near sends the bulk or calls. */
static bool is_far(const struct wr_paste *paste, const struct wr_paste_socket *socket, bool receives)
{
	enum wr_paste_from from = paste->hosts[socket->host]->from;

	if (from != WR_PASTE_UNKNOWN)
		return from == WR_PASTE_FAR;
	return socket->protocol == WR_TCP ? receives
					  : socket->protocol == WR_UDP && strstr(socket->connection.peer, ":*");
}

/* Of two ends: the one of the labelled text; of texts without labels, and of one host, the one that sends. */
static struct wr_paste_socket *near_of(const struct wr_paste *paste, struct wr_paste_socket *first,
				       struct wr_paste_socket *second, bool receives)
{
	if (!second)
		return is_far(paste, first, receives) ? NULL : first;
	if (first->host == second->host)
		return receives ? second : first;
	if (paste->hosts[first->host]->from == WR_PASTE_UNKNOWN && paste->hosts[second->host]->from != WR_PASTE_UNKNOWN)
		return paste->hosts[second->host]->from == WR_PASTE_NEAR ? second : first;
	return is_far(paste, first, receives) ? second : first;
}

static void places(struct wr_paste_case *out, const struct wr_paste_socket *writer,
		   const struct wr_paste_socket *reader)
{
	out->writer_host = writer ? writer->host : SIZE_MAX;
	out->reader_host = reader ? reader->host : SIZE_MAX;
	out->writer_pid = writer ? writer->pid : 0;
	out->reader_pid = reader ? reader->pid : 0;
}

static void socket_case(struct wr_paste *paste, size_t index, struct wr_paste_case *out)
{
	struct wr_evidence *evidence = &paste->evidence;
	struct wr_paste_socket *first = &paste->sockets[index],
			       *second = first->pair != index ? &paste->sockets[first->pair] : NULL;
	bool receives = is_receiver(first, second);
	struct wr_paste_socket *near = near_of(paste, first, second, receives), *far = near == first ? second : first;
	const struct wr_paste_socket *shown;

	evidence->protocol = first->protocol;
	evidence->one_host = second && first->host == second->host;
	evidence->on_far = evidence->one_host && paste->hosts[first->host]->from == WR_PASTE_FAR;
	evidence->plan.reverse = near == first ? receives : !receives;
	end_fill(paste, &evidence->near, near ? near->host : other_host(paste, far->host), near);
	end_fill(paste, &evidence->far, far ? far->host : other_host(paste, near->host), far);
	evidence->path_rtt_ns = ping_ns(evidence);
	wr_infer_span(evidence, near, far);
	shown = evidence->plan.reverse ? (far ? far : near) : near ? near : far;
	out->local = shown->connection.local;
	out->peer = shown->connection.peer;
	out->program = shown->connection.program;
	out->far = evidence->one_host ? evidence->on_far : shown == far;
	places(out, evidence->plan.reverse ? far : near, evidence->plan.reverse ? near : far);
}

/* What the hosts' counters say by themselves. */
static void host_case(struct wr_paste *paste, struct wr_paste_case *out)
{
	size_t near = host_labelled(paste, WR_PASTE_NEAR), far = host_labelled(paste, WR_PASTE_FAR);

	if (near == paste->n_hosts && far == paste->n_hosts) {
		near = 0;
		far = paste->n_hosts > 1 ? 1 : paste->n_hosts;
	}
	paste->evidence.protocol = WR_HOST;
	end_fill(paste, &paste->evidence.near, near, NULL);
	end_fill(paste, &paste->evidence.far, far, NULL);
	*out = (struct wr_paste_case){
		.local = "", .peer = "", .program = "", .writer_host = SIZE_MAX, .reader_host = SIZE_MAX};
}

void wr_paste_case_get(struct wr_paste *paste, size_t index, struct wr_paste_case *out)
{
	memset(&paste->evidence, 0, sizeof paste->evidence);
	wr_option_defaults(wr_plan_options, &paste->evidence.plan);
	paste->evidence.outside = paste->evidence.complete = true;
	if (index < paste->n_cases) {
		socket_case(paste, paste->cases[index], out);
	} else if (index < paste->n_cases + paste->n_stored) {
		struct wr_evidence *stored = &paste->stored[index - paste->n_cases];
		const struct wr_end *sender = wr_evidence_sender(stored);

		*out = (struct wr_paste_case){.evidence = stored,
					      .local = "",
					      .peer = "",
					      .program = "weir",
					      .far = stored->plan.reverse,
					      .writer_host = SIZE_MAX,
					      .reader_host = SIZE_MAX};
		if (sender->n_connections) {
			out->local = sender->connections[0].local;
			out->peer = sender->connections[0].peer;
		}
		return;
	} else {
		host_case(paste, out);
	}
	out->evidence = &paste->evidence;
}
