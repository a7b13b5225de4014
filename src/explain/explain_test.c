/* SPDX-License-Identifier: MIT */
/*
 * Verdicts on made-up evidence, where one sign is moved at a time: what tells a small buffer from a full path, a small
 * window from a slow reader, a cut request from autotuning's ceiling. Recorded evidence is judged in tests/golden.
 */
#include "explain/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "explain/cause.h"

#define MSS 1448
#define N_SAMPLES 200
#define PERIOD_NS 10000000LL

/* One connection, the same at every instant. Ratios are of full size; rtt_us is under load. */
struct scene {
	bool reverse, ramping, paced, blocked, slow_start, snd_pinned, rcv_pinned;
	double bps, min_rtt_us, rtt_us;
	int64_t in_flight_segs, cwnd_segs, window_bytes, notsent_bytes, sndbuf_bytes, rcvbuf_bytes;
	double receive_queue_ratio, sender_cpu_ratio, receiver_cpu_ratio, loss_ratio, rwnd_ratio;
	uint64_t sndbuf_req_bytes, rcvbuf_req_bytes, wmem_max_bytes, tcp_wmem_max_bytes, tcp_rmem_max_bytes;
	const char *congestion;
};

/* 20 Mbit/s at 40 ms with 100 kB in flight: R is 1, the window and cwnd have room, the writer waits for space. */
static const struct scene small_sndbuf = {
	.blocked = true, .snd_pinned = true, .bps = 20e6, .min_rtt_us = 40000, .rtt_us = 40100, .in_flight_segs = 69,
	.cwnd_segs = 300, .window_bytes = 3000000, .notsent_bytes = 1000, .sndbuf_bytes = 131072, .rcvbuf_bytes = 6000000,
	.sender_cpu_ratio = 0.03, .receiver_cpu_ratio = 0.04, .sndbuf_req_bytes = 65536, .rcvbuf_req_bytes = WR_UNSET,
	.wmem_max_bytes = 4194304, .tcp_wmem_max_bytes = 4194304, .tcp_rmem_max_bytes = 6291456, .congestion = "cubic",
};

