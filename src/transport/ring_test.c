/* SPDX-License-Identifier: MIT */
/* The ring: bytes in order through any size, waiting both ways, its ends. */
#include "transport/ring.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MOST 4096
#define STREAM_BYTES 300000

static unsigned char byte_at(uint64_t at)
{
	return (unsigned char)((at * 2654435761U) >> 13);
}

static void *write_stream(void *argument)
{
	struct wr_ring_end *end = argument;
	unsigned char bytes[MOST];
	uint64_t at = 0;

	while (at < STREAM_BYTES) {
		size_t n = 1 + (size_t)(at * 7 % MOST);

		n = n > STREAM_BYTES - at ? (size_t)(STREAM_BYTES - at) : n;
		for (size_t i = 0; i < n; i++)
			bytes[i] = byte_at(at + i);
		if (wr_ring_write(end, bytes, n, false) != (ssize_t)n)
			return NULL;
		at += n;
	}
	wr_ring_finish(end);
	return end;
}

static void bytes_keep_their_order(void **state)
{
	static const uint64_t sizes[] = {1, 100, 4095, 65536, WR_RING_DEFAULT_BYTES};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct wr_ring_end *one, *other;
		unsigned char bytes[MOST];
		pthread_t writer;
		uint64_t at = 0;
		void *finished;
		ssize_t n;

		assert_int_equal(wr_ring_new(&one, &other, NULL), 0);
		assert_int_equal(wr_ring_resize(one, sizes[i], NULL), 0);
		assert_int_equal(wr_ring_size(other, false), sizes[i] < WR_RING_LEAST_BYTES ? WR_RING_LEAST_BYTES : sizes[i]);
		assert_int_equal(pthread_create(&writer, NULL, write_stream, one), 0);
		while ((n = wr_ring_read(other, bytes, 1 + at % MOST, false)) > 0) {
			for (ssize_t j = 0; j < n; j++)
				assert_int_equal(bytes[j], byte_at(at + (uint64_t)j));
			at += (uint64_t)n;
		}
		assert_int_equal(n, 0);
		assert_int_equal(at, STREAM_BYTES);
		assert_int_equal(pthread_join(writer, &finished), 0);
		assert_ptr_equal(finished, one);
		assert_null(wr_ring_free(one));
		assert_null(wr_ring_free(other));
	}
}

static void what_does_not_fit_waits(void **state)
{
	struct wr_ring_end *one, *other;
	char bytes[200] = {0};

	(void)state;
	assert_int_equal(wr_ring_new(&one, &other, NULL), 0);
	assert_int_equal(wr_ring_resize(one, 100, NULL), 0);
	assert_int_equal(wr_ring_read(other, bytes, 1, true), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(wr_ring_write(one, bytes, 200, true), 100);
	assert_int_equal(wr_ring_write(one, bytes, 1, true), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(wr_ring_queued(one, true), 100);
	assert_int_equal(wr_ring_queued(other, false), 100);
	assert_int_equal(wr_ring_queued(one, false), 0);
	assert_int_equal(wr_ring_resize(one, 200, NULL), -1);
	/* The other direction is a ring of its own. */
	assert_int_equal(wr_ring_write(other, bytes, 200, true), 200);
	assert_int_equal(wr_ring_read(one, bytes, 200, true), 200);
	assert_int_equal(wr_ring_read(other, bytes, 60, true), 60);
	assert_int_equal(wr_ring_write(one, bytes, 200, true), 60);
	wr_ring_free(one);
	assert_int_equal(wr_ring_read(other, bytes, 200, false), 100);
	assert_int_equal(wr_ring_read(other, bytes, 200, false), 0);
	assert_int_equal(wr_ring_write(other, bytes, 1, false), -1);
	assert_int_equal(errno, EPIPE);
	wr_ring_free(other);
}

static void *read_once(void *argument)
{
	char byte;

	return wr_ring_read(argument, &byte, 1, false) == 0 ? argument : NULL;
}

static void *write_once(void *argument)
{
	char bytes[100] = {0};

	return wr_ring_write(argument, bytes, sizeof bytes, false) < (ssize_t)sizeof bytes ? argument : NULL;
}

static void drop_ends_every_wait(void **state)
{
	struct wr_ring_end *one, *other;
	pthread_t reader, writer;
	void *read_ended, *write_ended;

	(void)state;
	assert_int_equal(wr_ring_new(&one, &other, NULL), 0);
	assert_int_equal(wr_ring_resize(one, 64, NULL), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_once, one), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_once, one), 0);
	wr_ring_drop(other);
	assert_int_equal(pthread_join(writer, &write_ended), 0);
	assert_int_equal(pthread_join(reader, &read_ended), 0);
	assert_ptr_equal(write_ended, one);
	assert_ptr_equal(read_ended, one);
	wr_ring_free(other);
	wr_ring_free(one);
	assert_null(wr_ring_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_keep_their_order),
		cmocka_unit_test(what_does_not_fit_waits),
		cmocka_unit_test(drop_ends_every_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
