/* SPDX-License-Identifier: MIT */
/*
 * The chain on a virtual clock: what comes out, when, and what is dropped, exactly. No test here waits for anything;
 * a million segments take well under a second.
 */
#include "lab/chain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define SEG 1538 /* a full segment on the wire at MTU 1500 */
#define PAYLOAD 1448
/* Rows of wr_lab_elements. */
#define LOSS 5
#define QUEUE 9

/* What came out of a chain. */
struct sink {
	uint64_t n_segs, wire_bytes, n_runs, last_ns, max_run_bytes;
	uint64_t fingerprint; /* of which segments passed */
	uint64_t base_seg;
};

static void collect(void *context, const struct wr_lab_run *run)
{
	struct sink *sink = context;

	assert_true(run->at_ns >= sink->last_ns);
	sink->last_ns = run->at_ns;
	sink->n_runs++;
	sink->n_segs += run->n_segs;
	sink->wire_bytes += wr_lab_run_wire_bytes(run);
	if (wr_lab_run_wire_bytes(run) > sink->max_run_bytes)
		sink->max_run_bytes = wr_lab_run_wire_bytes(run);
	for (uint32_t i = 0; i < run->n_segs; i++)
		sink->fingerprint = (sink->fingerprint ^ (sink->base_seg + run->first_seg + i)) * 1099511628211u;
}

static struct wr_lab_run full_run(uint32_t n_segs, uint64_t at_ns)
{
	return (struct wr_lab_run){.n_segs = n_segs, .packet_segs = n_segs, .seg_wire_bytes = SEG, .last_wire_bytes = SEG, .at_ns = at_ns};
}

static const struct wr_lab_way wire = {.rate_bps = WR_UNSET, .queue_bytes = WR_UNSET};

static void a_wire_changes_nothing(void **state)
{
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_run run = full_run(44, 1000);
	struct wr_lab_chain chain;
	struct sink sink = {0};

	(void)state;
	wr_lab_chain_init(&chain, &wire, 1, 0, NULL);
	assert_int_equal(chain.n_links, 0);
	wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	assert_int_equal(sink.n_runs, 1);
	assert_int_equal(sink.n_segs, 44);
	assert_int_equal(sink.last_ns, 1000);
}

static void delay_is_exact(void **state)
{
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_way way = wire;
	struct wr_lab_chain chain;
	struct sink sink = {0};

	(void)state;
	way.delay_ns = 12345678;
	wr_lab_chain_init(&chain, &way, 1, 0, NULL);
	for (uint64_t now = 0; now < 1000; now++) {
		struct wr_lab_run run = full_run(1 + (uint32_t)now % 44, now);

		wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
		assert_int_equal(sink.last_ns, now + 12345678);
	}
	assert_int_equal(sink.n_runs, 1000);
}

/* A saturated link carries its rate to the nanosecond, however the segments are bundled. */
static void rate_is_exact(void **state)
{
	static const uint64_t rates[] = {1000000, 33333333, 100000000, 1000000000, 2500000000, 40000000000};
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(rates); i++) {
		struct wr_lab_way way = {.rate_bps = rates[i], .queue_bytes = WR_UNSET};
		struct sink sink = {0};
		struct wr_lab_chain chain;

		wr_lab_chain_init(&chain, &way, 1, 0, NULL);
		for (uint32_t n = 0; n < 50000; n++) {
			struct wr_lab_run run = full_run(1 + n * 7 % 44, 0);

			wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
		}
		assert_true(sink.n_segs > 1000000);
		assert_int_equal(sink.last_ns, (uint64_t)((unsigned __int128)sink.n_segs * SEG * 8000000000u / rates[i]));
		/* A grain is 250 us or one segment; nothing that is longer leaves at once. */
		assert_true(sink.max_run_bytes <= SEG || sink.max_run_bytes * 8000000000u / rates[i] <= 250000);
	}
}

