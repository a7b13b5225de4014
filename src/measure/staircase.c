/* SPDX-License-Identifier: MIT */
#include "measure/staircase.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

#define SETTLE_RTTS 4
#define SETTLE_S 0.15
#define MEASURE_RTTS 6
#define MEASURE_S 0.5
/* bbr's bandwidth filter holds ten round trips, a cycle of its gains is eight (net/ipv4/tcp_bbr.c). */
#define BBR_SETTLE_RTTS 10
#define BBR_MEASURE_RTTS 16
/* At the top the rate counts as grown when it grew by less than this; or after so many looks. */
#define GROWTH_RATIO 1.03
#define MAX_WAITS 4

/* Where a step was measured, on the run's clock. */
struct step {
	uint64_t eff_bytes;
	int64_t from_ns, to_ns;
};

double wr_stairs_settle_s(double rtt_s, bool bbr)
{
	return fmax(SETTLE_S, SETTLE_RTTS * rtt_s) + (bbr ? BBR_SETTLE_RTTS * rtt_s : 0);
}

double wr_stairs_measure_s(double rtt_s, bool bbr)
{
	return fmax(MEASURE_S, (bbr ? BBR_MEASURE_RTTS : MEASURE_RTTS) * rtt_s);
}

static double step_s(const struct wr_stairs *stairs)
{
	return wr_stairs_settle_s(stairs->rtt_s, stairs->bbr) + wr_stairs_measure_s(stairs->rtt_s, stairs->bbr);
}

double wr_stairs_seconds(const struct wr_stairs *stairs)
{
	return stairs->top_s + (double)stairs->n_sizes * step_s(stairs);
}

struct wr_progress wr_stairs_received(const struct wr_run *run)
{
	struct wr_progress now = run->far;

	if (!run->plan.reverse)
		return now;
	now = (struct wr_progress){.t_ns = wr_run_now_ns(run)};
	for (size_t i = 0; i < run->near.crew.n_streams; i++)
		now.bytes += wr_end_run_bytes(&run->near, i);
	return now;
}

int wr_stairs_wait(const struct wr_stairs *stairs, struct wr_run *run, double seconds, struct weir_err *err)
{
	int64_t until = wr_run_now_ns(run) + (int64_t)(seconds * 1e9);
	int rc;

	if (stairs->wait)
		return stairs->wait(stairs->context, run, seconds, err);
	do
		rc = wr_run_wait(run, until, err);
	while (rc == 1);
	return rc < 0 ? -1 : rc != 0;
}

int wr_stairs_rate(const struct wr_stairs *stairs, struct wr_run *run, double *bps, struct weir_err *err)
{
	int rc = wr_stairs_wait(stairs, run, wr_stairs_settle_s(stairs->rtt_s, stairs->bbr), err);
	struct wr_progress from = wr_stairs_received(run), to;

	if (rc == 0)
		rc = wr_stairs_wait(stairs, run, wr_stairs_measure_s(stairs->rtt_s, stairs->bbr), err);
	to = wr_stairs_received(run);
	*bps = to.t_ns > from.t_ns ? 8e9 * (double)(to.bytes - from.bytes) / (double)(to.t_ns - from.t_ns) : 0;
	return rc;
}

/* At the top the congestion window may still be growing; the steps below it need it grown. Return: 0; 1; -1. */
static int wait_for_top(const struct wr_stairs *stairs, struct wr_run *run, struct weir_err *err)
{
	double before, now;
	int rc = wr_stairs_wait(stairs, run, stairs->top_s / 2, err);

	if (rc == 0)
		rc = wr_stairs_rate(stairs, run, &now, err);
	for (int i = 0; i < MAX_WAITS && rc == 0; i++) {
		before = now;
		rc = wr_stairs_rate(stairs, run, &now, err);
		if (now < GROWTH_RATIO * before)
			break;
	}
	return rc;
}

static int walk_down(const struct wr_stairs *stairs, struct wr_run *run, struct step *steps, size_t *n_steps,
		     struct weir_err *err)
{
	int rc = wait_for_top(stairs, run, err);

	for (size_t i = 0; i < stairs->n_sizes && rc == 0; i++) {
		struct step *step = &steps[i];

		if (stairs->say)
			stairs->say(stairs->context, stairs->sizes[i]);
		if (wr_run_set(run, stairs->far, stairs->receive ? "rcvbuf" : "sndbuf", stairs->sizes[i], &step->eff_bytes, err) < 0)
			return -1;
		rc = wr_stairs_wait(stairs, run, wr_stairs_settle_s(stairs->rtt_s, stairs->bbr), err);
		step->from_ns = wr_run_now_ns(run);
		if (rc == 0)
			rc = wr_stairs_wait(stairs, run, wr_stairs_measure_s(stairs->rtt_s, stairs->bbr), err);
		step->to_ns = wr_run_now_ns(run);
		if (rc == 0)
			*n_steps = i + 1;
	}
	return rc;
}

int wr_stairs_walk(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_stairs *stairs, struct wr_stair *points,
		   size_t *n_points, uint64_t *bytes, struct weir_err *err)
{
	wr_auto_free struct step *steps = calloc(stairs->n_sizes, sizeof *steps);
	struct wr_plan timed = *plan;
	struct wr_evidence evidence;
	struct wr_run run;
	int rc;

	*n_points = 0;
	if (!steps)
		return wr_err_memory(err, "steps");
	timed.bytes = WR_UNSET;
	timed.duration_ns = (uint64_t)(2e9 * wr_stairs_seconds(stairs)) + 20000000000ULL;
	timed.interval_ns = 250000000;
	if (wr_run_start(&run, peer, &timed, err) < 0)
		return -1;
	rc = walk_down(stairs, &run, steps, n_points, err);
	if (rc < 0) {
		wr_run_abandon(&run);
		return -1;
	}
	if (wr_run_stop(&run, &evidence, err) < 0)
		return -1;
	for (size_t i = 0; i < *n_points; i++)
		points[i] = (struct wr_stair){
			steps[i].eff_bytes, wr_measure_slope(&evidence, steps[i].from_ns, steps[i].to_ns),
			wr_measure_rtt_us(&evidence, steps[i].from_ns, steps[i].to_ns),
		};
	*bytes = (uint64_t)(wr_measure_rate(&evidence, 0, evidence.near.duration_ns) * (double)evidence.near.duration_ns / 8e9);
	wr_evidence_deinit(&evidence);
	return rc;
}
