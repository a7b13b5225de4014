/* SPDX-License-Identifier: MIT */
/* The end of the warm-up on synthetic transfers, whose rate is a known function of time. */
#include "stat/steady.h"

#include "stat/testing.h"

#define MS UINT64_C(1000000)
#define N_MAX 4096
#define BEGIN_NS (UINT64_C(1234567) * MS) /* no clock starts at 0 */

/* The shape of a rate, in Mbit/s, of the time in s since the start. */
typedef double shape(double t_s);

struct transfer {
	uint64_t t_ns[N_MAX], bytes[N_MAX];
	size_t n_samples;
};

/* Sampled every @step_ms, integrated in steps of 0.1 ms. */
static void run(struct transfer *transfer, shape *rate, double seconds, unsigned step_ms)
{
	double moved = 0;

	transfer->n_samples = 0;
	for (unsigned i = 0; i <= seconds * 10000; i++) {
		if (i % (step_ms * 10) == 0) {
			transfer->t_ns[transfer->n_samples] = BEGIN_NS + i * MS / 10;
			transfer->bytes[transfer->n_samples++] = (uint64_t)moved;
		}
		moved += rate((i + 0.5) / 10000) * 1e6 / 8 / 10000;
	}
}

static double start_s(const struct wr_stat_steady *steady)
{
	return (double)(steady->start_ns - BEGIN_NS) / 1e9;
}

static double constant(double t_s)
{
	(void)t_s;
	return 100;
}

/* 1 Gbit/s, 100 ms: 10 segments doubling every RTT from 1.16 Mbit/s; full after 1 s. */
static double slow_start(double t_s)
{
	return fmin(941, 1.16 * exp2(floor(t_s / 0.1)));
}

/* The same, with a path so fast that it never gets there. */
static double only_slow_start(double t_s)
{
	return 1.16 * exp2(floor(t_s / 0.1));
}

/* Slow start to the path's rate, then a sawtooth of +-15 % with a period of 2.5 s. */
static double sawtooth(double t_s)
{
	return fmin(1.16 * exp2(t_s / 0.1), 200 * (0.85 + 0.3 * fmod(t_s, 2.5) / 2.5));
}

/* Cubic as it is: from 0.7 of the peak along a cubic with its plateau at the peak. */
static double cubic(double t_s)
{
	double phase = fmod(t_s, 4) / 4;

	return fmin(1.16 * exp2(t_s / 0.05), 100 * (1 - 0.3 * pow(1 - phase, 3)));
}

static double stall_early(double t_s)
{
	return t_s < 0.8 ? 0 : 100;
}

static double stall_midway(double t_s)
{
	return t_s > 3 && t_s < 4 ? 0 : 100;
}

static double stall_late(double t_s)
{
	return t_s > 7 && t_s < 8 ? 0 : 100;
}

static double stall_for_good(double t_s)
{
	return t_s < 3 ? 100 : 0;
}

static double nothing(double t_s)
{
	(void)t_s;
	return 0;
}

/* A window that grows by a constant each RTT: congestion avoidance on a long path. */
static double linear_ramp(double t_s)
{
	return 10 + 10 * t_s;
}

static double late_plateau(double t_s)
{
	return fmin(100, 10 + 15 * t_s);
}

/* Twice the rate in the first half second: a policer's token bucket. */
static double token_bucket(double t_s)
{
	return t_s < 0.5 ? 200 : 100;
}

/* Every other window empty or double: no three of them come near the mean. */
static double bursts(double t_s)
{
	return (unsigned)(t_s / 0.4) % 2 ? 200 : 1;
}

enum {
	FOUND = WR_STAT_STEADY_FOUND,
	RAMPING = WR_STAT_STEADY_RAMPING,
	SHORT = WR_STAT_STEADY_SHORT,
	STALLED = WR_STAT_STEADY_STALLED,
};

