/* SPDX-License-Identifier: MIT */
/*
 * A block measured by staircase: for each place of the other axes one connection is stepped down the buffer's sizes,
 * and `unset` gets a connection of its own. Points of one connection are not independent, but those of different
 * blocks are: a block is one value of each cell.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "measure/staircase.h"
#include "sweep/steps.h"

#define LEAST_BYTES 4608 /* SOCK_MIN_SNDBUF, include/net/sock.h */
#define TOP_S 1.0
#define TOP_RTTS 30

static size_t buffer_axis(const struct wr_grid_plan *plan)
{
	size_t i = 0;

	while (!wr_axis_is_buffer(&plan->axes[i]))
		i++;
	return i;
}

int wr_sweep_stairs_check(const struct wr_grid_plan *plan, struct weir_err *err)
{
	const struct wr_axis *axis = NULL;
	size_t n_sizes = 0;

	for (size_t i = 0; i < plan->n_axes; i++) {
		if (!wr_axis_is_buffer(&plan->axes[i]))
			continue;
		if (axis || strcmp(plan->axes[i].row->name, "window") == 0) {
			wr_err_set(err, WEIR_ERR_USAGE, "option", "--staircase steps one buffer down, not --%s", plan->axes[i].row->name);
			return wr_err_hint(err, "one of --sndbuf, --rcvbuf, --far-sndbuf, --far-rcvbuf as an axis");
		}
		axis = &plan->axes[i];
	}
	for (size_t i = 0; axis && i < axis->n_values; i++) {
		n_sizes += !axis->values[i].unset;
		if (!axis->values[i].unset && axis->values[i].number < LEAST_BYTES)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "--staircase: %s is below the kernel's least buffer of 4.5 KiB",
					  axis->values[i].text);
	}
	return n_sizes > 1 ? 0
			   : wr_err_set(err, WEIR_ERR_USAGE, "option", "--staircase needs two sizes of a buffer at least");
}

/* The cells of one staircase, largest size first. */
struct flight {
	uint64_t sizes[WR_MAX_AXIS_VALUES];
	uint32_t cells[WR_MAX_AXIS_VALUES];
	size_t n;
};

static void flight_of(const struct wr_grid *grid, size_t axis, size_t first_cell, size_t block, struct flight *flight)
{
	size_t place[WR_MAX_AXES];

	flight->n = 0;
	wr_grid_place(&grid->plan, first_cell, place);
	for (place[axis] = 0; place[axis] < grid->plan.axes[axis].n_values; place[axis]++) {
		const struct wr_axis_value *value = &grid->plan.axes[axis].values[place[axis]];
		size_t cell = wr_grid_cell_at(&grid->plan, place), i = flight->n;

		if (value->unset || wr_grid_has(grid, cell, block))
			continue;
		for (; i > 0 && flight->sizes[i - 1] < value->number; i--) {
			flight->sizes[i] = flight->sizes[i - 1];
			flight->cells[i] = flight->cells[i - 1];
		}
		flight->sizes[i] = value->number;
		flight->cells[i] = (uint32_t)cell;
		flight->n++;
	}
}

static int walk(struct wr_sweep_steps *steps, size_t axis, size_t block, const struct flight *flight, struct weir_err *err)
{
	const char *name = steps->grid->plan.axes[axis].row->name;
	double rtt_s = (double)steps->peer->rtt_ns / 1e9, began_s = wr_sweep_elapsed_s(steps);
	struct wr_stair points[WR_MAX_AXIS_VALUES];
	struct wr_plan plan;
	struct wr_stairs stairs = {.far = strncmp(name, "far-", 4) == 0, .receive = strstr(name, "rcvbuf") != NULL,
				   .sizes = flight->sizes, .n_sizes = flight->n, .rtt_s = rtt_s,
				   .top_s = fmax(TOP_S, TOP_RTTS * rtt_s)};
	uint64_t bytes = 0;
	size_t n = 0;
	int rc;

	if (wr_sweep_cell_plan(steps, flight->cells[0], &plan, err) < 0)
		return -1;
	stairs.bbr = plan.congestion && strncmp(plan.congestion, "bbr", 3) == 0;
	rc = wr_stairs_walk(steps->peer, &plan, &stairs, points, &n, &bytes, err);
	for (size_t i = 0; i < n; i++) {
		struct wr_grid_run run = {
			.cell = flight->cells[i], .block = (uint32_t)block, .started_s = began_s,
			.transfer_s = wr_stairs_seconds(&stairs) / (double)flight->n,
			.wall_s = (wr_sweep_elapsed_s(steps) - began_s) / (double)n, .throughput_bps = points[i].bps,
			.rtt_us = points[i].rtt_us, .retrans_segs = NAN, .messages_per_s = NAN, .latency_p99_us = NAN, .near_other_cpu_ratio = NAN, .far_other_cpu_ratio = NAN,
			.bytes = bytes / n, .sndbuf_eff_bytes = stairs.receive ? WR_UNSET : points[i].eff_bytes,
			.rcvbuf_eff_bytes = stairs.receive ? points[i].eff_bytes : WR_UNSET,
		};

		if (isfinite(run.throughput_bps) && wr_sweep_add(steps, &run, err) < 0)
			return -1;
	}
	return rc;
}

/* One place of the other axes: `unset` first or last, in turn, so that neither has the quieter moment. */
static int place_run(struct wr_sweep_steps *steps, size_t axis, size_t first_cell, size_t block, struct weir_err *err)
{
	const struct wr_axis *varied = &steps->grid->plan.axes[axis];
	struct flight flight;
	int rc = 0;

	flight_of(steps->grid, axis, first_cell, block, &flight);
	for (size_t half = 0; half < 2 && rc == 0; half++) {
		size_t place[WR_MAX_AXES];

		if ((half + block) % 2 && flight.n)
			rc = walk(steps, axis, block, &flight, err);
		if ((half + block) % 2)
			continue;
		wr_grid_place(&steps->grid->plan, first_cell, place);
		for (place[axis] = 0; place[axis] < varied->n_values && rc == 0; place[axis]++) {
			size_t cell = wr_grid_cell_at(&steps->grid->plan, place);

			if (varied->values[place[axis]].unset && !wr_grid_has(steps->grid, cell, block))
				rc = wr_sweep_measure(steps, cell, block, err);
		}
	}
	return rc;
}

int wr_sweep_stairs_block(struct wr_sweep_steps *steps, size_t block, const uint32_t *order, struct weir_err *err)
{
	size_t axis = buffer_axis(&steps->grid->plan);
	int rc = 0;

	for (size_t i = 0; i < steps->grid->n_cells && rc == 0; i++) {
		size_t place[WR_MAX_AXES];

		wr_grid_place(&steps->grid->plan, order[i], place);
		if (place[axis] == 0)
			rc = place_run(steps, axis, order[i], block, err);
	}
	return rc;
}
