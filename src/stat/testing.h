/* SPDX-License-Identifier: MIT */
/* What the unit tests of this folder share: comparing doubles, and normal random numbers. */
#ifndef WR_STAT_TESTING_H
#define WR_STAT_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stat/random.h"

/* Doubles within an absolute distance; a NaN is near nothing. */
#define assert_near(value, expected, distance)                                                    \
	do {                                                                                      \
		double value_ = (value), expected_ = (expected);                                  \
                                                                                                  \
		if (!(fabs(value_ - expected_) <= (distance)))                                    \
			fail_msg("%s is %.9g, expected %.9g within %g", #value, value_, expected_,\
				 (double)(distance));                                             \
	} while (0)

#define assert_nan(value) assert_true(isnan(value))

/* Box and Muller; mean 0, standard deviation 1. */
static inline double random_normal(struct wr_stat_random *random)
{
	double radius = sqrt(-2 * log(1 - wr_stat_random_unit(random)));

	return radius * cos(2 * M_PI * wr_stat_random_unit(random));
}

#endif
