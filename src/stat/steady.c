/* SPDX-License-Identifier: MIT */
/*
 * Steady state. The second half serves as the yardstick, because a warm-up can't be recognised
 * before one knows what it leads to; its median, because a stall or a burst there must not move it.
 * The rule stands in steady.h.
 */
#include "stat/steady.h"

#include <math.h>

#include "stat/summary.h"

#define MIN_WINDOW_NS UINT64_C(50000000)
#define N_RUN 3 /* consecutive windows that must agree */
#define TOLERANCE 0.10
#define RAMP_GROWTH 0.25
#define SETTLE_RTTS 2
#define BPS_PER_BYTE_NS 8e9

/* The bytes at @at_ns, between the samples by a straight line; the clock inside the run. */
static double bytes_at(const uint64_t *t_ns, const uint64_t *bytes, size_t n_samples,
		       uint64_t at_ns)
{
	size_t low = 0, high = n_samples - 1;
	double share;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t_ns[middle] <= at_ns)
			low = middle;
		else
			high = middle;
	}
	if (at_ns >= t_ns[high])
		low = high;
	if (low == high || t_ns[low] == t_ns[high])
		return (double)(bytes[low] - bytes[0]);
	share = (double)(at_ns - t_ns[low]) / (double)(t_ns[high] - t_ns[low]);
	return (double)(bytes[low] - bytes[0]) + share * (double)(bytes[high] - bytes[low]);
}

double wr_stat_rate_between(const uint64_t *t_ns, const uint64_t *bytes, size_t n_samples,
			    uint64_t from_ns, uint64_t to_ns)
{
	double moved;

	if (n_samples < 2)
		return NAN;
	from_ns = from_ns < t_ns[0] ? t_ns[0] : from_ns;
	to_ns = to_ns > t_ns[n_samples - 1] ? t_ns[n_samples - 1] : to_ns;
	if (to_ns <= from_ns)
		return NAN;
	moved = bytes_at(t_ns, bytes, n_samples, to_ns) - bytes_at(t_ns, bytes, n_samples, from_ns);
	return moved * BPS_PER_BYTE_NS / (double)(to_ns - from_ns);
}

static uint64_t window_length(uint64_t span_ns, size_t n_samples, uint64_t rtt_ns)
{
	uint64_t window_ns = rtt_ns > MIN_WINDOW_NS ? rtt_ns : MIN_WINDOW_NS;
	size_t n_most = n_samples - 1;

	if (n_most > WR_STAT_STEADY_MAX_WINDOWS)
		n_most = WR_STAT_STEADY_MAX_WINDOWS;
	if (span_ns / n_most >= window_ns) /* rounded up: at most n_most windows fit */
		window_ns = (span_ns + n_most - 1) / n_most;
	return window_ns;
}

static double window_rate(const uint64_t *t_ns, const uint64_t *bytes, size_t n_samples, size_t i,
			  uint64_t window_ns)
{
	uint64_t from_ns = t_ns[0] + i * window_ns;

	return wr_stat_rate_between(t_ns, bytes, n_samples, from_ns, from_ns + window_ns);
}

static double best_run(const double *rates, size_t n)
{
	double best = 0;

	for (size_t i = 0; i + N_RUN <= n; i++)
		best = fmax(best, wr_stat_mean(rates + i, N_RUN));
	return best;
}

/* Rule 3. */
static bool ramping(const double *rates, size_t n, double *growth_ratio)
{
	size_t third = n / 3, part = third / 3 ? third / 3 : 1;
	double before = wr_stat_mean(rates + n - third, part);
	double after = wr_stat_mean(rates + n - part, part);

	*growth_ratio = before > 0 ? after / before - 1 : NAN;
	return after > (1 + RAMP_GROWTH) * before &&
	       after > (1 + TOLERANCE) * best_run(rates, n - third);
}

/* Rule 4. Return: the first window; n if there is none. */
static size_t first_steady(const double *rates, size_t n, double plateau)
{
	for (size_t i = 0; i + N_RUN <= n; i++) {
		if (fabs(wr_stat_mean(rates + i, N_RUN) - plateau) <= TOLERANCE * plateau)
			return i;
	}
	return n;
}

int wr_stat_steady(struct wr_stat_steady *out, const uint64_t *t_ns, const uint64_t *bytes,
		   size_t n_samples, uint64_t rtt_ns)
{
	double rates[WR_STAT_STEADY_MAX_WINDOWS], sorted[WR_STAT_STEADY_MAX_WINDOWS];
	uint64_t begin_ns = n_samples ? t_ns[0] : 0, end_ns = n_samples ? t_ns[n_samples - 1] : 0;
	uint64_t offset_ns, half_ns = (end_ns - begin_ns) / 2;
	size_t n;

	*out = (struct wr_stat_steady){.start_ns = end_ns, .plateau_bps = NAN, .growth_ratio = NAN};
	out->mean_bps = wr_stat_rate_between(t_ns, bytes, n_samples, begin_ns, end_ns);
	if (n_samples < 2)
		return WR_STAT_STEADY_SHORT;
	out->window_ns = window_length(end_ns - begin_ns, n_samples, rtt_ns);
	out->n_windows = n = (size_t)((end_ns - begin_ns) / out->window_ns);
	if (n < WR_STAT_STEADY_MIN_WINDOWS)
		return WR_STAT_STEADY_SHORT;
	for (size_t i = 0; i < n; i++)
		rates[i] = window_rate(t_ns, bytes, n_samples, i, out->window_ns);
	out->plateau_bps = wr_stat_median(rates + n / 2, n - n / 2, sorted);
	if (!(out->plateau_bps > 0))
		return WR_STAT_STEADY_STALLED;
	if (ramping(rates, n, &out->growth_ratio))
		return WR_STAT_STEADY_RAMPING;
	offset_ns = first_steady(rates, n, out->plateau_bps) * out->window_ns;
	offset_ns += SETTLE_RTTS * rtt_ns;
	out->capped = offset_ns > half_ns;
	out->start_ns = begin_ns + (out->capped ? half_ns : offset_ns);
	out->mean_bps = wr_stat_rate_between(t_ns, bytes, n_samples, out->start_ns, end_ns);
	return WR_STAT_STEADY_FOUND;
}
