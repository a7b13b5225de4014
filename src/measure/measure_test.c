/* SPDX-License-Identifier: MIT */
/* Figures of made-up evidence: the receiver's bytes count, warm-up and the ends of a run don't, streams add up. */
#include "measure/measure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PERIOD_NS 10000000LL
#define SECOND_NS 1000000000LL

/* @bytes: a stream's count after so many seconds */
typedef double bytes_at(double seconds);

static double constant(double seconds)
{
	return 1e6 * seconds;
}

/* Doubles every 100 ms for a second, then 12.5 MB/s. */
static double ramp(double seconds)
{
	double at_1 = 12.5e6 * 0.1 / M_LN2;

	return seconds < 1 ? at_1 * exp2(10 * (seconds - 1)) : at_1 + 12.5e6 * (seconds - 1);
}

/* A megabyte in the first second and no more. */
static double one_megabyte(double seconds)
{
	return fmin(constant(seconds), 1e6);
}

static void end_fill(struct wr_end *end, size_t n_streams, double seconds, bytes_at *bytes)
{
	size_t n = (size_t)(seconds * 1e9 / PERIOD_NS) + 1;

	assert_int_equal(wr_end_init(end, n_streams, NULL), 0);
	for (size_t i = 0; i < n_streams; i++) {
		struct wr_connection *connection = &end->connections[i];

		connection->mss_bytes = 1448;
		assert_int_equal(wr_series_reserve(&connection->series, n, NULL), 0);
		for (size_t j = 0; j < n; j++) {
			struct wr_sample sample;

			for (int id = 0; id < WR_N_METRICS; id++)
				sample.value[id] = WR_ABSENT;
			sample.value[WR_M_T_NS] = (int64_t)j * PERIOD_NS;
			sample.value[WR_M_BYTES] = (int64_t)((double)(i + 1) * bytes((double)j * PERIOD_NS / 1e9));
			sample.value[WR_M_CPU_NS] = (int64_t)j * PERIOD_NS / 4;
			sample.value[WR_M_RTT_US] = 20000;
			sample.value[WR_M_MIN_RTT_US] = 10000;
			sample.value[WR_M_CWND_SEGS] = 10;
			sample.value[WR_M_TOTAL_RETRANS_SEGS] = (int64_t)j / 100;
			wr_series_push(&connection->series, &sample);
		}
	}
}

static void evidence_fill(struct wr_evidence *evidence, size_t n_streams, double seconds, bytes_at *bytes)
{
	memset(evidence, 0, sizeof *evidence);
	wr_option_defaults(wr_plan_options, &evidence->plan);
	evidence->plan.streams = n_streams;
	evidence->plan.duration_ns = (uint64_t)(seconds * 1e9);
	end_fill(&evidence->near, n_streams, seconds, constant);
	end_fill(&evidence->far, n_streams, seconds, bytes);
	evidence->path_rtt_ns = 10000000;
	evidence->complete = true;
}

static void near_is(double value, double wanted, double tolerance)
{
	if (!(fabs(value - wanted) <= tolerance * fabs(wanted)))
		fail_msg("%g is not %g (+-%g %%)", value, wanted, 100 * tolerance);
}

static void result_of(struct wr_evidence *evidence, struct wr_result **result)
{
	*result = calloc(1, sizeof **result);
	assert_non_null(*result);
	assert_int_equal(wr_measure_judge(evidence, NULL), 0);
	assert_int_equal(wr_measure_result(evidence, *result, NULL), 0);
}

static void a_constant_rate(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;

	(void)state;
	evidence_fill(&evidence, 1, 3, constant);
	result_of(&evidence, &result);
	assert_false(evidence.ramping);
	near_is(result->throughput_bps, 8e6, 0.01);
	assert_int_equal(result->bytes, 3000000);
	near_is(result->rtt_loaded_us, 20000, 0);
	near_is(result->rtt_min_us, 10000, 0);
	near_is(result->cpu_ratio_near, 0.25, 0.01);
	near_is(result->cpu_ratio_far, 0.25, 0.01);
	free(result);
	wr_evidence_deinit(&evidence);
}

/* The other end's count of the same transfer is not looked at. */
static void the_receiver_counts(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;

	(void)state;
	evidence_fill(&evidence, 1, 4, ramp);
	result_of(&evidence, &result);
	near_is(result->throughput_bps, 100e6, 0.02);
	assert_true(evidence.steady_from_ns > SECOND_NS / 2);
	free(result);
	evidence.plan.reverse = true;
	result_of(&evidence, &result);
	near_is(result->throughput_bps, 8e6, 0.01);
	free(result);
	wr_evidence_deinit(&evidence);
}