static const struct {
	const char *name;
	shape *rate;
	double seconds;
	unsigned step_ms, rtt_ms;
	int outcome;
	bool capped;
	double start_least_s, start_most_s, mean_mbps;
} rows[] = {
	{"constant", constant, 10, 10, 20, FOUND, false, 0.04, 0.04, 100},
	{"constant, RTT unknown", constant, 10, 10, 0, FOUND, false, 0, 0, 100},
	{"constant, few samples", constant, 10, 1000, 20, FOUND, false, 0.04, 0.04, 100},
	{"constant, long", constant, 400, 100, 20, FOUND, false, 0.04, 0.04, 100},
	{"slow start", slow_start, 5, 10, 100, FOUND, false, 1.15, 1.25, 941},
	{"slow start, 20 s", slow_start, 20, 10, 100, FOUND, false, 1.15, 1.25, 941},
	{"slow start, coarse samples", slow_start, 10, 100, 100, FOUND, false, 1.15, 1.25, 941},
	{"slow start, half of the run", slow_start, 1.95, 10, 100, FOUND, true, 0.97, 0.98, 932.1},
	{"only slow start", only_slow_start, 1.5, 10, 100, RAMPING, false, 0, 0, NAN},
	{"only slow start, 0.7 s", only_slow_start, 0.7, 10, 100, RAMPING, false, 0, 0, NAN},
	{"sawtooth", sawtooth, 10, 10, 100, FOUND, false, 0.9, 1.2, NAN},
	{"sawtooth, ends on a rise", sawtooth, 7.4, 10, 100, FOUND, false, 0.9, 1.2, NAN},
	{"cubic", cubic, 10, 10, 50, FOUND, false, 0.4, 1.2, NAN},
	{"cubic, ends on a rise", cubic, 5.9, 10, 50, FOUND, false, 0.4, 1.2, NAN},
	{"stall early", stall_early, 10, 10, 20, FOUND, false, 0.8, 0.9, 100},
	{"stall midway", stall_midway, 10, 10, 20, FOUND, false, 0.04, 0.04, 89.96},
	{"stall late", stall_late, 10, 10, 20, FOUND, false, 0.04, 0.04, 89.96},
	{"stall for good", stall_for_good, 10, 10, 20, STALLED, false, 0, 0, 30},
	{"nothing", nothing, 10, 10, 20, STALLED, false, 0, 0, 0},
	{"linear ramp", linear_ramp, 10, 10, 50, RAMPING, false, 0, 0, 60},
	{"late plateau", late_plateau, 10, 10, 50, FOUND, true, 5, 5, 98.5},
	{"token bucket", token_bucket, 10, 10, 20, FOUND, false, 0.5, 0.6, 100},
	{"bursts", bursts, 9.6, 10, 50, FOUND, true, 4.8, 4.8, 100.5},
	{"too short", constant, 0.29, 10, 20, SHORT, false, 0, 0, 100},
	{"long RTT, too short", constant, 2.9, 10, 500, SHORT, false, 0, 0, 100},
};

static void each_shape_has_its_answer(void **state)
{
	static struct transfer transfer;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct wr_stat_steady steady;

		run(&transfer, rows[i].rate, rows[i].seconds, rows[i].step_ms);
		print_message("%s\n", rows[i].name);
		assert_int_equal(wr_stat_steady(&steady, transfer.t_ns, transfer.bytes,
						transfer.n_samples, rows[i].rtt_ms * MS),
				 rows[i].outcome);
		if (!isnan(rows[i].mean_mbps))
			assert_near(steady.mean_bps / 1e6, rows[i].mean_mbps, 0.6);
		assert_true(steady.n_windows <= WR_STAT_STEADY_MAX_WINDOWS);
		assert_int_equal(steady.capped, rows[i].capped);
		if (rows[i].outcome != WR_STAT_STEADY_FOUND) {
			assert_int_equal(steady.start_ns, transfer.t_ns[transfer.n_samples - 1]);
			continue;
		}
		assert_true(start_s(&steady) >= rows[i].start_least_s - 1e-9);
		assert_true(start_s(&steady) <= rows[i].start_most_s + 1e-9);
		assert_true(start_s(&steady) <= rows[i].seconds / 2);
	}
}

