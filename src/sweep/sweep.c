/* SPDX-License-Identifier: MIT */
/*
 * The loop. A block holds every cell once, so that a slow minute hits all of them alike; the order within it is
 * random, so that no cell always follows the same one (science: duet and randomised blocks). A connection is the
 * unit of a claim, so each run has one of its own, and what the kernel remembers of the path is dropped before it.
 */
#include "sweep/steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/verdict.h"
#include "os/clock.h"
#include "os/path_metrics.h"
#include "stat/random.h"

/* With --until: blocks at most. */
#define MAX_BLOCKS 200
/* What is around a transfer: connections, the two ends' agreement, results; in round trips and in seconds. */
#define AROUND_RTTS 8
#define AROUND_S 0.05

void wr_sweep_order(uint64_t seed, size_t block, size_t n_cells, uint32_t *order)
{
	struct wr_stat_random random;

	wr_stat_random_init(&random, seed + 0x9e3779b97f4a7c15ULL * (block + 1));
	for (size_t i = 0; i < n_cells; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n_cells; i > 1; i--) {
		size_t j = wr_stat_random_below(&random, i);
		uint32_t held = order[i - 1];

		order[i - 1] = order[j];
		order[j] = held;
	}
}

static double run_s(const struct wr_grid_plan *plan, double rtt_s)
{
	double moving = plan->base.duration_ns == WR_UNSET ? WR_DEFAULT_DURATION_NS / 1e9 : (double)plan->base.duration_ns / 1e9;

	return moving + AROUND_RTTS * rtt_s + AROUND_S;
}

double wr_sweep_expected_s(const struct wr_grid_plan *plan, size_t n_cells, double rtt_s)
{
	return (double)(plan->repeats * n_cells) * run_s(plan, rtt_s);
}

double wr_sweep_elapsed_s(const struct wr_sweep_steps *steps)
{
	return (double)(wr_clock_ns() - steps->began_ns) / 1e9;
}

/* The last value of a metric of the first connection. */
static uint64_t last_size(const struct wr_end *end, enum wr_metric_id id)
{
	const struct wr_sample *last = end->n_connections ? wr_series_at(&end->connections[0].series, INT64_MAX) : NULL;
	double value = last ? wr_sample_get(last, id, NAN) : NAN;

	return value >= 0 ? (uint64_t)value : WR_UNSET;
}

static double known(double ratio)
{
	return ratio < 0 ? NAN : ratio;
}

static int run_of(const struct wr_evidence *evidence, struct wr_grid_run *run, struct weir_err *err)
{
	wr_auto_free struct wr_result *result = calloc(1, sizeof *result);

	if (!result)
		return wr_err_memory(err, "result");
	if (wr_measure_result(evidence, result, err) < 0)
		return -1;
	run->throughput_bps = result->throughput_bps;
	run->rtt_us = result->rtt_loaded_us;
	run->bytes = result->bytes;
	run->messages_per_s = result->messages_per_s;
	run->latency_p99_us = result->latency_us[WR_LATENCY_P99];
	for (size_t i = 0; i < result->n_intervals; i++)
		run->retrans_segs += result->intervals[i].retrans_segs;
	run->transfer_s = result->transfer_s;
	run->near_other_cpu_ratio = known(evidence->near.other_cpu_ratio);
	run->far_other_cpu_ratio = known(evidence->far.other_cpu_ratio);
	run->sndbuf_eff_bytes = last_size(wr_evidence_sender(evidence), WR_M_SNDBUF_BYTES);
	run->rcvbuf_eff_bytes = last_size(wr_evidence_receiver(evidence), WR_M_RCVBUF_BYTES);
	run->ramping = evidence->ramping;
	return 0;
}

/*
 * What became of a size that was asked for, where it binds: the sender's SO_SNDBUF, the receiver's SO_RCVBUF. Linux doubles it,
 * and clamps it at a sysctl; with SO_*BUFFORCE, where weir may, it passes that sysctl by, which other programs can't.
 */
