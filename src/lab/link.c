/* SPDX-License-Identifier: MIT */
/*
 * One thread serves both directions: read a batch, decide, release what is due, sleep until the next is. A
 * packet that leaves as it came is never copied. Waits of less than SPIN_NS are spent polling, for a sleeping
 * process is woken some 50 us late on a virtual machine.
 */
#include "lab/link.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/chain.h"
#include "lab/pool.h"
#include "os/clock.h"

/* Packets taken from one direction before the other gets its turn. */
#define BATCH 32
#define SPIN_NS 50000
/* A sleep ends earlier by what the last ones overslept, at most this, and at most by a quarter of itself. */
#define MAX_EARLY_NS 200000
/*
 * Polling may take an eighth of the time, and this much at a stretch; then packets are let go in bundles that are
 * one SPIN_NS long. Polling without end at 1 Gbit/s in single segments (one is due every 12 us) used up the CPU.
 */
#define SPIN_SHARE 8
#define MAX_SPIN_NS WR_NS_PER_MS
/*
 * A packet that leaves so late shows that others have the CPU: the link then runs ahead of them (SCHED_FIFO) for a
 * while. Three busy loops on two CPUs made p99 lateness 3.5 ms, with this 40 us. Not always on, because waking a
 * real-time process costs a small RTT more on an idle virtual machine (0.3 ms: it stays on its own, sleeping CPU).
 */
#define LATE_NS 500000
#define AHEAD_NS (2 * WR_NS_PER_S)
/*
 * A link that has not slept for so long has more to do than a CPU can: ahead of the others it would only keep them
 * from their part, until the kernel throttles it (sched_rt_runtime_us) and everything stands for 50 ms.
 */
#define SATURATED_NS (50 * WR_NS_PER_MS)

struct way {
	int in_fd, out_fd;
	bool has_rate;
	struct wr_lab_chain chain;
	struct wr_lab_packet *first, *last; /* waiting, by due time */
	struct wr_lab_way_counters *counters;
};

struct link {
	struct wr_lab_pool pool;
	struct way ways[WR_LAB_N_ENDS];
	uint64_t oversleep_ns; /* a moving average of how late sleeps end on this machine */
	uint64_t slept_ns; /* the end of the last sleep */
	uint64_t ahead_until_ns, equal_until_ns; /* 0: scheduled like everyone else; not to be changed */
	uint64_t spin_left_ns, spin_counted_ns, spin_from_ns; /* the allowance for polling; when counted; 0: not polling */
};

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

	if (n < 0) {
		way->counters->n_refused_packets++;
	} else {
		way->counters->out.n_packets++;
		way->counters->out.n_segs += packet->n_segs;
		way->counters->out.wire_bytes += packet->n_wire_bytes;
	}
	wr_lab_pool_put(&link->pool, packet);
}

/* Keep the list in order of due times; nearly always that is its end. */
static void enqueue(struct way *way, struct wr_lab_packet *packet)
{
	struct wr_lab_packet **at = &way->first;

	if (way->last && way->last->due_ns <= packet->due_ns)
		at = &way->last->next;
	while (*at && (*at)->due_ns <= packet->due_ns)
		at = &(*at)->next;
	packet->next = *at;
	*at = packet;
	if (!packet->next)
		way->last = packet;
}

static void set_policy(int policy)
{
	struct sched_param param = {.sched_priority = policy == SCHED_FIFO ? 1 : 0};

	/* Without the privilege the link stays as it is, and its lateness says so. */
	(void)sched_setscheduler(0, policy, &param);
}

static void note_lateness(struct link *link, struct way *way, uint64_t late_ns, uint64_t now_ns)
{
	wr_lab_histogram_add(&way->counters->lateness, late_ns);
	if (late_ns < LATE_NS || now_ns < link->equal_until_ns)
		return;
	if (!link->ahead_until_ns)
		set_policy(SCHED_FIFO);
	link->ahead_until_ns = now_ns + AHEAD_NS;
}

/* Fall back into line when the time is over, or when the link itself is what keeps the CPU busy. */
static void stay_fair(struct link *link)
{
	uint64_t now_ns = (uint64_t)wr_clock_ns();
	bool saturated = now_ns - link->slept_ns > SATURATED_NS;

	if (!link->ahead_until_ns || (now_ns < link->ahead_until_ns && !saturated))
		return;
	set_policy(SCHED_OTHER);
	link->ahead_until_ns = 0;
	link->equal_until_ns = saturated ? now_ns + AHEAD_NS : 0;
}