static void connection_fill(struct wr_connection *connection, const struct scene *scene, bool sender)
{
	assert_int_equal(wr_series_reserve(&connection->series, N_SAMPLES, NULL), 0);
	connection->sndbuf_req_bytes = sender ? scene->sndbuf_req_bytes : WR_UNSET;
	connection->rcvbuf_req_bytes = sender ? WR_UNSET : scene->rcvbuf_req_bytes;
	connection->sndbuf_eff_bytes = (uint64_t)scene->sndbuf_bytes;
	connection->rcvbuf_eff_bytes = (uint64_t)scene->rcvbuf_bytes;
	connection->snd_autotuning = !(sender && scene->snd_pinned);
	connection->rcv_autotuning = sender || !scene->rcv_pinned;
	connection->mss_bytes = MSS;
	snprintf(connection->congestion, sizeof connection->congestion, "%s", scene->congestion);
	for (int64_t i = 0; i < N_SAMPLES; i++) {
		struct wr_sample sample;
		double t_ns = (double)(i * PERIOD_NS), bytes = scene->bps * t_ns / 8e9;

		for (int id = 0; id < WR_N_METRICS; id++)
			sample.value[id] = 0;
		sample.value[WR_M_T_NS] = i * PERIOD_NS;
		sample.value[WR_M_BYTES] = (int64_t)bytes;
		sample.value[WR_M_BLOCKED] = sender && scene->blocked;
		sample.value[WR_M_BLOCKED_NS] = sender && scene->blocked ? i * PERIOD_NS : 0;
		sample.value[WR_M_CPU_NS] =
			(int64_t)((sender ? scene->sender_cpu_ratio : scene->receiver_cpu_ratio) * t_ns);
		sample.value[WR_M_SND_MSS_BYTES] = MSS;
		sample.value[WR_M_SND_WSCALE] = 10;
		sample.value[WR_M_UNACKED_SEGS] = scene->in_flight_segs;
		sample.value[WR_M_CWND_SEGS] = scene->cwnd_segs;
		sample.value[WR_M_SSTHRESH_SEGS] = scene->slow_start ? INT32_MAX : scene->cwnd_segs / 2;
		sample.value[WR_M_RTT_US] = (int64_t)scene->rtt_us;
		sample.value[WR_M_MIN_RTT_US] = (int64_t)scene->min_rtt_us;
		sample.value[WR_M_BYTES_ACKED] = sample.value[WR_M_BYTES_SENT] = (int64_t)bytes;
		sample.value[WR_M_BYTES_RETRANS] = (int64_t)(scene->loss_ratio * bytes);
		sample.value[WR_M_TOTAL_RETRANS_SEGS] = sample.value[WR_M_BYTES_RETRANS] / MSS;
		sample.value[WR_M_NOTSENT_BYTES] = scene->notsent_bytes;
		sample.value[WR_M_BUSY_US] = (int64_t)(t_ns / 1e3);
		sample.value[WR_M_RWND_US] = (int64_t)(scene->rwnd_ratio * t_ns / 1e3);
		sample.value[WR_M_SND_WND_BYTES] = scene->window_bytes;
		sample.value[WR_M_SNDBUF_BYTES] = scene->sndbuf_bytes;
		sample.value[WR_M_WMEM_QUEUED_BYTES] = scene->sndbuf_bytes * 7 / 10;
		sample.value[WR_M_RCVBUF_BYTES] = scene->rcvbuf_bytes;
		sample.value[WR_M_RMEM_BYTES] = (int64_t)(scene->receive_queue_ratio * (double)scene->rcvbuf_bytes);
		wr_series_push(&connection->series, &sample);
	}
}

static void evidence_fill(struct wr_evidence *evidence, const struct scene *scene)
{
	memset(evidence, 0, sizeof *evidence);
	wr_option_defaults(wr_plan_options, &evidence->plan);
	evidence->plan.reverse = scene->reverse;
	if (scene->paced)
		evidence->plan.write_bps = (uint64_t)scene->bps;
	for (int end = 0; end < 2; end++) {
		struct wr_end *at = end ? &evidence->far : &evidence->near;

		assert_int_equal(wr_end_init(at, 1, NULL), 0);
		at->tcp_wmem_max_bytes = scene->tcp_wmem_max_bytes;
		at->tcp_rmem_max_bytes = scene->tcp_rmem_max_bytes;
		at->core_wmem_max_bytes = scene->wmem_max_bytes;
		at->core_rmem_max_bytes = 4194304;
		at->write_bytes = 131072;
		connection_fill(&at->connections[0], scene, (end == 1) == scene->reverse);
	}
	evidence->steady_from_ns = 10 * PERIOD_NS;
	evidence->steady_to_ns = (N_SAMPLES - 1) * PERIOD_NS;
	evidence->steady_bps = scene->bps;
	evidence->path_rtt_ns = (int64_t)(scene->min_rtt_us * 1e3);
	evidence->ramping = scene->ramping;
	evidence->complete = true;
}

static void judge(const struct scene *scene, struct wr_verdict *verdict)
{
	struct wr_evidence evidence;
	double sum = 0;

	evidence_fill(&evidence, scene);
	assert_int_equal(wr_explain(&evidence, verdict, NULL), 0);
	wr_evidence_deinit(&evidence);
	assert_true(verdict->n_causes > 0);
	for (size_t i = 0; i < verdict->n_causes; i++)
		sum += verdict->causes[i].companion ? 0 : verdict->causes[i].share_ratio;
	assert_true(sum <= 1.0001);
}

