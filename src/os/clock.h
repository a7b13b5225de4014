/* SPDX-License-Identifier: MIT */
/* The monotonic clock, in nanoseconds; sleeping until an instant of it. */
#ifndef WR_OS_CLOCK_H
#define WR_OS_CLOCK_H

#include <stdint.h>

int64_t wr_clock_ns(void);

/* wr_clock_sleep_until - until @t_ns of wr_clock_ns, or a signal. */
void wr_clock_sleep_until(int64_t t_ns);

#endif
