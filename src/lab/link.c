/* SPDX-License-Identifier: MIT */
/*
 * One thread serves both directions: read a batch, decide, release what is due, sleep until the next is. A
 * packet that leaves as it came is not copied (but into a smaller buffer), one whose segments part is cut.
 */
#include "lab/link.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/acks.h"
#include "lab/chain.h"
#include "lab/edit.h"
#include "lab/pacer.h"
#include "lab/pool.h"
#include "lab/waiting.h"
#include "os/clock.h"

/* Packets taken from one direction before the other gets its turn. */
#define BATCH 32
/* Packets let go in one direction before anything else is looked at. */
#define RELEASE_BATCH 64
/* What the link takes from a slow device before it is needed: sleeps end so much too late at times. */
#define DEVICE_AHEAD_NS WR_NS_PER_MS

struct way {
	int in_fd, out_fd;
	bool has_rate, device_queue; /* device_queue: what waits, waits in the sender's device */
	uint32_t path_mtu_bytes;
	struct wr_lab_chain chain;
	struct wr_lab_waiting waiting;
	struct wr_lab_acks *acks, *other_acks; /* of this way's ACKs, and of those that answer its data; or NULL */
	uint32_t acks_row;
	struct wr_lab_capture *capture; /* or NULL */
	enum wr_lab_end end;
	struct wr_lab_way_counters *counters;
};

struct link {
	struct wr_lab_pool pool;
	struct way ways[WR_LAB_N_ENDS];
	struct wr_lab_pacer pacer;
	bool ahead; /* what the scheduler was told */
	sigset_t sleep_mask; /* SIGTERM ends a sleep */
};

static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
	(void)number;
	stopped = 1;
}

static void catch_stop(struct link *link)
{
	struct sigaction action = {.sa_handler = on_stop};

	stopped = 0;
	sigaction(SIGTERM, &action, NULL);
	sigprocmask(SIG_SETMASK, NULL, &link->sleep_mask);
	sigdelset(&link->sleep_mask, SIGTERM);
}

/* One packet on its way through the chain. */
struct passage {
	struct link *link;
	struct way *way;
	struct wr_lab_packet *packet; /* NULL once handed on whole */
	struct wr_lab_shape shape;
	uint64_t now_ns;
};

static void deliver(struct link *link, struct way *way, struct wr_lab_packet *packet)
{
	ssize_t n = write(way->out_fd, packet->data, packet->n_bytes);
	uint64_t until_ns;

	if (way->capture)
		wr_lab_capture_packet(way->capture, way->end, packet->data, packet->n_bytes, packet->left_ns,
				      wr_lab_server_rate_at(&way->chain.shared.server, packet->left_ns - 1, &until_ns));
	if (n < 0) {
		way->counters->n_refused_packets++;
	} else {
		way->counters->out.n_packets++;
		way->counters->out.n_segs += packet->n_segs;
		way->counters->out.wire_bytes += packet->n_wire_bytes;
		if (way->other_acks)
			wr_lab_acks_data(way->other_acks, packet->data, packet->n_bytes, packet->n_segs, (uint64_t)wr_clock_ns());
	}
	wr_lab_pool_put(&link->pool, packet);
}

/* Tell the scheduler what the pacer wants. Without the privilege the link stays as it is, and its lateness says so. */
static void follow_pacer(struct link *link)
{
	struct sched_param param = {.sched_priority = link->pacer.ahead ? 1 : 0};

	if (link->ahead == link->pacer.ahead)
		return;
	link->ahead = link->pacer.ahead;
	(void)sched_setscheduler(0, link->ahead ? SCHED_FIFO : SCHED_OTHER, &param);
}

static void release_due(struct link *link, struct way *way)
{
	uint64_t now_ns = (uint64_t)wr_clock_ns();

	for (int n = 0; n < RELEASE_BATCH && wr_lab_waiting_due_ns(&way->waiting) <= now_ns; n++) {
		struct wr_lab_packet *packet = wr_lab_waiting_take(&way->waiting);
		uint64_t late_ns = now_ns - packet->due_ns;

		wr_stat_octaves_add(way->counters->lateness, late_ns, 1);
		wr_lab_pacer_late(&link->pacer, late_ns, now_ns);
		deliver(link, way, packet);
		now_ns = (uint64_t)wr_clock_ns();
	}
}

