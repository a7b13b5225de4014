/* SPDX-License-Identifier: MIT */
/*
 * Runs and their figures. The clock of each end starts when it hears "go", half a round trip apart; the receiver's
 * clock judges rates, the sender's samples are read at the same offsets, which differ by far less than the
 * interval that is judged.
 */
#include "measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "stat/steady.h"
#include "stat/summary.h"

/* The receiver's streams added up, sample by sample. */
struct total {
	uint64_t *t_ns, *bytes;
	size_t n;
};

static void total_deinit(struct total *total)
{
	free(total->t_ns);
	free(total->bytes);
}

static int total_init(struct total *total, const struct wr_end *end, struct weir_err *err)
{
	size_t n = end->n_connections ? end->connections[0].series.n_samples : 0;

	for (size_t i = 1; i < end->n_connections; i++) {
		if (end->connections[i].series.n_samples < n)
			n = end->connections[i].series.n_samples;
	}
	total->n = n;
	total->t_ns = calloc(n + 1, sizeof *total->t_ns);
	total->bytes = calloc(n + 1, sizeof *total->bytes);
	if (!total->t_ns || !total->bytes)
		return wr_err_memory(err, "samples");
	for (size_t j = 0; j < n; j++) {
		int64_t t_ns = end->connections[0].series.samples[j].value[WR_M_T_NS];

		total->t_ns[j] = t_ns > 0 ? (uint64_t)t_ns : 0;
		for (size_t i = 0; i < end->n_connections; i++)
			total->bytes[j] += (uint64_t)wr_sample_get(&end->connections[i].series.samples[j], WR_M_BYTES, 0);
	}
	return 0;
}

/* A transfer of so many bytes or messages ends with its last byte, not when the ends have agreed that it did. */
static void total_trim(struct total *total, const struct wr_plan *plan)
{
	if (wr_work_ends(plan)) {
		while (total->n > 2 && total->bytes[total->n - 2] == total->bytes[total->n - 1])
			total->n--;
		return;
	}
	/* Samples taken while the ends were stopping don't count. */
	while (total->n > 2 && plan->duration_ns != WR_UNSET && total->t_ns[total->n - 1] > plan->duration_ns)
		total->n--;
}

static double evidence_min_rtt_us(const struct wr_evidence *evidence)
{
	const struct wr_end *sender = wr_evidence_sender(evidence);
	double min_us = evidence->path_rtt_ns > 0 ? (double)evidence->path_rtt_ns / 1e3 : INFINITY;

	for (size_t i = 0; i < sender->n_connections; i++) {
		const struct wr_series *series = &sender->connections[i].series;
		double us = series->n_samples ? wr_sample_get(&series->samples[series->n_samples - 1], WR_M_MIN_RTT_US, INFINITY)
					      : INFINITY;

		/* The kernel says UINT_MAX before its first measurement. */
		if (us > 0 && us < 4e9)
			min_us = fmin(min_us, us);
	}
	return isfinite(min_us) ? min_us : 0;
}

int wr_measure_judge(struct wr_evidence *evidence, struct weir_err *err)
{
	struct total total = {0};
	struct wr_stat_steady steady;
	int outcome;

	if (total_init(&total, wr_evidence_receiver(evidence), err) < 0) {
		total_deinit(&total);
		return -1;
	}
	total_trim(&total, &evidence->plan);
	outcome = wr_stat_steady(&steady, total.t_ns, total.bytes, total.n, (uint64_t)(evidence_min_rtt_us(evidence) * 1e3));
	evidence->steady_to_ns = total.n ? (int64_t)total.t_ns[total.n - 1] : 0;
	evidence->ramping = outcome == WR_STAT_STEADY_RAMPING || outcome == WR_STAT_STEADY_SHORT;
	if (outcome == WR_STAT_STEADY_FOUND)
		evidence->steady_from_ns = (int64_t)steady.start_ns;
	else
		evidence->steady_from_ns = total.n && outcome != WR_STAT_STEADY_STALLED ? (int64_t)total.t_ns[0] : 0;
	evidence->steady_bps = wr_stat_rate_between(total.t_ns, total.bytes, total.n, (uint64_t)evidence->steady_from_ns,
						    (uint64_t)evidence->steady_to_ns);
	if (isnan(evidence->steady_bps))
		evidence->steady_bps = 0;
	total_deinit(&total);
	return 0;
}

