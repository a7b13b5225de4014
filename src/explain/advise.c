/* SPDX-License-Identifier: MIT */
/*
 * Settings for the first cause, from evidence that other programs left. Where the files hold the number it is given;
 * where the path's rate would be needed, what is given is how it follows from it. None is proved: weir tune proves.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "explain/cause.h"
#include "explain/remedy.h"
#include "explain/udp.h"

/* Above the smallest window that fills the path, for bursts. */
#define HEADROOM 1.25
/* Fewer segments than that are no window to be set by hand. */
#define LEAST_WINDOW_MSS 10
/* What is in common use: nginx, h2o, curl keep no more unsent; ROS 2's guide for fragments on lossy links. */
#define NOTSENT_LOWAT_BYTES 16384
#define FRAGMENT_MEMORY_BYTES 134217728
#define FRAGMENT_SECONDS 3
#define READ_BYTES 65536
#define VSOCK_BYTES 8388608
#define QUEUE_PACKETS 10000
#define AT_CEILING_RATIO 0.9
/* Where sysctl was not pasted. */
#define STOCK_TCP_WMEM_MAX 4194304
#define STOCK_TCP_RMEM_MAX 6291456

static const struct wr_end *end_of(const struct wr_case *judged, enum wr_side side)
{
	return side == WR_SIDE_FAR ? &judged->evidence->far : &judged->evidence->near;
}

/* A sysctl row, ready to paste. */
static struct wr_advice *advise_sysctl(struct wr_verdict *verdict, const struct wr_end *end, enum wr_side side,
				       const char *key, const char *value)
{
	struct wr_advice *advice = wr_verdict_advise(verdict, "sysctl", side);
	const char *current = wr_end_pasted(end, key);

	if (!advice)
		return NULL;
	snprintf(advice->key, sizeof advice->key, "%s", key);
	snprintf(advice->value, sizeof advice->value, "%s", value);
	snprintf(advice->apply, sizeof advice->apply, "sysctl -w %s=\"%s\"", key, value);
	snprintf(advice->persist, sizeof advice->persist, "echo '%s = %s' > /etc/sysctl.d/90-weir.conf", key, value);
	if (current) {
		snprintf(advice->current, sizeof advice->current, "%.63s", current);
		snprintf(advice->undo, sizeof advice->undo, "sysctl -w %s=\"%s\"", key, current);
	}
	return advice;
}

static struct wr_advice *advise_option(struct wr_verdict *verdict, const char *action, enum wr_side side,
				       const char *key, const char *value, const char *apply)
{
	struct wr_advice *advice = wr_verdict_advise(verdict, action, side);

	if (!advice)
		return NULL;
	snprintf(advice->key, sizeof advice->key, "%s", key);
	snprintf(advice->value, sizeof advice->value, "%s", value);
	snprintf(advice->apply, sizeof advice->apply, "%s", apply);
	return advice;
}

static void set_bytes(struct wr_advice *advice, double bytes)
{
	if (!advice || !(bytes > 0))
		return;
	advice->value_bytes = (uint64_t)llround(bytes);
	snprintf(advice->value, sizeof advice->value, "%llu", (unsigned long long)advice->value_bytes);
}

/* -- stream buffers -- */

static void explain_need(const struct wr_case *judged, struct wr_advice *advice, const char *key)
{
	double rtt_us = judged->features.min_rtt_us > 0 ? judged->features.min_rtt_us : judged->features.rtt_us;
	char bytes[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT];

	if (!advice || !(rtt_us > 0))
		return;
	snprintf(advice->why, sizeof advice->why,
		 "unset, the kernel sizes it as the path needs; a fixed %s has to hold rate x RTT: %s for each 100 "
		 "Mbit/s at %s",
		 key, wr_size_text(bytes, 100e6 * rtt_us / 8e6), wr_time_text(rtt, rtt_us * 1e3));
}

