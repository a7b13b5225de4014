/* SPDX-License-Identifier: MIT */
/* CoDel against the RFC's own code over a real queue, segment by segment. */
#include "lab/testing.h"

/* CoDel as RFC 8289 writes it, over a real queue of arrival times that a server empties at a fixed pace. */
struct reference {
	uint64_t target, interval, first_above, drop_next, now;
	uint32_t count, lastcount;
	bool dropping;
	const uint64_t *arrivals;
	size_t n, head, tail; /* arrivals[head..tail) wait */
	bool *dropped;
};

struct dodequeue {
	size_t packet;
	bool any, ok_to_drop;
};

static struct dodequeue dodequeue(struct reference *codel)
{
	struct dodequeue r = {.packet = codel->head};

	if (codel->head == codel->tail) {
		codel->first_above = 0;
		return r;
	}
	r.any = true;
	codel->head++;
	if (codel->now - codel->arrivals[r.packet] < codel->target || codel->tail - codel->head < 1) {
		codel->first_above = 0;
	} else if (codel->first_above == 0) {
		codel->first_above = codel->now + codel->interval;
	} else if (codel->now >= codel->first_above) {
		r.ok_to_drop = true;
	}
	return r;
}

static uint64_t control_law(const struct reference *codel, uint64_t t)
{
	return t + (uint64_t)((double)codel->interval / sqrt(codel->count));
}

static struct dodequeue deque(struct reference *codel)
{
	struct dodequeue r = dodequeue(codel);

	if (codel->dropping) {
		if (!r.ok_to_drop)
			codel->dropping = false;
		while (codel->now >= codel->drop_next && codel->dropping) {
			codel->dropped[r.packet] = true;
			++codel->count;
			r = dodequeue(codel);
			if (!r.ok_to_drop)
				codel->dropping = false;
			else
				codel->drop_next = control_law(codel, codel->drop_next);
		}
	} else if (r.ok_to_drop) {
		uint32_t delta = codel->count - codel->lastcount;

		codel->dropped[r.packet] = true;
		r = dodequeue(codel);
		codel->dropping = true;
		codel->count = delta > 1 && codel->now < codel->drop_next + 16 * codel->interval ? delta : 1;
		codel->drop_next = control_law(codel, codel->now);
		codel->lastcount = codel->count;
	}
	return r;
}

static void run_reference(struct reference *codel, uint64_t seg_ns)
{
	while (codel->head < codel->n) {
		if (codel->head == codel->tail && codel->now < codel->arrivals[codel->head])
			codel->now = codel->arrivals[codel->head];
		while (codel->tail < codel->n && codel->arrivals[codel->tail] <= codel->now)
			codel->tail++;
		if (deque(codel).any)
			codel->now += seg_ns;
	}
}

/* A sender that overloads the link by a tenth, stops, comes back: the same segments go as in the RFC's own code. */
static void codel_drops_what_the_rfc_drops(void **state)
{
	enum { N = 200000 };
	static uint64_t arrivals[N];
	static bool dropped[N], passed[N];
	struct reference codel = {.target = 5000000, .interval = 100000000, .arrivals = arrivals, .n = N, .dropped = dropped};
	struct wr_lab_wish wish = no_wish();
	struct bench bench;
	size_t n_dropped = 0;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		uint64_t gap_ns = i / 20000 % 2 ? SEG_100MBIT_NS * 99 / 100 : SEG_100MBIT_NS * 90 / 100;

		arrivals[i] = i ? arrivals[i - 1] + gap_ns + (i % 20000 == 0) * 500000000 : 0;
	}
	run_reference(&codel, SEG_100MBIT_NS);
	wish.both.rate_bps = 100000000;
	wish.both.queue = "400M";
	wish.both.codel = "5ms,interval=100ms";
	bench_init(&bench, &wish, 1);
	for (size_t i = 0; i < N; i++)
		send_packet(&bench, 1, arrivals[i], 0);
	for (size_t i = 0; i < bench.n_events; i++)
		passed[bench.events[i].seg] = true;
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(passed[i], !dropped[i]);
		n_dropped += dropped[i];
	}
	assert_true(n_dropped > 1000);
	bench_deinit(&bench);
}

static void codel_marks_what_can_be_marked(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct bench bench;
	size_t n_marked = 0;

	(void)state;
	wish.both.rate_bps = 100000000;
	wish.both.queue = "400M";
	wish.both.codel = "5ms,ecn";
	bench_init(&bench, &wish, 1);
	for (uint64_t i = 0; i < 50000; i++)
		send_packet(&bench, 1, i * SEG_100MBIT_NS * 9 / 10, WR_LAB_TRAIT_ECT);
	for (size_t i = 0; i < bench.n_events; i++)
		n_marked += bench.events[i].marks == WR_LAB_MARK_CE;
	assert_int_equal(bench.n_events, 50000);
	assert_true(n_marked > 100);
	assert_int_equal(drops_of(&bench, "codel")->n_touched, n_marked);
	bench_deinit(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codel_drops_what_the_rfc_drops),
		cmocka_unit_test(codel_marks_what_can_be_marked),
	};

	return cmocka_run_group_tests_name("codel", tests, NULL, NULL);
}
