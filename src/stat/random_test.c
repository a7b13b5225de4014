/* SPDX-License-Identifier: MIT */
/* The generator against its authors' vectors, and that what is derived from it is uniform. */
#include "stat/random.h"

#include "stat/testing.h"

static void vectors_of_the_reference(void **state)
{
	static const uint64_t seeded[] = {6457827717110365317u, 3203168211198807973u,
					  9817491932198370423u, 4593380528125082431u};
	static const uint64_t drawn[] = {11520,
					 0,
					 1509978240,
					 1215971899390074240u,
					 1216172134540287360u,
					 607988272756665600u,
					 16172922978634559625u};
	struct wr_stat_random random = {{1, 2, 3, 4}};

	(void)state;
	for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++)
		assert_true(wr_stat_random_next(&random) == drawn[i]);
	wr_stat_random_init(&random, 1234567);
	assert_memory_equal(random.state, seeded, sizeof seeded);
}

static void draws_are_uniform(void **state)
{
	unsigned counts[6] = {0};
	struct wr_stat_random random;
	double sum = 0;

	(void)state;
	wr_stat_random_init(&random, 0);
	for (unsigned i = 0; i < 60000; i++) {
		double unit = wr_stat_random_unit(&random);

		assert_true(unit >= 0 && unit < 1);
		sum += unit;
		counts[wr_stat_random_below(&random, 6)]++;
	}
	assert_near(sum / 60000, 0.5, 0.005);
	for (size_t i = 0; i < 6; i++)
		assert_in_range(counts[i], 9600, 10400);
	assert_int_equal(wr_stat_random_below(&random, 1), 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(wr_stat_random_below(&random, (size_t)1 << 32) <= UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_of_the_reference),
		cmocka_unit_test(draws_are_uniform),
	};

	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