/* A run has come through the chain: the packet itself when it is whole, otherwise a piece cut from it. */
static void emit(void *context, const struct wr_lab_run *run)
{
	struct passage *passage = context;
	struct wr_lab_packet *packet = passage->packet;

	if (run->n_segs == passage->shape.n_segs && !(run->marks & WR_LAB_MARK_COPY)) {
		passage->packet = NULL;
	} else {
		size_t n = wr_lab_packet_cut_bytes(&passage->shape, run->first_seg, run->n_segs);

		packet = wr_lab_pool_get(&passage->link->pool, n);
		if (!packet)
			return; /* can't be: wr_lab_pool_has_room kept enough back */
		packet->n_bytes = (uint32_t)wr_lab_packet_cut(passage->packet->data, &passage->shape, run->first_seg,
							      run->n_segs, packet->data);
	}
	if (passage->way->has_rate)
		wr_stat_octaves_add(&passage->way->counters->sojourn, run->waited_ns, run->n_segs);
	if (run->marks & ~WR_LAB_MARK_COPY)
		wr_lab_edit_apply(packet->data, packet->n_bytes, run->marks, run->chance);
	packet->n_segs = run->n_segs;
	packet->n_wire_bytes = (uint32_t)wr_lab_run_wire_bytes(run);
	packet->due_ns = run->at_ns;
	packet->left_ns = run->left_ns;
	if (run->at_ns <= passage->now_ns && wr_lab_waiting_due_ns(&passage->way->waiting) == WR_UNSET)
		deliver(passage->link, passage->way, packet);
	else
		wr_lab_waiting_add(&passage->way->waiting, packet);
}

/* The packet was larger than the path takes: its sender hears of it at once, as from a router beside it. */
static void refuse(void *context, const struct wr_lab_run *run)
{
	const struct passage *passage = context;
	uint8_t answer[WR_LAB_TOO_BIG_BYTES];
	size_t n = wr_lab_edit_too_big(passage->packet->data, passage->packet->n_bytes, passage->way->path_mtu_bytes, answer);

	(void)run;
	if (n && write(passage->way->in_fd, answer, n) == (ssize_t)n)
		passage->way->counters->n_icmp++;
}

/* Read into a large buffer, and move what is small into a small one, so that the large one stays free and warm. */
static struct wr_lab_packet *take(struct link *link, struct way *way)
{
	struct wr_lab_packet *packet = wr_lab_pool_get(&link->pool, WR_LAB_MAX_PACKET_BYTES), *small;
	ssize_t n = read(way->in_fd, packet->data, WR_LAB_MAX_PACKET_BYTES);

	if (n <= 0) {
		wr_lab_pool_put(&link->pool, packet);
		return NULL;
	}
	packet->n_bytes = (uint32_t)n;
	if ((size_t)n > link->pool.sizes[WR_LAB_POOL_SMALL].data_bytes)
		return packet;
	small = wr_lab_pool_get(&link->pool, (size_t)n);
	memcpy(small->data, packet->data, (size_t)n);
	small->n_bytes = (uint32_t)n;
	wr_lab_pool_put(&link->pool, packet);
	return small;
}

static void pass_one(struct link *link, struct way *way, struct wr_lab_packet *packet)
{
	struct passage passage = {.link = link, .way = way, .packet = packet, .now_ns = (uint64_t)wr_clock_ns()};
	struct wr_lab_run run;

	wr_lab_packet_parse(packet->data, packet->n_bytes, &passage.shape);
	run = wr_lab_run_of(&passage.shape, passage.now_ns);
	run.traits = wr_lab_edit_traits(packet->data, packet->n_bytes);
	way->counters->in.n_packets++;
	way->counters->in.n_segs += run.n_segs;
	way->counters->in.wire_bytes += wr_lab_run_wire_bytes(&run);
	wr_lab_chain_pass(&way->chain, &run, way->counters->drops, &(struct wr_lab_sink){emit, refuse, &passage});
	if (way->has_rate)
		wr_stat_octaves_add(&way->counters->depth,
				     wr_lab_server_backlog_bytes(&way->chain.shared.server, passage.now_ns), 1);
	if (passage.packet)
		wr_lab_pool_put(&link->pool, passage.packet);
}