/* Remove the call that pins a buffer. */
static void unset(const struct wr_case *judged, struct wr_verdict *verdict, enum wr_side side, bool send)
{
	const struct wr_connection *connection = send ? judged->out : judged->in;
	const char *key = send ? "SO_SNDBUF" : "SO_RCVBUF";
	struct wr_advice *advice = advise_option(verdict, "setsockopt", side, key, "unset",
						 "remove the call, or the program's option that makes it (iperf3 -w)");
	double eff = (double)(send ? connection->sndbuf_eff_bytes : connection->rcvbuf_eff_bytes);
	char size[WR_UNIT_TEXT], asked[WR_UNIT_TEXT];

	if (!advice)
		return;
	snprintf(advice->current, sizeof advice->current, "%s asked, %s effective", wr_size_text(asked, eff / 2),
		 wr_size_text(size, eff));
	explain_need(judged, advice, key);
	snprintf(advice->undo, sizeof advice->undo, "set it again");
	snprintf(advice->cost, sizeof advice->cost, "kernel memory up to net.ipv4.%s[2] a connection",
		 send ? "tcp_wmem" : "tcp_rmem");
}

/* Twice the present ceiling: how far it may usefully go, only the path's rate says. */
static void raise_ceiling(const struct wr_case *judged, struct wr_verdict *verdict, enum wr_side side, bool send)
{
	const struct wr_end *end = end_of(judged, side);
	const char *key = send ? "net.ipv4.tcp_wmem" : "net.ipv4.tcp_rmem";
	uint64_t ceiling = send ? end->tcp_wmem_max_bytes : end->tcp_rmem_max_bytes;
	double least = wr_end_number(end, key, 0), first = wr_end_number(end, key, 1);
	struct wr_advice *advice;
	char value[80];

	if (ceiling == WR_UNSET)
		ceiling = send ? judged->out->sndbuf_eff_bytes : judged->in->rcvbuf_eff_bytes;
	snprintf(value, sizeof value, "%.0f %.0f %.0f", isnan(least) ? 4096 : least,
		 isnan(first) ? send ? 16384 : 131072 : first, 2 * (double)ceiling);
	advice = advise_sysctl(verdict, end, side, key, value);
	if (!advice)
		return;
	advice->value_bytes = 2 * ceiling;
	snprintf(advice->why, sizeof advice->why,
		 "autotuning has reached its ceiling: double it until the rate stops growing");
	snprintf(advice->cost, sizeof advice->cost,
		 "kernel memory up to that size a connection, and delay where the path is full");
}

/* Autotuning has grown the buffer as far as it may. */
static bool at_ceiling(const struct wr_case *judged, enum wr_side side, bool send)
{
	const struct wr_end *end = end_of(judged, side);
	uint64_t eff = send ? judged->out->sndbuf_eff_bytes : judged->in->rcvbuf_eff_bytes;
	uint64_t ceiling = send ? end->tcp_wmem_max_bytes : end->tcp_rmem_max_bytes;

	if (ceiling == WR_UNSET)
		ceiling = send ? STOCK_TCP_WMEM_MAX : STOCK_TCP_RMEM_MAX;
	return eff != WR_UNSET && (double)eff >= AT_CEILING_RATIO * (double)ceiling;
}

static void stream_buffer(const struct wr_case *judged, struct wr_verdict *verdict, const struct wr_finding *finding,
			  bool send)
{
	const struct wr_connection *connection = send ? judged->out : judged->in;

	/* Unseen, or neither pinned nor at its ceiling: there is nothing to be set yet. */
	if (!connection || (connection->snd_autotuning && send && connection->sndbuf_eff_bytes == WR_UNSET))
		return;
	if (send ? !connection->snd_autotuning : !connection->rcv_autotuning)
		unset(judged, verdict, finding->side, send);
	else if (at_ceiling(judged, finding->side, send))
		raise_ceiling(judged, verdict, finding->side, send);
	else if (!send && !judged->evidence->lifetime)
		/*
		 * A receive buffer that is the limit and does not grow below its ceiling is pinned, whatever its size
		 * looks like.
		 */
		unset(judged, verdict, finding->side, send);
}

static void buffers(const struct wr_case *judged, struct wr_verdict *verdict)
{
	for (size_t i = 0; i < verdict->n_causes; i++) {
		const struct wr_finding *finding = &verdict->causes[i];

		/* Candidates of a doubt are not advised. */
		if (finding->confidence == WR_CONFIDENCE_LOW && (!judged->in || !judged->out))
			continue;
		if (strcmp(finding->cause, "sndbuf-limited") == 0)
			stream_buffer(judged, verdict, finding, true);
		else if (strcmp(finding->cause, "rcvbuf-limited") == 0)
			stream_buffer(judged, verdict, finding, false);
	}
}

