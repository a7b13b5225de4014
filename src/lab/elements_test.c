/* SPDX-License-Identifier: MIT */
/*
 * Each element as its option is written, on a virtual clock: which segments come out and when. What chance decides is
 * held to its theory over a million segments; the seed is fixed, so none of it fails by chance.
 */
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "lab/testing.h"

/* Losses, and runs of them. */
static void count_bursts(const struct bench *bench, uint64_t *n_lost, uint64_t *n_bursts)
{
	uint64_t next = 0;

	*n_lost = *n_bursts = 0;
	for (size_t i = 0; i <= bench->n_events; i++) {
		uint64_t seg = i < bench->n_events ? bench->events[i].seg : MILLION;

		*n_lost += seg - next;
		*n_bursts += seg > next;
		next = seg + 1;
	}
}

/* p / (p + r) is the share of the bad state, 1 / r its mean length. */
static void bursts_follow_gilbert_and_elliott(void **state)
{
	struct wr_lab_wish wish = no_wish();
	uint64_t n_lost, n_bursts, one;
	struct bench bench;

	(void)state;
	wish.both.loss = "ge:p=0.5%,r=30%";
	bench_init(&bench, &wish, 1);
	send_million(&bench, 40, 1);
	count_bursts(&bench, &n_lost, &n_bursts);
	near_to((double)n_lost / MILLION, 0.005 / 0.305, 0.05);
	near_to((double)n_lost / (double)n_bursts, 1 / 0.3, 0.05);
	assert_int_equal(drops_of(&bench, "loss")->n_segs, n_lost);
	printf("ge:p=0.5%%,r=30%%: %.4f %% lost (theory %.4f), bursts of %.3f (theory %.3f)\n", (double)n_lost / 1e4,
	       50 / 30.5, (double)n_lost / (double)n_bursts, 1 / 0.3);
	for (size_t i = 0; i < bench.n_events; i++)
		bench.events[i].at_ns = 0;
	one = fingerprint(&bench);
	bench_deinit(&bench);
	bench_init(&bench, &wish, 1);
	send_million(&bench, 1, 0);
	assert_true(fingerprint(&bench) == one); /* bundled or not */
	bench_deinit(&bench);
	wish.both.loss = "ge:p=1%,r=10%,h=50%,k=99.9%";
	bench_init(&bench, &wish, 1);
	send_million(&bench, 40, 1);
	near_to((double)drops_of(&bench, "loss")->n_segs / MILLION, 0.1 / 0.11 * 0.001 + 0.01 / 0.11 * 0.5, 0.05);
	bench_deinit(&bench);
}

static void each_nth_is_lost(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	wish.both.loss = "every:100";
	bench_init(&bench, &wish, 1);
	send_million(&bench, 16, 1);
	assert_int_equal(bench.n_events, MILLION / 100 * 99);
	for (size_t i = 0; i < bench.n_events; i++)
		assert_int_equal(bench.events[i].seg, i / 99 * 100 + i % 99);
	bench_deinit(&bench);
}

static void super_packets_are_lost_whole(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	wish.both.loss = "gso:100%";
	bench_init(&bench, &wish, 1);
	for (int i = 0; i < 10; i++) {
		send_packet(&bench, 40, 0, 0);
		send_packet(&bench, 1, 0, 0);
	}
	assert_int_equal(bench.n_events, 10);
	assert_int_equal(drops_of(&bench, "loss")->n_segs, 400);
	bench_deinit(&bench);
	wish.both.loss = "gso:10%";
	bench_init(&bench, &wish, 1);
	send_million(&bench, 10, 1);
	assert_int_equal(bench.n_events % 10, 0);
	near_to((double)drops_of(&bench, "loss")->n_segs / MILLION, 0.1, 0.05);
	bench_deinit(&bench);
}

/* The burst passes at once, then one segment each time that the rate has earned one. */
static void a_policer_lets_burst_and_rate_through(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	wish.both.police = "100mbit,burst=15380";
	bench_init(&bench, &wish, 1);
	send_packet(&bench, 40, 0, 0);
	assert_int_equal(bench.n_events, 10);
	for (uint64_t n = 1; n <= 1000; n++)
		send_packet(&bench, 3, n * SEG_100MBIT_NS, 0);
	assert_int_equal(bench.n_events, 10 + 1000);
	assert_int_equal(drops_of(&bench, "police")->n_segs, 30 + 2000);
	assert_int_equal(bench.events[10].at_ns, SEG_100MBIT_NS); /* no delay */
	bench_deinit(&bench);
}

