/* SPDX-License-Identifier: MIT */
/*
 * From samples to features. Which sign means what, and where each misleads, is docs/methodology.md; the short form:
 * sndbuf_limited of the kernel misses most send-buffer-limited flows (its chronograph runs only while the queue is
 * empty at a transmit), so the writer's own waiting is looked at; rwnd_limited is exact under cubic and low under
 * pacing, so in flight against the window is looked at too; both signs appear on a full path as well, so R decides.
 */
#include "explain/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "stat/summary.h"

#define UNSENT_MSS 4
#define FULL_WINDOW_RATIO 0.85
#define FULL_CWND_RATIO 0.9
/* R below: the buffer or window is the limit; above: the path is full. */
#define R_LIMIT 1.25
#define R_PATH 1.6
/* A pipe that never holds less than this many times what it drains in a round trip never runs empty. */
#define R_LOW_PATH 1.15
/* ... and one that at times holds no more than it drains does run empty, however bursty the writes. */
#define R_LOW_LIMIT 1.08
/*
 * Under pacing a writer short of buffer space still shows unsent data between two paced bursts: with bbr 39-55 % of
 * the waiting has less than 4 MSS unsent below the knee, 0-8 % above it (100 Mbit/s, 20 ms, SO_SNDBUF 32K to 400K).
 */
#define PACED_STARVED_RATIO 0.2
#define RECOVERY_STATE 3
/* A reader's queue that fills half of its buffer on the mean, with the window shut now and then. */
#define UNREAD_STANDS_RATIO 0.5
#define LEAST_WINDOW_RATIO 0.05
/* A pipe of fewer segments says nothing by R: on loopback the minimum RTT is the clock's own grain. */
#define LEAST_PIPE_MSS 2
/* Largest window that a scale of 0 can say. */
#define WINDOW_FIELD_MAX 65535.0
#define AT_SCALE_RATIO 0.95
#define QUEUE_RATIO 1.25
#define LEAST_QUEUE_MSS 4
/* A pipe of less than two segments makes no R; with both ends seen, a delay that the path has not by itself tells as well. */
#define SHORT_PIPE_RATIO 2
#define SHORT_PIPE_QUEUE_US 2000
#define LONG_QUEUE_RATIO 1.5
#define LONG_QUEUE_US 5000
/* A queue that drops so much of what comes is no queue that one can see from here. */
#define QUEUE_LOSS_RATIO 0.05
/* Fewer instants than that are no mean over time. */
#define FEW_LOOKS 20

/* A buffer of fewer writes, for which the writer waits for so much of the time, makes both threads work more a byte. */
#define TIGHT_WRITES 2
#define TIGHT_WAITED_RATIO 0.5
/* A reader that works longer is the limit itself. */
#define READER_BUSY_RATIO 0.9

/* Sums over the samples of all connections, and columns for quantiles. */
struct sums {
	size_t n, n_idle;
	double stop[WR_N_STOPS];
	double in_flight, cwnd, window, window_ratio, notsent, blocked, wmem_ratio, cwnd_full, recovery;
	size_t n_window;
	double *rtts, *in_flights, *scratch;
};

double wr_in_flight_bytes(const struct wr_sample *sample)
{
	double segs = wr_sample_get(sample, WR_M_UNACKED_SEGS, 0) - wr_sample_get(sample, WR_M_SACKED_SEGS, 0) -
		      wr_sample_get(sample, WR_M_LOST_SEGS, 0) + wr_sample_get(sample, WR_M_RETRANS_SEGS, 0);

	return fmax(segs, 0) * wr_sample_get(sample, WR_M_SND_MSS_BYTES, 0);
}

