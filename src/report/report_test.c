/* SPDX-License-Identifier: MIT */
/* Writers: what is unknown is absent from JSON and never printed as nan; clamps and leaks are said; text keeps its rows. */
#include "report/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

struct fixture {
	struct wr_evidence evidence;
	struct wr_result *result;
	struct wr_verdict verdict;
	struct wr_report_head head;
};

static void end_fill(struct wr_end *end, bool samples)
{
	struct wr_connection *connection;

	assert_int_equal(wr_end_init(end, 1, NULL), 0);
	connection = &end->connections[0];
	connection->sndbuf_req_bytes = connection->rcvbuf_req_bytes = WR_UNSET;
	connection->ran_on_cpu = -1;
	snprintf(connection->congestion, sizeof connection->congestion, "cubic");
	snprintf(connection->sndbuf_option, sizeof connection->sndbuf_option, "SO_SNDBUF");
	snprintf(connection->rcvbuf_option, sizeof connection->rcvbuf_option, "SO_RCVBUF");
	assert_int_equal(wr_series_reserve(&connection->series, 1, NULL), 0);
	if (samples) {
		struct wr_sample sample;

		for (int id = 0; id < WR_N_METRICS; id++)
			sample.value[id] = 1000 + id;
		wr_series_push(&connection->series, &sample);
	}
}

static void fixture_open(struct fixture *fixture, bool samples)
{
	memset(fixture, 0, sizeof *fixture);
	wr_option_defaults(wr_plan_options, &fixture->evidence.plan);
	end_fill(&fixture->evidence.near, samples);
	end_fill(&fixture->evidence.far, samples);
	fixture->evidence.complete = true;
	fixture->result = calloc(1, sizeof *fixture->result);
	assert_non_null(fixture->result);
	fixture->verdict.causes[0] = (struct wr_finding){.cause = "unknown", .side = WR_SIDE_PATH, .share_ratio = 1};
	fixture->verdict.n_causes = 1;
	fixture->result->n_streams = 1;
	fixture->result->n_intervals = 1;
	fixture->result->intervals[0] = (struct wr_interval){.end_s = 1, .throughput_bps = 1e6};
	fixture->result->cpu_ratio_near = fixture->result->cpu_ratio_far = -1;
	fixture->head = (struct wr_report_head){.schema = "weir.run/1", .command = "run", .target = "far", .complete = true};
	wr_report_time(fixture->head.started);
}

static void fixture_close(struct fixture *fixture)
{
	wr_evidence_deinit(&fixture->evidence);
	free(fixture->result);
}

static json_t *json_of(const struct fixture *fixture)
{
	json_t *object = wr_report_run_json(&fixture->head, &fixture->evidence, fixture->result, &fixture->verdict);

	assert_non_null(object);
	return object;
}

/* Owned by the caller. */
static char *text_of(const struct fixture *fixture)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	wr_report_run_text(out, &fixture->evidence, fixture->result, &fixture->verdict, "far");
	fclose(out);
	return text;
}

static bool has_null(const json_t *value)
{
	size_t i;
	json_t *item;
	const char *key;

	if (json_is_null(value))
		return true;
	json_array_foreach((json_t *)value, i, item) {
		if (has_null(item))
			return true;
	}
	json_object_foreach((json_t *)value, key, item) {
		if (has_null(item))
			return true;
	}
	return false;
}

static void unknown_is_absent(void **state)
{
	struct fixture fixture;
	json_t *object, *near, *path;

	(void)state;
	fixture_open(&fixture, false);
	fixture.result->rtt_loaded_us = fixture.result->intervals[0].rtt_us = NAN;
	object = json_of(&fixture);
	near = json_object_get(object, "near");
	path = json_object_get(object, "path");
	assert_false(has_null(object));
	for (size_t i = 0; i < 5; i++) {
		static const char *const keys[] = {"sndbuf_req_bytes", "sndbuf_eff_bytes", "cpu_ratio", "ran_on_cpu",
						   "tcp_rmem_max_bytes"};

		assert_null(json_object_get(near, keys[i]));
	}
	assert_null(json_object_get(path, "rtt_loaded_us"));
	assert_null(json_object_get(json_array_get(json_object_get(object, "intervals"), 0), "rtt_us"));
	json_decref(object);
	fixture_close(&fixture);
}

static void requested_and_effective(void **state)
{
	struct fixture fixture;
	json_t *object, *near;

	(void)state;
	fixture_open(&fixture, true);
	fixture.evidence.near.connections[0].sndbuf_req_bytes = 65536;
	fixture.result->cpu_ratio_near = 0.123456;
	object = json_of(&fixture);
	near = json_object_get(object, "near");
	assert_int_equal(json_integer_value(json_object_get(near, "sndbuf_req_bytes")), 65536);
	assert_int_equal(json_integer_value(json_object_get(near, "sndbuf_eff_bytes")), 1000 + WR_M_SNDBUF_BYTES);
	assert_null(json_object_get(near, "rcvbuf_req_bytes"));
	assert_true(fabs(json_real_value(json_object_get(near, "cpu_ratio")) - 0.1235) < 1e-9);
	json_decref(object);
	fixture_close(&fixture);
}

