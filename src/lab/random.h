/* SPDX-License-Identifier: MIT */
/* A small seeded generator, passed by context: the same seed gives the same packets the same fate. */
#ifndef WR_LAB_RANDOM_H
#define WR_LAB_RANDOM_H

#include <stdint.h>

struct wr_lab_random {
	uint64_t state[4];
};

void wr_lab_random_init(struct wr_lab_random *random, uint64_t seed);

/* wr_lab_random_next - 64 uniform bits. */
uint64_t wr_lab_random_next(struct wr_lab_random *random);

/* wr_lab_random_share - uniform in (0, 1]: its logarithm is always finite. */
double wr_lab_random_share(struct wr_lab_random *random);

/*
 * wr_lab_random_gap - how many trials succeed before the next failure
 * @failure_ratio: of each trial, 0..1
 *
 * Geometric, so that a million-segment stream draws once a loss instead of once a segment.
 * Return: 0 or more; UINT64_MAX when @failure_ratio is 0.
 */
uint64_t wr_lab_random_gap(struct wr_lab_random *random, double failure_ratio);

#endif