static enum wr_stop classify(const struct wr_case *judged, const struct wr_sample *sample)
{
	double mss = wr_sample_get(sample, WR_M_SND_MSS_BYTES, 1), in_flight = wr_in_flight_bytes(sample);
	double notsent = wr_sample_get(sample, WR_M_NOTSENT_BYTES, 0);
	double window = wr_sample_get(sample, WR_M_SND_WND_BYTES, INFINITY);
	double cwnd = wr_sample_get(sample, WR_M_CWND_SEGS, 0) * mss;
	bool blocked = sample->value[WR_M_BLOCKED] == 1, starved = notsent < UNSENT_MSS * mss;

	if (judged->evidence->outside)
		return wr_outside_stop(judged, sample);
	if (!starved && in_flight >= FULL_WINDOW_RATIO * window)
		return WR_STOP_WINDOW;
	if (blocked && starved)
		return WR_STOP_SNDBUF;
	if (!blocked && starved && in_flight < FULL_CWND_RATIO * cwnd)
		return WR_STOP_WRITER;
	return WR_STOP_NETWORK;
}

static void sums_add(struct sums *sums, const struct wr_case *judged, const struct wr_sample *sample)
{
	double mss = wr_sample_get(sample, WR_M_SND_MSS_BYTES, 0), in_flight = wr_in_flight_bytes(sample);
	double cwnd = wr_sample_get(sample, WR_M_CWND_SEGS, 0) * mss;
	double window = wr_sample_get(sample, WR_M_SND_WND_BYTES, NAN);
	double sndbuf = wr_sample_get(sample, WR_M_SNDBUF_BYTES, NAN);
	enum wr_stop stop = classify(judged, sample);

	/* A socket that is idle when somebody looks says nothing of what stops it when it isn't. */
	if (stop == WR_N_STOPS) {
		sums->n_idle++;
		return;
	}
	sums->stop[stop]++;
	sums->rtts[sums->n] = wr_sample_get(sample, WR_M_RTT_US, 0);
	sums->in_flights[sums->n] = in_flight;
	sums->n++;
	sums->in_flight += in_flight;
	sums->cwnd += cwnd;
	sums->notsent += wr_sample_get(sample, WR_M_NOTSENT_BYTES, 0);
	sums->blocked += sample->value[WR_M_BLOCKED] == 1;
	sums->cwnd_full += in_flight >= FULL_CWND_RATIO * cwnd;
	sums->recovery += wr_sample_get(sample, WR_M_CA_STATE, 0) >= RECOVERY_STATE;
	if (sndbuf > 0)
		sums->wmem_ratio += wr_sample_get(sample, WR_M_WMEM_QUEUED_BYTES, 0) / sndbuf;
	if (window >= 0) {
		sums->n_window++;
		sums->window += window;
		sums->window_ratio += window > 0 ? fmin(in_flight / window, 1.5) : 1;
	}
}

static bool in_steady(const struct wr_evidence *evidence, const struct wr_sample *sample)
{
	return sample->value[WR_M_T_NS] >= evidence->steady_from_ns && sample->value[WR_M_T_NS] <= evidence->steady_to_ns;
}

/* The mean of a metric over the steady samples of an end, NaN without any. */
static double metric_mean(const struct wr_case *judged, const struct wr_end *end, enum wr_metric_id id)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < end->n_connections; i++) {
		const struct wr_series *series = &end->connections[i].series;

		for (size_t j = 0; j < series->n_samples; j++) {
			const struct wr_sample *sample = &series->samples[j];

			if (!in_steady(judged->evidence, sample) || sample->value[id] == WR_ABSENT)
				continue;
			sum += (double)sample->value[id];
			n++;
		}
	}
	return n ? sum / (double)n : NAN;
}

