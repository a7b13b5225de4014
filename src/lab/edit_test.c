/* SPDX-License-Identifier: MIT */
/* Edits as a receiver sees them: a flipped bit is found by the checksum, everything else is right to the last bit. */
#include "lab/edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lab/element.h"
#include "lab/packet_testing.h"

/* What the transport's checksum sums up to; 0xffff when it is right. */
static uint32_t l4_sum(const uint8_t *data, size_t n, const struct wr_lab_shape *shape)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	uint32_t n_l4 = (uint32_t)(n - WR_LAB_VIRTIO_BYTES - shape->l4_offset_bytes);

	return ones_sum(ip + shape->l4_offset_bytes, n_l4, pseudo(ip, shape->ipv6, shape->tcp ? 6 : 17, n_l4));
}

/* One segment of a recipe, its checksum left to the device. Return: its bytes. */
static size_t one_segment(const struct recipe *recipe, uint8_t *out, struct wr_lab_shape *shape)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES);
	size_t n = build(data, recipe);
	struct wr_lab_shape whole;

	wr_lab_packet_parse(data, n, &whole);
	n = wr_lab_packet_cut(data, &whole, 0, 1, out);
	assert_true(wr_lab_packet_find_l4(out, n, shape));
	return n;
}

static void completing_makes_the_checksum_right(void **state)
{
	uint8_t data[10000];

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(recipes); i++) {
		struct wr_lab_shape shape;
		size_t n = one_segment(&recipes[i], data, &shape);

		assert_int_not_equal(l4_sum(data, n, &shape), 0xffff);
		wr_lab_edit_complete(data, n);
		assert_int_equal(l4_sum(data, n, &shape), 0xffff);
		assert_int_equal(data[0], 0);
		wr_lab_edit_complete(data, n); /* nothing is left to do */
		assert_int_equal(l4_sum(data, n, &shape), 0xffff);
	}
}

static void a_flipped_bit_is_found_by_the_receiver(void **state)
{
	struct wr_stat_random random;
	uint8_t data[10000], right[10000];

	(void)state;
	wr_stat_random_init(&random, 9);
	for (int round = 0; round < 5000; round++) {
		struct wr_lab_shape shape;
		size_t n = one_segment(&recipes[(size_t)round % WR_N_ELEMENTS(recipes)], data, &shape);
		int n_bits = 0;

		memcpy(right, data, n);
		wr_lab_edit_complete(right, n);
		wr_lab_edit_apply(data, n, WR_LAB_MARK_CORRUPT, wr_stat_random_next(&random));
		for (size_t i = 0; i < n; i++)
			n_bits += __builtin_popcount(data[i] ^ right[i]);
		assert_int_equal(n_bits, 1);
		assert_memory_equal(data, right, WR_LAB_VIRTIO_BYTES + shape.l4_offset_bytes);
		assert_int_not_equal(l4_sum(data, n, &shape), 0xffff);
	}
}

static void a_mark_keeps_the_header_right(void **state)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES);
	uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(recipes); i++) {
		size_t n = build(data, &recipes[i]), n_ip = 20 + recipes[i].n_extension_bytes;

		if (recipes[i].ipv6)
			ip[1] = 0x2a;
		else
			ip[1] = 0xb9;
		assert_true(wr_lab_edit_traits(data, n) & WR_LAB_TRAIT_ECT);
		wr_lab_edit_apply(data, n, WR_LAB_MARK_CE, 0);
		assert_int_equal(ip[1], recipes[i].ipv6 ? 0x3a : 0xbb);
		assert_false(wr_lab_edit_traits(data, n) & WR_LAB_TRAIT_ECT);
		if (!recipes[i].ipv6)
			assert_int_equal(ones_sum(ip, n_ip, 0), 0xffff);
	}
}

/* A SYN with the options that Linux sends: MSS, SACK, timestamps, NOP, window scale 7. Return: its bytes. */
static size_t build_syn(uint8_t *data, bool ipv6)
{
	static const uint8_t options[] = {2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7};
	struct recipe recipe = {ipv6, true, 0, 1448, 8};
	size_t n = build(data, &recipe); /* 12 bytes of options and 8 of payload: exactly the place */
	uint8_t *l4 = data + WR_LAB_VIRTIO_BYTES + (ipv6 ? 40 : 20);

	memcpy(l4 + 20, options, sizeof options);
	l4[12] = 0xa0;
	l4[13] = 0x02;
	return n;
}

