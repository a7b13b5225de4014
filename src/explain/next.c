/* SPDX-License-Identifier: MIT */
/* The one further command: what is missing to be surer, asked in the order of what it would decide. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain/cause.h"
#include "explain/remedy.h"

static void say(struct wr_verdict *verdict, const char *text)
{
	snprintf(verdict->next, sizeof verdict->next, "%s", text);
}

static bool is_one_of(const char *cause, const char *const *causes)
{
	for (; *causes; causes++) {
		if (strcmp(cause, *causes) == 0)
			return true;
	}
	return false;
}

static const char *for_tcp(const struct wr_case *judged, const struct wr_finding *first)
{
	static const char *const windows[] = {"rcvbuf-limited", "reader-limited", NULL};
	static const char *const losses[] = {"loss-limited", "policer", NULL};
	static const char *const talks[] = {"nagle-delack", "cork", NULL};
	static const char *const settled[] = {"deadlock",        "idle-restart", "ssthresh-cached",
					      "protocol-window", "none",         NULL};

	if (is_one_of(first->cause, windows) && !judged->in)
		return "ss -tmi on the receiving host: Recv-Q and r near rb mean a slow reader, near 0 a small buffer";
	if (strcmp(first->cause, "offload-loss") == 0)
		return "ethtool -K DEVICE tso off gso off gro off, and the same transfer again: only an offload's loss "
		       "goes away";
	if (is_one_of(first->cause, losses))
		return "ip -s link; tc -s qdisc; ethtool -S DEVICE on both hosts, twice: where the drops grow";
	if (strcmp(first->cause, "window-scale-missing") == 0)
		return "tcpdump -v 'tcp[tcpflags] & tcp-syn != 0' on both hosts: which SYN lacks wscale, and where it "
		       "goes missing";
	if (is_one_of(first->cause, talks) && first->confidence == WR_CONFIDENCE_LOW)
		return first->side == WR_SIDE_FAR
			       ? "ss -tmio on far, a few times: notsent > 0 while unacked is 1 (Nagle) or 0 (cork)"
			       : "ss -tmio on near, a few times: notsent > 0 while unacked is 1 (Nagle) or 0 (cork)";
	if (is_one_of(first->cause, talks))
		return "the same with TCP_NODELAY set, or one write a message: the time of an exchange tells";
	if (judged->evidence->lifetime)
		return "the same ss -tmi again, 3 s later: shares of a connection's whole life mislead";
	if (!judged->features.writer_known && judged->out)
		return "ss -tmi (with -m): the memory of the queues tells a full buffer from a program that has "
		       "nothing to send";
	if (strcmp(first->cause, "rcv-collapse") == 0)
		return "ping beside it: spikes while TCPRcvCollapsed grows show what it costs others";
	if (strcmp(first->cause, "sndbuf-limited") == 0 || strcmp(first->cause, "rcvbuf-limited") == 0 ||
	    strcmp(first->cause, "sysctl-capped") == 0)
		return "weir tune TARGET: the smallest size that fills this path, proved; the files do not hold the "
		       "path's rate";
	if (is_one_of(first->cause, settled))
		return "";
	if (strcmp(first->cause, "unknown") == 0 && !judged->in != !judged->out)
		return judged->in ? "ss -tmi on the sending host, twice, 3 s apart"
				  : "ss -tmi on the receiving host, twice, 3 s apart";
	return "";
}

static const char *for_datagrams(const struct wr_case *judged, const struct wr_finding *first)
{
	static const char *const losses[] = {"udp-rcvbuf-overflow", "udp-slow-reader", "udp-unread", NULL};

	if (judged->evidence->protocol == WR_HOST && strcmp(first->cause, "udp-rcvbuf-overflow") == 0)
		return "ss -uampn, twice: which socket drops (d in skmem), whose it is, and whether its queue is "
		       "always full";
	if (is_one_of(first->cause, losses) && judged->queue.looks < 2)
		return "the same ss -uampn and nstat -az again, 3 s later";
	if (is_one_of(first->cause, losses) && first->confidence == WR_CONFIDENCE_LOW)
		return "the same with four times the SO_RCVBUF: bursts then fit and nothing is lost, a slow reader "
		       "loses as much as before";
	if (strcmp(first->cause, "unix-queue") == 0)
		return "ss -xmp and strace -p of the reading program: what it waits for";
	if (strcmp(first->cause, "vsock-credit") == 0)
		return "the size of its packets and SO_VM_SOCKETS_BUFFER_SIZE of the receiver: 576 B of memory a "
		       "packet count against it";
	return "";
}

void wr_remedy_next(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_finding *first = verdict->n_causes ? &verdict->causes[0] : NULL;

	if (!first)
		return;
	say(verdict, judged->evidence->protocol == WR_TCP ? for_tcp(judged, first) : for_datagrams(judged, first));
}
