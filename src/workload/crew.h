/* SPDX-License-Identifier: MIT */
/*
 * A crew: one thread a connection, each running its end of a workload. Threads start together, count into memory of
 * their own, and stop together.
 */
#ifndef WR_WORKLOAD_CREW_H
#define WR_WORKLOAD_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/units.h"
#include "model/evidence.h"
#include "stat/histogram.h"
#include "transport/channel.h"
#include "workload/workload.h"
#include "weir/err.h"

/*
 * One connection's worker.
 *
 * @channel: a connection, owned by the crew
 * @io_bytes: size of one write, or room for one read
 * @limit_bytes: both ends stop after so many, WR_UNSET never
 * @pace_bps: a writer's or reader's own speed limit, WR_UNSET none; may change while it runs
 * @pace_slip_ns: how far the pace's schedule has been moved, the worker's own
 * @cpu: where to run, -1 anywhere
 * @latency: how long each message took, ns; of senders whose workload has messages, else NULL. The worker's own until
 *	it has been joined
 * @n_writes: of those ways of sending that count them; @zerocopy_writes, @zerocopy_copied: as in struct wr_end; likewise
 * @bytes, @messages, @blocked_ns, @blocked_since_ns, @done, @error, @tid: written by the worker, read by anyone;
 *	@messages those that are done; @blocked_since_ns is 0 while the writer is not waiting for buffer space; @error
 *	an errno
 */
struct wr_stream {
	struct wr_channel channel;
	bool sender;
	uint64_t io_bytes, limit_bytes;
	_Atomic uint64_t pace_bps;
	int cpu;
	struct wr_crew *crew;
	char *buffer;
	int64_t pace_slip_ns;
	struct wr_stat_histogram *latency;
	uint64_t n_writes, zerocopy_writes, zerocopy_copied;
	pthread_t thread;
	bool thread_exists;
	_Alignas(64) _Atomic uint64_t bytes, messages;
	_Atomic int64_t blocked_ns, blocked_since_ns;
	_Atomic int error, tid, ran_on_cpu;
	_Atomic bool done;
};

/* How a stream's bytes are handed to the kernel. */
enum wr_sending {
	WR_SENDING_COPIED,
	WR_SENDING_FILE,     /* sendfile() */
	WR_SENDING_ZEROCOPY, /* MSG_ZEROCOPY */
};

/*
 * @work: what they run, @sending: how; the caller sets both before wr_crew_spawn, else it is a stream, copied
 * @file: of the message, with WR_SENDING_FILE, else -1
 * @message: what senders write, one for all
 */
struct wr_crew {
	struct wr_work work;
	enum wr_sending sending;
	int file;
	struct wr_stream *streams;
	size_t n_streams;
	pthread_mutex_t lock;
	pthread_cond_t gate;
	char *message;
	bool open;
	_Atomic bool stop;
	int64_t start_ns;
};

/* wr_crew_init - @n_streams streams without connections. Return: 0; -1 out of memory. */
int wr_crew_init(struct wr_crew *crew, size_t n_streams, struct weir_err *err);

/* wr_crew_spawn - make the threads; they wait at the gate. Return: 0; -1 (stop and deinit then). */
int wr_crew_spawn(struct wr_crew *crew, struct weir_err *err);

/* wr_crew_go - open the gate; start_ns is set. */
void wr_crew_go(struct wr_crew *crew);

/* wr_crew_all_done - whether every worker has finished by itself. */
bool wr_crew_all_done(const struct wr_crew *crew);

/* wr_crew_stop - stop and join every worker; connections are reset, what is queued is dropped. */
void wr_crew_stop(struct wr_crew *crew);

/* wr_crew_tell - after wr_crew_stop: latencies and zero-copy writes of all streams together into @end. */
void wr_crew_tell(struct wr_crew *crew, struct wr_end *end);

void wr_crew_deinit(struct wr_crew *crew);

/* -- for the loops of workloads, on the stream's own thread -- */

static inline bool wr_stream_stopped(const struct wr_stream *stream)
{
	return atomic_load_explicit(&stream->crew->stop, memory_order_relaxed);
}

/* wr_stream_pace - wait until the pace, if there is one, allows more than @bytes. Return: false when told to stop. */
bool wr_stream_pace_wait(struct wr_stream *stream, uint64_t bytes);
static inline bool wr_stream_pace(struct wr_stream *stream, uint64_t bytes)
{
	return atomic_load_explicit(&stream->pace_bps, memory_order_relaxed) == WR_UNSET || wr_stream_pace_wait(stream, bytes);
}

/* Around a wait for buffer space. */
void wr_stream_blocked_begin(struct wr_stream *stream);
void wr_stream_blocked_end(struct wr_stream *stream);

/*
 * wr_stream_write - all of @parts in one call where there is room, else waiting for it
 * @parts: advanced over what was written
 *
 * Return: 0; -1 with errno.
 */
int wr_stream_write(struct wr_stream *stream, struct iovec *parts, size_t n_parts);

/*
 * wr_stream_write_file, wr_stream_write_zerocopy - @length bytes of the message by sendfile(), with MSG_ZEROCOPY
 * wr_stream_zerocopy_end - the notifications that have come meanwhile
 *
 * Return: bytes written, all unless it was told to stop; -1 with errno.
 */
ssize_t wr_stream_write_file(struct wr_stream *stream, size_t length);
ssize_t wr_stream_write_zerocopy(struct wr_stream *stream, size_t length);
void wr_stream_zerocopy_end(struct wr_stream *stream);

#endif