double wr_measure_rate(const struct wr_evidence *evidence, int64_t from_ns, int64_t to_ns)
{
	struct total total = {0};
	double bps = NAN;

	if (total_init(&total, wr_evidence_receiver(evidence), NULL) == 0)
		bps = wr_stat_rate_between(total.t_ns, total.bytes, total.n, (uint64_t)from_ns, (uint64_t)to_ns);
	total_deinit(&total);
	return bps;
}

static double slope(const struct total *total, uint64_t from_ns, uint64_t to_ns)
{
	double n = 0, sum_t = 0, sum_b = 0, sum_tt = 0, sum_tb = 0;

	for (size_t i = 0; i < total->n; i++) {
		double t, bytes;

		if (total->t_ns[i] < from_ns || total->t_ns[i] > to_ns)
			continue;
		t = (double)(total->t_ns[i] - from_ns) / 1e9;
		bytes = (double)(total->bytes[i] - total->bytes[0]);
		n++;
		sum_t += t;
		sum_b += bytes;
		sum_tt += t * t;
		sum_tb += t * bytes;
	}
	return n < 8 ? NAN : 8 * (n * sum_tb - sum_t * sum_b) / (n * sum_tt - sum_t * sum_t);
}

double wr_measure_slope(const struct wr_evidence *evidence, int64_t from_ns, int64_t to_ns)
{
	struct total total = {0};
	double bps = NAN;

	if (total_init(&total, wr_evidence_receiver(evidence), NULL) == 0)
		bps = slope(&total, (uint64_t)from_ns, (uint64_t)to_ns);
	total_deinit(&total);
	return bps;
}

double wr_measure_rtt_us(const struct wr_evidence *evidence, int64_t from_ns, int64_t to_ns)
{
	const struct wr_end *sender = wr_evidence_sender(evidence);
	const struct wr_series *series = sender->n_connections ? &sender->connections[0].series : NULL;
	wr_auto_free double *rtts = NULL;
	size_t n = 0;

	if (!series || !series->n_samples)
		return NAN;
	rtts = calloc(2 * series->n_samples, sizeof *rtts);
	if (!rtts)
		return NAN;
	for (size_t i = 0; i < series->n_samples; i++) {
		const struct wr_sample *sample = &series->samples[i];

		if (sample->value[WR_M_T_NS] >= from_ns && sample->value[WR_M_T_NS] <= to_ns &&
		    sample->value[WR_M_RTT_US] > 0)
			rtts[n++] = (double)sample->value[WR_M_RTT_US];
	}
	return wr_stat_quantile(rtts, n, 0.5, rtts + series->n_samples);
}

static double cpu_ratio(const struct wr_end *end, int64_t from_ns, int64_t to_ns)
{
	double most = -1;

	for (size_t i = 0; i < end->n_connections; i++) {
		const struct wr_sample *from = wr_series_at(&end->connections[i].series, from_ns);
		const struct wr_sample *to = wr_series_at(&end->connections[i].series, to_ns);

		if (!from || !to || from->value[WR_M_CPU_NS] == WR_ABSENT || to->value[WR_M_CPU_NS] == WR_ABSENT ||
		    to->value[WR_M_T_NS] <= from->value[WR_M_T_NS])
			continue;
		most = fmax(most, (double)(to->value[WR_M_CPU_NS] - from->value[WR_M_CPU_NS]) /
					  (double)(to->value[WR_M_T_NS] - from->value[WR_M_T_NS]));
	}
	return most;
}

static void interval_fill(const struct wr_evidence *evidence, const struct total *total, int64_t from_ns, int64_t to_ns,
			  struct wr_interval *interval)
{
	const struct wr_end *sender = wr_evidence_sender(evidence);
	double before = 0, after = 0;

	memset(interval, 0, sizeof *interval);
	interval->start_s = (double)from_ns / 1e9;
	interval->end_s = (double)to_ns / 1e9;
	interval->throughput_bps =
		wr_stat_rate_between(total->t_ns, total->bytes, total->n, (uint64_t)from_ns, (uint64_t)to_ns);
	for (size_t i = 0; i < sender->n_connections; i++) {
		const struct wr_sample *from = wr_series_at(&sender->connections[i].series, from_ns);
		const struct wr_sample *to = wr_series_at(&sender->connections[i].series, to_ns);

		if (!from || !to)
			continue;
		before += wr_sample_get(from, WR_M_TOTAL_RETRANS_SEGS, 0);
		after += wr_sample_get(to, WR_M_TOTAL_RETRANS_SEGS, 0);
		interval->cwnd_segs += wr_sample_get(to, WR_M_CWND_SEGS, 0);
		interval->rtt_us = fmax(interval->rtt_us, wr_sample_get(to, WR_M_RTT_US, 0));
	}
	interval->retrans_segs = after - before;
}

