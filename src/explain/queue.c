/* SPDX-License-Identifier: MIT */
/*
 * Queues of datagrams. A full one reads 0.76 to 1.0 of its buffer, because memory is given back in quarters
 * (net/ipv4/udp.c udp_rmem_release); one that is read empties between bursts.
 */
#include <math.h>
#include <stdio.h>

#include "explain/features.h"

double wr_counters_udp(const struct wr_end *end, const char *name)
{
	char key[32];
	double v4, v6;

	snprintf(key, sizeof key, "Udp%s", name);
	v4 = wr_end_counter(end, key);
	snprintf(key, sizeof key, "Udp6%s", name);
	v6 = wr_end_counter(end, key);
	return isnan(v4) ? v6 : isnan(v6) ? v4 : v4 + v6;
}

static double value(const struct wr_sample *sample, enum wr_metric_id id)
{
	return wr_sample_get(sample, id, NAN);
}

/* Memory of the receive queue; without skmem, and of unix sockets, whose memory is the sender's, its bytes. */
static double held(const struct wr_sample *sample)
{
	return fmax(value(sample, WR_M_RMEM_BYTES), value(sample, WR_M_RECV_Q_BYTES));
}

/* /proc/net/udp beside ss is no further look: only rows with a buffer's size count, where there are such. */
static bool counts(const struct wr_queue *queue, const struct wr_sample *sample)
{
	return isnan(queue->rcvbuf_bytes) || value(sample, WR_M_RCVBUF_BYTES) > 0;
}

static double last_drops(const struct wr_queue *queue, const struct wr_series *series, double *first)
{
	double last = NAN;
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		double drops = value(&series->samples[i], WR_M_DROPS);

		if (isnan(drops) || !counts(queue, &series->samples[i]))
			continue;
		*first = n++ ? *first : drops;
		last = drops;
	}
	/* A single look: since the socket was made. */
	if (n == 1)
		*first = 0;
	return last;
}

static void look(struct wr_queue *queue, const struct wr_series *series)
{
	double first = NAN, before = NAN;

	queue->dropped_ever = last_drops(queue, series, &before);
	queue->dropped = queue->dropped_ever - before;
	queue->same = true;
	for (size_t i = 0; i < series->n_samples; i++) {
		const struct wr_sample *sample = &series->samples[i];
		double bytes = held(sample), sent = value(sample, WR_M_WMEM_BYTES) / value(sample, WR_M_SNDBUF_BYTES);

		if (isnan(bytes) || !counts(queue, sample))
			continue;
		first = isnan(first) ? bytes : first;
		queue->same &= bytes == first && bytes > 0;
		queue->looks++;
		queue->least_ratio = fmin(queue->least_ratio, bytes / queue->rcvbuf_bytes);
		queue->most_ratio = fmax(queue->most_ratio, bytes / queue->rcvbuf_bytes);
		queue->sndbuf_ratio = fmin(queue->sndbuf_ratio, sent);
	}
	queue->same &= queue->looks > 1;
}

static bool queue_of(struct wr_queue *queue, const struct wr_end *end, enum wr_side side)
{
	const struct wr_connection *connection = end->n_connections ? &end->connections[0] : NULL;
	const struct wr_sample *last = connection ? wr_series_at(&connection->series, INT64_MAX) : NULL;

	*queue = (struct wr_queue){.side = side,
				   .dropped = NAN,
				   .dropped_ever = NAN,
				   .rcvbuf_bytes = NAN,
				   .least_ratio = NAN,
				   .most_ratio = NAN,
				   .received = NAN,
				   .sndbuf_ratio = NAN};
	if (!last)
		return false;
	queue->seen = true;
	queue->rcvbuf_bytes = connection->rcvbuf_eff_bytes == WR_UNSET ? NAN : (double)connection->rcvbuf_eff_bytes;
	queue->received = wr_counters_udp(end, "InDatagrams");
	/* nstat leaves out what is 0: where it has counted drops, it has counted these. */
	if (isnan(queue->received) && wr_counters_udp(end, "RcvbufErrors") >= 0)
		queue->received = 0;
	look(queue, &connection->series);
	return true;
}

void wr_queue_init(struct wr_queue *queue, const struct wr_evidence *evidence)
{
	struct wr_queue far;

	queue_of(queue, &evidence->near, WR_SIDE_NEAR);
	if (queue_of(&far, &evidence->far, WR_SIDE_FAR) &&
	    (!queue->seen || far.dropped > queue->dropped || isnan(queue->dropped)))
		*queue = far;
}
