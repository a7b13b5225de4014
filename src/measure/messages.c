/* SPDX-License-Identifier: MIT */
/*
 * Figures of messages. Where messages are rare (five a second, each waiting for a delayed acknowledgement) the edges of
 * the steady interval fall somewhere between two of them, so their rate is counted from one that became whole to another.
 */
#include <math.h>

#include "measure/measure.h"

static double value_at(const struct wr_series *series, int64_t t_ns, enum wr_metric_id id)
{
	const struct wr_sample *sample = wr_series_at(series, t_ns);

	return sample ? wr_sample_get(sample, id, NAN) : NAN;
}

static double sender_delta(const struct wr_evidence *evidence, enum wr_metric_id id)
{
	const struct wr_end *sender = wr_evidence_sender(evidence);
	double sum = 0;

	for (size_t i = 0; i < sender->n_connections; i++)
		sum += value_at(&sender->connections[i].series, evidence->steady_to_ns, id) -
		       value_at(&sender->connections[i].series, evidence->steady_from_ns, id);
	return sum;
}

/* Messages a second of one stream, from the first sample that shows a new one to the last. */
static double stream_rate(const struct wr_series *series, int64_t from_ns, int64_t to_ns)
{
	const struct wr_sample *first = NULL, *last = NULL;

	for (size_t i = 1; i < series->n_samples; i++) {
		const struct wr_sample *sample = &series->samples[i];

		if (sample->value[WR_M_T_NS] < from_ns || sample->value[WR_M_T_NS] > to_ns ||
		    sample->value[WR_M_MESSAGES] == sample[-1].value[WR_M_MESSAGES])
			continue;
		if (!first)
			first = sample;
		last = sample;
	}
	if (!first)
		return 0;
	if (first == last) {
		first = wr_series_at(series, from_ns);
		last = wr_series_at(series, to_ns);
	}
	if (last->value[WR_M_T_NS] <= first->value[WR_M_T_NS])
		return NAN;
	return 1e9 * (double)(last->value[WR_M_MESSAGES] - first->value[WR_M_MESSAGES]) /
	       (double)(last->value[WR_M_T_NS] - first->value[WR_M_T_NS]);
}

static void latency_fill(const struct wr_end *sender, struct wr_result *result)
{
	const uint64_t ns[WR_N_LATENCIES] = {
		[WR_LATENCY_P50] = sender->latency_p50_ns,   [WR_LATENCY_P90] = sender->latency_p90_ns,
		[WR_LATENCY_P99] = sender->latency_p99_ns,   [WR_LATENCY_P999] = sender->latency_p999_ns,
		[WR_LATENCY_MAX] = sender->latency_max_ns,
	};

	for (int i = 0; i < WR_N_LATENCIES; i++)
		result->latency_us[i] = ns[i] == WR_UNSET ? NAN : (double)ns[i] / 1e3;
}

void wr_measure_messages(const struct wr_evidence *evidence, struct wr_result *result)
{
	const struct wr_end *receiver = wr_evidence_receiver(evidence);

	result->bytes_per_segment = sender_delta(evidence, WR_M_BYTES_SENT) / sender_delta(evidence, WR_M_DATA_SEGS_OUT);
	result->messages = result->messages_per_s = 0;
	for (size_t i = 0; i < receiver->n_connections; i++) {
		const struct wr_series *series = &receiver->connections[i].series;

		result->messages += value_at(series, INT64_MAX, WR_M_MESSAGES);
		result->messages_per_s += isnan(result->messages)
						  ? NAN
						  : stream_rate(series, evidence->steady_from_ns, evidence->steady_to_ns);
	}
	latency_fill(wr_evidence_sender(evidence), result);
}