static int sums_init(struct sums *sums, const struct wr_case *judged, struct weir_err *err)
{
	size_t most = 1;

	for (size_t i = 0; i < judged->sender->n_connections; i++)
		most += judged->sender->connections[i].series.n_samples;
	sums->rtts = calloc(3 * most, sizeof *sums->rtts);
	if (!sums->rtts)
		return wr_err_memory(err, "features");
	sums->in_flights = sums->rtts + most;
	sums->scratch = sums->rtts + 2 * most;
	for (size_t i = 0; i < judged->sender->n_connections; i++) {
		const struct wr_series *series = &judged->sender->connections[i].series;

		for (size_t j = 0; j < series->n_samples; j++) {
			if (in_steady(judged->evidence, &series->samples[j]) &&
			    (!judged->evidence->outside || wr_sample_is_state(&series->samples[j])))
				sums_add(sums, judged, &series->samples[j]);
		}
	}
	return 0;
}

static double mean(double sum, size_t n)
{
	return n ? sum / (double)n : NAN;
}

double wr_connection_delta(const struct wr_evidence *evidence, const struct wr_connection *connection, enum wr_metric_id id)
{
	const struct wr_series *series = &connection->series;
	const struct wr_sample *from = wr_series_at(series, evidence->steady_from_ns);
	const struct wr_sample *to = wr_series_at(series, evidence->steady_to_ns);

	/* Snapshots whose times nobody knows are still one after the other. */
	if (evidence->outside && series->n_samples) {
		from = series->samples;
		to = &series->samples[series->n_samples - 1];
	}

	if (!from || !to || from->value[id] == WR_ABSENT || to->value[id] == WR_ABSENT)
		return NAN;
	return (double)(to->value[id] - from->value[id]);
}

static double delta(const struct wr_case *judged, const struct wr_connection *connection, enum wr_metric_id id)
{
	return wr_connection_delta(judged->evidence, connection, id);
}

static double delta_sum(const struct wr_case *judged, const struct wr_end *end, enum wr_metric_id id)
{
	double sum = 0;

	for (size_t i = 0; i < end->n_connections; i++)
		sum += delta(judged, &end->connections[i], id);
	return sum;
}

/* A chronograph of the kernel in us, as a mean share of wall time over the connections. */
static double chronograph(const struct wr_case *judged, enum wr_metric_id id)
{
	double wall_us = judged->features.seconds * 1e6;

	return judged->sender->n_connections ? delta_sum(judged, judged->sender, id) / wall_us /
						       (double)judged->sender->n_connections
					     : NAN;
}

static void from_sums(struct wr_case *judged, struct sums *sums)
{
	struct wr_features *f = &judged->features;

	f->n_samples = sums->n;
	for (int stop = 0; stop < WR_N_STOPS; stop++)
		f->stop_ratio[stop] = sums->n ? sums->stop[stop] / (double)sums->n : 0;
	f->in_flight_bytes = mean(sums->in_flight, sums->n);
	f->cwnd_bytes = mean(sums->cwnd, sums->n);
	f->notsent_bytes = mean(sums->notsent, sums->n);
	f->blocked_ratio = mean(sums->blocked, sums->n);
	f->cwnd_full_ratio = mean(sums->cwnd_full, sums->n);
	f->recovery_ratio = mean(sums->recovery, sums->n);
	f->wmem_queued_ratio = mean(sums->wmem_ratio, sums->n);
	f->window_bytes = mean(sums->window, sums->n_window);
	f->window_ratio = mean(sums->window_ratio, sums->n_window);
	f->rtt_us = wr_stat_quantile(sums->rtts, sums->n, 0.5, sums->scratch);
	f->in_flight_low_ratio = wr_stat_quantile(sums->in_flights, sums->n, 0.1, sums->scratch);
}

static double smallest_rtt_us(const struct wr_case *judged)
{
	double us = judged->evidence->path_rtt_ns > 0 ? (double)judged->evidence->path_rtt_ns / 1e3 : INFINITY;

	for (size_t i = 0; i < judged->sender->n_connections; i++) {
		const struct wr_sample *last = wr_series_at(&judged->sender->connections[i].series, INT64_MAX);
		double seen = last ? wr_sample_get(last, WR_M_MIN_RTT_US, INFINITY) : INFINITY;

		if (seen > 0 && seen < 4e9)
			us = fmin(us, seen);
	}
	return isfinite(us) ? us : NAN;
}