static void intervals_fill(const struct wr_evidence *evidence, const struct total *total, struct wr_result *result)
{
	int64_t end_ns = total->n ? (int64_t)total->t_ns[total->n - 1] : 0, step = (int64_t)evidence->plan.interval_ns;

	if (step < end_ns / WR_MAX_INTERVALS)
		step = end_ns / WR_MAX_INTERVALS + 1;
	for (int64_t from = 0; from < end_ns && result->n_intervals < WR_MAX_INTERVALS; from += step) {
		int64_t to = from + step < end_ns ? from + step : end_ns;

		/* A rest that short says nothing, unless it is all there is. */
		if (from > 0 && from + step / 4 >= end_ns)
			break;
		interval_fill(evidence, total, from, to, &result->intervals[result->n_intervals++]);
	}
}

static void streams_fill(const struct wr_evidence *evidence, struct wr_result *result)
{
	const struct wr_end *receiver = wr_evidence_receiver(evidence);

	result->n_streams = receiver->n_connections;
	for (size_t i = 0; i < receiver->n_connections; i++) {
		const struct wr_series *series = &receiver->connections[i].series;
		const struct wr_sample *from = wr_series_at(series, evidence->steady_from_ns);
		const struct wr_sample *to = wr_series_at(series, evidence->steady_to_ns);

		if (!from || !to)
			continue;
		result->stream_bytes[i] = (uint64_t)wr_sample_get(&series->samples[series->n_samples - 1], WR_M_BYTES, 0);
		result->bytes += result->stream_bytes[i];
		if (to->value[WR_M_T_NS] > from->value[WR_M_T_NS])
			result->stream_bps[i] = 8e9 * (double)(to->value[WR_M_BYTES] - from->value[WR_M_BYTES]) /
						(double)(to->value[WR_M_T_NS] - from->value[WR_M_T_NS]);
	}
}

/* What is 0 was not to be had. */
static double known(double value)
{
	return value > 0 ? value : NAN;
}

int wr_measure_result(const struct wr_evidence *evidence, struct wr_result *result, struct weir_err *err)
{
	const struct wr_end *sender = wr_evidence_sender(evidence);
	int64_t from = evidence->steady_from_ns, to = evidence->steady_to_ns;
	struct total total = {0};

	memset(result, 0, sizeof *result);
	if (total_init(&total, wr_evidence_receiver(evidence), err) < 0) {
		total_deinit(&total);
		return -1;
	}
	total_trim(&total, &evidence->plan);
	result->throughput_bps = evidence->steady_bps;
	result->rtt_min_us = known(evidence_min_rtt_us(evidence));
	result->transfer_s = total.n ? (double)total.t_ns[total.n - 1] / 1e9 : 0;
	result->rtt_loaded_us = wr_measure_rtt_us(evidence, from, to);
	result->mss_bytes = known(sender->n_connections ? (double)sender->connections[0].mss_bytes : 0);
	result->cpu_ratio_near = cpu_ratio(&evidence->near, from, to);
	result->cpu_ratio_far = cpu_ratio(&evidence->far, from, to);
	intervals_fill(evidence, &total, result);
	streams_fill(evidence, result);
	wr_measure_messages(evidence, result);
	total_deinit(&total);
	return 0;
}

/* What near itself knows of the running transfer, for a progress line. */
static uint64_t near_bytes(const struct wr_run *run)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < run->near.crew.n_streams; i++)
		bytes += wr_end_run_bytes(&run->near, i);
	return bytes;
}

#define MAX_TICKS 256
/* Growth from the third quarter to the last one that means "still in the ramp". */
#define GROWTH_RATIO 1.15

/* What was reported so far: receiver's bytes at times of its clock, the first at 0. */
struct ticker {
	int64_t t_ns[MAX_TICKS];
	uint64_t bytes[MAX_TICKS];
	size_t n;
	double retrans;
};

