/* SPDX-License-Identifier: MIT */
/*
 * A sleeping process is woken some 50 us late on a virtual machine, and milliseconds late when others have the CPU.
 * So sleeps end earlier by what the last ones overslept and the rest is polled, within an allowance; and a link that
 * was late runs ahead of others for a while. All figures here were measured on two virtual CPUs, Linux 6.18.
 */
#include "lab/pacer.h"

#include "base/units.h"

/* Waits shorter than this are polled, and packets are let go in bundles of this length when polling is used up. */
#define SPIN_NS 50000
/* The most by which a sleep is shortened; never by more than a quarter of it. */
#define MAX_EARLY_NS 200000
/*
 * Polling may take an eighth of the time, and this much at a stretch. Without a bound, single segments at 1 Gbit/s
 * (one is due every 12 us) used up the CPU.
 */
#define SPIN_SHARE 8
#define MAX_SPIN_NS WR_NS_PER_MS
/*
 * A packet that leaves so late shows that others have the CPU. Three busy loops on two CPUs made p99 lateness 3.5 ms,
 * running ahead (SCHED_FIFO) 40 us. Not always on, because waking a real-time process costs 0.3 ms of RTT on an
 * otherwise idle virtual machine: it stays on its own, sleeping CPU.
 */
#define LATE_NS 500000
#define AHEAD_NS (2 * WR_NS_PER_S)
/*
 * A link that has not slept for so long has more to do than a CPU can: ahead of the others it would only keep them
 * from their part, until the kernel throttles it (sched_rt_runtime_us) and everything stands for 50 ms.
 */
#define SATURATED_NS (50 * WR_NS_PER_MS)

/* Fall into line when the time is over, or when the link itself is what keeps the CPU busy. */
static void stay_fair(struct wr_lab_pacer *pacer, uint64_t now_ns)
{
	bool saturated = now_ns - pacer->slept_ns > SATURATED_NS;

	if (!pacer->ahead || (now_ns < pacer->ahead_until_ns && !saturated))
		return;
	pacer->ahead = false;
	pacer->equal_until_ns = saturated ? now_ns + AHEAD_NS : 0;
}

void wr_lab_pacer_worked(struct wr_lab_pacer *pacer, uint64_t now_ns)
{
	pacer->spin_from_ns = 0;
	stay_fair(pacer, now_ns);
}

void wr_lab_pacer_late(struct wr_lab_pacer *pacer, uint64_t late_ns, uint64_t now_ns)
{
	if (late_ns < LATE_NS || now_ns < pacer->equal_until_ns)
		return;
	pacer->ahead = true;
	pacer->ahead_until_ns = now_ns + AHEAD_NS;
}

/* Bring the allowance for polling up to date. Return: what is left of it. */
static uint64_t spin_left_ns(struct wr_lab_pacer *pacer, uint64_t now_ns)
{
	uint64_t used_ns = pacer->spin_from_ns ? now_ns - pacer->spin_from_ns : 0;

	pacer->spin_left_ns += (now_ns - pacer->spin_counted_ns) / SPIN_SHARE;
	pacer->spin_left_ns -= used_ns < pacer->spin_left_ns ? used_ns : pacer->spin_left_ns;
	if (pacer->spin_left_ns > MAX_SPIN_NS)
		pacer->spin_left_ns = MAX_SPIN_NS;
	pacer->spin_counted_ns = now_ns;
	return pacer->spin_left_ns;
}

static uint64_t sleep_before(struct wr_lab_pacer *pacer, uint64_t left_ns, uint64_t now_ns)
{
	uint64_t allowed_ns = spin_left_ns(pacer, now_ns), early_ns = pacer->oversleep_ns;

	if (allowed_ns == 0)
		return left_ns > SPIN_NS ? left_ns : SPIN_NS;
	if (left_ns < (early_ns < SPIN_NS ? early_ns : SPIN_NS))
		return 0;
	if (early_ns > left_ns / 4)
		early_ns = left_ns / 4;
	return left_ns - (early_ns < allowed_ns ? early_ns : allowed_ns);
}

uint64_t wr_lab_pacer_sleep_ns(struct wr_lab_pacer *pacer, uint64_t next_due_ns, uint64_t now_ns)
{
	uint64_t sleep_ns = WR_UNSET;

	stay_fair(pacer, now_ns);
	if (next_due_ns <= now_ns)
		return 0;
	if (next_due_ns != WR_UNSET)
		sleep_ns = sleep_before(pacer, next_due_ns - now_ns, now_ns);
	pacer->spin_from_ns = sleep_ns == 0 ? now_ns : 0;
	return sleep_ns;
}

void wr_lab_pacer_slept(struct wr_lab_pacer *pacer, uint64_t late_ns, uint64_t now_ns)
{
	pacer->slept_ns = now_ns;
	if (late_ns == WR_UNSET)
		return;
	if (late_ns > MAX_EARLY_NS)
		late_ns = MAX_EARLY_NS;
	pacer->oversleep_ns += late_ns / 8 - pacer->oversleep_ns / 8;
}