static void release_due(struct link *link, struct way *way)
{
	uint64_t now_ns = (uint64_t)wr_clock_ns();

	while (way->first && way->first->due_ns <= now_ns) {
		struct wr_lab_packet *packet = way->first;

		way->first = packet->next;
		if (!way->first)
			way->last = NULL;
		note_lateness(link, way, now_ns - packet->due_ns, now_ns);
		deliver(link, way, packet);
		now_ns = (uint64_t)wr_clock_ns();
	}
}

/* A run has come through the chain: the packet itself when it is whole, otherwise a piece cut from it. */
static void emit(void *context, const struct wr_lab_run *run)
{
	struct passage *passage = context;
	struct wr_lab_packet *packet = passage->packet;

	if (run->n_segs == passage->shape.n_segs) {
		passage->packet = NULL;
	} else {
		size_t n = wr_lab_packet_cut_bytes(&passage->shape, run->first_seg, run->n_segs);

		packet = wr_lab_pool_get(&passage->link->pool, n);
		if (!packet)
			return; /* can't be: wr_lab_pool_has_room kept enough back */
		packet->n_bytes = (uint32_t)wr_lab_packet_cut(passage->packet->data, &passage->shape, run->first_seg,
							      run->n_segs, packet->data);
	}
	packet->n_segs = run->n_segs;
	packet->n_wire_bytes = (uint32_t)wr_lab_run_wire_bytes(run);
	packet->due_ns = run->at_ns;
	if (!passage->way->first && run->at_ns <= passage->now_ns)
		deliver(passage->link, passage->way, packet);
	else
		enqueue(passage->way, packet);
}

static void note_backlog(struct way *way, uint64_t now_ns)
{
	uint64_t backlog = wr_lab_server_backlog_bytes(&way->chain.shared.server, now_ns);

	if (backlog > way->counters->max_backlog_bytes)
		way->counters->max_backlog_bytes = backlog;
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
	way->counters->in.n_packets++;
	way->counters->in.n_segs += run.n_segs;
	way->counters->in.wire_bytes += wr_lab_run_wire_bytes(&run);
	wr_lab_chain_pass(&way->chain, &run, way->counters->drops, emit, &passage);
	if (way->has_rate)
		note_backlog(way, passage.now_ns);
	if (passage.packet)
		wr_lab_pool_put(&link->pool, passage.packet);
}

/* Return: how many packets were taken; 0 when there was none or no room. */
static int take_batch(struct link *link, struct way *way)
{
	struct wr_lab_packet *packet;
	int n = 0;

	while (n < BATCH) {
		if (!wr_lab_pool_has_room(&link->pool)) {
			way->counters->n_waits++;
			break;
		}
		packet = take(link, way);
		if (!packet)
			break;
		pass_one(link, way, packet);
		n++;
	}
	return n;
}

static uint64_t next_due_ns(const struct link *link)
{
	uint64_t next = WR_UNSET;

	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		if (link->ways[end].first && link->ways[end].first->due_ns < next)
			next = link->ways[end].first->due_ns;
	}
	return next;
}

/* Sleep for @left_ns or until a packet comes, and learn how late this machine wakes a sleeper. */
static int sleep_for(struct link *link, uint64_t left_ns, const struct timespec *timeout)
{
	bool room = wr_lab_pool_has_room(&link->pool);
	uint64_t slept_at_ns = (uint64_t)wr_clock_ns();
	struct pollfd polls[WR_LAB_N_ENDS];
	int rc;

	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		polls[end] = (struct pollfd){.fd = link->ways[end].in_fd, .events = room ? POLLIN : 0};
	rc = ppoll(polls, WR_LAB_N_ENDS, timeout, NULL);
	link->slept_ns = (uint64_t)wr_clock_ns();
	if (rc < 0 && errno != EINTR)
		return -errno;
	if (rc == 0) {
		uint64_t overslept_ns = link->slept_ns - slept_at_ns - left_ns;

		if (overslept_ns > MAX_EARLY_NS)
			overslept_ns = MAX_EARLY_NS;
		link->oversleep_ns += overslept_ns / 8 - link->oversleep_ns / 8;
	}
	return (polls[0].revents | polls[1].revents) & (POLLERR | POLLNVAL) ? -ENODEV : 0;
}