static void rates(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;
	double sent, carried_bps, n = (double)judged->sender->n_connections;
	bool standing;

	f->goodput_bps = judged->evidence->steady_bps;
	f->busy_ratio = chronograph(judged, WR_M_BUSY_US);
	f->rwnd_ratio = chronograph(judged, WR_M_RWND_US);
	f->sndbuf_ratio = chronograph(judged, WR_M_SNDBUF_US);
	sent = delta_sum(judged, judged->sender, WR_M_BYTES_SENT);
	f->loss_ratio = sent > 0 ? delta_sum(judged, judged->sender, WR_M_BYTES_RETRANS) / sent : 0;
	/* Before 4.19 segments are all there is. */
	if (judged->evidence->outside && !(sent > 0)) {
		sent = delta_sum(judged, judged->sender, WR_M_DATA_SEGS_OUT);
		f->loss_ratio = sent > 0 ? delta_sum(judged, judged->sender, WR_M_TOTAL_RETRANS_SEGS) / sent : 0;
	}
	f->timeouts = delta_sum(judged, judged->sender, WR_M_TOTAL_RTO);
	f->min_rtt_us = smallest_rtt_us(judged);
	f->queue_ratio = f->rtt_us / f->min_rtt_us;
	f->queue_us = fmax(f->rtt_us - f->min_rtt_us, 0);
	/* A connection that was idle for a part of the interval carried its bytes in the rest. */
	carried_bps = judged->evidence->outside && f->busy_ratio > 0 ? f->goodput_bps / fmin(f->busy_ratio, 1) : f->goodput_bps;
	f->in_flight_ratio = f->in_flight_bytes * n * 8 / (carried_bps * f->min_rtt_us / 1e6);
	f->in_flight_low_ratio *= n * 8 / (carried_bps * f->min_rtt_us / 1e6);
	f->n_connections = n;
	f->ratio_valid = carried_bps * f->min_rtt_us / 8e6 >= LEAST_PIPE_MSS * f->mss_bytes * n;
	/* Two looks are no mean: a burst shows in one of them. The RTT, which the kernel smooths, is then the better witness. */
	if (judged->evidence->outside && f->n_samples < FEW_LOOKS) {
		f->in_flight_ratio = fmin(f->in_flight_ratio, f->queue_ratio);
		f->in_flight_low_ratio = fmin(f->in_flight_low_ratio, f->in_flight_ratio);
	}
	/*
	 * What is under way beyond what the path holds must be more than acknowledgements on their way explain. Where others share
	 * the path, the little that one connection carries makes no R; its delay is beyond doubt.
	 */
	standing = judged->evidence->outside ||
		   f->in_flight_bytes * n - carried_bps * f->min_rtt_us / 8e6 >= LEAST_QUEUE_MSS * f->mss_bytes * n;
	f->queued = f->ratio_valid ? standing && (f->queue_ratio >= QUEUE_RATIO || f->in_flight_ratio >= QUEUE_RATIO)
				   : judged->evidence->outside && f->queue_ratio >= LONG_QUEUE_RATIO && f->queue_us >= LONG_QUEUE_US &&
					     f->loss_ratio < QUEUE_LOSS_RATIO;
	if (!f->ratio_valid) {
		f->path_full = !judged->evidence->outside && standing && f->queue_ratio >= SHORT_PIPE_RATIO &&
			       f->queue_us >= SHORT_PIPE_QUEUE_US;
		f->queued = f->queued || f->path_full;
		return;
	}
	if (!standing)
		return;
	f->path_full = f->in_flight_ratio > R_PATH || (f->in_flight_ratio > R_LIMIT && f->in_flight_low_ratio > R_LOW_PATH);
	f->doubt = !f->path_full && f->in_flight_ratio > R_LIMIT && f->in_flight_low_ratio > R_LOW_LIMIT;
}

