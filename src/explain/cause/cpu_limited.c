/* SPDX-License-Identifier: MIT */
/*
 * cpu-limited: a thread that moves the data needs a whole CPU. On loopback it also does the kernel's work of both
 * ends. Time spent waiting for a CPU that others use counts as needed, but weakens the verdict.
 */
#include <math.h>

#include "explain/cause.h"

#define BUSY_RATIO 0.9

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double sender = f->sender_cpu_ratio + f->sender_wait_ratio;
	double receiver = f->receiver_cpu_ratio + f->receiver_wait_ratio;
	bool at_receiver = receiver > sender || isnan(sender);
	double cpu = at_receiver ? f->receiver_cpu_ratio : f->sender_cpu_ratio;
	double wait = at_receiver ? f->receiver_wait_ratio : f->sender_wait_ratio;

	(void)found;
	if (!(cpu + wait >= BUSY_RATIO))
		return 0;
	out->side = at_receiver ? judged->receiver_side : judged->sender_side;
	out->share_ratio = fmin(cpu + wait, 1);
	out->ceiling_bps = f->goodput_bps;
	wr_finding_prove(out, "cpu_ratio", cpu, "ratio", "the %s thread on %s ran for %.0f %% of the time on a CPU",
			 at_receiver ? "reading" : "writing", wr_side_name(out->side), 100 * cpu);
	if (wait > 0.02)
		wr_finding_prove(out, "cpu_wait_ratio", wait, "ratio", "and waited for one for %.0f %%", 100 * wait);
	out->confidence = cpu >= BUSY_RATIO ? WR_CONFIDENCE_HIGH : cpu >= 0.7 ? WR_CONFIDENCE_MEDIUM : WR_CONFIDENCE_LOW;
	return 1;
}

const struct wr_cause wr_cause_cpu_limited = {
	.name = "cpu-limited",
	.summary = "A thread that moves the data has no CPU time left.",
	.source = "clock_gettime of the thread, /proc/self/task/TID/schedstat",
	.eval = eval,
};
