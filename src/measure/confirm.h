/* SPDX-License-Identifier: MIT */
/* One thing changed on a live transfer, and what became of it: the experiment that would refute a cause. */
#ifndef WR_MEASURE_CONFIRM_H
#define WR_MEASURE_CONFIRM_H

#include "measure/measure.h"

/*
 * What is changed, after the transfer has been steady.
 *
 * @knob: a row of wr_end_run_set: "sndbuf", "rcvbuf", "pace", "speed", "nodelay"
 * @far: at which end; @value: in the knob's unit
 * @warm_s: until it is steady
 */
struct wr_trial_change {
	const char *knob;
	bool far, bbr;
	uint64_t value;
	double warm_s;
};

/* The receiver's rate and the sender's round trip (NaN unknown) before and after. */
struct wr_trial_effect {
	double before_bps, after_bps, before_rtt_us, after_rtt_us;
};

/*
 * wr_measure_change - run @plan, make @change while it runs
 * Return: 0; 1 stopped by the user; -1.
 */
int wr_measure_change(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_trial_change *change,
		      struct wr_trial_effect *effect, struct weir_err *err);

#endif