/* A packet that was read: an ACK may have to wait before it sets out. */
static void admit(struct link *link, struct way *way, struct wr_lab_packet *packet)
{
	struct wr_lab_drops *drops = &way->counters->drops[way->acks_row];
	void *replaced = NULL;
	bool waits = way->acks && wr_lab_acks_take(way->acks, packet->data, packet->n_bytes, packet, &replaced);

	if (replaced) {
		drops->n_segs++;
		drops->wire_bytes += ((struct wr_lab_packet *)replaced)->n_bytes - WR_LAB_VIRTIO_BYTES + WR_LAB_FRAMING_BYTES;
		wr_lab_pool_put(&link->pool, replaced);
	}
	if (waits)
		drops->n_touched++;
	else
		pass_one(link, way, packet);
}

static void release_acks(struct link *link, struct way *way)
{
	struct wr_lab_packet *packet;

	while (way->acks && (packet = wr_lab_acks_expire(way->acks, (uint64_t)wr_clock_ns())))
		pass_one(link, way, packet);
}

/*
 * When the device may be read again, while its packets have to wait in it. A little before the server is free, so that a
 * late wake-up leaves no gap.
 */
static uint64_t resume_ns(const struct way *way)
{
	return way->device_queue ? way->chain.shared.server.busy_until_ns - DEVICE_AHEAD_NS : 0;
}

static bool is_paused(const struct way *way, uint64_t now_ns)
{
	return way->device_queue && wr_lab_server_wait_ns(&way->chain.shared.server, now_ns) > DEVICE_AHEAD_NS;
}

/* Return: how many packets were taken; 0 when there was none or no room. */
static int take_batch(struct link *link, struct way *way)
{
	struct wr_lab_packet *packet;
	int n = 0;

	while (n < BATCH && !(way->device_queue && is_paused(way, (uint64_t)wr_clock_ns()))) {
		if (!wr_lab_pool_has_room(&link->pool)) {
			way->counters->n_waits++;
			break;
		}
		packet = take(link, way);
		if (!packet)
			break;
		admit(link, way, packet);
		n++;
	}
	return n;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* When there is something to do though nothing comes. */
static uint64_t next_due_ns(const struct link *link, uint64_t now_ns)
{
	uint64_t next = WR_UNSET;

	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		const struct way *way = &link->ways[end];

		next = earlier(next, wr_lab_waiting_due_ns(&way->waiting));
		if (way->acks)
			next = earlier(next, wr_lab_acks_due_ns(way->acks));
		if (is_paused(way, now_ns))
			next = earlier(next, resume_ns(way));
	}
	return next;
}

/* Sleep for @sleep_ns (WR_UNSET: without end) or until a packet comes. Return: 0 or -errno. */
static int sleep_for(struct link *link, uint64_t sleep_ns, uint64_t from_ns)
{
	short events = wr_lab_pool_has_room(&link->pool) ? POLLIN : 0;
	struct timespec timeout = {
		.tv_sec = (time_t)(sleep_ns / WR_NS_PER_S),
		.tv_nsec = (long)(sleep_ns % WR_NS_PER_S),
	};
	struct pollfd polls[WR_LAB_N_ENDS];
	uint64_t now_ns;
	int rc;

	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		if (link->ways[end].capture)
			wr_lab_capture_flush(link->ways[end].capture);
		polls[end] = (struct pollfd){.fd = link->ways[end].in_fd,
					     .events = is_paused(&link->ways[end], from_ns) ? 0 : events};
	}
	rc = ppoll(polls, WR_LAB_N_ENDS, sleep_ns == WR_UNSET ? NULL : &timeout, &link->sleep_mask);
	if (rc < 0 && errno != EINTR)
		return -errno;
	now_ns = (uint64_t)wr_clock_ns();
	wr_lab_pacer_slept(&link->pacer, rc == 0 ? now_ns - from_ns - sleep_ns : WR_UNSET, now_ns);
	return (polls[0].revents | polls[1].revents) & (POLLERR | POLLNVAL) ? -ENODEV : 0;
}

