/* SPDX-License-Identifier: MIT */
/*
 * unix-queue: as many datagrams stand before a reader as its queue may hold, long before the send buffer is full. The
 * queue counts messages, so it binds where messages are small. Only readers that are not connected back have it
 * (net/unix/af_unix.c unix_recvq_full). From outside, of any unix socket: what was sent is charged to the sender's
 * SO_SNDBUF until it is read (SO_RCVBUF has no meaning there), and it stays.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "explain/cause.h"

/* What the kernel charges a message beside its bytes: 832 bytes and the rounding of its memory, measured up to 1 KiB. */
#define MESSAGE_OVERHEAD 1280
/* The queue is full while no more than so much of the send buffer is: the buffer wakes its writer at a quarter. */
#define BUFFER_RATIO 0.5

/* unix_writable: a writer is woken when a quarter of its buffer is in use at most. */
#define FULL_RATIO 0.5

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_queue *queue = &judged->queue;
	const struct wr_end *end = queue->side == WR_SIDE_FAR ? &judged->evidence->far : &judged->evidence->near;
	double qlen = wr_end_number(end, "net.unix.max_dgram_qlen", 0);
	bool sends = queue->sndbuf_ratio >= FULL_RATIO;

	(void)found;
	if (!queue->seen || (!sends && !queue->same))
		return 0;
	out->side = queue->side;
	out->share_ratio = 1;
	if (sends)
		wr_finding_prove(out, "sndbuf_ratio", queue->sndbuf_ratio, "ratio",
				 "the send buffer is %.0f %% full in every snapshot: its reader does not take it",
				 100 * queue->sndbuf_ratio);
	if (queue->same)
		wr_finding_prove(out, "recv_q_bytes", (double)queue->looks, "count",
				 "what waits to be read is the same in all %zu snapshots", queue->looks);
	wr_finding_prove(out, "net.unix.max_dgram_qlen", qlen, "count", "no more than %.0f datagrams may wait", qlen);
	out->confidence = queue->looks > 1 ? WR_CONFIDENCE_MEDIUM : WR_CONFIDENCE_LOW;
	return 1;
}

static int eval_plain(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double n = (double)judged->sender->unix_max_dgram_qlen, bytes = (double)judged->sender->write_bytes;
	const char *transport = judged->evidence->plan.transport;
	char message[WR_UNIT_TEXT], size[WR_UNIT_TEXT];

	if (!transport || strcmp(transport, "unix-dgram") != 0 || judged->sender->unix_max_dgram_qlen == WR_UNSET ||
	    f->waited_ratio < 0.05 || wr_finding_find(found, "reader-limited") ||
	    (n + 1) * (bytes + MESSAGE_OVERHEAD) > BUFFER_RATIO * f->sndbuf_eff_bytes)
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = fmin(f->waited_ratio, 1);
	wr_finding_prove(out, "net.unix.max_dgram_qlen", n, "count",
			 "the reader's queue takes %.0f messages (net.unix.max_dgram_qlen), here of %s", n,
			 wr_size_text(message, bytes));
	wr_finding_prove(out, "waited_ratio", f->waited_ratio, "ratio",
			 "the writer waited for a place in it for %.0f %% of the time", 100 * f->waited_ratio);
	wr_finding_prove(out, "queued_ratio", f->queued_ratio, "ratio", "%.0f %% of the send buffer of %s were in use",
			 100 * f->queued_ratio, wr_size_text(size, f->sndbuf_eff_bytes));
	out->confidence = f->queued_ratio < BUFFER_RATIO && out->share_ratio >= 0.5 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_unix_queue = {
	.name = "unix-queue",
	.summary = "Data of a unix socket wait for a reader that does not take them, or its queue is full by their number.",
	.source = "net/unix/af_unix.c unix_dgram_sendmsg, unix_writable; net.unix.max_dgram_qlen",
	.protocols = 1U << WR_UNIX,
	.eval = eval,
	.eval_plain = eval_plain,
};
