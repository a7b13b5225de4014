/* SPDX-License-Identifier: MIT */
/*
 * Time. Texts carry none, but ss prints clocks: lastsnd of a socket that has sent nothing since, lastrcv and busy move
 * as time does. The first two are exact, the last a lower bound, as it stands still while there is nothing to send. A
 * single snapshot is judged over the connection's whole life.
 */
#include "paste/infer.h"

#include <math.h>
#include <string.h>

/* Counts, which a connection begins at 0; the other metrics are states. */
static const enum wr_metric_id counts[] = {
	WR_M_BYTES_ACKED,        WR_M_BYTES_SENT, WR_M_BYTES_RETRANS,     WR_M_BYTES_RECEIVED, WR_M_DATA_SEGS_OUT,
	WR_M_DATA_SEGS_IN,       WR_M_SEGS_OUT,   WR_M_BUSY_US,           WR_M_RWND_US,        WR_M_SNDBUF_US,
	WR_M_TOTAL_RETRANS_SEGS, WR_M_DROPS,      WR_M_DELIVERED_CE_SEGS,
};

static const struct wr_sample *first_of(const struct wr_paste_socket *socket)
{
	return socket->connection.series.n_samples ? &socket->connection.series.samples[0] : NULL;
}

static const struct wr_sample *last_of(const struct wr_paste_socket *socket)
{
	const struct wr_series *series = &socket->connection.series;

	return series->n_samples ? &series->samples[series->n_samples - 1] : NULL;
}

double wr_infer_delta(const struct wr_paste_socket *socket, enum wr_metric_id id)
{
	const struct wr_sample *first = first_of(socket), *last = last_of(socket);

	if (!first || last->value[id] == WR_ABSENT || first->value[id] == WR_ABSENT)
		return NAN;
	return (double)(last->value[id] - (first == last ? 0 : first->value[id]));
}

void wr_infer_window(const struct wr_paste *paste, struct wr_paste_socket *socket)
{
	struct wr_series *series = &socket->connection.series;

	for (size_t i = 0; i < series->n_samples; i++) {
		int64_t *value = series->samples[i].value;
		/*
		 * Waiting with nothing in flight, and probing: the peer has closed its window. A corked tail waits
		 * without rwnd_limited.
		 */
		bool waits = value[WR_M_UNACKED_SEGS] == 0 && value[WR_M_NOTSENT_BYTES] > 0;
		bool probes = value[WR_M_BACKOFF] > 0 || (value[WR_M_PERSISTING] == 1 && value[WR_M_RWND_US] > 0);

		if (value[WR_M_SND_WND_BYTES] != WR_ABSENT || value[WR_M_CWND_SEGS] == WR_ABSENT)
			continue;
		if ((waits && probes) ||
		    (paste->hosts[socket->host]->shows_windows && waits && value[WR_M_RWND_US] > 0))
			value[WR_M_SND_WND_BYTES] = 0;
	}
}

static bool stands_still(const struct wr_sample *from, const struct wr_sample *to, enum wr_metric_id id)
{
	return from->value[id] != WR_ABSENT && from->value[id] == to->value[id];
}

/* By how much a clock has moved that nothing has set back, in s; NAN when something may have. */
static double clock_moved(const struct wr_sample *from, const struct wr_sample *to, enum wr_metric_id clock,
			  enum wr_metric_id event)
{
	if (!stands_still(from, to, event) || from->value[clock] == WR_ABSENT || to->value[clock] == WR_ABSENT)
		return NAN;
	return to->value[clock] > from->value[clock] ? (double)(to->value[clock] - from->value[clock]) / 1e3 : NAN;
}

static double exact_span_s(const struct wr_paste_socket *socket)
{
	const struct wr_sample *first = first_of(socket), *last = last_of(socket);

	if (!first || first == last)
		return NAN;
	return fmax(clock_moved(first, last, WR_M_LAST_SND_MS, WR_M_DATA_SEGS_OUT),
		    clock_moved(first, last, WR_M_LAST_RCV_MS, WR_M_DATA_SEGS_IN));
}

/*
 * For as long at least has it lived, or had something to send between the snapshots; and what happened between them is
 * older than nothing that a clock of the last one says.
 */
static double least_span_s(const struct wr_paste_socket *socket)
{
	static const struct {
		enum wr_metric_id clock, event;
	} clocks[] = {{WR_M_LAST_SND_MS, WR_M_DATA_SEGS_OUT},
		      {WR_M_LAST_RCV_MS, WR_M_DATA_SEGS_IN},
		      {WR_M_LAST_ACK_MS, WR_M_BYTES_ACKED}};
	const struct wr_sample *first = first_of(socket), *last = last_of(socket);
	double span_s = wr_infer_delta(socket, WR_M_BUSY_US) / 1e6;

	for (size_t i = 0; last && i < WR_N_ELEMENTS(clocks); i++) {
		if (last->value[clocks[i].clock] != WR_ABSENT &&
		    (first == last || !stands_still(first, last, clocks[i].event)))
			span_s = fmax(span_s, (double)last->value[clocks[i].clock] / 1e3);
	}
	return span_s > 0 ? span_s : NAN;
}

static void spread(struct wr_paste_socket *socket, double span_s)
{
	struct wr_series *series = &socket->connection.series;
	double step_ns = span_s > 0 && series->n_samples > 1 ? span_s * 1e9 / (double)(series->n_samples - 1) : 0;

	for (size_t i = 0; i < series->n_samples; i++)
		series->samples[i].value[WR_M_T_NS] = llround((double)i * step_ns);
	socket->span_s = span_s;
}