static void an_outage_has_exact_edges(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	wish.both.outage = "2ms,for=1ms,every=10ms";
	bench_init(&bench, &wish, 1);
	for (uint64_t us = 0; us < 100000; us++)
		send_packet(&bench, 1, us * 1000, 0);
	assert_int_equal(drops_of(&bench, "outage")->n_segs, 10000);
	for (size_t i = 0; i < bench.n_events; i++)
		assert_false(bench.events[i].seg % 10000 >= 2000 && bench.events[i].seg % 10000 < 3000);
	bench_deinit(&bench);
}

/* What comes in the window waits for its end; the queue's limit holds meanwhile. */
static void an_outage_may_hold(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	wish.both.outage = "0,for=10ms,hold";
	wish.both.rate_bps = 100000000;
	wish.both.queue = "15380";
	bench_init(&bench, &wish, 1);
	for (uint64_t i = 0; i < 40; i++)
		send_packet(&bench, 1, i * SEG_100MBIT_NS, 0);
	assert_int_equal(bench.n_events, 10);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(bench.events[i].at_ns, 10000000 + (i + 1) * SEG_100MBIT_NS);
	bench_deinit(&bench);
}

static void a_duplicate_follows_and_takes_capacity(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	wish.both.duplicate = "100%";
	wish.both.rate_bps = 100000000;
	bench_init(&bench, &wish, 1);
	send_packet(&bench, 3, 0, 0);
	assert_int_equal(bench.n_events, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(bench.events[i].seg, i / 2);
		assert_int_equal(bench.events[i].marks, i % 2 ? 0 : WR_LAB_MARK_COPY);
		assert_int_equal(bench.events[i].at_ns, (i + 1) * SEG_100MBIT_NS);
	}
	bench_deinit(&bench);
	wish = no_wish();
	wish.both.duplicate = "1%";
	bench_init(&bench, &wish, 1);
	send_million(&bench, 40, 1);
	near_to((double)(bench.n_events - MILLION) / MILLION, 0.01, 0.05);
	assert_int_equal(drops_of(&bench, "duplicate")->n_touched, bench.n_events - MILLION);
	bench_deinit(&bench);
}

/* Mean, deviation and extremes of the delay of segments that left @gap_ns apart, and whether any came too early. */
static void delays_of(const struct bench *bench, uint64_t gap_ns, double *mean, double *deviation, double *most, bool *ordered)
{
	double sum = 0, squares = 0;

	*most = 0;
	*ordered = true;
	for (size_t i = 0; i < bench->n_events; i++) {
		double delay = (double)bench->events[i].at_ns - (double)(bench->events[i].seg * gap_ns) - 50e6;

		sum += delay;
		squares += delay * delay;
		*most = fabs(delay) > *most ? fabs(delay) : *most;
		*ordered &= i == 0 || bench->events[i].at_ns >= bench->events[i - 1].at_ns;
	}
	*mean = sum / (double)bench->n_events;
	*deviation = sqrt(squares / (double)bench->n_events - *mean * *mean);
}

static void jitter_has_its_distribution(void **state)
{
	static const struct {
		const char *text;
		double deviation, most;
		uint64_t gap_ns;
		bool ordered;
	} cases[] = {
		{"10ms,reorder", 10e6 / 1.7320508, 10e6, 1000, false},
		{"10ms,normal,reorder", 10e6, 40e6, 1000, false},
		{"10ms", 10e6 / 1.7320508, 10e6, 20000001, true}, /* so far apart, none must wait for another */
	};
	double mean, deviation, most;
	struct bench bench;
	bool ordered;

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(cases); i++) {
		struct wr_lab_wish wish = no_wish();

		wish.both.delay_ns = 50000000;
		wish.both.jitter = cases[i].text;
		bench_init(&bench, &wish, 1);
		send_million(&bench, 1, cases[i].gap_ns);
		delays_of(&bench, cases[i].gap_ns, &mean, &deviation, &most, &ordered);
		assert_true(fabs(mean) < 4 * cases[i].deviation / 1000);
		near_to(deviation, cases[i].deviation, 0.01);
		assert_true(most <= cases[i].most && most > 0.95 * cases[i].most);
		assert_int_equal(ordered, cases[i].ordered);
		bench_deinit(&bench);
	}
}

static void jitter_in_order_never_overtakes(void **state)
{
	struct wr_lab_wish wish = no_wish();
	double mean, deviation, most;
	struct bench bench;
	bool ordered;

	(void)state;
	wish.both.delay_ns = 50000000;
	wish.both.jitter = "10ms,normal";
	bench_init(&bench, &wish, 1);
	for (uint64_t i = 0; i < 25000; i++)
		send_packet(&bench, 40, i * 40000, 0);
	delays_of(&bench, 1000, &mean, &deviation, &most, &ordered);
	assert_true(ordered && bench.n_events == MILLION);
	bench_deinit(&bench);
}