static void expect(const struct scene *scene, const char *cause, enum wr_side side)
{
	struct wr_verdict verdict;

	judge(scene, &verdict);
	if (strcmp(verdict.causes[0].cause, cause) != 0 || verdict.causes[0].side != side)
		fail_msg("%s on %s instead of %s on %s", verdict.causes[0].cause, wr_side_name(verdict.causes[0].side), cause,
			 wr_side_name(side));
	/* A buffer is refused where, and only where, none is the limit. */
	assert_int_equal(verdict.n_refused > 0, !wr_explain_buffer_helps(&verdict));
}

static void a_small_send_buffer(void **state)
{
	struct scene scene = small_sndbuf;

	(void)state;
	expect(&scene, "sndbuf-limited", WR_SIDE_NEAR);
	scene.reverse = true;
	expect(&scene, "sndbuf-limited", WR_SIDE_FAR);
	scene.congestion = "bbr";
	expect(&scene, "sndbuf-limited", WR_SIDE_FAR);
}

/* The same signs over a standing queue: the buffer is at the BDP or above it. */
static void in_flight_decides_between_buffer_and_path(void **state)
{
	struct scene scene = small_sndbuf;
	struct wr_verdict verdict;

	(void)state;
	scene.rtt_us = 80000;
	scene.in_flight_segs = 138; /* R is 2 */
	expect(&scene, "path-limited", WR_SIDE_PATH);
	scene.rtt_us = 44000;
	scene.in_flight_segs = 76; /* 1.1 */
	expect(&scene, "sndbuf-limited", WR_SIDE_NEAR);
	judge(&scene, &verdict);
	assert_true(verdict.causes[0].confidence < WR_CONFIDENCE_HIGH);
	judge(&small_sndbuf, &verdict);
	assert_int_equal(verdict.causes[0].confidence, WR_CONFIDENCE_HIGH);
}

static void a_small_window_and_a_slow_reader(void **state)
{
	struct scene scene = small_sndbuf;

	(void)state;
	scene.snd_pinned = false;
	scene.sndbuf_req_bytes = WR_UNSET;
	scene.sndbuf_bytes = 2000000;
	scene.notsent_bytes = 1000000;
	scene.window_bytes = 101000;
	scene.rwnd_ratio = 1;
	scene.rcv_pinned = true;
	scene.rcvbuf_req_bytes = 65536;
	scene.rcvbuf_bytes = 131072;
	expect(&scene, "rcvbuf-limited", WR_SIDE_FAR);
	scene.receive_queue_ratio = 0.1;
	expect(&scene, "rcvbuf-limited", WR_SIDE_FAR);
	scene.receive_queue_ratio = 0.8;
	expect(&scene, "reader-limited", WR_SIDE_FAR);
	scene.reverse = true;
	expect(&scene, "reader-limited", WR_SIDE_NEAR);
	scene.receive_queue_ratio = 0;
	expect(&scene, "rcvbuf-limited", WR_SIDE_NEAR);
}

/* Pacing hides the window from the kernel's clock: samples see it. */
static void a_small_window_under_pacing(void **state)
{
	struct scene scene = small_sndbuf;

	(void)state;
	scene.snd_pinned = false;
	scene.sndbuf_req_bytes = WR_UNSET;
	scene.notsent_bytes = 1000000;
	scene.window_bytes = 101000;
	scene.rwnd_ratio = 0.2;
	scene.congestion = "bbr";
	expect(&scene, "rcvbuf-limited", WR_SIDE_FAR);
}

static void a_slow_writer(void **state)
{
	struct scene scene = small_sndbuf;

	(void)state;
	scene.blocked = false;
	scene.notsent_bytes = 0;
	scene.in_flight_segs = 20;
	scene.bps = 5.8e6;
	/* A writer without a pace is always ready: then something else is wrong. */
	expect(&scene, "unknown", WR_SIDE_PATH);
	scene.paced = true;
	expect(&scene, "writer-limited", WR_SIDE_NEAR);
	scene.reverse = true;
	expect(&scene, "writer-limited", WR_SIDE_FAR);
}

