/* SPDX-License-Identifier: MIT */
/*
 * xoshiro256** seeded by splitmix64: fast, no shared state, the same on every machine (libc's random() is not).
 * Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018; prng.di.unimi.it.
 */
#include "lab/random.h"

#include <math.h>

/* Beyond this a gap is never reached; also keeps the double-to-integer conversion defined. */
#define MAX_GAP 1e18

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void wr_lab_random_init(struct wr_lab_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		random->state[i] = splitmix(&seed);
}

uint64_t wr_lab_random_next(struct wr_lab_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate(s[1] * 5, 7) * 9, shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate(s[3], 45);
	return result;
}

double wr_lab_random_share(struct wr_lab_random *random)
{
	return (double)((wr_lab_random_next(random) >> 11) + 1) * 0x1p-53;
}

uint64_t wr_lab_random_gap(struct wr_lab_random *random, double failure_ratio)
{
	double gap;

	if (failure_ratio <= 0)
		return UINT64_MAX;
	if (failure_ratio >= 1)
		return 0;
	gap = floor(log(wr_lab_random_share(random)) / log1p(-failure_ratio));
	return gap < MAX_GAP ? (uint64_t)gap : UINT64_MAX;
}