/* -- caps -- */

static void raise_cap(const struct wr_case *judged, struct wr_verdict *verdict, enum wr_side side, const char *key,
		      double bytes, const char *why)
{
	char value[32];
	struct wr_advice *advice;

	snprintf(value, sizeof value, "%.0f", bytes);
	advice = advise_sysctl(verdict, end_of(judged, side), side, key, value);
	set_bytes(advice, bytes);
	if (!advice)
		return;
	snprintf(advice->why, sizeof advice->why, "%s", why);
	snprintf(advice->cost, sizeof advice->cost,
		 "any program may then ask for that much; a container has to set it on its host");
}

static void cap_of_remarks(const struct wr_case *judged, struct wr_verdict *verdict)
{
	for (int far = 0; far < 2; far++) {
		const struct wr_end *end = far ? &judged->evidence->far : &judged->evidence->near;

		for (size_t i = 0; i < end->n_remarks; i++) {
			const struct wr_remark *said = &end->remarks[i];

			if (said->wanted_bytes != WR_UNSET && said->got_bytes != WR_UNSET)
				raise_cap(judged, verdict, far ? WR_SIDE_FAR : WR_SIDE_NEAR,
					  said->receive ? "net.core.rmem_max" : "net.core.wmem_max",
					  (double)said->wanted_bytes,
					  "what the program wants, in full: the kernel doubles by itself");
		}
	}
}

static void cap(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_finding *snd = wr_finding_find(verdict, "sndbuf-limited"),
				*rcv = wr_finding_find(verdict, "rcvbuf-limited");
	const char *why = "or raise the cap and ask for more: each doubling doubles the rate until the path is full";

	if (judged->evidence->protocol == WR_HOST) {
		cap_of_remarks(judged, verdict);
		return;
	}
	if (judged->evidence->protocol == WR_UDP) {
		double bytes = wr_udp_needed_bytes(&judged->queue);

		raise_cap(judged, verdict, verdict->causes[0].side, "net.core.rmem_max",
			  bytes > 0 ? bytes : judged->queue.rcvbuf_bytes, "bursts like those seen fit then");
		return;
	}
	buffers(judged, verdict);
	if (rcv && judged->in && judged->receiver->core_rmem_max_bytes != WR_UNSET &&
	    judged->in->rcvbuf_eff_bytes == 2 * judged->receiver->core_rmem_max_bytes)
		raise_cap(judged, verdict, judged->receiver_side, "net.core.rmem_max",
			  2 * (double)judged->receiver->core_rmem_max_bytes, why);
	if (judged->out && judged->sender->core_wmem_max_bytes != WR_UNSET && !judged->out->snd_autotuning &&
	    (snd || rcv) && judged->out->sndbuf_eff_bytes == 2 * judged->sender->core_wmem_max_bytes)
		raise_cap(judged, verdict, judged->sender_side, "net.core.wmem_max",
			  2 * (double)judged->sender->core_wmem_max_bytes, why);
	for (size_t i = 0; i < verdict->n_advice; i++)
		verdict->advice[i].alternative = i > 0;
}

/* -- a queue that stands -- */

/* The smallest window that keeps the rate: for a pinned buffer on a full path, and where the queue is the harm. */
static void smallest_window(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_features *f = &judged->features;
	double bytes = HEADROOM * f->goodput_bps * f->min_rtt_us / 8e6;
	bool snd_pinned = judged->out && !judged->out->snd_autotuning;
	/* A window that stands full on a full path is pinned, too, where nobody looked at its buffer. */
	bool rcv_pinned = judged->in ? !judged->in->rcv_autotuning : f->stop_ratio[WR_STOP_WINDOW] >= 0.5;
	struct wr_advice *advice;
	char rate[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT];

	if (!(bytes >= LEAST_WINDOW_MSS * f->mss_bytes) ||
	    (!snd_pinned && !rcv_pinned && !wr_verdict_is(verdict, "bufferbloat")))
		return;
	advice = snd_pinned ? advise_option(verdict, "setsockopt", judged->sender_side, "SO_SNDBUF", "",
					    "in the program, before connect()")
			    : advise_option(verdict, "setsockopt", judged->receiver_side, "SO_RCVBUF", "",
					    "in the program, before listen() or connect()");
	set_bytes(advice, bytes);
	if (!advice)
		return;
	snprintf(advice->why, sizeof advice->why,
		 "smaller, for less delay at the same rate: %s x %s, and a quarter more",
		 wr_rate_text(rate, f->goodput_bps), wr_time_text(rtt, f->min_rtt_us * 1e3));
	snprintf(advice->cost, sizeof advice->cost, "a faster or longer path will not be filled");
}