static void a_full_path(void **state)
{
	struct scene scene = small_sndbuf;
	struct wr_verdict verdict;

	(void)state;
	scene.snd_pinned = false;
	scene.sndbuf_req_bytes = WR_UNSET;
	scene.sndbuf_bytes = 3000000;
	scene.notsent_bytes = 1000000;
	scene.rtt_us = 90000;
	scene.in_flight_segs = scene.cwnd_segs = 155;
	expect(&scene, "path-limited", WR_SIDE_PATH);
	judge(&scene, &verdict);
	assert_non_null(wr_finding_find(&verdict, "bufferbloat"));
	assert_true(wr_finding_find(&verdict, "bufferbloat")->companion);
	/* From 100 ms of queue on that is the first thing to mend. */
	scene.rtt_us = 200000;
	scene.in_flight_segs = scene.cwnd_segs = 345;
	expect(&scene, "bufferbloat", WR_SIDE_PATH);
}

static void losses(void **state)
{
	struct scene scene = small_sndbuf;

	(void)state;
	scene.snd_pinned = false;
	scene.sndbuf_req_bytes = WR_UNSET;
	scene.sndbuf_bytes = 1000000;
	scene.notsent_bytes = 500000;
	scene.in_flight_segs = scene.cwnd_segs = 20;
	scene.bps = 5.8e6;
	scene.loss_ratio = 0.01;
	expect(&scene, "loss-limited", WR_SIDE_PATH);
	/* Without them the same is a network that nothing is known of but its rate. */
	scene.loss_ratio = 0;
	scene.congestion = "bbr";
	expect(&scene, "path-limited", WR_SIDE_PATH);
}

static void a_cpu_that_is_used_up(void **state)
{
	struct scene scene = small_sndbuf;

	(void)state;
	scene.sender_cpu_ratio = 0.98;
	expect(&scene, "cpu-limited", WR_SIDE_NEAR);
	scene.sender_cpu_ratio = 0.1;
	scene.receiver_cpu_ratio = 0.98;
	expect(&scene, "cpu-limited", WR_SIDE_FAR);
}

static void a_transfer_that_ends_in_its_ramp(void **state)
{
	struct scene scene = small_sndbuf;

	(void)state;
	scene.snd_pinned = false;
	scene.sndbuf_req_bytes = WR_UNSET;
	scene.sndbuf_bytes = 1000000;
	scene.notsent_bytes = 50000;
	scene.in_flight_segs = scene.cwnd_segs = 20;
	scene.bps = 5.8e6;
	scene.ramping = scene.slow_start = true;
	expect(&scene, "ramp-limited", WR_SIDE_PATH);
}

static void a_request_that_was_cut(void **state)
{
	struct scene scene = small_sndbuf;
	struct wr_verdict verdict;

	(void)state;
	scene.sndbuf_req_bytes = 1048576;
	scene.wmem_max_bytes = 65536; /* and doubled: 131072 effective */
	expect(&scene, "sysctl-capped", WR_SIDE_NEAR);
	judge(&scene, &verdict);
	assert_true(wr_explain_buffer_helps(&verdict));
	assert_true(wr_finding_find(&verdict, "sndbuf-limited")->companion);
	assert_string_equal(verdict.causes[0].proofs[0].metric, "net.core.wmem_max");
	/* SO_SNDBUFFORCE got all of it. */
	scene.sndbuf_bytes = 2097152;
	expect(&scene, "sndbuf-limited", WR_SIDE_NEAR);
}

static void autotuning_at_its_ceiling(void **state)
{
	struct scene scene = small_sndbuf;
	struct wr_verdict verdict;

	(void)state;
	scene.snd_pinned = false;
	scene.sndbuf_req_bytes = WR_UNSET;
	scene.tcp_wmem_max_bytes = 131072;
	judge(&scene, &verdict);
	assert_string_equal(verdict.causes[0].cause, "sndbuf-limited");
	assert_string_equal(verdict.causes[0].proofs[0].metric, "net.ipv4.tcp_wmem");
	assert_non_null(wr_finding_find(&verdict, "sysctl-capped"));
	assert_true(wr_finding_find(&verdict, "sysctl-capped")->companion);
	scene.tcp_wmem_max_bytes = WR_UNSET; /* unreadable */
	judge(&scene, &verdict);
	assert_null(wr_finding_find(&verdict, "sysctl-capped"));
}

