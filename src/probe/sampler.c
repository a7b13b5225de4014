/* SPDX-License-Identifier: MIT */
/*
 * Sampling. 10 ms gives 20 samples in the shortest interval that is judged; a long run's series thins itself out
 * (wr_series_push). TCP_INFO takes the socket's lock for about a microsecond.
 */
#include "probe/sampler.h"

#include <string.h>
#include <time.h>

#include "base/err.h"
#include "os/clock.h"
#include "os/host.h"
#include "os/thread.h"

#define SAMPLE_PERIOD_NS 10000000
#define MAX_SAMPLES 4000

static int64_t thread_cpu_ns(const struct wr_stream *stream)
{
	struct timespec used;
	clockid_t clock;

	if (atomic_load(&stream->done) || pthread_getcpuclockid(stream->thread, &clock) != 0 ||
	    clock_gettime(clock, &used) != 0)
		return WR_ABSENT;
	return used.tv_sec * 1000000000LL + used.tv_nsec;
}

static void sample_stream(const struct wr_transport *transport, const struct wr_stream *stream, int64_t start_ns,
			  bool last, struct wr_series *series)
{
	struct wr_sample sample;
	int64_t now, since;
	int tid = atomic_load(&stream->tid);

	transport->sample(&stream->channel, &sample);
	now = wr_clock_ns();
	since = atomic_load_explicit(&stream->blocked_since_ns, memory_order_relaxed);
	sample.value[WR_M_T_NS] = now - start_ns;
	sample.value[WR_M_BYTES] = (int64_t)atomic_load_explicit(&stream->bytes, memory_order_relaxed);
	sample.value[WR_M_MESSAGES] = stream->crew->work.row->message
					      ? (int64_t)atomic_load_explicit(&stream->messages, memory_order_relaxed)
					      : WR_ABSENT;
	sample.value[WR_M_BLOCKED] = since != 0;
	sample.value[WR_M_BLOCKED_NS] = atomic_load_explicit(&stream->blocked_ns, memory_order_relaxed) +
					(since ? now - since : 0);
	sample.value[WR_M_CPU_NS] = thread_cpu_ns(stream);
	sample.value[WR_M_RUNQ_NS] = tid ? wr_thread_runq_ns(tid) : WR_ABSENT;
	if (last)
		wr_series_push_last(series, &sample);
	else
		wr_series_push(series, &sample);
}

static void sample_all(struct wr_sampler *sampler, bool last)
{
	for (size_t i = 0; i < sampler->crew->n_streams; i++)
		sample_stream(sampler->transport, &sampler->crew->streams[i], sampler->crew->start_ns, last,
			      &sampler->end->connections[i].series);
}

static void *sampling(void *argument)
{
	struct wr_sampler *sampler = argument;
	int64_t next = wr_clock_ns();

	while (!atomic_load(&sampler->stop)) {
		sample_all(sampler, false);
		next += SAMPLE_PERIOD_NS;
		if (next < wr_clock_ns())
			next = wr_clock_ns();
		wr_clock_sleep_until(next);
	}
	return NULL;
}

int wr_sampler_start(struct wr_sampler *sampler, const struct wr_transport *transport, struct wr_crew *crew,
		     struct wr_end *end, struct weir_err *err)
{
	int failure;

	memset(sampler, 0, sizeof *sampler);
	sampler->transport = transport;
	sampler->crew = crew;
	sampler->end = end;
	for (size_t i = 0; i < end->n_connections; i++) {
		if (wr_series_reserve(&end->connections[i].series, MAX_SAMPLES, err) < 0)
			return -1;
	}
	failure = wr_thread_create(&sampler->thread, false, sampling, sampler);
	if (failure)
		return wr_err_errno(err, WEIR_ERR_HOST, "pthread_create", failure, "the sampling thread");
	sampler->thread_exists = true;
	return 0;
}

void wr_sampler_stop(struct wr_sampler *sampler)
{
	if (!sampler->thread_exists)
		return;
	atomic_store(&sampler->stop, true);
	pthread_join(sampler->thread, NULL);
	sampler->thread_exists = false;
	sample_all(sampler, true);
}
