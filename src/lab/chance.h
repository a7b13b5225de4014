/* SPDX-License-Identifier: MIT */
/* What the elements draw by chance, on top of the seeded generator: the same seed gives the same packets the same fate. */
#ifndef WR_LAB_CHANCE_H
#define WR_LAB_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "stat/random.h"

/*
 * wr_lab_chance_gap - how many trials succeed before the next failure
 * @failure_ratio: of each trial, 0..1
 *
 * Geometric, so that a million-segment stream draws once a loss instead of once a segment.
 * Return: 0 or more; UINT64_MAX when @failure_ratio is 0.
 */
uint64_t wr_lab_chance_gap(struct wr_stat_random *random, double failure_ratio);

struct wr_lab_run;

/*
 * wr_lab_chance_skip - let a run pass until the next segment that @n_until_next counts down to
 *
 * Return: true, and @run is shortened to what comes before; false, and @run is that segment alone.
 */
bool wr_lab_chance_skip(uint64_t *n_until_next, struct wr_lab_run *run);

/*
 * wr_lab_chance_spread - how far from the middle: uniform in -@spread..@spread, or normal with that deviation
 * @most: the normal one is cut there, by drawing again, which leaves the mean where it is
 */
double wr_lab_chance_spread(struct wr_stat_random *random, double spread, bool normal, double most);

#endif
