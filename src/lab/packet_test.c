/* SPDX-License-Identifier: MIT */
/*
 * Shapes and cuts. A cut is checked against what a receiver would: lengths, checksums completed and verified from
 * scratch, the payload byte by byte; and cutting a piece again must give the same as cutting the whole.
 */
#include "lab/packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lab/packet_testing.h"
#include "stat/random.h"

static void assert_checksums(const uint8_t *data, const struct wr_lab_shape *shape, size_t n)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	uint32_t n_ip = (uint32_t)(n - WR_LAB_VIRTIO_BYTES), n_l4 = n_ip - shape->l4_offset_bytes;
	uint32_t protocol = shape->tcp ? 6 : 17;

	if (shape->ipv6) {
		assert_int_equal(get16(ip + 4), n_ip - 40);
	} else {
		assert_int_equal(get16(ip + 2), n_ip);
		assert_int_equal(ones_sum(ip, shape->l4_offset_bytes, 0), 0xffff);
	}
	/* The field holds the pseudo-header's sum: what a device adds to the rest. */
	assert_int_equal(get16(ip + shape->l4_offset_bytes + (shape->tcp ? 16 : 6)), pseudo(ip, shape->ipv6, protocol, n_l4));
	if (!shape->tcp)
		assert_int_equal(get16(ip + shape->l4_offset_bytes + 4), n_l4);
}

static void assert_tcp(const uint8_t *data, const struct wr_lab_shape *shape, uint32_t first, uint32_t n_segs)
{
	const uint8_t *l4 = data + WR_LAB_VIRTIO_BYTES + shape->l4_offset_bytes;
	uint32_t seq = get16(l4 + 4) << 16 | get16(l4 + 6);
	uint8_t flags = FLAGS_ALL;

	if (!shape->tcp)
		return;
	if (first + n_segs < shape->n_segs)
		flags &= (uint8_t)~0x09;
	if (first > 0)
		flags &= (uint8_t)~0x80;
	assert_int_equal(l4[13], flags);
	assert_int_equal(seq, 0xfffff000u + first * shape->seg_payload_bytes);
}

static void assert_cut(const uint8_t *data, const struct wr_lab_shape *shape, uint32_t first, uint32_t n_segs)
{
	wr_auto_free uint8_t *out = malloc(wr_lab_packet_cut_bytes(shape, first, n_segs));
	size_t n = wr_lab_packet_cut(data, shape, first, n_segs, out), head = WR_LAB_VIRTIO_BYTES + shape->header_bytes;
	struct wr_lab_shape again;

	assert_int_equal(n, wr_lab_packet_cut_bytes(shape, first, n_segs));
	assert_checksums(out, shape, n);
	assert_tcp(out, shape, first, n_segs);
	assert_memory_equal(out + head, data + head + first * shape->seg_payload_bytes, n - head);
	wr_lab_packet_parse(out, n, &again);
	assert_int_equal(again.n_segs, n_segs);
	assert_int_equal(wr_lab_packet_wire_bytes(&again, 0, n_segs), wr_lab_packet_wire_bytes(shape, first, n_segs));
	if (n_segs < 2)
		return;
	/* The second segment of the piece is the one after the first of the whole. */
	wr_auto_free uint8_t *of_piece = malloc(WR_LAB_MAX_PACKET_BYTES), *of_whole = malloc(WR_LAB_MAX_PACKET_BYTES);
	size_t n_piece = wr_lab_packet_cut(out, &again, 1, 1, of_piece);

	assert_int_equal(n_piece, wr_lab_packet_cut(data, shape, first + 1, 1, of_whole));
	assert_memory_equal(of_piece, of_whole, n_piece);
}

static void cuts_are_what_a_sender_would_send(void **state)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES);

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(recipes); i++) {
		size_t n = build(data, &recipes[i]);
		struct wr_lab_shape shape;
		uint32_t step;

		wr_lab_packet_parse(data, n, &shape);
		assert_int_equal(shape.n_segs, (recipes[i].payload_bytes + recipes[i].seg_bytes - 1) / recipes[i].seg_bytes);
		step = 1 + shape.n_segs / 50;
		for (uint32_t first = 0; first < shape.n_segs; first += step) {
			for (uint32_t n_segs = 1; first + n_segs <= shape.n_segs; n_segs += step)
				assert_cut(data, &shape, first, n_segs);
		}
	}
}

