/* SPDX-License-Identifier: MIT */
/* Buffers: the last one given back is the next one handed out, and room is kept for one packet's pieces. */
#include "lab/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lab/counters.h"

static void the_last_one_back_is_the_next_one_out(void **state)
{
	struct wr_lab_packet *small, *large, *other;
	struct wr_lab_pool pool;

	(void)state;
	assert_int_equal(wr_lab_pool_init(&pool, NULL), 0);
	small = wr_lab_pool_get(&pool, 1548);
	large = wr_lab_pool_get(&pool, WR_LAB_MAX_PACKET_BYTES);
	other = wr_lab_pool_get(&pool, 60);
	memset(large->data, 1, WR_LAB_MAX_PACKET_BYTES);
	wr_lab_pool_put(&pool, other);
	wr_lab_pool_put(&pool, small);
	assert_ptr_equal(wr_lab_pool_get(&pool, 100), small);
	assert_ptr_equal(wr_lab_pool_get(&pool, 100), other);
	wr_lab_pool_put(&pool, large);
	assert_ptr_equal(wr_lab_pool_get(&pool, 5000), large);
	wr_lab_pool_deinit(&pool);
	wr_lab_pool_deinit(&pool);
}

static void reading_stops_before_the_last_buffer(void **state)
{
	struct wr_lab_pool pool;
	size_t n = 0;

	(void)state;
	assert_int_equal(wr_lab_pool_init(&pool, NULL), 0);
	while (wr_lab_pool_has_room(&pool)) {
		assert_non_null(wr_lab_pool_get(&pool, 60000));
		n++;
	}
	assert_true(n > 8000);
	for (int i = 0; i < 34; i++)
		assert_non_null(wr_lab_pool_get(&pool, 60000));
	wr_lab_pool_deinit(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_one_back_is_the_next_one_out),
		cmocka_unit_test(reading_stops_before_the_last_buffer),
	};

	return cmocka_run_group_tests_name("lab_pool", tests, NULL, NULL);
}