static void repeats_that_differ(void **state)
{
	static const double steady[] = {100e6, 101e6, 99e6}, wild[] = {100e6, 30e6, 160e6};
	struct scene scene = small_sndbuf;
	struct wr_verdict verdict;

	(void)state;
	judge(&scene, &verdict);
	assert_false(wr_explain_noise(&verdict, steady, 3));
	assert_false(wr_explain_noise(&verdict, wild, 1));
	assert_true(wr_verdict_is(&verdict, "sndbuf-limited"));
	assert_true(wr_explain_noise(&verdict, wild, 3));
	assert_true(wr_verdict_is(&verdict, "noisy"));
	assert_false(wr_explain_buffer_helps(&verdict));
	assert_int_equal(verdict.n_refused, 2);
}

static void noise_finds_room_in_a_full_verdict(void **state)
{
	static const double wild[] = {100e6, 30e6, 160e6};
	struct wr_verdict verdict = {.n_causes = WR_MAX_FINDINGS};

	(void)state;
	for (size_t i = 0; i < WR_MAX_FINDINGS; i++)
		verdict.causes[i].cause = i ? "writer-limited" : "loss-limited";
	assert_true(wr_explain_noise(&verdict, wild, 3));
	assert_int_equal(verdict.n_causes, WR_MAX_FINDINGS);
	assert_string_equal(verdict.causes[0].cause, "loss-limited");
	assert_string_equal(verdict.causes[WR_MAX_FINDINGS - 1].cause, "noisy");
	verdict.causes[0].cause = "writer-limited";
	assert_true(wr_explain_noise(&verdict, wild, 3));
	assert_int_equal(verdict.n_causes, WR_MAX_FINDINGS);
	assert_string_equal(verdict.causes[0].cause, "noisy");
}

static void little_or_nothing_to_go_by(void **state)
{
	struct wr_evidence evidence;
	struct wr_verdict verdict;

	(void)state;
	memset(&evidence, 0, sizeof evidence);
	assert_int_equal(wr_explain(&evidence, &verdict, NULL), 0);
	assert_true(wr_verdict_is(&verdict, "unknown"));
	evidence_fill(&evidence, &small_sndbuf);
	evidence.steady_from_ns = evidence.steady_to_ns = 0;
	assert_int_equal(wr_explain(&evidence, &verdict, NULL), 0);
	assert_true(verdict.n_causes > 0);
	evidence.near.connections[0].series.n_samples = evidence.far.connections[0].series.n_samples = 0;
	assert_int_equal(wr_explain(&evidence, &verdict, NULL), 0);
	assert_true(wr_verdict_is(&verdict, "unknown"));
	assert_int_equal(verdict.n_refused, 2);
	wr_evidence_deinit(&evidence);
}

/* The link's lateness as the two ends read it, in ns. */
static void judge_late(const struct scene *scene, uint64_t near_ns, uint64_t far_ns, struct wr_verdict *verdict)
{
	struct wr_evidence evidence;

	evidence_fill(&evidence, scene);
	evidence.near.link_late_p99_ns = near_ns;
	evidence.far.link_late_p99_ns = far_ns;
	assert_int_equal(wr_explain(&evidence, verdict, NULL), 0);
	wr_evidence_deinit(&evidence);
}

static const struct wr_proof_line *late_line(const struct wr_finding *finding)
{
	for (size_t i = 0; i < finding->n_proofs; i++) {
		if (strcmp(finding->proofs[i].metric, "link_late_us") == 0)
			return &finding->proofs[i];
	}
	return NULL;
}

