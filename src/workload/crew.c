/* SPDX-License-Identifier: MIT */
/*
 * Threads that start together and stop together, and what the loops of all workloads share: writing with an account of
 * the time spent waiting for buffer space, and keeping to a pace. Nothing of it allocates or locks.
 */
#include "workload/crew.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/host.h"
#include "os/thread.h"
#include "os/zerocopy.h"

#define MAX_PACE_DEBT_NS 50000000

void wr_stream_blocked_begin(struct wr_stream *stream)
{
	atomic_store_explicit(&stream->blocked_since_ns, wr_clock_ns(), memory_order_relaxed);
}

void wr_stream_blocked_end(struct wr_stream *stream)
{
	int64_t since = atomic_load_explicit(&stream->blocked_since_ns, memory_order_relaxed);

	atomic_store_explicit(&stream->blocked_since_ns, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&stream->blocked_ns, wr_clock_ns() - since, memory_order_relaxed);
}

/* Leave out the first @n bytes. Return: the bytes that remain. */
static size_t parts_advance(struct iovec *parts, size_t n_parts, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n_parts; i++) {
		size_t of_it = n < parts[i].iov_len ? n : parts[i].iov_len;

		parts[i].iov_base = (char *)parts[i].iov_base + of_it;
		parts[i].iov_len -= of_it;
		n -= of_it;
		left += parts[i].iov_len;
	}
	return left;
}

int wr_stream_write(struct wr_stream *stream, struct iovec *parts, size_t n_parts)
{
	ssize_t n = wr_channel_send_parts(&stream->channel, parts, n_parts, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN)
		return -1;
	if (parts_advance(parts, n_parts, n < 0 ? 0 : (size_t)n) == 0)
		return 0;
	wr_stream_blocked_begin(stream);
	/* A socket with a time limit of its own gives up now and then. */
	do
		n = wr_channel_send_parts(&stream->channel, parts, n_parts, MSG_NOSIGNAL);
	while (n >= 0 ? parts_advance(parts, n_parts, (size_t)n) > 0 : errno == EAGAIN && !wr_stream_stopped(stream));
	wr_stream_blocked_end(stream);
	return n < 0 ? -1 : 0;
}

/* When the pace allows the next byte after @bytes. */
static int64_t paced_ns(const struct wr_stream *stream, uint64_t bytes)
{
	return stream->crew->start_ns + stream->pace_slip_ns + (int64_t)((double)bytes * 8e9 / (double)stream->pace_bps);
}

/* Sleeps at most 50 ms at a time, so that stop is seen. */
bool wr_stream_pace_wait(struct wr_stream *stream, uint64_t bytes)
{
	int64_t due = paced_ns(stream, bytes), now;

	/* Time lost to a full buffer or a busy CPU is not made up for above the pace. */
	now = wr_clock_ns();
	if (now - due > MAX_PACE_DEBT_NS)
		stream->pace_slip_ns += now - due - MAX_PACE_DEBT_NS;
	while ((now = wr_clock_ns()) < due) {
		if (atomic_load_explicit(&stream->crew->stop, memory_order_relaxed))
			return false;
		wr_clock_sleep_until(due - now > 50000000 ? now + 50000000 : due);
	}
	return true;
}

static void wait_at_gate(struct wr_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	while (!crew->open && !atomic_load(&crew->stop))
		pthread_cond_wait(&crew->gate, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}

static void *worker(void *argument)
{
	struct wr_stream *stream = argument;

	if (stream->cpu >= 0)
		(void)wr_cpu_pin(stream->cpu);
	atomic_store(&stream->tid, gettid());
	wait_at_gate(stream->crew);
	if (stream->sender)
		stream->crew->work.row->send(stream);
	else
		stream->crew->work.row->receive(stream);
	atomic_store(&stream->ran_on_cpu, sched_getcpu());
	atomic_store(&stream->done, true);
	return NULL;
}

int wr_crew_init(struct wr_crew *crew, size_t n_streams, struct weir_err *err)
{
	memset(crew, 0, sizeof *crew);
	crew->streams = aligned_alloc(64, n_streams * sizeof *crew->streams);
	if (!crew->streams)
		return wr_err_memory(err, "streams");
	memset(crew->streams, 0, n_streams * sizeof *crew->streams);
	crew->n_streams = n_streams;
	crew->work.row = &wr_workload_stream;
	crew->file = -1;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->gate, NULL);
	for (size_t i = 0; i < n_streams; i++) {
		crew->streams[i].channel = WR_CHANNEL_NONE;
		crew->streams[i].cpu = -1;
		crew->streams[i].ran_on_cpu = -1;
		crew->streams[i].crew = crew;
		crew->streams[i].limit_bytes = WR_UNSET;
		crew->streams[i].pace_bps = WR_UNSET;
	}
	return 0;
}

