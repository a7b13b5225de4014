/* SPDX-License-Identifier: MIT */
/*
 * Why no buffer would help with a cause, and what would: somebody's program, a setting that is no buffer, or the path.
 */
#include <stdio.h>

#include "base/mem.h"
#include "explain/cause.h"
#include "explain/remedy.h"

/* From here on a buffer that is not the first cause is worth raising; a CPU that is used up leaves 0.1 at most. */
#define WORTH_SHARE 0.15

/* @spares_sndbuf: a larger send buffer is not refused */
static const struct {
	const char *cause, *why, *action, *helps;
	bool spares_sndbuf;
} rows[] = {
	{"reader-limited", "the reading program is the limit; it would only hold more unread data", "program",
	 "let the reading program read faster: it waits for something else (a disk, a lock, a slow consumer)", false},
	{"writer-limited", "the writing program is the limit; not even the present buffer is filled", "program",
	 "let the writing program write sooner or more at once", false},
	{"path-limited", "the path is full; it would only add delay", "path",
	 "a faster path, or less traffic beside this transfer", false},
	{"bufferbloat", "the path is full and its queue long; it would only add delay", "path",
	 "an AQM at the bottleneck (fq_codel, cake); weir tune finds the smallest send buffer that keeps the rate",
	 false},
	{"loss-limited", "losses keep the congestion window small; it would stay unused", "path",
	 "find where segments are lost; another congestion control may bear it better: compare with -C bbr", false},
	{"cpu-limited", "a CPU is used up; it would make nothing faster", "program",
	 "larger writes (-l, or batch= of records), more connections on other CPUs (-P), offloads", false},
	{"ramp-limited", "the transfer ends in its ramp; it would stay unused", "program",
	 "keep connections open and use them again, or move more on each", false},
	{"unknown", "the evidence does not point to a buffer", "none",
	 "measure longer (-t), and the other direction (-R)", false},
	{"noisy", "repeats differ too much to tell one size from another", "none",
	 "measure at a quieter time, or find what else uses the path and the CPUs", false},
	{"none", "nothing waits; it would only take memory", "none", "nothing needs to be changed", false},
	{"idle-restart", "the congestion window begins small after each pause; it would stay unused", "path",
	 "keep the congestion window over pauses, or send without long ones", false},
	{"ssthresh-cached", "the congestion window grows slowly from a threshold that was kept; it would stay unused",
	 "path", "forget what was kept about the peer", false},
	{"window-scale-missing", "without window scaling no more than 65535 bytes can be granted, whatever the buffer",
	 "path", "let both ends scale windows, and find what drops the option in between (a balancer, a user-mode NAT)",
	 false},
	{"nagle-delack", "small messages wait for ACKs, not for room", "program",
	 "write a message in one call (writev, one buffer), or set TCP_NODELAY on the socket that holds data back",
	 false},
	{"cork", "a corked piece waits for its timer, not for room", "program",
	 "uncork after the last write of an answer", false},
	{"protocol-window", "the program's own protocol grants too little; TCP has room", "program",
	 "raise the window of that protocol, or have more requests under way at once", false},
	{"rcv-collapse",
	 "the receive buffer is already larger than its reader can bear; a larger one is copied for longer", "program",
	 "let the program read; bound the buffer to twice the largest bandwidth-delay product", false},
	{"device-queue", "segments are lost in a device's queue, not for want of a socket's buffer", "option",
	 "a longer device queue, or pacing (fq, bbr) so that bursts are shorter", false},
	{"offload-loss", "segments are lost on the way; it would stay unused", "option",
	 "switch segmentation and receive offloads off at both ends, one by one, and see which one cures it", false},
	{"policer", "a policer drops what exceeds its rate; it would stay unused", "path",
	 "shape below the policed rate instead (tc, fq with SO_MAX_PACING_RATE), or raise its burst", false},
	{"deadlock", "both programs wait for the other to read; it would only postpone that", "program",
	 "read while writing: at one end, answers have to be taken before all requests are sent", false},
	{"memory-pressure", "the host's memory for sockets is used up; a limit of one socket is not what binds",
	 "sysctl", "fewer or smaller buffers altogether, or more memory for them", false},
	{"udp-slow-reader", "the program takes datagrams more slowly than they come; it would only lose them later",
	 "program", "let the program take more: recvmmsg, a thread that only reads, several sockets with SO_REUSEPORT",
	 false},
	{"udp-unread", "nobody reads that socket; it would only hold more unread data", "program",
	 "stop or mend the program that owns the socket", false},
	{"udp-reassembly", "sockets never see the datagrams that are not put together", "sysctl",
	 "send datagrams that fit into a packet; else more memory and less time for half finished ones", false},
	{"udp-send-overflow", "datagrams are lost before they leave; the receiver's is no help", "program",
	 "let the program wait for its socket to be writable, or pace what it sends; a larger SO_SNDBUF bears longer "
	 "bursts",
	 true},
	{"unix-queue", "the reader's queue is full, one of datagrams by the number of its messages, whatever their bytes",
	 "program",
	 "put more into a message (-l), connect the reader back to its writer, or raise net.unix.max_dgram_qlen before "
	 "sockets are made",
	 false},
};

/* A thread works for most of the time and waits for the buffer in the rest, which a larger one would save. */
static bool helps_too(const struct wr_verdict *verdict)
{
	const struct wr_finding *buffer = wr_finding_find(verdict, "sndbuf-limited");

	if (!buffer)
		buffer = wr_finding_find(verdict, "vsock-credit");
	return wr_verdict_is(verdict, "cpu-limited") && buffer && buffer->share_ratio >= WORTH_SHARE;
}

void wr_remedy_refuse(struct wr_verdict *verdict)
{
	if (verdict->n_causes == 0 || helps_too(verdict))
		return;
	for (size_t i = 0; i < WR_N_ELEMENTS(rows); i++) {
		struct wr_advice *advice;

		if (!wr_verdict_is(verdict, rows[i].cause))
			continue;
		if (!rows[i].spares_sndbuf)
			wr_verdict_refuse(verdict, "sndbuf", "%s", rows[i].why);
		wr_verdict_refuse(verdict, "rcvbuf", "%s", rows[i].why);
		verdict->n_advice = 0;
		advice = wr_verdict_advise(verdict, rows[i].action, verdict->causes[0].side);
		snprintf(advice->why, sizeof advice->why, "%s", rows[i].helps);
	}
}