static void look_at_size(struct wr_sweep_steps *steps, const struct wr_end *end, enum wr_side side, bool receive)
{
	const struct wr_connection *first = end->n_connections ? &end->connections[0] : NULL;
	uint64_t asked = !first ? WR_UNSET : receive ? first->rcvbuf_req_bytes : first->sndbuf_req_bytes;
	uint64_t got = !first ? WR_UNSET : receive ? first->rcvbuf_eff_bytes : first->sndbuf_eff_bytes;
	uint64_t limit = receive ? end->core_rmem_max_bytes : end->core_wmem_max_bytes;
	const char *sysctl = receive ? "net.core.rmem_max" : "net.core.wmem_max", *option = receive ? "SO_RCVBUF" : "SO_SNDBUF";
	const char *name = wr_side_name(side), *set_by = !first ? "" : receive ? first->rcvbuf_option : first->sndbuf_option;
	char shown[WR_UNIT_TEXT], most[WR_UNIT_TEXT];

	/* Other buffers, as vsock's, are neither doubled nor bound by these sysctls. */
	if (asked == WR_UNSET || got == WR_UNSET || limit == WR_UNSET || strcmp(set_by, option) != 0)
		return;
	wr_size_text(shown, (double)asked);
	wr_size_text(most, (double)limit);
	if (got < 2 * asked)
		snprintf(steps->sizes[receive], WR_NOTE_TEXT, "%s %s on %s was cut to %s by %s: cells above that size are all the same",
			 option, shown, name, most, sysctl);
	else if (asked > limit)
		snprintf(steps->sizes[receive], WR_NOTE_TEXT, "%s above %s on %s was set with %sFORCE, past %s: a program without "
			 "CAP_NET_ADMIN gets %s", option, most, name, option, sysctl, most);
	else if (got > 2 * asked)
		snprintf(steps->sizes[2 + receive], WR_NOTE_TEXT, "%s %s on %s became %s effective, the kernel's least", option, shown, name,
			 wr_size_text(most, (double)got));
}

int wr_sweep_cell_plan(const struct wr_sweep_steps *steps, size_t cell, struct wr_plan *plan, struct weir_err *err)
{
	if (wr_grid_cell_plan(&steps->grid->plan, cell, plan, err) < 0)
		return -1;
	plan->forget = true;
	if (plan->duration_ns == WR_UNSET && plan->bytes == WR_UNSET)
		plan->duration_ns = WR_DEFAULT_DURATION_NS;
	return 0;
}

int wr_sweep_add(struct wr_sweep_steps *steps, const struct wr_grid_run *run, struct weir_err *err)
{
	if (wr_grid_add(steps->grid, run, err) < 0)
		return -1;
	steps->grid->n_blocks = run->block + 1U > steps->grid->n_blocks ? run->block + 1U : steps->grid->n_blocks;
	if (steps->watch->done)
		steps->watch->done(steps->watch->context, steps->grid);
	return 0;
}

/* A combination of sizes that can't be is a cell without runs, not the end of the grid. Return: 0; -1. */
static int misfits(struct wr_sweep_steps *steps, const struct weir_err *err)
{
	if (!err || strcmp(err->operation, WR_MISFIT) != 0)
		return -1;
	snprintf(steps->misfit, sizeof steps->misfit, "cells without runs: %.200s", err->text);
	return 0;
}

/* One run of one cell. Return: 0; 1 stopped, nothing was added; -1. */
static int run_cell(struct wr_sweep_steps *steps, size_t cell, size_t block, struct weir_err *err)
{
	struct wr_measure_watch watch = {0};
	struct wr_grid_run run = {.cell = (uint32_t)cell, .block = (uint32_t)block, .started_s = wr_sweep_elapsed_s(steps)};
	struct wr_evidence evidence;
	struct wr_plan plan;
	int rc;

	if (wr_sweep_cell_plan(steps, cell, &plan, err) < 0)
		return -1;
	/* A slow start that ends late deserves its plateau: as long again, at most. */
	watch.extend_ns = plan.duration_ns == WR_UNSET ? 0 : (int64_t)plan.duration_ns;
	if (wr_measure_run(steps->peer, &plan, &watch, &evidence, err) < 0)
		return misfits(steps, err);
	rc = evidence.complete ? run_of(&evidence, &run, err) : 1;
	look_at_size(steps, wr_evidence_sender(&evidence), plan.reverse ? WR_SIDE_FAR : WR_SIDE_NEAR, false);
	look_at_size(steps, wr_evidence_receiver(&evidence), plan.reverse ? WR_SIDE_NEAR : WR_SIDE_FAR, true);
	run.wall_s = wr_sweep_elapsed_s(steps) - run.started_s;
	wr_evidence_deinit(&evidence);
	return rc == 0 ? wr_sweep_add(steps, &run, err) : rc;
}

static bool affords(const struct wr_sweep_steps *steps, double seconds)
{
	return steps->grid->plan.budget_ns == WR_UNSET ||
	       wr_sweep_elapsed_s(steps) + seconds <= (double)steps->grid->plan.budget_ns / 1e9;
}

/* What a run takes, from those that were made. */
static double typical_s(const struct wr_sweep_steps *steps)
{
	double sum = 0;

	for (size_t i = 0; i < steps->grid->n_runs; i++)
		sum += steps->grid->runs[i].wall_s;
	return steps->grid->n_runs ? sum / (double)steps->grid->n_runs
				   : run_s(&steps->grid->plan, (double)steps->peer->rtt_ns / 1e9);
}

