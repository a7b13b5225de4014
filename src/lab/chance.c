/* SPDX-License-Identifier: MIT */
/* Inverse transforms of a uniform number. Source: Devroye, "Non-Uniform Random Variate Generation", 1986, X.2 and V.3. */
#include "lab/chance.h"

#include <math.h>

#include "lab/element.h"

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

bool wr_lab_chance_skip(uint64_t *n_until_next, struct wr_lab_run *run)
{
	if (*n_until_next == 0) {
		wr_lab_run_shorten(run, 1);
		return false;
	}
	if (*n_until_next < run->n_segs)
		wr_lab_run_shorten(run, (uint32_t)*n_until_next);
	if (*n_until_next != UINT64_MAX)
		*n_until_next -= run->n_segs;
	return true;
}

double wr_lab_chance_spread(struct wr_stat_random *random, double spread, bool normal, double most)
{
	double z;

	if (!normal)
		return spread * (2 * wr_stat_random_unit(random) - 1);
	do { /* Box and Muller, one of the two */
		double radius = sqrt(-2 * log(positive_unit(random)));

		z = spread * radius * cos(2 * M_PI * wr_stat_random_unit(random));
	} while (fabs(z) > most);
	return z;
}