static void standing_queue(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_features *f = &judged->features;
	struct wr_advice *advice;
	char unsent[WR_UNIT_TEXT], delay[WR_UNIT_TEXT];

	smallest_window(judged, verdict);
	if (!(f->notsent_bytes > 4 * NOTSENT_LOWAT_BYTES) || !(f->goodput_bps > 0))
		return;
	advice = advise_option(verdict, "setsockopt", judged->sender_side, "TCP_NOTSENT_LOWAT", "",
			       "in the program; it costs no rate");
	set_bytes(advice, NOTSENT_LOWAT_BYTES);
	if (!advice)
		return;
	advice->alternative = true;
	snprintf(advice->why, sizeof advice->why,
		 "if messages matter that queue behind bulk data: %s unsent are %s of delay",
		 wr_size_text(unsent, f->notsent_bytes), wr_time_text(delay, 8e9 * f->notsent_bytes / f->goodput_bps));
}

/* -- the rest -- */

static void reader(const struct wr_case *judged, struct wr_verdict *verdict)
{
	/* Who has stopped reading will not be helped by larger reads. */
	if (judged->features.stalled || !(judged->features.moved_bytes > 0))
		return;
	set_bytes(advise_option(verdict, "program", verdict->causes[0].side, "read()", "",
				"read 64 KiB or more at a time, in a thread of its own"),
		  READ_BYTES);
}

static void scaling(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_end *ends[] = {judged->sender, judged->receiver};
	enum wr_side sides[] = {judged->sender_side, judged->receiver_side};

	for (int i = 0; i < 2; i++) {
		if (wr_end_number(ends[i], "net.ipv4.tcp_window_scaling", 0) == 0)
			advise_sysctl(verdict, ends[i], sides[i], "net.ipv4.tcp_window_scaling", "1");
	}
}

static void nagle(const struct wr_case *judged, struct wr_verdict *verdict)
{
	struct wr_advice *advice;

	(void)judged;
	wr_verdict_refuse(verdict, "TCP_QUICKACK",
			  "at the other end it is not sticky, and Nagle would still cost a round trip");
	/* Only an end that was seen holding data back is told to stop that. */
	if (verdict->causes[0].confidence == WR_CONFIDENCE_LOW)
		return;
	advice = advise_option(verdict, "setsockopt", verdict->causes[0].side, "TCP_NODELAY", "1",
			       "int one = 1; setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);");
	if (!advice)
		return;
	snprintf(advice->why, sizeof advice->why, "on this end's socket: it is the one that holds data back");
	snprintf(advice->cost, sizeof advice->cost, "more and smaller packets, unless messages are written whole");
}

static void cork(const struct wr_case *judged, struct wr_verdict *verdict)
{
	(void)judged;
	wr_verdict_refuse(verdict, "TCP_NODELAY", "Nagle is not what waits: nothing is in flight");
	if (verdict->causes[0].confidence > WR_CONFIDENCE_LOW)
		advise_option(verdict, "setsockopt", verdict->causes[0].side, "TCP_CORK", "0",
			      "int zero = 0; setsockopt(fd, IPPROTO_TCP, TCP_CORK, &zero, sizeof zero);");
}

static void idle_restart(const struct wr_case *judged, struct wr_verdict *verdict)
{
	struct wr_advice *advice = advise_sysctl(verdict, end_of(judged, verdict->causes[0].side),
						 verdict->causes[0].side, "net.ipv4.tcp_slow_start_after_idle", "0");

	if (advice)
		snprintf(advice->cost, sizeof advice->cost,
			 "bursts into a path that may have changed during the pause");
}

