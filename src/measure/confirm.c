/* SPDX-License-Identifier: MIT */
/* Both figures are of one connection, so that nothing but the change lies between them. */
#include "measure/confirm.h"

#include "measure/staircase.h"

struct stretch {
	int64_t from_ns, to_ns;
};

static int look(const struct wr_stairs *stairs, struct wr_run *run, struct stretch *stretch, struct weir_err *err)
{
	int rc = wr_stairs_wait(stairs, run, wr_stairs_settle_s(stairs->rtt_s, stairs->bbr), err);

	stretch->from_ns = wr_run_now_ns(run);
	/* Twice what a stair takes: two stretches are compared, and no more follow. */
	if (rc == 0)
		rc = wr_stairs_wait(stairs, run, 2 * wr_stairs_measure_s(stairs->rtt_s, stairs->bbr), err);
	stretch->to_ns = wr_run_now_ns(run);
	return rc;
}

static int change_live(const struct wr_stairs *stairs, struct wr_run *run, const struct wr_trial_change *change,
		       struct stretch stretches[2], struct weir_err *err)
{
	uint64_t effective;
	int rc = wr_stairs_wait(stairs, run, change->warm_s, err);

	if (rc == 0)
		rc = look(stairs, run, &stretches[0], err);
	if (rc == 0 && wr_run_set(run, change->far, change->knob, change->value, &effective, err) < 0)
		return -1;
	return rc == 0 ? look(stairs, run, &stretches[1], err) : rc;
}

int wr_measure_change(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_trial_change *change,
		      struct wr_trial_effect *effect, struct weir_err *err)
{
	struct wr_stairs stairs = {.rtt_s = (double)peer->rtt_ns / 1e9, .bbr = change->bbr};
	struct stretch stretches[2];
	struct wr_plan timed = *plan;
	struct wr_evidence evidence;
	struct wr_run run;
	int rc;

	timed.bytes = WR_UNSET;
	timed.duration_ns = (uint64_t)(2e9 * (change->warm_s + 6)) + 20000000000ULL;
	timed.interval_ns = 250000000;
	if (wr_run_start(&run, peer, &timed, err) < 0)
		return -1;
	rc = change_live(&stairs, &run, change, stretches, err);
	if (rc < 0) {
		wr_run_abandon(&run);
		return -1;
	}
	if (wr_run_stop(&run, &evidence, err) < 0)
		return -1;
	if (rc == 0) {
		effect->before_bps = wr_measure_slope(&evidence, stretches[0].from_ns, stretches[0].to_ns);
		effect->after_bps = wr_measure_slope(&evidence, stretches[1].from_ns, stretches[1].to_ns);
		effect->before_rtt_us = wr_measure_rtt_us(&evidence, stretches[0].from_ns, stretches[0].to_ns);
		effect->after_rtt_us = wr_measure_rtt_us(&evidence, stretches[1].from_ns, stretches[1].to_ns);
	}
	wr_evidence_deinit(&evidence);
	return rc;
}
