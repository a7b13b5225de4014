/* SPDX-License-Identifier: MIT */
/* Packets leave by their due times, equal ones in the order in which they came, however they came. */
#include "lab/waiting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/units.h"
#include "stat/random.h"

#define N 5000

static void packets_leave_by_due_time(void **state)
{
	struct wr_lab_packet *packets = calloc(N, sizeof *packets);
	struct wr_stat_random random;
	struct wr_lab_waiting waiting;

	(void)state;
	wr_stat_random_init(&random, 5);
	assert_int_equal(wr_lab_waiting_init(&waiting, N, NULL), 0);
	for (int round = 0; round < 20; round++) {
		uint64_t last_due_ns = 0, last_number = 0;
		size_t n_in = 0, n_out = 0;

		assert_true(wr_lab_waiting_due_ns(&waiting) == WR_UNSET);
		while (n_out < N) {
			uint64_t due_ns;
			const struct wr_lab_packet *next;

			/* Ascending with some disorder, and never before what has left already. */
			if (n_in < N && wr_stat_random_below(&random, 3)) {
				due_ns = n_in * 10 + wr_stat_random_below(&random, round % 2 ? 1 : 500) / 10 * 10;
				packets[n_in].due_ns = due_ns > last_due_ns ? due_ns : last_due_ns;
				wr_lab_waiting_add(&waiting, &packets[n_in++]);
				continue;
			}
			due_ns = wr_lab_waiting_due_ns(&waiting);
			next = wr_lab_waiting_take(&waiting);
			if (!next)
				continue;
			assert_int_equal(next->due_ns, due_ns);
			assert_true(due_ns > last_due_ns || n_out == 0 || (due_ns == last_due_ns && next->number > last_number));
			last_due_ns = due_ns;
			last_number = next->number;
			n_out++;
		}
		assert_null(wr_lab_waiting_take(&waiting));
	}
	wr_lab_waiting_deinit(&waiting);
	free(packets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_leave_by_due_time),
	};

	return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