/* Near's view of a sender at an interval's end. */
static void near_sender(const struct wr_run *run, struct ticker *ticker, struct wr_interval *interval)
{
	double retrans = 0;

	for (size_t i = 0; i < run->near.crew.n_streams; i++) {
		struct wr_sample sample;

		run->near.transport->sample(&run->near.crew.streams[i].channel, &sample);
		interval->rtt_us = fmax(interval->rtt_us, wr_sample_get(&sample, WR_M_RTT_US, 0));
		interval->cwnd_segs += wr_sample_get(&sample, WR_M_CWND_SEGS, 0);
		retrans += wr_sample_get(&sample, WR_M_TOTAL_RETRANS_SEGS, 0);
	}
	interval->retrans_segs = retrans - ticker->retrans;
	ticker->retrans = retrans;
}

/* Return: false when the caller wants the run to end. */
static bool tick(struct ticker *ticker, const struct wr_run *run, const struct wr_measure_watch *watch)
{
	int64_t t_ns = run->plan.reverse ? wr_run_now_ns(run) : run->far.t_ns, from_ns = ticker->t_ns[ticker->n - 1];
	uint64_t bytes = run->plan.reverse ? near_bytes(run) : run->far.bytes, from_bytes = ticker->bytes[ticker->n - 1];
	struct wr_interval interval = {.start_s = (double)from_ns / 1e9, .end_s = (double)t_ns / 1e9};

	if (t_ns <= from_ns)
		return true;
	if (ticker->n == MAX_TICKS) {
		memmove(ticker->t_ns, ticker->t_ns + 1, (MAX_TICKS - 1) * sizeof *ticker->t_ns);
		memmove(ticker->bytes, ticker->bytes + 1, (MAX_TICKS - 1) * sizeof *ticker->bytes);
		ticker->n--;
	}
	ticker->t_ns[ticker->n] = t_ns;
	ticker->bytes[ticker->n++] = bytes;
	interval.throughput_bps = 8e9 * (double)(bytes - from_bytes) / (double)(t_ns - from_ns);
	if (!run->plan.reverse)
		near_sender(run, ticker, &interval);
	return !watch || !watch->progress || watch->progress(watch->context, &interval, bytes);
}

static double ticks_bps(const struct ticker *ticker, size_t from, size_t to)
{
	return 8e9 * (double)(ticker->bytes[to] - ticker->bytes[from]) / (double)(ticker->t_ns[to] - ticker->t_ns[from]);
}

static bool still_growing(const struct ticker *ticker)
{
	size_t quarter = ticker->n / 4, last = ticker->n - 1;

	return quarter >= 2 && ticks_bps(ticker, last - quarter, last) >
				       GROWTH_RATIO * ticks_bps(ticker, last - 2 * quarter, last - quarter);
}

/* Let the run go on to its end, and while its rate grows by up to what @watch grants. Return: as wr_run_wait. */
static int go_on(struct wr_run *run, const struct wr_measure_watch *watch, struct weir_err *err)
{
	int64_t step_ns = (int64_t)run->plan.duration_ns / 2, left_ns = watch ? watch->extend_ns : 0;
	struct ticker ticker = {.n = 1};
	int rc;

	for (;;) {
		rc = wr_run_wait(run, run->plan.duration_ns != WR_UNSET ? (int64_t)run->plan.duration_ns : INT64_MAX / 2, err);
		if (rc == 1 && !tick(&ticker, run, watch))
			return 3;
		if (rc == 0 && step_ns <= left_ns && still_growing(&ticker)) {
			run->plan.duration_ns += (uint64_t)step_ns;
			left_ns -= step_ns;
		} else if (rc != 1) {
			return rc;
		}
	}
}

int wr_measure_run(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_measure_watch *watch,
		   struct wr_evidence *evidence, struct weir_err *err)
{
	struct wr_plan timed = *plan;
	struct wr_run run;
	int rc;

	if (timed.duration_ns == WR_UNSET && !wr_work_ends(&timed))
		timed.duration_ns = WR_DEFAULT_DURATION_NS;
	if (wr_run_start(&run, peer, &timed, err) < 0)
		return -1;
	rc = go_on(&run, watch, err);
	if (rc < 0) {
		wr_run_abandon(&run);
		return -1;
	}
	if (wr_run_stop(&run, evidence, err) < 0)
		return -1;
	evidence->complete = rc != 3;
	if (wr_measure_judge(evidence, err) == 0)
		return 0;
	wr_evidence_deinit(evidence);
	return -1;
}
