/* SPDX-License-Identifier: MIT */
/* Where the warm-up of a transfer ends, judged from its own bytes, and the rate after that. */
#ifndef WR_STAT_STEADY_H
#define WR_STAT_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What wr_stat_steady() returns. */
enum wr_stat_steady_outcome {
	WR_STAT_STEADY_FOUND = 0,
	WR_STAT_STEADY_RAMPING = 1, /* still growing at the end: measure longer */
	WR_STAT_STEADY_SHORT = 2, /* too few windows to tell: measure longer */
	WR_STAT_STEADY_STALLED = 3, /* nothing moved in half or more of the later windows */
};

#define WR_STAT_STEADY_MIN_WINDOWS 6
#define WR_STAT_STEADY_MAX_WINDOWS 1024

/*
 * What the search saw.
 *
 * @start_ns: from here on the run counts, on the clock of t_ns; only for FOUND, else the run's end
 * @capped: no window fitted the rule in the first half (noise, or a late plateau), so start_ns is
 * the half
 * @window_ns: the window's length
 * @n_windows: whole windows in the run
 * @plateau_bps: the median window of the second half
 * @growth_ratio: how much the rate grew within the last third, 0.25 for 25 %; NaN if that is
 * unknown
 * @mean_bps: the rate from start_ns to the end; for the other outcomes that of the whole run
 */
struct wr_stat_steady {
	uint64_t start_ns;
	bool capped;
	uint64_t window_ns;
	size_t n_windows;
	double plateau_bps;
	double growth_ratio;
	double mean_bps;
};

/*
 * wr_stat_steady - find the time after which a transfer's throughput is steady
 * @out: filled whatever the outcome
 * @t_ns: @n_samples times, ascending, any clock
 * @bytes: @n_samples cumulative counts at these times, never falling; receiver bytes where there
 * are any
 * @rtt_ns: the path's round-trip time; 0 if unknown
 *
 * The rule:
 * 1. The run is cut into windows of max(RTT, 50 ms), from its first sample; longer where the
 *    samples lie further apart on average, or where more than WR_STAT_STEADY_MAX_WINDOWS would be
 *    needed. Bytes between two samples are interpolated; a last part of a window is left out. Fewer
 *    than WR_STAT_STEADY_MIN_WINDOWS: SHORT.
 * 2. The plateau is the median window of the second half. If it is 0: STALLED.
 * 3. Cut the last third of the windows into three parts. RAMPING, if the mean of the last part
 *    exceeds that of the first by more than 25 %, and also exceeds the best three consecutive
 *    windows of the first two thirds of the run by more than 10 %. (The first condition alone would
 *    take the rising flank of a sawtooth for a ramp.)
 * 4. Otherwise the start is that of the earliest three consecutive windows whose mean is within
 *    10 % of the plateau, plus 2 RTT, but never later than half of the run. A stall later on stays
 *    in the measurement: it is the path's, not the warm-up's.
 *
 * Return: an enum wr_stat_steady_outcome.
 * Source: 25 %: tcp_bbr.c, full_bw_thresh. Windows of an RTT: a window-limited flow is bursty below
 * that. The tolerance is ours, checked on synthetic slow-start, sawtooth and stalled curves.
 */
int wr_stat_steady(struct wr_stat_steady *out, const uint64_t *t_ns, const uint64_t *bytes,
		   size_t n_samples, uint64_t rtt_ns);

/*
 * wr_stat_rate_between - the mean rate of a stretch of a transfer
 * @t_ns, @bytes, @n_samples: as in wr_stat_steady()
 * @from_ns, @to_ns: the stretch, on the clock of @t_ns; clipped to the run
 *
 * Return: bit/s, the bytes at both ends interpolated; NaN if nothing of the stretch lies in the
 * run.
 */
double wr_stat_rate_between(const uint64_t *t_ns, const uint64_t *bytes, size_t n_samples,
			    uint64_t from_ns, uint64_t to_ns);

#endif