/* At the rate, a late segment is overtaken by exactly so many. */
static void reordering_has_its_distance(void **state)
{
	static const struct {
		const char *text;
		uint64_t by;
	} cases[] = {{"1%", 3}, {"1%,by=1", 1}, {"1%,by=20", 20}, {"1%,late=1ms", 8}};

	(void)state;
	for (size_t c = 0; c < WR_N_ELEMENTS(cases); c++) {
		struct wr_lab_wish wish = no_wish();
		struct bench bench;
		uint64_t n_late = 0;

		wish.both.rate_bps = 100000000;
		wish.both.queue = "400M";
		wish.both.reorder = cases[c].text;
		bench_init(&bench, &wish, 1);
		for (int i = 0; i < 200000; i++)
			send_packet(&bench, 1, 0, 0);
		for (size_t i = 0; i < bench.n_events; i++) {
			uint64_t at_ns = bench.events[i].at_ns, n_over = (at_ns - (i + 1) * SEG_100MBIT_NS) / SEG_100MBIT_NS;

			assert_true(n_over == 0 || n_over == cases[c].by);
			n_late += n_over > 0;
		}
		near_to((double)n_late / 200000, 0.01, 0.05);
		assert_int_equal(drops_of(&bench, "reorder")->n_touched, n_late);
		bench_deinit(&bench);
	}
}

static void a_queue_counts_segments_or_time(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	wish.both.rate_bps = 100000000;
	wish.both.queue = "100p";
	bench_init(&bench, &wish, 1);
	send_packet(&bench, 44, 0, 0);
	send_packet(&bench, 132, 0, 0);
	assert_int_equal(bench.n_events, 100);
	send_packet(&bench, 132, 50 * SEG_100MBIT_NS, 0); /* 50 have gone */
	assert_int_equal(bench.n_events, 150);
	send_packet(&bench, 132, 100 * SEG_100MBIT_NS - 1, 0); /* one nanosecond too early for the 50th */
	assert_int_equal(bench.n_events, 199);
	assert_int_equal(drops_of(&bench, "queue")->n_segs, 44 + 3 * 132 - 199);
	bench_deinit(&bench);
	wish.both.queue = "10ms";
	bench_init(&bench, &wish, 1);
	assert_int_equal(bench.config.ways[0].queue_bytes, 125000);
	bench_deinit(&bench);
}

/* In a queue that nothing leaves, exactly the segments beyond the threshold are marked, of those that can be. */
static void ecn_marks_above_the_threshold(void **state)
{
	static const char *const thresholds[] = {"15380", "1230400ns"}; /* ten segments */
	struct wr_lab_wish wish = no_wish();

	(void)state;
	wish.both.rate_bps = 100000000;
	for (int i = 0; i < 2; i++) {
		struct bench bench;

		wish.both.ecn = thresholds[i];
		bench_init(&bench, &wish, 1);
		send_packet(&bench, 4, 0, 0);
		send_packet(&bench, 20, 0, WR_LAB_TRAIT_ECT);
		send_packet(&bench, 4, 0, 0);
		assert_int_equal(bench.n_events, 28);
		for (size_t n = 0; n < 28; n++)
			assert_int_equal(bench.events[n].marks, n >= 10 && n < 24 ? WR_LAB_MARK_CE : 0);
		assert_int_equal(drops_of(&bench, "ecn")->n_touched, 14);
		bench_deinit(&bench);
	}
}

static void corruption_has_its_share(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;
	size_t n_corrupt = 0;

	(void)state;
	wish.both.corrupt = "1%";
	bench_init(&bench, &wish, 1);
	send_million(&bench, 40, 1);
	for (size_t i = 0; i < bench.n_events; i++)
		n_corrupt += bench.events[i].marks == WR_LAB_MARK_CORRUPT;
	assert_int_equal(bench.n_events, MILLION);
	near_to((double)n_corrupt / MILLION, 0.01, 0.05);
	assert_int_equal(drops_of(&bench, "corrupt")->n_touched, n_corrupt);
	bench_deinit(&bench);
}

static size_t n_refused;

static void count_refused(void *context, const struct wr_lab_run *run)
{
	(void)context;
	(void)run;
	n_refused++;
}

/* The segments of 1500 bytes go, the last of 1000 stays; a fragmentable packet passes. One answer a packet. */
static void a_path_mtu_drops_what_is_larger(void **state)
{
	struct wr_lab_run run = {.n_segs = 5, .packet_segs = 5, .seg_wire_bytes = SEG, .last_wire_bytes = 1038};
	struct wr_lab_wish wish = no_wish();
	struct bench bench;

	(void)state;
	for (int black_hole = 0; black_hole < 2; black_hole++) {
		wish.both.path_mtu = black_hole ? "1499,blackhole" : "1499";
		bench_init(&bench, &wish, 1);
		n_refused = 0;
		wr_lab_chain_pass(&bench.chain, &run, bench.drops, &(struct wr_lab_sink){collect, count_refused, &bench});
		assert_int_equal(bench.n_events, 1);
		assert_int_equal(bench.events[0].seg, 4);
		assert_int_equal(drops_of(&bench, "path-mtu")->n_segs, 4);
		assert_int_equal(n_refused, !black_hole);
		send_packet(&bench, 5, 0, WR_LAB_TRAIT_FRAGMENTS);
		assert_int_equal(bench.n_events, 6);
		bench_deinit(&bench);
	}
	wish.both.path_mtu = "1500";
	bench_init(&bench, &wish, 1);
	send_packet(&bench, 5, 0, 0);
	assert_int_equal(bench.n_events, 5);
	bench_deinit(&bench);
}

