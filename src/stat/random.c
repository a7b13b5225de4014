/* SPDX-License-Identifier: MIT */
/* xoshiro256** and splitmix64, after the authors' public-domain code (prng.di.unimi.it). */
#include "stat/random.h"

#include <assert.h>

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void wr_stat_random_init(struct wr_stat_random *random, uint64_t seed)
{
	for (size_t i = 0; i < 4; i++)
		random->state[i] = splitmix(&seed);
}

static uint64_t rotate_left(uint64_t x, int n_bits)
{
	return (x << n_bits) | (x >> (64 - n_bits));
}

uint64_t wr_stat_random_next(struct wr_stat_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double wr_stat_random_unit(struct wr_stat_random *random)
{
	return (double)(wr_stat_random_next(random) >> 11) * 0x1p-53;
}

size_t wr_stat_random_below(struct wr_stat_random *random, size_t bound)
{
	uint64_t bits = wr_stat_random_next(random), n = bound;

	assert(bound > 0 && n <= UINT64_C(1) << 32);
	/* floor(bits * n / 2^64) in two halves: ISO C has no 128-bit type. */
	return (size_t)(((bits >> 32) * n + (((bits & UINT32_MAX) * n) >> 32)) >> 32);
}