static void a_gigabit_carries_941_megabit(void **state)
{
	struct wr_lab_way way = {.rate_bps = 1000000000, .queue_bytes = WR_UNSET};
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_chain chain;
	struct sink sink = {0};
	double payload_bps;

	(void)state;
	wr_lab_chain_init(&chain, &way, 1, 0, NULL);
	for (uint32_t n = 0; n < 10000; n++) {
		struct wr_lab_run run = full_run(1 + n % 3 * 20, 0);

		wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	}
	payload_bps = (double)sink.n_segs * PAYLOAD * 8e9 / (double)sink.last_ns;
	assert_true(fabs(payload_bps - 941.48e6) < 0.01e6);
}

static void an_idle_link_serves_at_once(void **state)
{
	struct wr_lab_way way = {.rate_bps = 100000000, .queue_bytes = WR_UNSET, .delay_ns = 5000000};
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_run run = full_run(1, 7000);
	struct wr_lab_chain chain;
	struct sink sink = {0};

	(void)state;
	wr_lab_chain_init(&chain, &way, 1, 0, NULL);
	wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	assert_int_equal(sink.last_ns, 7000 + SEG * 80 + 5000000);
	run = full_run(1, 1000000000);
	wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	assert_int_equal(sink.last_ns, 1000000000 + SEG * 80 + 5000000);
}

/* A burst into a queue of 100 segments: those fit, the rest is dropped; half drained, 50 fit again. */
static void queue_drops_what_does_not_fit(void **state)
{
	struct wr_lab_way way = {.rate_bps = 100000000, .queue_bytes = 100 * SEG};
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_run run = full_run(44, 0);
	struct wr_lab_chain chain;
	struct sink sink = {0};

	(void)state;
	wr_lab_chain_init(&chain, &way, 1, 0, NULL);
	for (int i = 0; i < 3; i++)
		wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	assert_int_equal(sink.n_segs, 100);
	assert_int_equal(drops[QUEUE].n_segs, 32);
	assert_int_equal(drops[QUEUE].wire_bytes, 32 * SEG);
	assert_int_equal(sink.last_ns, 100 * SEG * 80);
	run = full_run(132, 50 * SEG * 80);
	wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	assert_int_equal(sink.n_segs, 150);
	assert_int_equal(drops[QUEUE].n_segs, 32 + 82);
}

/* The last segment of a packet is judged by its own length. */
static void a_short_tail_may_still_fit(void **state)
{
	struct wr_lab_way way = {.rate_bps = 100000000, .queue_bytes = 2 * SEG + 100};
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_run run = full_run(5, 0);
	struct wr_lab_chain chain;
	struct sink sink = {0};

	(void)state;
	run.last_wire_bytes = 91;
	wr_lab_chain_init(&chain, &way, 1, 0, NULL);
	wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	assert_int_equal(sink.n_segs, 3);
	assert_int_equal(sink.wire_bytes, 2 * SEG + 91);
	assert_int_equal(drops[QUEUE].n_segs, 2);
}

static void a_queue_of_nothing_still_carries(void **state)
{
	struct wr_lab_way way = {.rate_bps = 100000000, .queue_bytes = 0};
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_chain chain;
	struct sink sink = {0};

	(void)state;
	wr_lab_chain_init(&chain, &way, 1, 0, NULL);
	for (uint64_t i = 0; i < 100; i++) {
		struct wr_lab_run run = full_run(1, i * SEG * 80);

		wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	}
	assert_int_equal(sink.n_segs, 100);
}

static struct sink lose(uint64_t seed, uint32_t n_in_packet, uint64_t n_segs, struct wr_lab_drops *drops)
{
	struct wr_lab_way way = wire;
	struct wr_lab_chain chain;
	struct sink sink = {0};

	way.loss.ratio = 0.01;
	wr_lab_chain_init(&chain, &way, seed, 0, NULL);
	for (uint64_t n = 0; n < n_segs; n += n_in_packet) {
		struct wr_lab_run run = full_run(n_in_packet, n);

		sink.base_seg = n;
		wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	}
	return sink;
}

static void loss_hits_its_share_of_segments(void **state)
{
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct sink sink = lose(1, 40, 1000000, drops);

	(void)state;
	assert_int_equal(sink.n_segs + drops[LOSS].n_segs, 1000000);
	/* Binomial, 99.9 %: 10000 +- 3.29 x sqrt(9900). The seed is fixed, so this can't fail by chance. */
	assert_true(drops[LOSS].n_segs > 9672 && drops[LOSS].n_segs < 10328);
}

