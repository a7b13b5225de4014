/* SPDX-License-Identifier: MIT */
/* Inverse transforms of a uniform number. Source: Devroye, "Non-Uniform Random Variate Generation", 1986, X.2 and V.3. */
#include "lab/chance.h"

#include <math.h>

/* Beyond this a gap is never reached; also keeps the double-to-integer conversion defined. */
#define MAX_GAP 1e18

/* Uniform in (0, 1]: its logarithm is always finite. */
static double positive_unit(struct wr_stat_random *random)
{
	return 1 - wr_stat_random_unit(random);
}

uint64_t wr_lab_chance_gap(struct wr_stat_random *random, double failure_ratio)
{
	double gap;

	if (failure_ratio <= 0)
		return UINT64_MAX;
	if (failure_ratio >= 1)
		return 0;
	gap = floor(log(positive_unit(random)) / log1p(-failure_ratio));
	return gap < MAX_GAP ? (uint64_t)gap : UINT64_MAX;
}
