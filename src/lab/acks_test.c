/* SPDX-License-Identifier: MIT */
/* Which ACKs wait, for how long, and what lets them go; packet by packet on a virtual clock. */
#include "lab/acks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/units.h"
#include "lab/packet_testing.h"

#define MS WR_NS_PER_MS
#define ACK 0x10
#define PSH_ACK 0x18
#define FIN_ACK 0x11

static struct wr_lab_acks *acks;
static char packets[16];

static int setup(void **state)
{
	(void)state;
	return wr_lab_acks_new(&acks, 200 * MS, 2, NULL);
}

static int teardown(void **state)
{
	(void)state;
	acks = wr_lab_acks_free(acks);
	return 0;
}

/* A TCP packet of a flow, from the end whose ACKs are looked at or to it. Return: its bytes. */
static size_t make(uint8_t *data, int flow, bool to_end, uint8_t flags, uint32_t ack, uint32_t n_payload)
{
	struct recipe recipe = {false, true, 0, 1448, n_payload};
	uint8_t *ip = data + WR_LAB_VIRTIO_BYTES, *tcp = ip + 20;
	size_t n = build(data, &recipe);

	memcpy(ip + 12, to_end ? "\306\22\0\1\306\22\0\2" : "\306\22\0\2\306\22\0\1", 8);
	put16(tcp + (to_end ? 0 : 2), 40000 + (uint32_t)flow);
	put16(tcp + (to_end ? 2 : 0), 5201);
	put16(tcp + 8, ack >> 16);
	put16(tcp + 10, ack);
	tcp[13] = flags;
	memset(tcp + 20, 1, 12); /* NOPs instead of random options */
	return n;
}

static void data_comes(int flow, uint32_t n_segs, uint8_t flags, uint64_t now_ns)
{
	uint8_t data[3000];
	size_t n = make(data, flow, true, flags, 1, flags == FIN_ACK ? 0 : 60);

	wr_lab_acks_data(acks, data, n, n_segs, now_ns);
}

/* Return: whether packet @i waits; @replaced is checked against @expected (-1: none). */
static bool sends(int i, int flow, uint8_t flags, uint32_t ack, uint32_t n_payload, int expected)
{
	uint8_t data[3000];
	size_t n = make(data, flow, false, flags, ack, n_payload);
	void *replaced;
	bool waits = wr_lab_acks_take(acks, data, n, &packets[i], &replaced);

	assert_ptr_equal(replaced, expected < 0 ? NULL : &packets[expected]);
	return waits;
}

static void one_segment_waits_for_the_timer(void **state)
{
	(void)state;
	assert_false(sends(0, 0, ACK, 1, 0, -1)); /* of the handshake: nothing new */
	data_comes(0, 1, PSH_ACK, 1000 * MS);
	assert_true(sends(1, 0, ACK, 61, 0, -1));
	assert_int_equal(wr_lab_acks_due_ns(acks), 1200 * MS);
	assert_null(wr_lab_acks_expire(acks, 1200 * MS - 1));
	assert_ptr_equal(wr_lab_acks_expire(acks, 1200 * MS), &packets[1]);
	assert_null(wr_lab_acks_expire(acks, 1200 * MS));
	assert_true(wr_lab_acks_due_ns(acks) == WR_UNSET);
	/* The next segment starts a timer of its own. */
	data_comes(0, 1, PSH_ACK, 1201 * MS);
	assert_true(sends(2, 0, ACK, 121, 0, -1));
	assert_int_equal(wr_lab_acks_due_ns(acks), 1401 * MS);
}

static void a_second_segment_lets_it_go(void **state)
{
	(void)state;
	data_comes(0, 1, PSH_ACK, 1000 * MS);
	assert_true(sends(1, 0, ACK, 61, 0, -1));
	data_comes(0, 1, PSH_ACK, 1050 * MS);
	assert_false(sends(2, 0, ACK, 121, 0, 1)); /* covers both: the first says nothing more */
	assert_true(wr_lab_acks_due_ns(acks) == WR_UNSET);
	data_comes(0, 40, PSH_ACK, 1060 * MS); /* a super-packet counts by its segments */
	assert_false(sends(3, 0, ACK, 2521, 0, -1));
}

static void data_carries_it(void **state)
{
	(void)state;
	data_comes(0, 1, PSH_ACK, 1000 * MS);
	assert_true(sends(1, 0, ACK, 61, 0, -1));
	assert_false(sends(2, 0, PSH_ACK, 61, 100, 1));
	assert_true(wr_lab_acks_due_ns(acks) == WR_UNSET);
}

static void what_says_something_else_goes_at_once(void **state)
{
	(void)state;
	data_comes(0, 2, PSH_ACK, 1000 * MS);
	assert_false(sends(1, 0, ACK, 121, 0, -1));
	data_comes(0, 1, PSH_ACK, 1001 * MS);
	assert_false(sends(2, 0, ACK, 121, 0, -1)); /* a duplicate: something is missing */
	data_comes(0, 1, PSH_ACK, 1002 * MS);
	data_comes(0, 1, FIN_ACK, 1003 * MS);
	assert_false(sends(3, 0, ACK, 182, 0, -1));
	assert_false(sends(4, 0, FIN_ACK, 182, 0, -1));
}

static void flows_have_timers_of_their_own(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		data_comes(i, 1, PSH_ACK, (1000 + (uint64_t)i) * MS);
	for (int i = 9; i >= 0; i--)
		assert_true(sends(i, i, ACK, 61, 0, -1));
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(wr_lab_acks_due_ns(acks), (1200 + i) * MS);
		assert_ptr_equal(wr_lab_acks_expire(acks, (1200 + i) * MS), &packets[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_segment_waits_for_the_timer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_second_segment_lets_it_go, setup, teardown),
		cmocka_unit_test_setup_teardown(data_carries_it, setup, teardown),
		cmocka_unit_test_setup_teardown(what_says_something_else_goes_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(flows_have_timers_of_their_own, setup, teardown),
	};

	return cmocka_run_group_tests_name("acks", tests, NULL, NULL);
}