/* Wherever a sawtooth is cut off, it is no ramp, and the start lies in its first period. */
static void a_sawtooth_is_never_a_ramp(void **state)
{
	static struct transfer transfer;

	(void)state;
	for (double seconds = 5; seconds < 15; seconds += 0.25) {
		struct wr_stat_steady steady;

		run(&transfer, sawtooth, seconds, 50);
		assert_int_equal(wr_stat_steady(&steady, transfer.t_ns, transfer.bytes,
						transfer.n_samples, 100 * MS),
				 WR_STAT_STEADY_FOUND);
		assert_false(steady.capped);
		assert_true(start_s(&steady) < 1.3);
	}
}

/* Independent noise of 20 % a window, after a slow start of 1 s: no ramp, and not much lost. */
static void noise_is_no_ramp(void **state)
{
	uint64_t t_ns[101] = {0}, bytes[101] = {0};
	struct wr_stat_random random;
	struct wr_stat_steady steady;
	double sum_s = 0;

	(void)state;
	wr_stat_random_init(&random, 11);
	for (unsigned trial = 0; trial < 500; trial++) {
		for (size_t i = 1; i <= 100; i++) {
			double bps = 1e8 * fmax(0.1, 1 + 0.2 * random_normal(&random));

			bps = fmin(bps, 1e8 * exp2((double)i / 2 - 10));
			t_ns[i] = i * 50 * MS;
			bytes[i] = bytes[i - 1] + (uint64_t)(bps / 8 * 0.05);
		}
		assert_int_equal(wr_stat_steady(&steady, t_ns, bytes, 101, 50 * MS), FOUND);
		assert_false(steady.capped);
		assert_true(steady.start_ns >= 900 * MS);
		sum_s += (double)steady.start_ns / 1e9;
	}
	assert_near(sum_s / 500, 1.1, 0.1);
}

static void none_or_one_sample(void **state)
{
	static const uint64_t t_ns[] = {5, 5, 5}, bytes[] = {0, 0, 7};
	struct wr_stat_steady steady;

	(void)state;
	assert_int_equal(wr_stat_steady(&steady, NULL, NULL, 0, MS), WR_STAT_STEADY_SHORT);
	assert_nan(steady.mean_bps);
	for (size_t n = 1; n <= 3; n++) {
		assert_int_equal(wr_stat_steady(&steady, t_ns, bytes, n, MS), WR_STAT_STEADY_SHORT);
		assert_nan(steady.mean_bps);
		assert_nan(steady.plateau_bps);
		assert_int_equal(steady.start_ns, 5);
	}
}

static void rates_are_interpolated_and_clipped(void **state)
{
	static const uint64_t t_ns[] = {1000 * MS, 2000 * MS, 4000 * MS},
			      bytes[] = {100, 1100, 1500};

	(void)state;
	assert_near(wr_stat_rate_between(t_ns, bytes, 3, 1000 * MS, 2000 * MS), 8000, 1e-6);
	assert_near(wr_stat_rate_between(t_ns, bytes, 3, 1500 * MS, 3000 * MS),
		    (500 + 200) * 8 / 1.5, 1e-6);
	assert_near(wr_stat_rate_between(t_ns, bytes, 3, 0, UINT64_MAX), 1400 * 8 / 3.0, 1e-6);
	assert_nan(wr_stat_rate_between(t_ns, bytes, 3, 2000 * MS, 2000 * MS));
	assert_nan(wr_stat_rate_between(t_ns, bytes, 3, 5000 * MS, 6000 * MS));
	assert_nan(wr_stat_rate_between(t_ns, bytes, 1, 0, UINT64_MAX));
	assert_nan(wr_stat_rate_between(NULL, NULL, 0, 0, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_shape_has_its_answer),
		cmocka_unit_test(a_sawtooth_is_never_a_ramp),
		cmocka_unit_test(noise_is_no_ramp),
		cmocka_unit_test(none_or_one_sample),
		cmocka_unit_test(rates_are_interpolated_and_clipped),
	};

	return cmocka_run_group_tests_name("steady", tests, NULL, NULL);
}