/* All that can be asked for at once. */
static struct wr_lab_wish every_wish(void)
{
	struct wr_lab_wish wish = no_wish();

	wish.rtt_ns = 40000000;
	wish.both.rate_bps = 1000000000;
	wish.both.queue = "200p";
	wish.both.codel = "1ms,interval=20ms,ecn";
	wish.both.loss = "ge:p=0.1%,r=30%,h=10%,k=99.99%";
	wish.both.duplicate = "0.5%";
	wish.both.police = "950mbit,burst=256K";
	wish.both.outage = "100ms,for=10ms,every=300ms";
	wish.both.jitter = "2ms,normal,reorder";
	wish.both.reorder = "1%,by=3";
	wish.both.corrupt = "0.1%";
	wish.both.ecn = "100K";
	wish.both.path_mtu = "1500";
	wish.both.strip_wscale = true;
	wish.both.txqueuelen = "1000";
	wish.both.ack_policy = "microsoft";
	return wish;
}

static void the_same_seed_gives_the_same_fate(void **state)
{
	struct wr_lab_wish wish = every_wish();
	uint64_t prints[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct bench bench;

		bench_init(&bench, &wish, i == 2 ? 8 : 7);
		for (uint64_t n = 0; n < 20000; n++)
			send_packet(&bench, 1 + n * 7 % 44, n * 260000, n % 3 ? WR_LAB_TRAIT_ECT : 0);
		prints[i] = fingerprint(&bench);
		bench_deinit(&bench);
	}
	assert_true(prints[0] == prints[1]);
	assert_true(prints[0] != prints[2]);
}

/* An element more leaves the decisions of the others as they were. */
static void elements_draw_from_their_own_sequences(void **state)
{
	struct wr_lab_wish wish = no_wish();
	uint64_t n_lost[2];

	(void)state;
	wish.both.loss = "1%";
	for (int i = 0; i < 2; i++) {
		struct bench bench;

		bench_init(&bench, &wish, 3);
		send_million(&bench, 1, 1000);
		n_lost[i] = drops_of(&bench, "loss")->n_segs;
		bench_deinit(&bench);
		wish.both.delay_ns = 1000000;
		wish.both.jitter = "1ms,reorder";
		wish.both.duplicate = "1%";
	}
	assert_int_equal(n_lost[0], n_lost[1]);
}

/* About a second is promised; sanitizers take ten times as long. */
static void a_million_packets_take_about_a_second(void **state)
{
	struct wr_lab_wish wish = every_wish();
	struct bench bench;
	double took_s;
	clock_t began;

	(void)state;
	bench_init(&bench, &wish, 7);
	began = clock();
	send_million(&bench, 1, 13000);
	took_s = (double)(clock() - began) / CLOCKS_PER_SEC;
	printf("a million packets through all elements: %.2f s\n", took_s);
	assert_true(took_s < 10);
	bench_deinit(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_follow_gilbert_and_elliott),
		cmocka_unit_test(each_nth_is_lost),
		cmocka_unit_test(super_packets_are_lost_whole),
		cmocka_unit_test(a_policer_lets_burst_and_rate_through),
		cmocka_unit_test(an_outage_has_exact_edges),
		cmocka_unit_test(an_outage_may_hold),
		cmocka_unit_test(a_duplicate_follows_and_takes_capacity),
		cmocka_unit_test(jitter_has_its_distribution),
		cmocka_unit_test(jitter_in_order_never_overtakes),
		cmocka_unit_test(reordering_has_its_distance),
		cmocka_unit_test(a_queue_counts_segments_or_time),
		cmocka_unit_test(ecn_marks_above_the_threshold),
		cmocka_unit_test(corruption_has_its_share),
		cmocka_unit_test(a_path_mtu_drops_what_is_larger),
		cmocka_unit_test(the_same_seed_gives_the_same_fate),
		cmocka_unit_test(elements_draw_from_their_own_sequences),
		cmocka_unit_test(a_million_packets_take_about_a_second),
	};

	return cmocka_run_group_tests_name("elements", tests, NULL, NULL);
}