static void one_object_one_line(void **state)
{
	struct fixture fixture;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	fixture_open(&fixture, true);
	wr_report_line(json_of(&fixture), out);
	fclose(out);
	assert_ptr_equal(strchr(text, '\n'), text + n - 1);
	free(text);
	fixture_close(&fixture);
}

static void started_is_rfc_3339(void **state)
{
	char started[40];

	(void)state;
	wr_report_time(started);
	assert_int_equal(strlen(started), 20);
	assert_true(started[4] == '-' && started[10] == 'T' && started[19] == 'Z');
}

static void text_has_its_rows(void **state)
{
	static const char *const rows[] = {"weir run far", "\nPath ", "\nSender ", "\nReceiver ", "\nResult ", "\nWhy ", "\nNext "};
	struct fixture fixture;
	char *text;

	(void)state;
	for (int samples = 0; samples < 2; samples++) {
		fixture_open(&fixture, samples);
		fixture.result->rtt_loaded_us = samples ? 1000 : NAN;
		text = text_of(&fixture);
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
			assert_non_null(strstr(text, rows[i]));
		assert_null(strstr(text, "(null)"));
		assert_null(strstr(text, "-nan"));
		assert_null(strstr(text, " nan"));
		assert_null(strstr(text, "stopped early"));
		free(text);
		fixture.evidence.complete = false;
		fixture.evidence.plan.reverse = true;
		text = text_of(&fixture);
		assert_non_null(strstr(text, "stopped early"));
		assert_non_null(strstr(text, "far -> near"));
		assert_non_null(strstr(text, "without -R"));
		free(text);
		fixture_close(&fixture);
	}
}

static void a_clamp_names_its_sysctl(void **state)
{
	struct fixture fixture;
	struct wr_connection *far;
	char *text;

	(void)state;
	fixture_open(&fixture, true);
	far = &fixture.evidence.far.connections[0];
	far->rcvbuf_req_bytes = 8388608;
	far->rcvbuf_eff_bytes = 8388608;
	fixture.evidence.far.core_rmem_max_bytes = 4194304;
	text = text_of(&fixture);
	assert_non_null(strstr(text, "net.core.rmem_max on far"));
	free(text);
	far->rcvbuf_eff_bytes = 16777216; /* forced */
	text = text_of(&fixture);
	assert_null(strstr(text, "net.core.rmem_max"));
	free(text);
	fixture_close(&fixture);
}

static void a_verdict_in_words(void **state)
{
	struct fixture fixture;
	struct wr_finding *first;
	char *text;

	(void)state;
	fixture_open(&fixture, true);
	first = &fixture.verdict.causes[0];
	fixture.verdict.n_causes = 2;
	*first = (struct wr_finding){.cause = "sndbuf-limited", .side = WR_SIDE_NEAR, .share_ratio = 0.96,
				     .confidence = WR_CONFIDENCE_MEDIUM};
	for (int i = 0; i < 2 * WR_MAX_PROOFS; i++)
		wr_finding_prove(first, "metric", i, "count", "line %d", i);
	assert_int_equal(first->n_proofs, WR_MAX_PROOFS);
	fixture.verdict.causes[1] = (struct wr_finding){.cause = "sysctl-capped", .side = WR_SIDE_NEAR, .companion = true};
	text = text_of(&fixture);
	assert_non_null(strstr(text, "sndbuf-limited on near, 96 % of the time, medium confidence"));
	assert_non_null(strstr(text, "line 0\n"));
	assert_non_null(strstr(text, "with sysctl-capped"));
	free(text);
	fixture_close(&fixture);
}

static void refusals_and_advice_are_bounded(void **state)
{
	struct wr_verdict verdict = {0};
	json_t *object;

	(void)state;
	for (int i = 0; i < 3 * WR_MAX_REFUSALS; i++) {
		char knob[16];

		snprintf(knob, sizeof knob, "knob%d", i % (2 * WR_MAX_REFUSALS));
		wr_verdict_refuse(&verdict, knob, "reason %d", i);
	}
	assert_int_equal(verdict.n_refused, WR_MAX_REFUSALS);
	assert_string_equal(verdict.refused[0].why, "reason 0");
	for (int i = 0; i < WR_MAX_ADVICE; i++)
		assert_non_null(wr_verdict_advise(&verdict, "none", WR_SIDE_PATH));
	assert_null(wr_verdict_advise(&verdict, "none", WR_SIDE_PATH));
	object = wr_verdict_to_json(&verdict);
	assert_non_null(object);
	assert_int_equal(json_array_size(json_object_get(object, "advice")), WR_MAX_ADVICE);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_is_absent),
		cmocka_unit_test(requested_and_effective),
		cmocka_unit_test(one_object_one_line),
		cmocka_unit_test(started_is_rfc_3339),
		cmocka_unit_test(text_has_its_rows),
		cmocka_unit_test(a_clamp_names_its_sysctl),
		cmocka_unit_test(a_verdict_in_words),
		cmocka_unit_test(refusals_and_advice_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