static void metrics(const struct wr_case *judged, struct wr_verdict *verdict)
{
	advise_option(verdict, "option", verdict->causes[0].side, "ip tcp_metrics", "flush", "ip tcp_metrics flush");
	advise_sysctl(verdict, end_of(judged, verdict->causes[0].side), verdict->causes[0].side,
		      "net.ipv4.tcp_no_metrics_save", "1");
}

static void device_queue(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_end *end = end_of(judged, verdict->causes[0].side);
	char device[32], key[48], apply[96], value[32];
	double qlen;
	struct wr_advice *advice;

	if (!(wr_end_devices(end, "tx_dropped", device) > 0))
		return;
	snprintf(key, sizeof key, "qlen@%.15s", device);
	qlen = wr_end_number(end, key, 0);
	snprintf(value, sizeof value, "%d", QUEUE_PACKETS);
	snprintf(apply, sizeof apply, "ip link set dev %.15s txqueuelen %d", device, QUEUE_PACKETS);
	advice = advise_option(verdict, "option", verdict->causes[0].side, "txqueuelen", value, apply);
	if (!advice)
		return;
	if (qlen > 0)
		snprintf(advice->current, sizeof advice->current, "%.0f packets", qlen);
	snprintf(advice->why, sizeof advice->why, "the queue has to hold a window: its bytes / MTU packets");
	if (qlen > 0)
		snprintf(advice->undo, sizeof advice->undo, "ip link set dev %.15s txqueuelen %.0f", device, qlen);
}

static void offload(const struct wr_case *judged, struct wr_verdict *verdict)
{
	(void)judged;
	advise_option(
		verdict, "option", WR_SIDE_NEAR, "ethtool -K", "tso off gso off gro off",
		"ethtool -K DEVICE tso off gso off gro off     (an experiment: at both ends, and in the host of a VM)");
}

static void udp_buffer(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_queue *queue = &judged->queue;
	const struct wr_end *end = end_of(judged, verdict->causes[0].side);
	double bytes = wr_udp_needed_bytes(queue);
	struct wr_advice *advice;

	wr_verdict_refuse(verdict, "net.core.rmem_default",
			  "it changes every socket of the host; the program can ask for itself");
	if (judged->evidence->protocol == WR_HOST)
		return;
	advice = advise_option(verdict, "setsockopt", verdict->causes[0].side, "SO_RCVBUF", "",
			       "in the program; the kernel doubles it");
	if (!(bytes > 0)) {
		if (advice)
			snprintf(advice->why, sizeof advice->why,
				 "packets of the largest burst x memory of each (832 B to 2304 B up to a full packet) "
				 "/ 2");
		return;
	}
	set_bytes(advice, bytes);
	if (advice)
		snprintf(advice->why, sizeof advice->why,
			 "%.0f were read and %.0f dropped: bursts of that many times the present buffer fit then, with "
			 "a quarter to spare",
			 queue->received, queue->dropped > 0 ? queue->dropped : queue->dropped_ever);
	if (end->core_rmem_max_bytes != WR_UNSET && bytes > (double)end->core_rmem_max_bytes)
		raise_cap(judged, verdict, verdict->causes[0].side, "net.core.rmem_max", bytes,
			  "else the request is cut");
}

static void netlink(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_queue *queue = &judged->queue;
	/* Memory of the smallest packet: what an event is charged with. */
	const double charge = 832;
	double held = queue->rcvbuf_bytes / charge,
	       bytes = HEADROOM * queue->rcvbuf_bytes / 2 * (held + queue->dropped_ever) / held;
	struct wr_advice *advice =
		advise_option(verdict, "setsockopt", verdict->causes[0].side, "SO_RCVBUFFORCE", "",
			      "in the program; read all state anew after ENOBUFS, whatever the size");

	set_bytes(advice, bytes);
	if (advice && bytes > 0)
		snprintf(advice->why, sizeof advice->why,
			 "%.0f events of %.0f B of kernel memory each at once, with a quarter to spare",
			 held + queue->dropped_ever, charge);
}

