/* SPDX-License-Identifier: MIT */
/* Records of two streams come out in order, whole and once each, through rings that wrap many times. */
#include "lab/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RING_BYTES 8192

static bool add(struct wr_lab_merge *merge, int lane, uint64_t stamp, size_t n_bytes)
{
	uint8_t *at = wr_lab_merge_room(merge, lane, n_bytes);

	if (!at)
		return false;
	memset(at, (int)(stamp % 251), n_bytes);
	wr_lab_merge_add(merge, lane, stamp, n_bytes);
	return true;
}

static uint64_t take(struct wr_lab_merge *merge, uint64_t until, uint64_t stamp)
{
	const uint8_t *record;
	size_t n;

	record = wr_lab_merge_take(merge, until, &n);
	assert_non_null(record);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(record[i], stamp % 251);
	return n;
}

static void the_earliest_comes_first_and_none_before_its_time(void **state)
{
	struct wr_lab_merge *merge;
	size_t n;

	(void)state;
	assert_int_equal(wr_lab_merge_new(&merge, RING_BYTES, NULL), 0);
	assert_null(wr_lab_merge_take(merge, UINT64_MAX, &n));
	assert_true(add(merge, 0, 30, 100));
	assert_true(add(merge, 1, 20, 61));
	assert_true(add(merge, 0, 10, 102)); /* of its own stream, late */
	assert_true(add(merge, 1, 30, 103)); /* as early as the first */
	assert_null(wr_lab_merge_take(merge, 9, &n));
	assert_int_equal(take(merge, 10, 10), 102);
	assert_null(wr_lab_merge_take(merge, 19, &n));
	assert_int_equal(take(merge, UINT64_MAX, 20), 61);
	assert_int_equal(take(merge, UINT64_MAX, 30), 100);
	assert_int_equal(take(merge, UINT64_MAX, 30), 103);
	assert_null(wr_lab_merge_take(merge, UINT64_MAX, &n));
	assert_null(wr_lab_merge_free(merge));
}

/* The stamp of a record stands in it. */
static bool add_stamped(struct wr_lab_merge *merge, uint64_t stamp)
{
	size_t n = 60 + (size_t)(rand() % 400);
	int lane = rand() % 2;
	uint8_t *at = wr_lab_merge_room(merge, lane, n);

	if (!at)
		return false;
	memset(at, (int)n % 251, n);
	memcpy(at, &stamp, sizeof stamp);
	wr_lab_merge_add(merge, lane, stamp, n);
	return true;
}

/* Return: whether there was one; its stamp is not before @last, which it becomes. */
static bool take_stamped(struct wr_lab_merge *merge, uint64_t until, uint64_t *last)
{
	size_t n;
	const uint8_t *record = wr_lab_merge_take(merge, until, &n);
	uint64_t stamp;

	if (!record)
		return false;
	assert_in_range(n, 60, 459);
	memcpy(&stamp, record, sizeof stamp);
	assert_true(stamp >= *last && stamp <= until);
	for (size_t i = sizeof stamp; i < n; i++)
		assert_int_equal(record[i], n % 251);
	*last = stamp;
	return true;
}

/* A twentieth of the records is late, by 40 at most; what can't be followed by an earlier one is taken. */
static void rings_wrap_and_lose_nothing(void **state)
{
	uint64_t now = 1000, last = 0, n_added = 0, n_taken = 0;
	struct wr_lab_merge *merge;

	(void)state;
	srand(1);
	assert_int_equal(wr_lab_merge_new(&merge, RING_BYTES, NULL), 0);
	for (int i = 0; i < 200000; i++) {
		uint64_t stamp = now - (rand() % 20 ? 0 : (uint64_t)(rand() % 40));

		if (add_stamped(merge, stamp))
			n_added++;
		now += (uint64_t)(rand() % 30);
		while (rand() % 2 && take_stamped(merge, now - 40, &last))
			n_taken++;
	}
	assert_true(n_added > 100000);
	while (take_stamped(merge, UINT64_MAX, &last))
		n_taken++;
	assert_int_equal(n_taken, n_added);
	wr_lab_merge_free(merge);
}

static void a_full_ring_takes_no_more(void **state)
{
	struct wr_lab_merge *merge;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(wr_lab_merge_new(&merge, RING_BYTES, NULL), 0);
	while (add(merge, 0, n, 120))
		n++;
	assert_int_equal(n, RING_BYTES / 128);
	assert_true(add(merge, 1, 0, 120)); /* the other stream has its own */
	assert_int_equal(take(merge, UINT64_MAX, 0), 120);
	assert_true(add(merge, 0, n, 120));
	assert_false(add(merge, 0, n, 120));
	wr_lab_merge_free(merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earliest_comes_first_and_none_before_its_time),
		cmocka_unit_test(a_full_ring_takes_no_more),
		cmocka_unit_test(rings_wrap_and_lose_nothing),
	};

	return cmocka_run_group_tests_name("lab_merge", tests, NULL, NULL);
}
