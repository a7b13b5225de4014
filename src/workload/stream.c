/* SPDX-License-Identifier: MIT */
/*
 * stream: bytes as fast as the connection takes them. A write is tried without waiting first; only when the kernel
 * takes less than all of it is the clock read and the rest sent with waiting. So a writer that is never short of
 * buffer space makes one system call a write, and the time spent waiting for space is known exactly. A partial write
 * ends at a full skb, as a waiting one would, so it changes nothing about segments (net/ipv4/tcp.c tcp_sendmsg_locked).
 */
#include <errno.h>
#include <sys/socket.h>

#include "base/units.h"
#include "workload/crew.h"

static ssize_t write_whole(struct wr_stream *stream, size_t length)
{
	ssize_t n = wr_channel_send(&stream->channel, stream->buffer, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	ssize_t rest;

	if (n == (ssize_t)length)
		return n;
	if (n < 0 && errno != EAGAIN)
		return -1;
	n = n < 0 ? 0 : n;
	wr_stream_blocked_begin(stream);
	/* A socket with a time limit of its own gives up now and then. */
	do
		rest = wr_channel_send(&stream->channel, stream->buffer + n, length - (size_t)n, MSG_NOSIGNAL);
	while (rest < 0 && errno == EAGAIN && !wr_stream_stopped(stream));
	wr_stream_blocked_end(stream);
	return rest < 0 && n == 0 ? -1 : n + (rest < 0 ? 0 : rest);
}

/* Inlined with each way of writing: the plain one pays for no other. */
static inline __attribute__((always_inline)) void send_by(struct wr_stream *stream,
							  ssize_t (*write)(struct wr_stream *stream, size_t length))
{
	uint64_t bytes = 0;

	while (!wr_stream_stopped(stream)) {
		uint64_t left = stream->limit_bytes - bytes;
		size_t length = left < stream->io_bytes ? (size_t)left : (size_t)stream->io_bytes;
		ssize_t n;

		if (left == 0) {
			wr_channel_finish(&stream->channel);
			break;
		}
		if (!wr_stream_pace(stream, bytes))
			break;
		n = write(stream, length);
		if (n < 0) {
			atomic_store(&stream->error, errno);
			break;
		}
		bytes += (uint64_t)n;
		atomic_store_explicit(&stream->bytes, bytes, memory_order_relaxed);
	}
}

static void send_loop(struct wr_stream *stream)
{
	switch (stream->crew->sending) {
	case WR_SENDING_COPIED:
		send_by(stream, write_whole);
		return;
	case WR_SENDING_FILE:
		send_by(stream, wr_stream_write_file);
		return;
	case WR_SENDING_ZEROCOPY:
		send_by(stream, wr_stream_write_zerocopy);
		wr_stream_zerocopy_end(stream);
	}
}

static void receive_loop(struct wr_stream *stream)
{
	uint64_t bytes = 0;

	/* Datagrams have no end that the reader could see: it counts. */
	while (bytes < stream->limit_bytes && !wr_stream_stopped(stream)) {
		ssize_t n;

		if (!wr_stream_pace(stream, bytes))
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

const struct wr_workload wr_workload_stream = {
	.name = "stream",
	.summary = "bytes as fast as the connection takes them, or as --bitrate says",
	.example = "stream",
	.send = send_loop,
	.receive = receive_loop,
};