/* Bring the allowance for polling up to date. Return: what is left of it. */
static uint64_t spin_left_ns(struct link *link, uint64_t now_ns)
{
	uint64_t used_ns = link->spin_from_ns ? now_ns - link->spin_from_ns : 0;

	link->spin_left_ns += (now_ns - link->spin_counted_ns) / SPIN_SHARE;
	link->spin_left_ns -= used_ns < link->spin_left_ns ? used_ns : link->spin_left_ns;
	if (link->spin_left_ns > MAX_SPIN_NS)
		link->spin_left_ns = MAX_SPIN_NS;
	link->spin_counted_ns = now_ns;
	link->spin_from_ns = link->spin_from_ns ? now_ns : 0;
	return link->spin_left_ns;
}

/* How long to sleep when the next packet is due in @left_ns; 0: poll. */
static uint64_t choose_sleep_ns(struct link *link, uint64_t left_ns, uint64_t now_ns)
{
	uint64_t allowed_ns = spin_left_ns(link, now_ns), early_ns = link->oversleep_ns;

	if (allowed_ns == 0)
		return left_ns > SPIN_NS ? left_ns : SPIN_NS;
	if (left_ns < (early_ns < SPIN_NS ? early_ns : SPIN_NS))
		return 0;
	if (early_ns > left_ns / 4)
		early_ns = left_ns / 4;
	return left_ns - (early_ns < allowed_ns ? early_ns : allowed_ns);
}

/* Nothing to read: sleep until a packet comes or shortly before the next is due; when that is near, return at once. */
static int wait_for_work(struct link *link)
{
	uint64_t next_ns = next_due_ns(link), now_ns = (uint64_t)wr_clock_ns(), sleep_ns;
	struct timespec timeout;

	if (next_ns <= now_ns)
		return 0;
	if (next_ns == WR_UNSET) {
		link->spin_from_ns = 0;
		return sleep_for(link, 0, NULL);
	}
	sleep_ns = choose_sleep_ns(link, next_ns - now_ns, now_ns);
	if (sleep_ns == 0) {
		link->spin_from_ns = now_ns;
		return 0;
	}
	link->spin_from_ns = 0;
	timeout.tv_sec = (time_t)(sleep_ns / WR_NS_PER_S);
	timeout.tv_nsec = (long)(sleep_ns % WR_NS_PER_S);
	return sleep_for(link, sleep_ns, &timeout);
}

static int link_init(struct link *link, const int fds[WR_LAB_N_ENDS], const struct wr_lab_config *config,
		     struct wr_lab_counters *counters, struct weir_err *err)
{
	memset(link, 0, sizeof *link);
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		struct way *way = &link->ways[end];

		way->in_fd = fds[end];
		way->out_fd = fds[!end];
		way->has_rate = config->ways[end].rate_bps != WR_UNSET;
		way->counters = &counters->ways[end];
		wr_lab_chain_init(&way->chain, &config->ways[end], 2 * config->seed + (uint64_t)end);
	}
	return wr_lab_pool_init(&link->pool, err);
}

int wr_lab_link_run(const int fds[WR_LAB_N_ENDS], const struct wr_lab_config *config, struct wr_lab_counters *counters,
		    struct weir_err *err)
{
	struct link link;
	int rc = 0;

	if (link_init(&link, fds, config, counters, err) < 0)
		return -1;
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	while (rc == 0) {
		int n = 0;

		for (int end = 0; end < WR_LAB_N_ENDS; end++) {
			n += take_batch(&link, &link.ways[end]);
			for (int way = 0; way < WR_LAB_N_ENDS; way++)
				release_due(&link, &link.ways[way]);
		}
		stay_fair(&link);
		if (n == 0)
			rc = wait_for_work(&link);
		else
			link.spin_from_ns = 0;
	}
	wr_lab_pool_deinit(&link.pool);
	return wr_err_errno(err, WEIR_ERR_HOST, "ppoll", -rc, "the link's devices are gone");
}
