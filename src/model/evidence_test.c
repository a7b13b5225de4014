/* SPDX-License-Identifier: MIT */
/* Evidence: a stored run comes back as it was; what a peer or a file may get wrong is refused without a leak. */
#include "model/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void end_fill(struct wr_end *end, size_t n_connections)
{
	assert_int_equal(wr_end_init(end, n_connections, NULL), 0);
	snprintf(end->host, sizeof end->host, "host");
	end->tcp_wmem_max_bytes = 4194304;
	end->n_cpus = 2;
	end->other_cpu_ratio = 0.25;
	end->link_late_p99_ns = 31000000;
	end->may_force = true;
	end->n_counters = 1;
	snprintf(end->counters[0].name, sizeof end->counters[0].name, "TcpRetransSegs");
	end->counters[0].delta = 7;
	for (size_t i = 0; i < n_connections; i++) {
		struct wr_connection *connection = &end->connections[i];

		connection->sndbuf_req_bytes = 65536;
		connection->rcvbuf_req_bytes = WR_UNSET;
		connection->rcv_autotuning = true;
		connection->mss_bytes = 1448;
		snprintf(connection->congestion, sizeof connection->congestion, "cubic");
		assert_int_equal(wr_series_reserve(&connection->series, 4, NULL), 0);
		for (int64_t t = 0; t < 3; t++) {
			struct wr_sample sample;

			for (int id = 0; id < WR_N_METRICS; id++)
				sample.value[id] = id + t;
			wr_series_push(&connection->series, &sample);
		}
	}
}

static void evidence_fill(struct wr_evidence *evidence)
{
	memset(evidence, 0, sizeof *evidence);
	wr_option_defaults(wr_plan_options, &evidence->plan);
	end_fill(&evidence->near, 2);
	end_fill(&evidence->far, 2);
	evidence->steady_from_ns = 1;
	evidence->steady_to_ns = 2;
	evidence->steady_bps = 1.5e8;
	evidence->path_rtt_ns = 20000000;
	evidence->complete = true;
}

static void round_trip(void **state)
{
	struct wr_evidence evidence, back;
	json_t *object, *again;

	(void)state;
	evidence_fill(&evidence);
	object = wr_evidence_to_json(&evidence);
	assert_int_equal(wr_evidence_from_json(&back, object, NULL), 0);
	again = wr_evidence_to_json(&back);
	assert_true(json_equal(object, again));
	assert_int_equal(back.near.n_connections, 2);
	assert_int_equal(back.near.connections[1].sndbuf_req_bytes, 65536);
	assert_true(back.near.connections[1].rcvbuf_req_bytes == WR_UNSET);
	assert_true(back.near.tcp_rmem_max_bytes == WR_UNSET);
	assert_int_equal(back.near.link_late_p99_ns, 31000000);
	assert_int_equal(back.far.counters[0].delta, 7);
	assert_int_equal(back.far.connections[0].series.samples[2].value[WR_M_T_NS], 2);
	json_decref(object);
	json_decref(again);
	wr_evidence_deinit(&evidence);
	wr_evidence_deinit(&back);
	wr_evidence_deinit(&back); /* again does no harm */
}

static void roles_follow_the_direction(void **state)
{
	struct wr_evidence evidence = {0};

	(void)state;
	assert_ptr_equal(wr_evidence_sender(&evidence), &evidence.near);
	assert_ptr_equal(wr_evidence_receiver(&evidence), &evidence.far);
	evidence.plan.reverse = true;
	assert_ptr_equal(wr_evidence_sender(&evidence), &evidence.far);
	assert_ptr_equal(wr_evidence_receiver(&evidence), &evidence.near);
}

/* Put @text in at @key of an end, of its first connection, or of the run. */
static void refused(const char *where, const char *key, const char *text)
{
	struct wr_evidence evidence, back;
	struct weir_err err = {0};
	json_t *object, *at;

	evidence_fill(&evidence);
	object = wr_evidence_to_json(&evidence);
	at = where[0] == 'r' ? object : json_object_get(object, "far");
	if (where[0] == 'c')
		at = json_array_get(json_object_get(at, "connections"), 0);
	json_object_set_new(at, key, json_loads(text, JSON_DECODE_ANY, NULL));
	if (wr_evidence_from_json(&back, object, &err) == 0)
		fail_msg("%s of the %s as %s was taken", key, where, text);
	assert_true(err.text[0]);
	json_decref(object);
	wr_evidence_deinit(&evidence);
}

static void wrong_types_are_refused(void **state)
{
	(void)state;
	refused("run", "steady_from_ns", "\"early\"");
	refused("run", "steady_to_ns", "1152921504606846977");
	refused("run", "complete", "1");
	refused("run", "steady_bps", "\"fast\"");
	refused("run", "plan", "null");
	refused("run", "near", "null");
	refused("run", "far", "[]");
	refused("end", "host", "7");
	refused("end", "n_cpus", "2.5");
	refused("end", "may_force", "\"no\"");
	refused("end", "connections", "{}");
	refused("end", "connections", "null");
	refused("connection", "congestion", "true");
	refused("connection", "sndbuf_eff_bytes", "\"big\"");
	refused("connection", "mss_bytes", "[]");
	refused("connection", "samples", "{}");
	refused("connection", "samples", "{\"metrics\":[\"rtt_us\"],\"rows\":[[1]]}");
}

static void too_many_connections_are_refused(void **state)
{
	json_t *connections = json_array(), *object = json_pack("{s:o}", "connections", connections);
	struct wr_end end = {0};

	(void)state;
	for (size_t i = 0; i <= WR_MAX_STREAMS; i++)
		json_array_append_new(connections, json_object());
	assert_int_equal(wr_end_from_json(&end, object, NULL), -1);
	json_array_remove(connections, 0);
	assert_int_equal(wr_end_from_json(&end, object, NULL), 0);
	assert_int_equal(end.n_connections, WR_MAX_STREAMS);
	wr_end_deinit(&end);
	json_decref(object);
}

static void long_texts_and_many_counters_are_cut(void **state)
{
	json_t *counters = json_object(), *object = json_pack("{s:[],s:o}", "connections", "counters", counters);
	struct wr_end end = {0};
	char text[300];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	json_object_set_new(object, "host", json_string(text));
	for (int i = 0; i < 3 * WR_MAX_COUNTERS; i++) {
		snprintf(text, sizeof text, "a-counter-with-a-name-that-is-much-too-long-%d", i);
		json_object_set_new(counters, text, json_integer(i));
	}
	assert_int_equal(wr_end_from_json(&end, object, NULL), 0);
	assert_int_equal(strlen(end.host), WR_NAME_TEXT - 1);
	assert_int_equal(end.n_counters, WR_MAX_COUNTERS);
	assert_int_equal(strlen(end.counters[0].name), sizeof end.counters[0].name - 1);
	wr_end_deinit(&end);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(roles_follow_the_direction),
		cmocka_unit_test(wrong_types_are_refused),
		cmocka_unit_test(too_many_connections_are_refused),
		cmocka_unit_test(long_texts_and_many_counters_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
