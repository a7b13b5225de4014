/* SPDX-License-Identifier: MIT */
/*
 * Wilcoxon's signed-rank and Mann and Whitney's U. Ranks are kept doubled, so a rank shared by a
 * tie (2.5) is whole and the exact distributions are counts in integers: 2^25 sign patterns,
 * C(40, 20) = 1.4e11 orders.
 */
#include "stat/rank.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stat/distribution.h"
#include "stat/summary.h"

#define WILCOXON_MAX WR_STAT_WILCOXON_EXACT_MAX
#define MANN_WHITNEY_MAX WR_STAT_MANN_WHITNEY_EXACT_MAX

static int by_size(const void *left, const void *right)
{
	double a = fabs(*(const double *)left), b = fabs(*(const double *)right);

	return (a > b) - (a < b);
}

/* The end of the group that ties with sorted[start] in size. */
static size_t tie_end(const double *sorted, size_t n, size_t start)
{
	size_t end = start + 1;

	while (end < n && fabs(sorted[end]) == fabs(sorted[start]))
		end++;
	return end;
}

static double two_sided(double distance, double sd)
{
	if (!(sd > 0))
		return 1;
	distance = fmax(0, distance - 0.5); /* the continuity correction */
	return fmin(1, 2 * wr_stat_normal_cdf(-distance / sd));
}

/* -- signed ranks -- */

/* The share of the 2^n sign patterns whose sum of positive doubled ranks is at most @limit. */
static double sign_patterns_up_to(const unsigned *doubled_ranks, size_t n, unsigned limit)
{
	uint32_t counts[WILCOXON_MAX * (WILCOXON_MAX + 1) + 1] = {1};
	unsigned top = 0;
	double n_patterns = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned rank = doubled_ranks[i];

		top += rank;
		for (unsigned sum = top; sum >= rank; sum--)
			counts[sum] += counts[sum - rank];
	}
	for (unsigned sum = 0; sum <= limit; sum++)
		n_patterns += counts[sum];
	return ldexp(n_patterns, -(int)n);
}

static double wilcoxon_exact(const double *sorted, size_t n)
{
	unsigned doubled_ranks[WILCOXON_MAX], positive = 0, total = (unsigned)(n * (n + 1));

	for (size_t start = 0, end; start < n; start = end) {
		end = tie_end(sorted, n, start);
		for (size_t i = start; i < end; i++) {
			doubled_ranks[i] = (unsigned)(start + end + 1);
			positive += sorted[i] > 0 ? doubled_ranks[i] : 0;
		}
	}
	if (positive > total - positive)
		positive = total - positive;
	return fmin(1, 2 * sign_patterns_up_to(doubled_ranks, n, positive));
}

static double wilcoxon_normal(const double *sorted, size_t n)
{
	double positive = 0, square_sum = 0, total = (double)n * ((double)n + 1) / 2;

	for (size_t start = 0, end; start < n; start = end) {
		end = tie_end(sorted, n, start);
		for (size_t i = start; i < end; i++) {
			double rank = (double)(start + end + 1) / 2;

			positive += sorted[i] > 0 ? rank : 0;
			square_sum += rank * rank;
		}
	}
	return two_sided(fabs(positive - total / 2), sqrt(square_sum) / 2);
}

double wr_stat_wilcoxon_p(const double *differences, size_t n_samples, double *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < n_samples; i++) {
		if (differences[i] != 0)
			scratch[n++] = differences[i];
	}
	if (n == 0)
		return 1;
	qsort(scratch, n, sizeof *scratch, by_size);
	return n <= WILCOXON_MAX ? wilcoxon_exact(scratch, n) : wilcoxon_normal(scratch, n);
}

/* -- rank sum -- */

/*
 * The share of the orders of two sets whose U is at most @limit. U's counts are the coefficients of
 * the Gaussian binomial, a product of (1 - q^(n_second + i)) / (1 - q^i); each partial product is a
 * polynomial with whole coefficients, so the division leaves no rest.
 */
static double orders_up_to(size_t n_first, size_t n_second, size_t limit)
{
	int64_t counts[MANN_WHITNEY_MAX * MANN_WHITNEY_MAX + 1] = {1};
	size_t top = n_first * n_second;
	double below = 0, all = 0;

	for (size_t i = 1; i <= n_first; i++) {
		for (size_t u = top; u >= n_second + i && u <= top; u--)
			counts[u] -= counts[u - n_second - i];
		for (size_t u = i; u <= top; u++)
			counts[u] += counts[u - i];
	}
	for (size_t u = 0; u <= top; u++) {
		all += (double)counts[u];
		below += u <= limit ? (double)counts[u] : 0;
	}
	return below / all;
}

/* U of @second by counting, without ranks: the sets are small, and ties need no care. */
static double count_u(const double *first, size_t n_first, const double *second, size_t n_second)
{
	double u = 0;

	for (size_t i = 0; i < n_first; i++) {
		for (size_t k = 0; k < n_second; k++)
			u += second[k] > first[i] ? 1 : second[k] == first[i] ? 0.5 : 0;
	}
	return u;
}

/* The sum over ties of t^3 - t; 0 when all samples differ. @sorted: ascending. */
static double tie_sum(const double *sorted, size_t n)
{
	double sum = 0;

	for (size_t start = 0, end; start < n; start = end) {
		double t;

		for (end = start + 1; end < n && sorted[end] == sorted[start];)
			end++;
		t = (double)(end - start);
		sum += t * t * t - t;
	}
	return sum;
}

int wr_stat_mann_whitney(struct wr_stat_mann_whitney *out, const double *first, size_t n_first,
			 const double *second, size_t n_second, double *scratch)
{
	double pairs = (double)n_first * (double)n_second, n = (double)(n_first + n_second);
	double ties, u;

	*out = (struct wr_stat_mann_whitney){NAN, NAN, false, NAN};
	if (n_first == 0 || n_second == 0)
		return WR_STAT_TOO_FEW;
	memcpy(scratch, first, n_first * sizeof *first);
	memcpy(scratch + n_first, second, n_second * sizeof *second);
	wr_stat_sort(scratch, n_first + n_second);
	ties = tie_sum(scratch, n_first + n_second);
	u = count_u(first, n_first, second, n_second);
	out->u = u;
	out->superiority_ratio = u / pairs;
	out->exact = ties == 0 && n_first <= MANN_WHITNEY_MAX && n_second <= MANN_WHITNEY_MAX;
	if (out->exact)
		out->p = fmin(1, 2 * orders_up_to(n_first, n_second, (size_t)fmin(u, pairs - u)));
	else
		out->p = two_sided(fabs(u - pairs / 2),
				   sqrt(pairs / 12 * (n + 1 - ties / (n * (n - 1)))));
	return WR_STAT_DONE;
}
