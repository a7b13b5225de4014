/* SPDX-License-Identifier: MIT */
/*
 * Repeatable random numbers for resampling: the same seed gives the same report on every host. Not
 * for secrets.
 */
#ifndef WR_STAT_RANDOM_H
#define WR_STAT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The generator's state; owned by the caller, one per thread. */
struct wr_stat_random {
	uint64_t state[4];
};

/* wr_stat_random_init - start from @seed; any value, 0 too */
void wr_stat_random_init(struct wr_stat_random *random, uint64_t seed);

/*
 * wr_stat_random_next - Return: 64 random bits.
 * Source: xoshiro256** seeded by splitmix64, Blackman and Vigna, "Scrambled Linear Pseudorandom
 * Number Generators", ACM TOMS 47(4), 2021.
 */
uint64_t wr_stat_random_next(struct wr_stat_random *random);

/* wr_stat_random_unit - Return: uniform in [0, 1), 53 bits. */
double wr_stat_random_unit(struct wr_stat_random *random);

/*
 * wr_stat_random_below - Return: uniform in 0..@bound - 1; @bound from 1 to 2^32.
 * Source: Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019, without
 * the rejection step: for the sample counts used here the bias stays below 2^-40.
 */
size_t wr_stat_random_below(struct wr_stat_random *random, size_t bound);

#endif