static int wait_for_work(struct link *link)
{
	uint64_t now_ns = (uint64_t)wr_clock_ns();
	uint64_t sleep_ns = wr_lab_pacer_sleep_ns(&link->pacer, next_due_ns(link, now_ns), now_ns);

	follow_pacer(link);
	return sleep_ns ? sleep_for(link, sleep_ns, now_ns) : 0;
}

static uint32_t row_of(const struct wr_lab_element *element)
{
	uint32_t row = 0;

	while (wr_lab_elements[row] != element)
		row++;
	return row;
}

static int way_init(struct way *way, const struct wr_lab_way *config, uint64_t seed, struct weir_err *err)
{
	way->has_rate = config->rate_bps != WR_UNSET;
	way->device_queue = config->device_packets > 0;
	way->path_mtu_bytes = (uint32_t)config->path_mtu.bytes;
	way->acks_row = row_of(&wr_lab_element_ack_policy);
	if (config->ack.count && wr_lab_acks_new(&way->acks, config->ack.timer_ns, (uint32_t)config->ack.count, err) < 0)
		return -1;
	if (wr_lab_waiting_init(&way->waiting, WR_LAB_POOL_MAX_PACKETS, err) < 0)
		return -1;
	return wr_lab_chain_init(&way->chain, config, seed, (uint64_t)wr_clock_ns(), err);
}

static int link_init(struct link *link, const int fds[WR_LAB_N_ENDS], const struct wr_lab_config *config,
		     struct wr_lab_capture *const captures[WR_LAB_N_ENDS], struct wr_lab_counters *counters,
		     struct weir_err *err)
{
	memset(link, 0, sizeof *link);
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		struct way *way = &link->ways[end];

		way->in_fd = fds[end];
		way->out_fd = fds[!end];
		way->counters = &counters->ways[end];
		way->capture = captures[end];
		way->end = (enum wr_lab_end)end;
		if (way_init(way, &config->ways[end], 2 * config->seed + (uint64_t)end, err) < 0)
			return -1;
	}
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		link->ways[end].other_acks = link->ways[!end].acks;
	return wr_lab_pool_init(&link->pool, err);
}

int wr_lab_link_run(const int fds[WR_LAB_N_ENDS], const struct wr_lab_config *config,
		    struct wr_lab_capture *const captures[WR_LAB_N_ENDS], struct wr_lab_counters *counters, struct weir_err *err)
{
	struct link link;
	int rc = 0;

	if (link_init(&link, fds, config, captures, counters, err) < 0)
		return -1;
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	catch_stop(&link);
	while (rc == 0 && !stopped) {
		int n = 0;

		for (int end = 0; end < WR_LAB_N_ENDS; end++) {
			n += take_batch(&link, &link.ways[end]);
			for (int way = 0; way < WR_LAB_N_ENDS; way++) {
				release_acks(&link, &link.ways[way]);
				release_due(&link, &link.ways[way]);
			}
		}
		if (n == 0) {
			rc = wait_for_work(&link);
			continue;
		}
		wr_lab_pacer_worked(&link.pacer, (uint64_t)wr_clock_ns());
		follow_pacer(&link);
	}
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		wr_lab_chain_deinit(&link.ways[end].chain);
		wr_lab_waiting_deinit(&link.ways[end].waiting);
		link.ways[end].acks = wr_lab_acks_free(link.ways[end].acks);
	}
	wr_lab_pool_deinit(&link.pool);
	return rc == 0 ? 0 : wr_err_errno(err, WEIR_ERR_HOST, "ppoll", -rc, "the link's devices are gone");
}