static void busiest(const struct wr_case *judged, const struct wr_end *end, double *cpu_ratio, double *wait_ratio)
{
	*cpu_ratio = *wait_ratio = NAN;
	for (size_t i = 0; i < end->n_connections; i++) {
		double cpu = delta(judged, &end->connections[i], WR_M_CPU_NS) / 1e9 / judged->features.seconds;
		double wait = delta(judged, &end->connections[i], WR_M_RUNQ_NS) / 1e9 / judged->features.seconds;

		if (isnan(*cpu_ratio) || cpu > *cpu_ratio) {
			*cpu_ratio = cpu;
			*wait_ratio = isnan(wait) ? 0 : wait;
		}
	}
}

static void receiver_features(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < judged->receiver->n_connections; i++) {
		const struct wr_series *series = &judged->receiver->connections[i].series;

		for (size_t j = 0; j < series->n_samples; j++) {
			const struct wr_sample *sample = &series->samples[j];
			double rcvbuf = wr_sample_get(sample, WR_M_RCVBUF_BYTES, 0);

			if (!in_steady(judged->evidence, sample) || rcvbuf <= 0)
				continue;
			sum += wr_sample_get(sample, WR_M_RMEM_BYTES, 0) / rcvbuf;
			f->rcvbuf_eff_bytes = fmax(f->rcvbuf_eff_bytes, rcvbuf);
			n++;
		}
	}
	f->receive_queue_ratio = mean(sum, n);
	for (size_t i = 0; i < judged->receiver->n_counters; i++) {
		if (strcmp(judged->receiver->counters[i].name, "TCPToZeroWindowAdv") == 0)
			f->zero_windows = (double)judged->receiver->counters[i].delta;
	}
}

static void sender_state(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;
	const struct wr_connection *first = judged->sender->n_connections ? &judged->sender->connections[0] : NULL;
	const struct wr_sample *from, *to;

	if (!first || !first->series.n_samples)
		return;
	from = wr_series_at(&first->series, judged->evidence->steady_from_ns);
	to = wr_series_at(&first->series, judged->evidence->steady_to_ns);
	f->mss_bytes = (double)first->mss_bytes;
	f->bbr = strncmp(first->congestion, "bbr", 3) == 0;
	f->sndbuf_eff_bytes = wr_sample_get(to, WR_M_SNDBUF_BYTES, NAN);
	f->slow_start = to->value[WR_M_CWND_SEGS] < to->value[WR_M_SSTHRESH_SEGS];
	f->cwnd_growth_ratio = wr_sample_get(to, WR_M_CWND_SEGS, NAN) / wr_sample_get(from, WR_M_CWND_SEGS, NAN) - 1;
}

bool wr_case_reader_is_busy(const struct wr_case *judged)
{
	const struct wr_features *f = &judged->features;

	return !f->tight && f->receiver_cpu_ratio + f->receiver_wait_ratio >= READER_BUSY_RATIO;
}

/* What is known of any connection. */
static void plain_features(struct wr_case *judged)
{
	struct wr_features *f = &judged->features;
	bool at_sender = judged->sender->n_connections && judged->sender->connections[0].sndbuf_option[0];

	f->waited_ratio = delta_sum(judged, judged->sender, WR_M_BLOCKED_NS) / 1e9 / f->seconds /
			  (double)judged->sender->n_connections;
	f->queued_ratio = metric_mean(judged, judged->sender, WR_M_WMEM_BYTES) / f->sndbuf_eff_bytes;
	f->unread_bytes = metric_mean(judged, judged->receiver, WR_M_UNREAD_BYTES);
	f->tight = f->waited_ratio >= TIGHT_WAITED_RATIO &&
		   (at_sender ? f->sndbuf_eff_bytes : f->rcvbuf_eff_bytes) < TIGHT_WRITES * (double)judged->sender->write_bytes;
}