static void the_window_scale_goes_and_nothing_else(void **state)
{
	uint8_t data[200], before[200];

	(void)state;
	for (int i = 0; i < 4; i++) {
		bool ipv6 = i % 2, full = i / 2;
		size_t n = build_syn(data, ipv6), at = WR_LAB_VIRTIO_BYTES + (ipv6 ? 40 : 20) + 20 + 17;
		struct wr_lab_shape shape;

		if (full)
			wr_lab_edit_complete(data, n);
		memcpy(before, data, n);
		assert_true(wr_lab_edit_traits(data, n) & WR_LAB_TRAIT_SYN);
		wr_lab_edit_apply(data, n, WR_LAB_MARK_NO_WSCALE, 0);
		assert_memory_equal(data + at, "\1\1\1", 3);
		assert_true(wr_lab_packet_find_l4(data, n, &shape));
		if (full)
			assert_int_equal(l4_sum(data, n, &shape), 0xffff);
		memcpy(data + at, before + at, 3);
		if (full)
			memcpy(data + at - 21, before + at - 21, 2); /* the checksum */
		assert_memory_equal(data, before, n);
	}
}

static void the_answer_quotes_the_packet(void **state)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES);
	uint8_t answer[WR_LAB_TOO_BIG_BYTES], *ip = answer + WR_LAB_VIRTIO_BYTES;
	const uint8_t *sent = data + WR_LAB_VIRTIO_BYTES;
	size_t n;

	(void)state;
	n = wr_lab_edit_too_big(data, build(data, &recipes[0]), 1400, answer);
	assert_int_equal(n, WR_LAB_VIRTIO_BYTES + 576);
	assert_int_equal(ones_sum(ip, 20, 0), 0xffff);
	assert_int_equal(ones_sum(ip + 20, 556, 0), 0xffff);
	assert_memory_equal(ip + 12, sent + 16, 4);
	assert_memory_equal(ip + 16, sent + 12, 4);
	assert_memory_equal(ip + 20, "\3\4", 2);
	assert_int_equal(get16(ip + 26), 1400);
	assert_memory_equal(ip + 28, sent, 548);
	n = wr_lab_edit_too_big(data, build(data, &recipes[3]), 1400, answer);
	assert_int_equal(n, WR_LAB_VIRTIO_BYTES + 1280);
	assert_int_equal(ones_sum(ip + 40, 1240, pseudo(ip, true, 58, 1240)), 0xffff);
	assert_memory_equal(ip + 8, sent + 24, 16);
	assert_int_equal(ip[40], 2);
	assert_int_equal(get16(ip + 46), 1400);
	build(data, &recipes[0]);
	data[WR_LAB_VIRTIO_BYTES + 9] = 1;
	assert_int_equal(wr_lab_edit_too_big(data, 100, 1400, answer), 0);
	assert_int_equal(wr_lab_edit_too_big(data, 12, 1400, answer), 0);
}

/* Whatever arrives, an edit stays inside the packet. Run under asan this is a fuzz. */
static void malformed_packets_stay_inside(void **state)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES);
	uint8_t answer[WR_LAB_TOO_BIG_BYTES];
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 7);
	for (int round = 0; round < 20000; round++) {
		size_t n = round % 3 ? build(data, &recipes[(size_t)round % WR_N_ELEMENTS(recipes)]) : build_syn(data, round % 2);
		uint8_t *exact;

		for (int flips = 0; flips < 4; flips++)
			data[wr_stat_random_next(&random) % 80] = (uint8_t)wr_stat_random_next(&random);
		if (wr_stat_random_next(&random) % 4)
			n = wr_stat_random_next(&random) % (n < 200 ? n : 200);
		exact = malloc(n + 1);
		memcpy(exact, data, n);
		wr_lab_edit_traits(exact, n);
		wr_lab_edit_too_big(exact, n, 1400, answer);
		if (n >= WR_LAB_VIRTIO_BYTES)
			wr_lab_edit_apply(exact, n, (uint8_t)(round % 8), wr_stat_random_next(&random));
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completing_makes_the_checksum_right),
		cmocka_unit_test(a_flipped_bit_is_found_by_the_receiver),
		cmocka_unit_test(a_mark_keeps_the_header_right),
		cmocka_unit_test(the_window_scale_goes_and_nothing_else),
		cmocka_unit_test(the_answer_quotes_the_packet),
		cmocka_unit_test(malformed_packets_stay_inside),
	};

	return cmocka_run_group_tests_name("edit", tests, NULL, NULL);
}
