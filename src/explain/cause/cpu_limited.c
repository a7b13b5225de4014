/* SPDX-License-Identifier: MIT */
/*
 * cpu-limited: a thread that moves the data needs a whole CPU. On loopback it also does the kernel's work of both
 * ends. Time spent waiting for a CPU that others use counts as needed, but weakens the verdict.
 */
#include <math.h>

#include "explain/cause.h"

#define BUSY_RATIO 0.9
/* Of a writer that nobody paces, what it doesn't wait is work. */
#define WORK_RATIO 0.5

static int judge(const struct wr_case *judged, double least_ratio, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double sender = f->sender_cpu_ratio + f->sender_wait_ratio;
	double receiver = f->receiver_cpu_ratio + f->receiver_wait_ratio;
	bool at_receiver = receiver > sender || isnan(sender);
	double cpu = at_receiver ? f->receiver_cpu_ratio : f->sender_cpu_ratio;
	double wait = at_receiver ? f->receiver_wait_ratio : f->sender_wait_ratio;

	if (!(cpu + wait >= least_ratio))
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

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	(void)found;
	return judge(judged, BUSY_RATIO, out);
}

/*
 * Without a network between, a writer that nobody paces either waits for room or works: on 0.2 to 4 MiB of buffer a
 * unix socket's writer waits for 29 to 1 % of the time and uses a CPU for 83 to 99 % of it.
 */
static int eval_plain(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_plan *plan = &judged->evidence->plan;
	bool paced = plan->write_bps != WR_UNSET || (plan->reverse ? plan->read_bps : plan->far_read_bps) != WR_UNSET;

	(void)found;
	if (!judge(judged, paced ? BUSY_RATIO : WORK_RATIO, out))
		return 0;
	if (out->confidence != WR_CONFIDENCE_HIGH || judged->features.tight)
		out->share_ratio = fmin(out->share_ratio, fmax(1 - judged->features.waited_ratio, 0));
	return 1;
}

const struct wr_cause wr_cause_cpu_limited = {
	.name = "cpu-limited",
	.summary = "A thread that moves the data has no CPU time left.",
	.source = "clock_gettime of the thread, /proc/self/task/TID/schedstat",
	.eval = eval,
	.eval_plain = eval_plain,
};