static void each_segment_pays_for_its_headers_and_frame(void **state)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES);
	size_t n = build(data, &recipes[0]); /* 44 segments of 1448 */
	struct wr_lab_shape shape;

	(void)state;
	wr_lab_packet_parse(data, n, &shape);
	assert_int_equal(shape.header_bytes, 52);
	assert_int_equal(shape.n_segs, 44);
	assert_int_equal(wr_lab_packet_wire_bytes(&shape, 0, 44), 44 * 1538);
	assert_int_equal(wr_lab_packet_wire_bytes(&shape, 43, 1), 1538);
	n = build(data, &recipes[1]); /* one full segment and one of a single byte */
	wr_lab_packet_parse(data, n, &shape);
	assert_int_equal(wr_lab_packet_wire_bytes(&shape, 0, 2), 1538 + 91);
	assert_int_equal(wr_lab_packet_wire_bytes(&shape, 1, 1), 91);
	memset(data, 0, WR_LAB_VIRTIO_BYTES);
	wr_lab_packet_parse(data, WR_LAB_VIRTIO_BYTES + 52, &shape);
	assert_int_equal(shape.n_segs, 1);
	assert_int_equal(wr_lab_packet_wire_bytes(&shape, 0, 1), 90);
}

/* More segments, or longer headers, than the pool keeps buffers for: the packet then is one, which nobody cuts. */
static void what_would_be_too_many_segments_is_one(void **state)
{
	static const struct {
		struct recipe recipe;
		uint32_t n_segs;
	} cases[] = {
		{{false, true, 0, 40, 40 * WR_LAB_MAX_SEGS - 1}, WR_LAB_MAX_SEGS},
		{{false, true, 0, 40, 40 * WR_LAB_MAX_SEGS}, WR_LAB_MAX_SEGS},
		{{false, true, 0, 40, 40 * WR_LAB_MAX_SEGS + 1}, 1},
		{{false, true, 0, 1448, 1448}, 1},
	};
	static uint8_t data[WR_LAB_MAX_PACKET_BYTES];
	struct wr_lab_shape shape;

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(cases); i++) {
		wr_lab_packet_parse(data, build(data, &cases[i].recipe), &shape);
		assert_int_equal(shape.n_segs, cases[i].n_segs);
		assert_true((shape.seg_payload_bytes > 0) == (shape.n_segs > 1));
	}
}

/* Whatever arrives, a shape never reaches outside the packet. Run under asan this is a fuzz of the packet path. */
static void malformed_packets_stay_inside(void **state)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES);
	struct wr_stat_random random;

	(void)state;
	wr_stat_random_init(&random, 7);
	for (int round = 0; round < 20000; round++) {
		size_t n = build(data, &recipes[(size_t)round % WR_N_ELEMENTS(recipes)]), short_n;
		struct wr_lab_shape shape;

		for (int flips = 0; flips < 4; flips++)
			data[wr_stat_random_next(&random) % 64] = (uint8_t)wr_stat_random_next(&random);
		short_n = wr_stat_random_next(&random) % 4 ? wr_stat_random_next(&random) % n : n;
		uint8_t *exact = malloc(short_n + 1); /* so that a read past the end is seen */

		memcpy(exact, data, short_n);
		wr_lab_packet_parse(exact, short_n, &shape);
		assert_true(shape.n_segs >= 1);
		if (shape.n_segs > 1) {
			uint8_t *out = malloc(wr_lab_packet_cut_bytes(&shape, shape.n_segs - 1, 1));

			assert_true(wr_lab_packet_cut_bytes(&shape, 0, shape.n_segs) == short_n);
			assert_true(wr_lab_packet_cut_bytes(&shape, shape.n_segs - 1, 1) <= short_n);
			wr_lab_packet_cut(exact, &shape, shape.n_segs - 1, 1, out);
			free(out);
		}
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_are_what_a_sender_would_send),
		cmocka_unit_test(each_segment_pays_for_its_headers_and_frame),
		cmocka_unit_test(what_would_be_too_many_segments_is_one),
		cmocka_unit_test(malformed_packets_stay_inside),
	};

	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
