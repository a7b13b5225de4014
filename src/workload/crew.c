/* SPDX-License-Identifier: MIT */
/*
 * The loops that move bytes. A write is tried without waiting first; only when the kernel takes less than all of
 * it is the clock read and the rest sent with waiting. So a writer that is never short of buffer space makes one
 * system call a message, and the time spent waiting for space is known exactly. Nothing in the loops allocates or
 * locks. A partial write ends at a full skb, as a waiting one would, so it changes nothing about segments
 * (net/ipv4/tcp.c tcp_sendmsg_locked).
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

#define MAX_PACE_DEBT_NS 50000000

static void blocked_begin(struct wr_stream *stream)
{
	atomic_store_explicit(&stream->blocked_since_ns, wr_clock_ns(), memory_order_relaxed);
}

static void blocked_end(struct wr_stream *stream)
{
	int64_t since = atomic_load_explicit(&stream->blocked_since_ns, memory_order_relaxed);

	atomic_store_explicit(&stream->blocked_since_ns, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&stream->blocked_ns, wr_clock_ns() - since, memory_order_relaxed);
}

static ssize_t write_whole(struct wr_stream *stream, size_t length)
{
	ssize_t n = wr_channel_send(&stream->channel, stream->buffer, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	ssize_t rest;

	if (n == (ssize_t)length)
		return n;
	if (n < 0 && errno != EAGAIN)
		return -1;
	n = n < 0 ? 0 : n;
	blocked_begin(stream);
	/* A socket with a time limit of its own gives up now and then. */
	do
		rest = wr_channel_send(&stream->channel, stream->buffer + n, length - (size_t)n, MSG_NOSIGNAL);
	while (rest < 0 && errno == EAGAIN && !atomic_load_explicit(&stream->crew->stop, memory_order_relaxed));
	blocked_end(stream);
	return rest < 0 && n == 0 ? -1 : n + (rest < 0 ? 0 : rest);
}

/* When the pace allows the next byte after @bytes; 0 without a pace. */
static int64_t paced_ns(const struct wr_stream *stream, uint64_t bytes)
{
	if (stream->pace_bps == WR_UNSET)
		return 0;
	return stream->crew->start_ns + stream->pace_slip_ns + (int64_t)((double)bytes * 8e9 / (double)stream->pace_bps);
}

/* Sleeps at most 50 ms at a time, so that stop is seen. Return: false when told to stop. */
static bool pace_wait(struct wr_stream *stream, uint64_t bytes)
{
	int64_t due = paced_ns(stream, bytes), now;

	if (!due)
		return true;
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

static void send_loop(struct wr_stream *stream)
{
	uint64_t bytes = 0;

	while (!atomic_load_explicit(&stream->crew->stop, memory_order_relaxed)) {
		uint64_t left = stream->limit_bytes - bytes;
		size_t length = left < stream->io_bytes ? (size_t)left : (size_t)stream->io_bytes;
		ssize_t n;

		if (left == 0) {
			wr_channel_finish(&stream->channel);
			break;
		}
		if (!pace_wait(stream, bytes))
			break;
		n = write_whole(stream, length);
		if (n < 0) {
			atomic_store(&stream->error, errno);
			break;
		}
		bytes += (uint64_t)n;
		atomic_store_explicit(&stream->bytes, bytes, memory_order_relaxed);
	}
}

static void receive_loop(struct wr_stream *stream)
{
	uint64_t bytes = 0;

	/* Datagrams have no end that the reader could see: it counts. */
	while (bytes < stream->limit_bytes && !atomic_load_explicit(&stream->crew->stop, memory_order_relaxed)) {
		ssize_t n;

		if (!pace_wait(stream, bytes))
			break;
		n = wr_channel_receive(&stream->channel, stream->buffer, stream->io_bytes, 0);
		if (n <= 0) {
			atomic_store(&stream->error, n < 0 ? errno : 0);
			break;
		}
		bytes += (uint64_t)n;
		atomic_store_explicit(&stream->bytes, bytes, memory_order_relaxed);
	}
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
		send_loop(stream);
	else
		receive_loop(stream);
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
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->gate, NULL);
	for (size_t i = 0; i < n_streams; i++) {
		crew->streams[i].channel = WR_CHANNEL_NONE;
		crew->streams[i].cpu = -1;
		crew->streams[i].ran_on_cpu = -1;
		crew->streams[i].crew = crew;
		crew->streams[i].limit_bytes = crew->streams[i].pace_bps = WR_UNSET;
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

/* Senders share what they write; each receiver has room of its own. */
static int buffers_make(struct wr_crew *crew, struct weir_err *err)
{
	uint64_t most = 0;

	for (size_t i = 0; i < crew->n_streams; i++) {
		struct wr_stream *stream = &crew->streams[i];

		if (stream->sender && stream->io_bytes > most)
			most = stream->io_bytes;
		if (!stream->sender && !(stream->buffer = malloc(stream->io_bytes)))
			return wr_err_memory(err, "read buffer");
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
	return 0;
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

void wr_crew_deinit(struct wr_crew *crew)
{
	if (!crew->streams)
		return;
	wr_crew_stop(crew);
	for (size_t i = 0; i < crew->n_streams; i++) {
		if (!crew->streams[i].sender)
			free(crew->streams[i].buffer);
	}
	free(crew->message);
	free(crew->streams);
	crew->streams = NULL;
	pthread_cond_destroy(&crew->gate);
	pthread_mutex_destroy(&crew->lock);
}