static size_t left(const struct wr_sweep_steps *steps)
{
	size_t all = steps->grid->n_cells * (size_t)steps->grid->plan.repeats;

	return all > steps->grid->n_runs ? all - steps->grid->n_runs : 1;
}

int wr_sweep_measure(struct wr_sweep_steps *steps, size_t cell, size_t block, struct weir_err *err)
{
	if (!affords(steps, typical_s(steps)))
		return 2;
	if (steps->watch->begin)
		steps->watch->begin(steps->watch->context, steps->grid, cell, left(steps), (double)left(steps) * typical_s(steps));
	return run_cell(steps, cell, block, err);
}

/* Return: 0; 1 stopped by the user; 2 by the budget; -1. */
static int block_run(struct wr_sweep_steps *steps, size_t block, const uint32_t *order, struct weir_err *err)
{
	struct wr_grid *grid = steps->grid;
	int rc = 0;

	for (size_t i = 0; i < grid->n_cells && rc == 0; i++) {
		if (!wr_grid_has(grid, order[i], block) && (block < grid->plan.repeats || !wr_sweep_narrow(grid, order[i])))
			rc = wr_sweep_measure(steps, order[i], block, err);
	}
	return rc;
}

/* Return: as block_run. */
static int blocks_run(struct wr_sweep_steps *steps, struct weir_err *err)
{
	const struct wr_grid_plan *plan = &steps->grid->plan;
	wr_auto_free uint32_t *order = calloc(steps->grid->n_cells, sizeof *order);
	size_t n_blocks = plan->until_ratio > 0 && plan->repeats < MAX_BLOCKS ? MAX_BLOCKS : (size_t)plan->repeats;
	int rc = 0;

	if (!order)
		return wr_err_memory(err, "order");
	for (size_t block = 0; block < n_blocks && rc == 0; block++) {
		size_t n_before = steps->grid->n_runs;

		wr_sweep_order(plan->seed, block, steps->grid->n_cells, order);
		rc = plan->staircase ? wr_sweep_stairs_block(steps, block, order, err) : block_run(steps, block, order, err);
		if (rc == 0 && steps->grid->n_runs == n_before && block >= plan->repeats)
			break;
		if (rc == 0 && plan->until_ratio > 0 && block + 1 >= plan->repeats && wr_sweep_figures(steps->grid, err) < 0)
			rc = -1;
	}
	return rc;
}

/* Where an interrupted sweep went on, time goes on as well. */
static double last_s(const struct wr_grid *grid)
{
	return grid->n_runs ? grid->runs[grid->n_runs - 1].started_s + grid->runs[grid->n_runs - 1].wall_s : 0;
}

int wr_sweep(struct wr_peer *peer, struct wr_grid *grid, const struct wr_sweep_watch *watch, struct weir_err *err)
{
	struct wr_sweep_steps steps = {.peer = peer, .grid = grid, .watch = watch};
	struct weir_err problem = {0};
	int rc;

	steps.began_ns = wr_clock_ns() - (int64_t)(1e9 * last_s(grid));
	steps.remembers = wr_plan_is_tcp(&grid->plan.base) && !wr_path_metrics_forget((const struct sockaddr *)&peer->address.storage);
	for (size_t i = 0; i < grid->n_runs; i++)
		grid->n_blocks = grid->runs[i].block + 1U > grid->n_blocks ? grid->runs[i].block + 1U : grid->n_blocks;
	rc = blocks_run(&steps, &problem);
	/* The user may stop it between two transfers as well. */
	if (rc < 0 && problem.code == WEIR_ERR_INTERRUPTED)
		rc = 1;
	if (rc < 0 && err)
		*err = problem;
	grid->complete = rc == 0;
	grid->n_notes = 0;
	if (wr_sweep_figures(grid, rc < 0 ? NULL : err) < 0)
		return -1;
	if (steps.remembers)
		wr_grid_note(grid, "this kernel remembers paths (net.ipv4.tcp_no_metrics_save = 0) and only root may make it forget: "
				   "runs may start from an earlier one's ssthresh");
	for (size_t i = 0; i < WR_N_ELEMENTS(steps.sizes); i++) {
		if (steps.sizes[i][0])
			wr_grid_note(grid, "%s", steps.sizes[i]);
	}
	if (steps.misfit[0])
		wr_grid_note(grid, "%s", steps.misfit);
	if (rc == 2)
		wr_grid_note(grid, "the budget ended after %zu of %zu runs", grid->n_runs,
			     grid->n_cells * (size_t)grid->plan.repeats);
	return rc == 2 ? 0 : rc;
}
