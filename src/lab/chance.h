/* SPDX-License-Identifier: MIT */
/* What the elements draw by chance, on top of the seeded generator: the same seed gives the same packets the same fate. */
#ifndef WR_LAB_CHANCE_H
#define WR_LAB_CHANCE_H

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

#endif