static void the_same_seed_gives_the_same_fate(void **state)
{
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct sink one = lose(5, 40, 100000, drops), again = lose(5, 40, 100000, drops);
	struct sink single = lose(5, 1, 100000, drops), other = lose(6, 40, 100000, drops);

	(void)state;
	assert_true(one.fingerprint == again.fingerprint);
	assert_true(one.fingerprint == single.fingerprint); /* bundled or not */
	assert_true(one.fingerprint != other.fingerprint);
}

static void total_loss_and_none(void **state)
{
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_way way = wire;
	struct wr_lab_run run = full_run(44, 0);
	struct wr_lab_chain chain;
	struct sink sink = {0};

	(void)state;
	way.loss.ratio = 1;
	wr_lab_chain_init(&chain, &way, 1, 0, NULL);
	wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = collect, .context = &sink});
	assert_int_equal(sink.n_segs, 0);
	assert_int_equal(drops[LOSS].n_segs, 44);
}

/* What every row promises: it can be found and told, and it accounts for each segment once. */
static void every_element_keeps_the_rules(void **state)
{
	const struct wr_lab_way way = {
		.rate_bps = 50000000, .queue_bytes = 50000, .delay_ns = 10000, .mtu_bytes = 1500, .loss.ratio = 0.1,
		.duplicate_ratio = 0.1, .police = {20000000, 10000}, .outage = {1000000, 1000000, 5000000, false},
		.codel = {.target_ns = 1000000, .interval_ns = 10000000}, .jitter = {.spread_ns = 10000},
		.reorder = {0.1, 1000000, 0}, .corrupt_ratio = 0.1, .ecn = {20000, 0}, .path_mtu = {1400, false}, .strip_wscale = true,
		.device_packets = 10, .ack = {200000000, 2},
	};

	(void)state;
	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		const struct wr_lab_element *element = wr_lab_elements[row];
		_Alignas(16) uint8_t memory[WR_LAB_STATE_BYTES] = {0}, none[WR_LAB_STATE_BYTES] = {0};
		struct wr_stat_random random;
		struct wr_lab_shared shared = {.server.rate_bps = way.rate_bps, .random = &random};
		struct wr_lab_shared unused = {.random = &random};

		assert_non_null(element->name);
		assert_non_null(element->summary);
		assert_non_null(element->source);
		for (uint32_t other = 0; other < row; other++)
			assert_string_not_equal(element->name, wr_lab_elements[other]->name);
		wr_stat_random_init(&random, 1);
		assert_true(element->init(memory, &shared, &way));
		assert_false(element->init(none, &unused, &wire));
		for (uint64_t now = 0; now < 10000; now++) {
			struct wr_lab_run run = full_run(1 + (uint32_t)now % 44, now * 100000), head = run;

			head.last_wire_bytes = 91;
			if (element->pass(memory, &shared, &head) == WR_LAB_TOUCH)
				assert_non_null(element->touches);
			assert_in_range(head.n_segs, 1, run.n_segs);
			assert_true(head.at_ns + way.jitter.spread_ns >= run.at_ns);
			assert_int_equal(head.last_wire_bytes, head.n_segs < run.n_segs ? SEG : 91);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wire_changes_nothing),
		cmocka_unit_test(delay_is_exact),
		cmocka_unit_test(rate_is_exact),
		cmocka_unit_test(a_gigabit_carries_941_megabit),
		cmocka_unit_test(an_idle_link_serves_at_once),
		cmocka_unit_test(queue_drops_what_does_not_fit),
		cmocka_unit_test(a_short_tail_may_still_fit),
		cmocka_unit_test(a_queue_of_nothing_still_carries),
		cmocka_unit_test(loss_hits_its_share_of_segments),
		cmocka_unit_test(the_same_seed_gives_the_same_fate),
		cmocka_unit_test(total_loss_and_none),
		cmocka_unit_test(every_element_keeps_the_rules),
	};

	return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
