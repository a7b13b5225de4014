/* SPDX-License-Identifier: MIT */
/* Series: thinning keeps them even, both ends and within bounds; JSON gives back what went in, and refuses the rest. */
#include "model/metric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct wr_sample sample_at(int64_t t_ns)
{
	struct wr_sample sample;

	for (int id = 0; id < WR_N_METRICS; id++)
		sample.value[id] = WR_ABSENT;
	sample.value[WR_M_T_NS] = t_ns;
	return sample;
}

static void metrics_have_keys_of_their_own(void **state)
{
	(void)state;
	for (int id = 0; id < WR_N_METRICS; id++) {
		assert_true(wr_metrics[id].key[0] && wr_metrics[id].summary[0] && wr_metrics[id].source[0]);
		for (int other = 0; other < id; other++)
			assert_string_not_equal(wr_metrics[id].key, wr_metrics[other].key);
	}
}

/* Whatever is pushed, what is kept starts with the first, has one step, and reaches to the end. */
static void thinning_is_even(void **state)
{
	static const size_t capacities[] = {2, 4, 10, 64}, counts[] = {1, 2, 3, 9, 10, 11, 63, 64, 65, 100, 1000};

	(void)state;
	for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++) {
		for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
			struct wr_series series = {0};
			int64_t step;

			assert_int_equal(wr_series_reserve(&series, capacities[c], NULL), 0);
			for (size_t i = 0; i < counts[k]; i++) {
				struct wr_sample sample = sample_at((int64_t)i);

				wr_series_push(&series, &sample);
			}
			assert_in_range(series.n_samples, 1, capacities[c]);
			assert_int_equal(series.capacity, capacities[c]);
			assert_int_equal(series.samples[0].value[WR_M_T_NS], 0);
			step = series.n_samples > 1 ? series.samples[1].value[WR_M_T_NS] : (int64_t)counts[k];
			for (size_t i = 1; i < series.n_samples; i++)
				assert_int_equal(series.samples[i].value[WR_M_T_NS] - series.samples[i - 1].value[WR_M_T_NS],
						 step);
			assert_true((int64_t)counts[k] - 1 - series.samples[series.n_samples - 1].value[WR_M_T_NS] < step);
			wr_series_deinit(&series);
		}
	}
}

static void the_last_one_is_kept(void **state)
{
	(void)state;
	for (size_t n = 1; n < 40; n++) {
		struct wr_series series = {0};
		struct wr_sample last = sample_at(1000);

		assert_int_equal(wr_series_reserve(&series, 4, NULL), 0);
		for (size_t i = 0; i < n; i++) {
			struct wr_sample sample = sample_at((int64_t)i);

			wr_series_push(&series, &sample);
		}
		wr_series_push_last(&series, &last);
		assert_in_range(series.n_samples, 2, 4);
		assert_int_equal(series.samples[series.n_samples - 1].value[WR_M_T_NS], 1000);
		assert_int_equal(series.samples[0].value[WR_M_T_NS], 0);
		wr_series_deinit(&series);
	}
}

static void at_an_instant(void **state)
{
	struct wr_series series = {0};

	(void)state;
	assert_null(wr_series_at(&series, 5));
	assert_int_equal(wr_series_reserve(&series, 8, NULL), 0);
	for (int64_t t_ns = 10; t_ns <= 50; t_ns += 10) {
		struct wr_sample sample = sample_at(t_ns);

		wr_series_push(&series, &sample);
	}
	assert_int_equal(wr_series_at(&series, -7)->value[WR_M_T_NS], 10);
	assert_int_equal(wr_series_at(&series, 10)->value[WR_M_T_NS], 10);
	assert_int_equal(wr_series_at(&series, 29)->value[WR_M_T_NS], 20);
	assert_int_equal(wr_series_at(&series, 30)->value[WR_M_T_NS], 30);
	assert_int_equal(wr_series_at(&series, INT64_MAX)->value[WR_M_T_NS], 50);
	wr_series_deinit(&series);
}