static void a_late_link_costs_a_step_of_confidence(void **state)
{
	struct scene doubtful = small_sndbuf;
	struct wr_verdict verdict, undisturbed;

	(void)state;
	judge_late(&small_sndbuf, WR_UNSET, WR_UNSET, &undisturbed);
	assert_int_equal(undisturbed.causes[0].confidence, WR_CONFIDENCE_HIGH);
	assert_null(late_line(&undisturbed.causes[0]));
	judge_late(&small_sndbuf, WR_UNSET, 30000000, &verdict);
	assert_string_equal(verdict.causes[0].cause, undisturbed.causes[0].cause);
	assert_true(verdict.causes[0].share_ratio == undisturbed.causes[0].share_ratio);
	assert_int_equal(verdict.causes[0].confidence, WR_CONFIDENCE_MEDIUM);
	assert_non_null(late_line(&verdict.causes[0]));
	assert_true(late_line(&verdict.causes[0])->value == 30000);
	assert_non_null(strstr(late_line(&verdict.causes[0])->says, "the emulated link was late by 30.0 ms (p99) during this run"));
	for (size_t i = 1; i < verdict.n_causes; i++)
		assert_true(verdict.causes[i].confidence < undisturbed.causes[i].confidence ||
			    undisturbed.causes[i].confidence == WR_CONFIDENCE_LOW);
	doubtful.rtt_us = 44000;
	doubtful.in_flight_segs = 76;
	judge_late(&doubtful, WR_UNSET, WR_UNSET, &undisturbed);
	judge_late(&doubtful, 30000000, WR_UNSET, &verdict);
	assert_true(verdict.causes[0].confidence + 1 == undisturbed.causes[0].confidence);
}

/* 2 ms and a fiftieth of the 40 ms. */
static void a_link_is_late_beyond_its_bound(void **state)
{
	struct wr_verdict verdict;

	(void)state;
	judge_late(&small_sndbuf, 2700000, 2700000, &verdict);
	assert_int_equal(verdict.causes[0].confidence, WR_CONFIDENCE_HIGH);
	assert_null(late_line(&verdict.causes[0]));
	judge_late(&small_sndbuf, 2900000, 0, &verdict);
	assert_int_equal(verdict.causes[0].confidence, WR_CONFIDENCE_MEDIUM);
}

static void what_is_found_later_is_doubted_too(void **state)
{
	struct wr_verdict verdict;

	(void)state;
	judge_late(&small_sndbuf, 30000000, WR_UNSET, &verdict);
	wr_explain_full_path(&verdict, 20e6, 20.1e6);
	assert_true(wr_verdict_is(&verdict, "path-limited"));
	assert_int_equal(verdict.causes[0].confidence, WR_CONFIDENCE_MEDIUM);
	assert_non_null(late_line(&verdict.causes[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_send_buffer),
		cmocka_unit_test(in_flight_decides_between_buffer_and_path),
		cmocka_unit_test(a_small_window_and_a_slow_reader),
		cmocka_unit_test(a_small_window_under_pacing),
		cmocka_unit_test(a_slow_writer),
		cmocka_unit_test(a_full_path),
		cmocka_unit_test(losses),
		cmocka_unit_test(a_cpu_that_is_used_up),
		cmocka_unit_test(a_transfer_that_ends_in_its_ramp),
		cmocka_unit_test(a_request_that_was_cut),
		cmocka_unit_test(autotuning_at_its_ceiling),
		cmocka_unit_test(repeats_that_differ),
		cmocka_unit_test(noise_finds_room_in_a_full_verdict),
		cmocka_unit_test(little_or_nothing_to_go_by),
		cmocka_unit_test(a_late_link_costs_a_step_of_confidence),
		cmocka_unit_test(a_link_is_late_beyond_its_bound),
		cmocka_unit_test(what_is_found_later_is_doubted_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
