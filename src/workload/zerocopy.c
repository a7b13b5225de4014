/* SPDX-License-Identifier: MIT */
/*
 * Writing without copying. What is sent is always the same and never changes, so nothing has to be waited for before the
 * next write: notifications of MSG_ZEROCOPY are read now and then, without waiting, and only counted. Where too many are
 * open the kernel says ENOBUFS (net.core.optmem_max, RLIMIT_MEMLOCK), and writing goes on when some have come.
 *
 * The sockets don't block, and space is waited for by poll(), so that the time is known and stop is seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "os/clock.h"
#include "os/zerocopy.h"
#include "workload/crew.h"

#define SLICE_NS 50000000
/* Notifications come in runs, so few reads are needed; this many open ones are far below any limit. */
#define COLLECT_EACH 16
#define NOTICE_NS 10000000

/* Wait a slice for space in the send buffer. @blocked: whether that had begun */
static void wait_space(struct wr_stream *stream, bool *blocked)
{
	if (!*blocked)
		wr_stream_blocked_begin(stream);
	*blocked = true;
	(void)wr_fd_wait(stream->channel.fd, POLLOUT, wr_clock_ns() + SLICE_NS);
}

ssize_t wr_stream_write_file(struct wr_stream *stream, size_t length)
{
	bool blocked = false;
	size_t done = 0;
	ssize_t n = 0;

	if (!stream->n_writes++)
		(void)fcntl(stream->channel.fd, F_SETFL, O_NONBLOCK);
	while (done < length && !wr_stream_stopped(stream)) {
		n = wr_file_send(stream->channel.fd, stream->crew->file, done, length - done);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
		if (done < length)
			wait_space(stream, &blocked);
	}
	if (blocked)
		wr_stream_blocked_end(stream);
	return done > 0 || n >= 0 ? (ssize_t)done : -1;
}

static void collect(struct wr_stream *stream)
{
	wr_zerocopy_collect(stream->channel.fd, &stream->zerocopy_writes, &stream->zerocopy_copied);
}

/* What to do about a write that was not taken. Return: 0 try again; -1 it failed, with errno. */
static int not_taken(struct wr_stream *stream, bool *blocked)
{
	uint64_t before = stream->zerocopy_writes;

	if (errno == EINTR)
		return 0;
	if (errno == EAGAIN) {
		collect(stream); /* what stands in the error queue would end every poll at once */
		wait_space(stream, blocked);
		return 0;
	}
	if (errno != ENOBUFS || stream->n_writes == stream->zerocopy_writes)
		return -1;
	collect(stream);
	if (stream->zerocopy_writes == before)
		(void)wr_fd_wait(stream->channel.fd, 0, wr_clock_ns() + NOTICE_NS);
	return 0;
}

ssize_t wr_stream_write_zerocopy(struct wr_stream *stream, size_t length)
{
	bool blocked = false;
	size_t done = 0;
	int rc = 0;

	while (done < length && rc == 0 && !wr_stream_stopped(stream)) {
		ssize_t n = wr_zerocopy_send(stream->channel.fd, stream->buffer + done, length - done);

		if (n < 0) {
			rc = not_taken(stream, &blocked);
			continue;
		}
		done += (size_t)n;
		if (++stream->n_writes - stream->zerocopy_writes >= COLLECT_EACH)
			collect(stream);
	}
	if (blocked)
		wr_stream_blocked_end(stream);
	return done > 0 || rc == 0 ? (ssize_t)done : -1;
}

void wr_stream_zerocopy_end(struct wr_stream *stream)
{
	collect(stream);
}