static void streams_add_up(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;

	(void)state;
	evidence_fill(&evidence, 3, 3, constant);
	result_of(&evidence, &result);
	assert_int_equal(result->n_streams, 3);
	near_is(result->throughput_bps, 48e6, 0.01);
	for (size_t i = 0; i < 3; i++)
		near_is(result->stream_bps[i], (double)(i + 1) * 8e6, 0.01);
	assert_int_equal(result->stream_bytes[0] + result->stream_bytes[1] + result->stream_bytes[2], result->bytes);
	near_is(result->intervals[0].cwnd_segs, 30, 0);
	free(result);
	wr_evidence_deinit(&evidence);
}

static void intervals_cover_the_run(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;
	double again = 0;

	(void)state;
	evidence_fill(&evidence, 1, 3.5, constant);
	result_of(&evidence, &result);
	assert_in_range(result->n_intervals, 3, 4);
	assert_true(result->intervals[0].start_s == 0);
	for (size_t i = 0; i < result->n_intervals; i++) {
		near_is(result->intervals[i].throughput_bps, 8e6, 0.02);
		assert_true(i == 0 || result->intervals[i].start_s == result->intervals[i - 1].end_s);
		again += result->intervals[i].retrans_segs;
	}
	near_is(result->intervals[result->n_intervals - 1].end_s, 3.5, 0.01);
	near_is(again, 3, 0);
	free(result);
	wr_evidence_deinit(&evidence);
}

static void many_intervals_are_made_longer(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;

	(void)state;
	evidence_fill(&evidence, 1, 60, constant);
	evidence.plan.interval_ns = 100000000;
	result_of(&evidence, &result);
	assert_in_range(result->n_intervals, 500, WR_MAX_INTERVALS);
	near_is(result->intervals[result->n_intervals - 1].end_s, 60, 0.01);
	free(result);
	wr_evidence_deinit(&evidence);
}

/* What both ends took to agree that all bytes are through is no part of the transfer. */
static void bytes_end_with_the_last(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;

	(void)state;
	evidence_fill(&evidence, 1, 2, one_megabyte);
	evidence.plan.duration_ns = WR_UNSET;
	evidence.plan.bytes = 1000000;
	result_of(&evidence, &result);
	near_is((double)evidence.steady_to_ns, 1e9, 0.03);
	near_is(result->throughput_bps, 8e6, 0.03);
	assert_int_equal(result->bytes, 1000000);
	free(result);
	wr_evidence_deinit(&evidence);
}

static void nothing_arrived(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;

	(void)state;
	evidence_fill(&evidence, 1, 2, constant);
	for (size_t j = 0; j < evidence.far.connections[0].series.n_samples; j++)
		evidence.far.connections[0].series.samples[j].value[WR_M_BYTES] = 0;
	result_of(&evidence, &result);
	assert_true(result->throughput_bps == 0 && result->bytes == 0);
	free(result);
	wr_evidence_deinit(&evidence);
}

static void without_samples(void **state)
{
	struct wr_evidence evidence;
	struct wr_result *result;

	(void)state;
	evidence_fill(&evidence, 2, 1, constant);
	evidence.far.connections[1].series.n_samples = 0;
	result_of(&evidence, &result);
	assert_true(result->throughput_bps == 0);
	free(result);
	evidence.near.connections[0].series.n_samples = evidence.far.connections[0].series.n_samples = 0;
	result_of(&evidence, &result);
	assert_true(result->throughput_bps == 0 && result->bytes == 0 && result->n_intervals == 0);
	assert_true(isnan(wr_measure_rtt_us(&evidence, 0, SECOND_NS)));
	free(result);
	wr_evidence_deinit(&evidence);
	memset(&evidence, 0, sizeof evidence);
	result_of(&evidence, &result);
	assert_true(result->throughput_bps == 0);
	free(result);
}

static void rates_between_instants(void **state)
{
	struct wr_evidence evidence;

	(void)state;
	evidence_fill(&evidence, 1, 4, ramp);
	near_is(wr_measure_rate(&evidence, 2 * SECOND_NS, 3 * SECOND_NS), 100e6, 0.01);
	near_is(wr_measure_slope(&evidence, 2 * SECOND_NS, 3 * SECOND_NS), 100e6, 0.01);
	assert_true(wr_measure_rate(&evidence, 0, SECOND_NS / 2) < 10e6);
	near_is(wr_measure_rtt_us(&evidence, 0, SECOND_NS), 20000, 0);
	wr_evidence_deinit(&evidence);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_constant_rate),
		cmocka_unit_test(the_receiver_counts),
		cmocka_unit_test(streams_add_up),
		cmocka_unit_test(intervals_cover_the_run),
		cmocka_unit_test(many_intervals_are_made_longer),
		cmocka_unit_test(bytes_end_with_the_last),
		cmocka_unit_test(nothing_arrived),
		cmocka_unit_test(without_samples),
		cmocka_unit_test(rates_between_instants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
