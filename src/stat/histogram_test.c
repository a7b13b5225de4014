/* SPDX-License-Identifier: MIT */
/* The histogram's quantiles against those of the sorted values, over the whole range. */
#include "stat/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "stat/testing.h"

#define N 20000
#define MOST_ERROR 0.001

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t exact(const uint64_t *sorted, size_t n, double probability)
{
	size_t rank = (size_t)ceil(probability * (double)n);

	return sorted[rank > 0 ? rank - 1 : 0];
}

static void check(struct wr_stat_histogram *histogram, uint64_t *values, size_t n)
{
	static const double probabilities[] = {0, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};

	memset(histogram, 0, sizeof *histogram);
	for (size_t i = 0; i < n; i++)
		wr_stat_histogram_record(histogram, values[i], 1);
	qsort(values, n, sizeof *values, compare);
	for (size_t i = 0; i < sizeof probabilities / sizeof probabilities[0]; i++) {
		double wanted = (double)exact(values, n, probabilities[i]);

		assert_near(wr_stat_histogram_quantile(histogram, probabilities[i]), wanted, MOST_ERROR * wanted);
	}
	assert_int_equal(histogram->max, values[n - 1]);
}

static void quantiles_are_those_of_the_values(void **state)
{
	struct wr_stat_histogram *histogram = malloc(sizeof *histogram);
	uint64_t *values = malloc(N * sizeof *values);
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 1);
	for (int kind = 0; kind < 4; kind++) {
		for (size_t i = 0; i < N; i++) {
			double unit = wr_stat_random_unit(&random);

			/* uniform small, uniform large, over all octaves, two clusters as of a stall */
			values[i] = kind == 0	? (uint64_t)(unit * 5000)
				    : kind == 1 ? (uint64_t)(unit * 1e12)
				    : kind == 2 ? (uint64_t)exp(unit * log(4e12))
						: (uint64_t)((unit < 0.95 ? 3e5 : 2e8) * (1 + unit / 100));
		}
		check(histogram, values, N);
		check(histogram, values, 1);
		check(histogram, values, 7);
	}
	free(values);
	free(histogram);
}

/* Each bucket begins where the one before ends, and the worst value in it is within half its width of its middle. */
static void buckets_follow_each_other(void **state)
{
	uint32_t last = wr_stat_histogram_bucket(0);

	(void)state;
	assert_int_equal(last, 0);
	for (uint64_t value = 1; value < WR_STAT_HISTOGRAM_MOST; value += value / 2000 + 1) {
		uint32_t bucket = wr_stat_histogram_bucket(value);

		assert_true(bucket == last || bucket == last + 1);
		last = bucket;
	}
	assert_int_equal(wr_stat_histogram_bucket(WR_STAT_HISTOGRAM_MOST), WR_STAT_HISTOGRAM_BUCKETS - 1);
	assert_int_equal(wr_stat_histogram_bucket(UINT64_MAX), WR_STAT_HISTOGRAM_BUCKETS - 1);
}

static void sums_and_weights(void **state)
{
	struct wr_stat_histogram *both = calloc(2, sizeof *both), *other = both + 1;

	(void)state;
	assert_nan(wr_stat_histogram_quantile(both, 0.5));
	wr_stat_histogram_record(both, 100, 80);
	wr_stat_histogram_record(other, 300, 20);
	wr_stat_histogram_add(both, other);
	assert_int_equal(both->n, 100);
	assert_int_equal(both->sum, 100 * 80 + 300 * 20);
	assert_near(wr_stat_histogram_quantile(both, 0.8), 100, 0);
	assert_near(wr_stat_histogram_quantile(both, 0.81), 300, 0);
	free(both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_the_values),
		cmocka_unit_test(buckets_follow_each_other),
		cmocka_unit_test(sums_and_weights),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
