/* SPDX-License-Identifier: MIT */
/* CLOCK_MONOTONIC: never set back, and the same in every namespace of a host. */
#include "os/clock.h"

#include <time.h>

#define NS_PER_S 1000000000LL

int64_t wr_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

void wr_clock_sleep_until(int64_t t_ns)
{
	struct timespec until = {.tv_sec = t_ns / NS_PER_S, .tv_nsec = t_ns % NS_PER_S};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