/* A single snapshot gets the connection's birth before it, when all counts were 0. */
static int add_birth(struct wr_paste_socket *socket, struct weir_err *err)
{
	struct wr_series *series = &socket->connection.series;

	if (series->n_samples != 1)
		return 0;
	if (wr_series_reserve(series, 2, err) < 0)
		return -1;
	series->samples[1] = series->samples[0];
	series->n_samples = 2;
	for (int id = 0; id < WR_N_METRICS; id++)
		series->samples[0].value[id] = WR_ABSENT;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		series->samples[0].value[counts[i]] = series->samples[1].value[counts[i]] == WR_ABSENT ? WR_ABSENT : 0;
	socket->lifetime = true;
	return 0;
}

/* The spans that the sockets of a host tell; all were looked at together. */
struct host_span {
	double exact_s, least_s;
};

static void host_spans(const struct wr_paste *paste, struct host_span spans[WR_PASTE_MAX_HOSTS])
{
	for (size_t i = 0; i < WR_PASTE_MAX_HOSTS; i++)
		spans[i] = (struct host_span){NAN, NAN};
	for (size_t i = 0; i < paste->n_sockets; i++) {
		const struct wr_paste_socket *socket = &paste->sockets[i];
		struct host_span *span = &spans[socket->host];

		if (socket->state != WR_SOCKET_OPEN || socket->connection.series.n_samples < 2)
			continue;
		span->exact_s = fmax(span->exact_s, exact_span_s(socket));
		span->least_s = fmax(span->least_s, least_span_s(socket));
	}
}

static double span_of(struct wr_paste_socket *socket, const struct host_span spans[WR_PASTE_MAX_HOSTS],
		      uint64_t interval_ns)
{
	double exact_s = exact_span_s(socket), other_s = NAN;

	if (interval_ns && interval_ns != WR_UNSET)
		return (double)interval_ns / 1e9 * (double)(socket->connection.series.n_samples - 1);
	if (isnan(exact_s))
		exact_s = spans[socket->host].exact_s;
	for (size_t i = 0; i < WR_PASTE_MAX_HOSTS; i++)
		other_s = fmax(other_s, spans[i].exact_s);
	if (!isnan(exact_s))
		return exact_s;
	socket->bounded = isnan(other_s);
	return socket->bounded ? spans[socket->host].least_s : other_s;
}

int wr_infer_times(struct wr_paste *paste, uint64_t interval_ns, struct weir_err *err)
{
	struct host_span spans[WR_PASTE_MAX_HOSTS];

	host_spans(paste, spans);
	for (size_t i = 0; i < paste->n_hosts; i++) {
		double told = isnan(spans[i].exact_s) ? spans[i].least_s : spans[i].exact_s;

		paste->bounded |= isnan(spans[i].exact_s) && told > 0 && isnan(paste->interval_s);
		paste->bounded &= isnan(spans[i].exact_s);
		paste->interval_s = fmax(paste->interval_s, told);
	}
	if (interval_ns && interval_ns != WR_UNSET) {
		paste->interval_s = (double)interval_ns / 1e9;
		paste->bounded = false;
	}
	for (size_t i = 0; i < paste->n_sockets; i++) {
		struct wr_paste_socket *socket = &paste->sockets[i];
		const struct wr_series *series = &socket->connection.series;
		double age_s = least_span_s(socket);

		/* iperf3 tells the time itself. */
		if (series->n_samples && last_of(socket)->value[WR_M_T_NS] != WR_ABSENT) {
			socket->span_s =
				(double)(last_of(socket)->value[WR_M_T_NS] - first_of(socket)->value[WR_M_T_NS]) / 1e9;
			continue;
		}
		if (add_birth(socket, err) < 0)
			return -1;
		spread(socket, socket->lifetime ? age_s : span_of(socket, spans, interval_ns));
	}
	return 0;
}

/* The other end's only snapshot has a life of its own: over this interval its counts say nothing. */
static void forget_birth(struct wr_paste_socket *socket)
{
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		socket->connection.series.samples[0].value[counts[i]] = WR_ABSENT;
}

static double rate_bps(const struct wr_paste_socket *socket, enum wr_metric_id id, double span_s)
{
	return socket && span_s > 0 ? 8 * wr_infer_delta(socket, id) / span_s : NAN;
}

void wr_infer_span(struct wr_evidence *evidence, struct wr_paste_socket *near, struct wr_paste_socket *far)
{
	struct wr_paste_socket *sender = evidence->plan.reverse ? far : near,
			       *receiver = evidence->plan.reverse ? near : far;
	struct wr_paste_socket *main = sender ? sender : receiver;
	double span_s;

	if (sender && receiver && sender->lifetime != receiver->lifetime) {
		main = sender->lifetime ? receiver : sender;
		forget_birth(sender->lifetime ? sender : receiver);
	}
	span_s = main->span_s;
	if (sender && receiver && main->lifetime)
		span_s = fmax(sender->span_s, receiver->span_s);
	for (int i = 0; i < 2; i++) {
		struct wr_paste_socket *socket = i ? receiver : sender;

		if (socket && socket->span_s != span_s)
			spread(socket, span_s);
	}
	evidence->lifetime = main->lifetime;
	evidence->bounded = main->bounded;
	evidence->steady_from_ns = first_of(main) ? first_of(main)->value[WR_M_T_NS] : 0;
	evidence->steady_to_ns = first_of(main) ? last_of(main)->value[WR_M_T_NS] : 0;
	evidence->steady_bps = rate_bps(receiver, WR_M_BYTES_RECEIVED, span_s);
	if (isnan(evidence->steady_bps))
		evidence->steady_bps = rate_bps(sender, WR_M_BYTES_ACKED, span_s);
	if (isnan(evidence->steady_bps) && sender && last_of(sender))
		evidence->steady_bps = wr_sample_get(last_of(sender), WR_M_DELIVERY_BPS, NAN);
}
