/* SPDX-License-Identifier: MIT */
/* The pacer's rules on a virtual clock: what it learns from sleeps, what polling may take, when it runs ahead. */
#include "lab/pacer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/units.h"

#define US 1000ULL

static void without_packets_it_sleeps_until_one_comes(void **state)
{
	struct wr_lab_pacer pacer = {0};

	(void)state;
	assert_true(wr_lab_pacer_sleep_ns(&pacer, WR_UNSET, 5 * WR_NS_PER_S) == WR_UNSET);
	assert_int_equal(wr_lab_pacer_sleep_ns(&pacer, 5 * WR_NS_PER_S, 5 * WR_NS_PER_S), 0);
}

static void sleeps_end_earlier_by_what_they_overshoot(void **state)
{
	struct wr_lab_pacer pacer = {0};
	uint64_t now_ns = WR_NS_PER_S;

	(void)state;
	assert_int_equal(wr_lab_pacer_sleep_ns(&pacer, now_ns + 10 * WR_NS_PER_MS, now_ns), 10 * WR_NS_PER_MS);
	for (int i = 0; i < 100; i++)
		wr_lab_pacer_slept(&pacer, 80 * US, now_ns += 10 * WR_NS_PER_MS);
	assert_in_range(wr_lab_pacer_sleep_ns(&pacer, now_ns + 10 * WR_NS_PER_MS, now_ns), 9920 * US, 9925 * US);
	/* never by more than a quarter */
	assert_int_equal(wr_lab_pacer_sleep_ns(&pacer, now_ns + 100 * US, now_ns), 75 * US);
	/* a machine that oversleeps by milliseconds is not polled away */
	for (int i = 0; i < 100; i++)
		wr_lab_pacer_slept(&pacer, 5 * WR_NS_PER_MS, now_ns += 10 * WR_NS_PER_MS);
	assert_in_range(wr_lab_pacer_sleep_ns(&pacer, now_ns + 10 * WR_NS_PER_MS, now_ns), 9800 * US, 9810 * US);
}

/* A packet due every 12 us for a second: the time that passes polling is an eighth of it, and what it began with. */
static void polling_takes_an_eighth_at_most(void **state)
{
	struct wr_lab_pacer pacer = {.oversleep_ns = 60 * US};
	uint64_t start_ns = WR_NS_PER_S, polled_ns = 0;

	(void)state;
	for (uint64_t now_ns = start_ns; now_ns < 2 * start_ns;) {
		uint64_t sleep_ns = wr_lab_pacer_sleep_ns(&pacer, now_ns + 12 * US, now_ns);

		if (sleep_ns == 0) {
			now_ns += US;
			polled_ns += US;
			continue;
		}
		assert_true(sleep_ns <= 50 * US);
		now_ns += sleep_ns;
		wr_lab_pacer_slept(&pacer, WR_UNSET, now_ns);
	}
	assert_in_range(polled_ns, WR_NS_PER_S / 20, WR_NS_PER_S / 7);
}

static void after_a_late_packet_it_runs_ahead_for_a_while(void **state)
{
	struct wr_lab_pacer pacer = {0};
	uint64_t now_ns = WR_NS_PER_S;

	(void)state;
	wr_lab_pacer_late(&pacer, 100 * US, now_ns);
	assert_false(pacer.ahead);
	wr_lab_pacer_late(&pacer, 3 * WR_NS_PER_MS, now_ns);
	assert_true(pacer.ahead);
	for (int i = 0; i < 100; i++) {
		wr_lab_pacer_slept(&pacer, 5 * US, now_ns += 10 * WR_NS_PER_MS);
		wr_lab_pacer_worked(&pacer, now_ns);
		assert_true(pacer.ahead);
	}
	wr_lab_pacer_slept(&pacer, 5 * US, now_ns += 2 * WR_NS_PER_S);
	wr_lab_pacer_worked(&pacer, now_ns);
	assert_false(pacer.ahead);
}

static void a_link_that_never_sleeps_does_not_run_ahead(void **state)
{
	struct wr_lab_pacer pacer = {0};
	uint64_t now_ns = WR_NS_PER_S;

	(void)state;
	wr_lab_pacer_slept(&pacer, 5 * US, now_ns);
	wr_lab_pacer_late(&pacer, 3 * WR_NS_PER_MS, now_ns);
	for (; now_ns < WR_NS_PER_S + 100 * WR_NS_PER_MS; now_ns += 100 * US)
		wr_lab_pacer_worked(&pacer, now_ns);
	assert_false(pacer.ahead);
	wr_lab_pacer_late(&pacer, 3 * WR_NS_PER_MS, now_ns + WR_NS_PER_S);
	assert_false(pacer.ahead);
	wr_lab_pacer_slept(&pacer, 5 * US, now_ns + 3 * WR_NS_PER_S);
	wr_lab_pacer_late(&pacer, 3 * WR_NS_PER_MS, now_ns + 3 * WR_NS_PER_S);
	assert_true(pacer.ahead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_packets_it_sleeps_until_one_comes),
		cmocka_unit_test(sleeps_end_earlier_by_what_they_overshoot),
		cmocka_unit_test(polling_takes_an_eighth_at_most),
		cmocka_unit_test(after_a_late_packet_it_runs_ahead_for_a_while),
		cmocka_unit_test(a_link_that_never_sleeps_does_not_run_ahead),
	};

	return cmocka_run_group_tests_name("lab_pacer", tests, NULL, NULL);
}