/* Bytes that no compressing path could shrink: a 64-bit xorshift. */
static void fill_noise(char *buffer, size_t n)
{
	uint64_t state = 0x9e3779b97f4a7c15ULL;

	for (size_t i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		buffer[i] = (char)state;
	}
}

/* Senders share what they write; each receiver has room of its own, and each that times messages a histogram. */
static int buffers_make(struct wr_crew *crew, struct weir_err *err)
{
	uint64_t most = 0;

	for (size_t i = 0; i < crew->n_streams; i++) {
		struct wr_stream *stream = &crew->streams[i];

		if (stream->sender && stream->io_bytes > most)
			most = stream->io_bytes;
		if (!stream->sender && !(stream->buffer = malloc(stream->io_bytes)))
			return wr_err_memory(err, "read buffer");
		if (stream->sender && crew->work.row->message && !(stream->latency = calloc(1, sizeof *stream->latency)))
			return wr_err_memory(err, "histogram");
	}
	if (most == 0)
		return 0;
	crew->message = malloc(most);
	if (!crew->message)
		return wr_err_memory(err, "message");
	fill_noise(crew->message, most);
	for (size_t i = 0; i < crew->n_streams; i++) {
		if (crew->streams[i].sender)
			crew->streams[i].buffer = crew->message;
	}
	if (crew->sending == WR_SENDING_FILE)
		crew->file = wr_memory_file(crew->message, most, err);
	return crew->sending == WR_SENDING_FILE && crew->file < 0 ? -1 : 0;
}

int wr_crew_spawn(struct wr_crew *crew, struct weir_err *err)
{
	if (buffers_make(crew, err) < 0)
		return -1;
	for (size_t i = 0; i < crew->n_streams; i++) {
		struct wr_stream *stream = &crew->streams[i];
		int failure = wr_thread_create(&stream->thread, false, worker, stream);

		if (failure)
			return wr_err_errno(err, WEIR_ERR_HOST, "pthread_create", failure, "a thread for stream %zu", i);
		stream->thread_exists = true;
	}
	return 0;
}

void wr_crew_go(struct wr_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->start_ns = wr_clock_ns();
	crew->open = true;
	pthread_cond_broadcast(&crew->gate);
	pthread_mutex_unlock(&crew->lock);
}

bool wr_crew_all_done(const struct wr_crew *crew)
{
	for (size_t i = 0; i < crew->n_streams; i++) {
		if (!atomic_load(&crew->streams[i].done))
			return false;
	}
	return true;
}

void wr_crew_stop(struct wr_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	atomic_store(&crew->stop, true);
	pthread_cond_broadcast(&crew->gate);
	pthread_mutex_unlock(&crew->lock);
	for (size_t i = 0; i < crew->n_streams; i++) {
		struct wr_stream *stream = &crew->streams[i];

		if (wr_channel_is_open(&stream->channel))
			wr_channel_drop(&stream->channel);
		if (stream->thread_exists)
			pthread_join(stream->thread, NULL);
		stream->thread_exists = false;
		wr_channel_close(&stream->channel);
	}
}

static uint64_t quantile(const struct wr_stat_histogram *latency, double probability)
{
	return (uint64_t)wr_stat_histogram_quantile(latency, probability);
}

static void tell_zerocopy(const struct wr_crew *crew, struct wr_end *end)
{
	if (crew->sending != WR_SENDING_ZEROCOPY)
		return;
	end->zerocopy_writes = end->zerocopy_copied = 0;
	for (size_t i = 0; i < crew->n_streams; i++) {
		end->zerocopy_writes += crew->streams[i].zerocopy_writes;
		end->zerocopy_copied += crew->streams[i].zerocopy_copied;
	}
}

void wr_crew_tell(struct wr_crew *crew, struct wr_end *end)
{
	struct wr_stat_histogram *all = crew->n_streams ? crew->streams[0].latency : NULL;

	tell_zerocopy(crew, end);
	for (size_t i = 1; all && i < crew->n_streams; i++)
		wr_stat_histogram_add(all, crew->streams[i].latency);
	if (!all || all->n == 0)
		return;
	end->latency_p50_ns = quantile(all, 0.5);
	end->latency_p90_ns = quantile(all, 0.9);
	end->latency_p99_ns = quantile(all, 0.99);
	end->latency_p999_ns = quantile(all, 0.999);
	end->latency_max_ns = all->max;
}

void wr_crew_deinit(struct wr_crew *crew)
{
	if (!crew->streams)
		return;
	wr_crew_stop(crew);
	for (size_t i = 0; i < crew->n_streams; i++) {
		if (!crew->streams[i].sender)
			free(crew->streams[i].buffer);
		free(crew->streams[i].latency);
	}
	if (crew->file >= 0)
		close(crew->file);
	free(crew->message);
	free(crew->streams);
	crew->streams = NULL;
	pthread_cond_destroy(&crew->gate);
	pthread_mutex_destroy(&crew->lock);
}