static void json_round_trip(void **state)
{
	struct wr_series series = {0}, back = {0};
	json_t *object;

	(void)state;
	assert_int_equal(wr_series_reserve(&series, 8, NULL), 0);
	for (int64_t i = 0; i < 5; i++) {
		struct wr_sample sample = sample_at(i * 10);

		sample.value[WR_M_BYTES] = i * 1000;
		if (i % 2)
			sample.value[WR_M_RTT_US] = i;
		wr_series_push(&series, &sample);
	}
	object = wr_series_to_json(&series);
	/* Metrics that no sample has are no columns. */
	assert_int_equal(json_array_size(json_object_get(object, "metrics")), 3);
	assert_int_equal(wr_series_from_json(&back, object, NULL), 0);
	assert_int_equal(back.n_samples, 5);
	for (size_t i = 0; i < 5; i++)
		assert_memory_equal(&back.samples[i], &series.samples[i], sizeof back.samples[i]);
	json_decref(object);
	wr_series_deinit(&series);
	wr_series_deinit(&back);
}

static void an_empty_series_round_trips(void **state)
{
	struct wr_series series = {0}, back = {0};
	json_t *object = wr_series_to_json(&series);

	(void)state;
	assert_int_equal(wr_series_from_json(&back, object, NULL), 0);
	assert_int_equal(back.n_samples, 0);
	json_decref(object);
	wr_series_deinit(&back);
}

static void strange_json_is_skipped_or_refused(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} rows[] = {
		{"{\"metrics\":[\"t_ns\",\"from_the_future\"],\"rows\":[[1,2],[3,4]]}", 0},
		{"{\"metrics\":[\"t_ns\",\"rtt_us\"],\"rows\":[[1],[3,null],[5,\"x\"],[6,1.5]]}", 0},
		{"{\"metrics\":[\"t_ns\",7,null],\"rows\":[[1,2,3]]}", 0},
		{"{\"metrics\":[\"t_ns\"],\"rows\":[]}", 0},
		{"{\"metrics\":[\"rtt_us\"],\"rows\":[[1]]}", -1},
		{"{\"metrics\":[\"t_ns\"],\"rows\":[[\"now\"]]}", -1},
		{"{\"metrics\":[\"t_ns\"],\"rows\":[5]}", -1},
		{"{\"metrics\":[\"t_ns\"],\"rows\":[{}]}", -1},
		{"{\"metrics\":{},\"rows\":[]}", -1},
		{"{\"metrics\":[],\"rows\":\"none\"}", -1},
		{"{}", -1},
		{"[]", -1},
		{"7", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *object = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);
		struct wr_series series = {0};

		assert_non_null(object);
		if (wr_series_from_json(&series, object, NULL) != rows[i].rc)
			fail_msg("%s", rows[i].text);
		json_decref(object);
		wr_series_deinit(&series);
	}
}

static void too_much_is_refused(void **state)
{
	json_t *keys = json_pack("[s]", "t_ns"), *rows = json_array(), *many = json_array();
	json_t *object = json_pack("{s:o,s:o}", "metrics", keys, "rows", rows);
	struct wr_series series = {0};
	struct weir_err err = {0};

	(void)state;
	for (int i = 0; i < 20001; i++)
		json_array_append_new(rows, json_pack("[i]", i));
	assert_int_equal(wr_series_from_json(&series, object, &err), -1);
	assert_int_equal(err.code, WEIR_ERR_PEER);
	for (int i = 0; i < 200; i++)
		json_array_append_new(many, json_string("t_ns"));
	json_object_set_new(object, "metrics", many);
	json_object_set_new(object, "rows", json_array());
	assert_int_equal(wr_series_from_json(&series, object, NULL), -1);
	json_decref(object);
	wr_series_deinit(&series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_have_keys_of_their_own),
		cmocka_unit_test(thinning_is_even),
		cmocka_unit_test(the_last_one_is_kept),
		cmocka_unit_test(at_an_instant),
		cmocka_unit_test(json_round_trip),
		cmocka_unit_test(an_empty_series_round_trips),
		cmocka_unit_test(strange_json_is_skipped_or_refused),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