static void fragments(const struct wr_case *judged, struct wr_verdict *verdict)
{
	const struct wr_end *end = end_of(judged, verdict->causes[0].side);
	bool v6 = wr_end_counter(end, "Ip6ReasmFails") > 0 && !(wr_end_counter(end, "IpReasmFails") > 0);
	char value[32];
	struct wr_advice *advice;

	snprintf(value, sizeof value, "%d", FRAGMENT_MEMORY_BYTES);
	advice = advise_sysctl(verdict, end, verdict->causes[0].side,
			       v6 ? "net.ipv6.ip6frag_high_thresh" : "net.ipv4.ipfrag_high_thresh", value);
	set_bytes(advice, FRAGMENT_MEMORY_BYTES);
	snprintf(value, sizeof value, "%d", FRAGMENT_SECONDS);
	advise_sysctl(verdict, end, verdict->causes[0].side, v6 ? "net.ipv6.ip6frag_time" : "net.ipv4.ipfrag_time",
		      value);
}

static void send_overflow(const struct wr_case *judged, struct wr_verdict *verdict)
{
	struct wr_advice *advice;

	/* Counters of a host don't say whose sends failed. */
	if (judged->evidence->protocol == WR_HOST)
		return;
	advice = advise_option(verdict, "setsockopt", verdict->causes[0].side, "SO_SNDBUF", "",
			       "in the program; or pace what it sends, or let it wait for the socket to be writable");
	if (advice)
		snprintf(advice->why, sizeof advice->why,
			 "it has to hold what is written faster than the device takes it");
}

/* Seen from outside it is that nobody takes the messages, not how many of them may stand. */
static void stuck(const struct wr_case *judged, struct wr_verdict *verdict)
{
	(void)judged;
	snprintf(verdict->advice[0].why, sizeof verdict->advice[0].why, "let the reading program read");
}

static void vsock(const struct wr_case *judged, struct wr_verdict *verdict)
{
	struct wr_advice *advice;

	(void)judged;
	wr_verdict_refuse(verdict, "sndbuf", "virtio's vsock does not look at SO_SNDBUF");
	wr_verdict_refuse(verdict, "rcvbuf", "virtio's vsock does not look at SO_RCVBUF");
	advice = wr_verdict_advise(verdict, "program", verdict->causes[0].side);
	if (advice)
		snprintf(advice->why, sizeof advice->why, "fewer and larger packets, 1 KiB or more each");
	set_bytes(advise_option(verdict, "setsockopt", verdict->causes[0].side, "SO_VM_SOCKETS_BUFFER_SIZE", "",
				"SO_VM_SOCKETS_BUFFER_MAX_SIZE first; or send 1 KiB or more a packet"),
		  VSOCK_BYTES);
}

static void unsent_mark(const struct wr_case *judged, struct wr_verdict *verdict)
{
	advise_sysctl(verdict, judged->sender, judged->sender_side, "net.ipv4.tcp_notsent_lowat", "131072");
}

void wr_remedy_advise(const struct wr_case *judged, struct wr_verdict *verdict)
{
	static const struct {
		const char *cause;
		void (*advise)(const struct wr_case *judged, struct wr_verdict *verdict);
	} rows[] = {
		{"sndbuf-limited", buffers},
		{"rcvbuf-limited", buffers},
		{"sysctl-capped", cap},
		{"path-limited", smallest_window},
		{"bufferbloat", standing_queue},
		{"reader-limited", reader},
		{"window-scale-missing", scaling},
		{"nagle-delack", nagle},
		{"cork", cork},
		{"idle-restart", idle_restart},
		{"ssthresh-cached", metrics},
		{"device-queue", device_queue},
		{"offload-loss", offload},
		{"udp-rcvbuf-overflow", udp_buffer},
		{"netlink-overflow", netlink},
		{"udp-reassembly", fragments},
		{"udp-send-overflow", send_overflow},
		{"unix-queue", stuck},
		{"vsock-credit", vsock},
		{"notsent-lowat", unsent_mark},
	};

	for (size_t i = 0; i < WR_N_ELEMENTS(rows); i++) {
		if (wr_verdict_is(verdict, rows[i].cause))
			rows[i].advise(judged, verdict);
	}
}
