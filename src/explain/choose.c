/* SPDX-License-Identifier: MIT */
/* Which of many sockets loses most. What stalls comes first, then what is surely limited, then size. */
#include "explain/choose.h"

#include <math.h>
#include <string.h>

/* A relay sends on what it reads: about as much. */
#define RELAY_LOW 0.6
#define RELAY_HIGH 1.7
/* Of a packet, where only a count is known. */
#define USUAL_PACKET_BYTES 1000
#define MOST_HOPS 8

static double last_of(const struct wr_end *end, enum wr_metric_id id)
{
	const struct wr_sample *last = end->n_connections ? wr_series_at(&end->connections[0].series, INT64_MAX) : NULL;

	return last ? wr_sample_get(last, id, 0) : 0;
}

static double moved(const struct wr_evidence *evidence)
{
	static const enum wr_metric_id counts[] = {WR_M_BYTES_ACKED, WR_M_BYTES_RECEIVED};
	double most = 0;

	for (int far = 0; far < 2; far++) {
		const struct wr_end *end = far ? &evidence->far : &evidence->near;
		double sum = 0;

		for (size_t i = 0; i < 2 && end->n_connections; i++) {
			double bytes = wr_connection_delta(evidence, &end->connections[0], counts[i]);

			sum += bytes > 0 ? bytes : 0;
		}
		most = fmax(most, sum);
	}
	return most;
}

static double dropped(const struct wr_evidence *evidence)
{
	return USUAL_PACKET_BYTES * fmax(last_of(&evidence->near, WR_M_DROPS), last_of(&evidence->far, WR_M_DROPS));
}

static double waiting(const struct wr_evidence *evidence)
{
	return last_of(&evidence->near, WR_M_SEND_Q_BYTES) + last_of(&evidence->far, WR_M_SEND_Q_BYTES) +
	       last_of(&evidence->near, WR_M_RECV_Q_BYTES) + last_of(&evidence->far, WR_M_RECV_Q_BYTES);
}

static int grade(const struct wr_verdict *verdict)
{
	static const char *const mild[] = {"writer-limited", "ramp-limited", "unknown", "noisy", NULL};

	if (verdict->n_causes == 0 || wr_verdict_is(verdict, "none"))
		return 0;
	for (size_t i = 0; mild[i]; i++) {
		if (wr_verdict_is(verdict, mild[i]))
			return 1;
	}
	return verdict->causes[0].confidence == WR_CONFIDENCE_LOW ? 2 : 3;
}

void wr_weigh(struct wr_weight *weight, const struct wr_evidence *evidence, const struct wr_verdict *verdict)
{
	weight->grade = grade(verdict);
	weight->reads = wr_verdict_is(verdict, "reader-limited");
	weight->bytes = evidence->protocol == WR_TCP ? moved(evidence) : dropped(evidence);
	if (evidence->protocol == WR_TCP && weight->bytes <= 0 && weight->grade > 1) {
		weight->grade = 4;
		weight->bytes = waiting(evidence);
	}
}

/* Whether @next carries on what the reader of @reading takes. */
static bool passes_on(const struct wr_weight *reading, const struct wr_weight *next)
{
	if (next->writer_host == WR_NOWHERE || next->writer_host != reading->reader_host || next->grade < 2)
		return false;
	if (reading->reader_pid && next->writer_pid)
		return reading->reader_pid == next->writer_pid;
	return next->bytes >= RELAY_LOW * reading->bytes && next->bytes <= RELAY_HIGH * reading->bytes;
}

static size_t downstream(const struct wr_weight *weights, size_t n, size_t chosen)
{
	for (int hops = 0; hops < MOST_HOPS && weights[chosen].reads; hops++) {
		size_t next = chosen;

		for (size_t i = 0; i < n && next == chosen; i++) {
			if (i != chosen && passes_on(&weights[chosen], &weights[i]))
				next = i;
		}
		if (next == chosen)
			return chosen;
		chosen = next;
	}
	return chosen;
}

size_t wr_choose(const struct wr_weight *weights, size_t n)
{
	size_t chosen = 0;

	for (size_t i = 1; i < n; i++) {
		if (weights[i].grade > weights[chosen].grade ||
		    (weights[i].grade == weights[chosen].grade && weights[i].bytes > weights[chosen].bytes))
			chosen = i;
	}
	return n ? downstream(weights, n, chosen) : 0;
}
