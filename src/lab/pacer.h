/* SPDX-License-Identifier: MIT */
/*
 * How the link spends its time between packets: how long to sleep, when to poll instead, and when to run ahead of
 * other processes. Pure: it is told the time and what happened, so its rules are tested on a virtual clock.
 */
#ifndef WR_LAB_PACER_H
#define WR_LAB_PACER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * @ahead: the link should be scheduled before ordinary processes now
 * The rest is the pacer's own; a zeroed one is ready.
 */
struct wr_lab_pacer {
	bool ahead;
	uint64_t ahead_until_ns, equal_until_ns; /* until when that holds; until when it may not begin again */
	uint64_t oversleep_ns, slept_ns; /* how late sleeps end on this machine; the end of the last one */
	uint64_t spin_left_ns, spin_counted_ns, spin_from_ns; /* allowance for polling; when counted; 0: not polling */
};

/* wr_lab_pacer_worked - packets were read: polling has ended, and a link that never sleeps falls into line. */
void wr_lab_pacer_worked(struct wr_lab_pacer *pacer, uint64_t now_ns);

/* wr_lab_pacer_late - a packet left @late_ns after it was due. */
void wr_lab_pacer_late(struct wr_lab_pacer *pacer, uint64_t late_ns, uint64_t now_ns);

/*
 * wr_lab_pacer_sleep_ns - nothing to read: how long to sleep
 * @next_due_ns: when the next packet must leave; WR_UNSET when none waits
 *
 * Return: ns; 0: don't sleep, look again; WR_UNSET: until a packet comes.
 */
uint64_t wr_lab_pacer_sleep_ns(struct wr_lab_pacer *pacer, uint64_t next_due_ns, uint64_t now_ns);

/*
 * wr_lab_pacer_slept - a sleep is over
 * @late_ns: how much later than asked it ended; WR_UNSET when a packet ended it
 */
void wr_lab_pacer_slept(struct wr_lab_pacer *pacer, uint64_t late_ns, uint64_t now_ns);

#endif