/* The window share is seen by samples and by the kernel's own clock; the larger counts, at the network's cost. */
static void settle_window_share(struct wr_features *f)
{
	double missing = isnan(f->rwnd_ratio) ? 0 : fmin(f->rwnd_ratio, 1) - f->stop_ratio[WR_STOP_WINDOW];

	/* What a reader lets through in gusts crosses the network in gusts: while its queue stands, the pace is the reader's. */
	if (f->receive_queue_ratio >= UNREAD_STANDS_RATIO && f->stop_ratio[WR_STOP_WINDOW] >= LEAST_WINDOW_RATIO)
		missing = 1;
	if (!(missing > 0))
		return;
	missing = fmin(missing, f->stop_ratio[WR_STOP_NETWORK]);
	f->stop_ratio[WR_STOP_WINDOW] += missing;
	f->stop_ratio[WR_STOP_NETWORK] -= missing;
}

static void settle_sndbuf_share(struct wr_features *f)
{
	double waiting = f->stop_ratio[WR_STOP_SNDBUF] + f->stop_ratio[WR_STOP_NETWORK];

	if (!f->bbr || f->blocked_ratio < 0.9 || f->stop_ratio[WR_STOP_SNDBUF] < PACED_STARVED_RATIO * waiting)
		return;
	f->stop_ratio[WR_STOP_SNDBUF] = waiting;
	f->stop_ratio[WR_STOP_NETWORK] = 0;
}

static const struct wr_connection *first_of(const struct wr_end *end)
{
	return end->n_connections ? &end->connections[0] : NULL;
}

static void sides(struct wr_case *judged)
{
	const struct wr_evidence *evidence = judged->evidence;

	judged->sender = wr_evidence_sender(evidence);
	judged->receiver = wr_evidence_receiver(evidence);
	judged->out = first_of(judged->sender);
	judged->in = first_of(judged->receiver);
	judged->sender_side = evidence->plan.reverse ? WR_SIDE_FAR : WR_SIDE_NEAR;
	judged->receiver_side = evidence->plan.reverse ? WR_SIDE_NEAR : WR_SIDE_FAR;
	if (evidence->one_host)
		judged->sender_side = judged->receiver_side = evidence->on_far ? WR_SIDE_FAR : WR_SIDE_NEAR;
}

static bool at_scale(const struct wr_case *judged)
{
	const struct wr_sample *last = judged->out ? wr_series_at(&judged->out->series, INT64_MAX) : NULL;

	return last && judged->features.window_bytes > AT_SCALE_RATIO * WINDOW_FIELD_MAX * exp2(wr_sample_get(last, WR_M_SND_WSCALE, 0));
}

int wr_case_init(struct wr_case *judged, const struct wr_evidence *evidence, struct weir_err *err)
{
	struct sums sums = {0};
	struct wr_features *f = &judged->features;

	memset(judged, 0, sizeof *judged);
	judged->evidence = evidence;
	judged->tcp = wr_plan_is_tcp(&evidence->plan);
	sides(judged);
	f->seconds = (double)(evidence->steady_to_ns - evidence->steady_from_ns) / 1e9;
	if (evidence->outside && !(f->seconds > 0))
		f->seconds = NAN;
	sender_state(judged);
	if (sums_init(&sums, judged, err) < 0)
		return -1;
	from_sums(judged, &sums);
	free(sums.rtts);
	rates(judged);
	receiver_features(judged);
	if (evidence->outside)
		wr_outside_shares(f, sums.stop, sums.n_idle);
	else
		settle_window_share(f);
	busiest(judged, judged->sender, &f->sender_cpu_ratio, &f->sender_wait_ratio);
	busiest(judged, judged->receiver, &f->receiver_cpu_ratio, &f->receiver_wait_ratio);
	settle_sndbuf_share(f);
	plain_features(judged);
	f->at_scale = at_scale(judged);
	wr_outside_features(judged);
	return 0;
}
