/* SPDX-License-Identifier: MIT */
/* A capture is read back block by block: lengths, names, stamps, and each segment as it would be on a wire. */
#include "lab/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lab/packet_testing.h"

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static size_t read_all(const char *path, uint8_t **bytes)
{
	FILE *in = fopen(path, "re");
	size_t n;

	assert_non_null(in);
	*bytes = malloc(1 << 20);
	n = fread(*bytes, 1, 1 << 20, in);
	fclose(in);
	return n;
}

static void a_super_packet_is_seen_segment_by_segment(void **state)
{
	wr_auto_free uint8_t *data = malloc(WR_LAB_MAX_PACKET_BYTES), *bytes = NULL;
	char path[] = "/tmp/weir-capture-XXXXXX";
	struct wr_lab_capture *capture;
	size_t n, at, n_packet;
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	assert_int_equal(wr_lab_capture_new(&capture, path, 1000000000000000000, 0, NULL), 0);
	n_packet = build(data, &recipes[0]); /* 44 full segments: 1538 bytes each on the wire, 123040 ns at 100 Mbit/s */
	wr_lab_capture_packet(capture, WR_LAB_FAR, data, n_packet, 50000000, 100000000);
	assert_null(wr_lab_capture_free(capture));
	n = read_all(path, &bytes);
	unlink(path);
	assert_int_equal(word(bytes), 0x0a0d0d0a);
	at = word(bytes + 4);
	for (int end = 0; end < 2; end++) {
		assert_int_equal(word(bytes + at), 1);
		assert_int_equal(word(bytes + at + 8), 101);
		assert_memory_equal(bytes + at + 20, wr_lab_end_names[end], strlen(wr_lab_end_names[end]));
		assert_int_equal(word(bytes + at + word(bytes + at + 4) - 4), word(bytes + at + 4));
		at += word(bytes + at + 4);
	}
	for (uint64_t i = 0; i < 44; i++) {
		uint64_t stamp = (uint64_t)word(bytes + at + 12) << 32 | word(bytes + at + 16);
		const uint8_t *ip = bytes + at + 28;

		assert_int_equal(word(bytes + at), 6);
		assert_int_equal(word(bytes + at + 8), WR_LAB_FAR);
		assert_int_equal(stamp, 1000000000000000000 + 50000000 - (43 - i) * 123040);
		assert_int_equal(word(bytes + at + 20), 1500);
		assert_int_equal(get16(ip + 2), 1500);
		assert_int_equal(ones_sum(ip + 20, 1480, pseudo(ip, false, 6, 1480)), 0xffff);
		at += word(bytes + at + 4);
	}
	assert_int_equal(at, n);
}

static void a_file_that_can_not_be_written(void **state)
{
	struct wr_lab_capture *capture;
	struct weir_err err = {0};

	(void)state;
	assert_int_equal(wr_lab_capture_new(&capture, "/nonexistent/file", 0, 0, &err), -1);
	assert_int_equal(err.code, WEIR_ERR_USAGE);
	assert_non_null(strstr(err.text, "/nonexistent/file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_super_packet_is_seen_segment_by_segment),
		cmocka_unit_test(a_file_that_can_not_be_written),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
