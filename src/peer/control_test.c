/* SPDX-License-Identifier: MIT */
/* Cookies, and framing over a socket pair: in pieces, several at once, too long, no JSON, too late, gone. */
#include "peer/control.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/clock.h"

#define MS 1000000LL
#define MOST_BYTES 1024
#define TOKEN "abcdefghijklmnopqrstuvwxyz23"

/* -- cookies -- */

static void cookies_round_trip(void **state)
{
	char cookie[WR_COOKIE_BYTES], token[WR_TOKEN_TEXT];
	enum wr_cookie_kind kind;
	unsigned int stream;

	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		wr_cookie_make(cookie, i % 2 ? WR_COOKIE_CONTROL : WR_COOKIE_DATA, i, TOKEN);
		assert_int_equal(strlen(cookie), WR_COOKIE_BYTES - 1);
		assert_int_equal(wr_cookie_parse(cookie, &kind, &stream, token), 0);
		assert_int_equal(kind, i % 2 ? WR_COOKIE_CONTROL : WR_COOKIE_DATA);
		assert_int_equal(stream, i);
		assert_string_equal(token, TOKEN);
	}
}

/* iperf3 takes any cookie of 36 characters and NUL (iperf_util.c make_cookie); weir's must look like one. */
static void cookies_look_like_iperf3s(void **state)
{
	char cookie[WR_COOKIE_BYTES], token[WR_TOKEN_TEXT];

	(void)state;
	wr_token_random(token);
	wr_cookie_make(cookie, WR_COOKIE_CONTROL, 0, token);
	/* Its own alphabet and the digits of weir's stream. */
	assert_int_equal(strspn(cookie, "abcdefghijklmnopqrstuvwxyz0123456789"), WR_COOKIE_BYTES - 1);
	assert_int_equal(cookie[36], '\0');
}

static void tokens_differ(void **state)
{
	char tokens[32][WR_TOKEN_TEXT];

	(void)state;
	for (int i = 0; i < 32; i++) {
		wr_token_random(tokens[i]);
		assert_int_equal(strlen(tokens[i]), WR_TOKEN_TEXT - 1);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(tokens[i], tokens[j]);
	}
}

static void what_is_no_cookie_of_weirs(void **state)
{
	static const struct {
		const char text[WR_COOKIE_BYTES + 1];
		int rc;
	} rows[] = {
		{"abcdefghijklmnopqrstuvwxyz0123456789\0", 1}, /* iperf3's */
		{"weir2c00abcdefghijklmnopqrstuvwxyz23\0", 1}, /* a later weir's: a stranger's */
		{"weir1x00abcdefghijklmnopqrstuvwxyz23\0", -1},
		{"weir1cxxabcdefghijklmnopqrstuvwxyz23\0", -1},
		{"weir1c0gabcdefghijklmnopqrstuvwxyz23\0", -1},
		{"WEIR1C00ABCDEFGHIJKLMNOPQRSTUVWXYZ23\0", -1},
		{"weir1c00abcdefghijklmnopqrstuvwxyz234", -1},
		{"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", -1},
		{"", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char token[WR_TOKEN_TEXT];
		enum wr_cookie_kind kind;
		unsigned int stream;

		if (wr_cookie_parse(rows[i].text, &kind, &stream, token) != rows[i].rc)
			fail_msg("'%.37s'", rows[i].text);
	}
}

/* -- framing -- */

struct pair {
	struct wr_control control;
	int other;
};

static void pair_open(struct pair *pair)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	wr_control_init(&pair->control, fds[0], "peer", MOST_BYTES);
	pair->other = fds[1];
}

static void pair_close(struct pair *pair)
{
	if (pair->other >= 0)
		close(pair->other);
	wr_control_deinit(&pair->control);
	assert_int_equal(pair->control.fd, -1);
}

static void raw(const struct pair *pair, const void *bytes, size_t n)
{
	assert_int_equal(write(pair->other, bytes, n), n);
}

static void framed(const struct pair *pair, const char *text)
{
	char message[4 + MOST_BYTES + 2];
	uint32_t length = htonl((uint32_t)strlen(text));

	memcpy(message, &length, sizeof length);
	memcpy(message + sizeof length, text, strlen(text));
	raw(pair, message, sizeof length + strlen(text));
}

static void messages_go_and_come(void **state)
{
	struct wr_control far;
	struct pair pair;
	json_t *got;

	(void)state;
	pair_open(&pair);
	wr_control_init(&far, dup(pair.other), "near", MOST_BYTES);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(wr_control_send(&pair.control, json_pack("{s:s,s:i}", "op", "count", "n", i), MS, NULL), 0);
		assert_int_equal(wr_control_receive(&far, 1000 * MS, &got, NULL), 0);
		assert_string_equal(wr_control_op(got), "count");
		assert_int_equal(json_integer_value(json_object_get(got, "n")), i);
		json_decref(got);
	}
	wr_control_deinit(&far);
	pair_close(&pair);
}

static void in_pieces(void **state)
{
	static const char text[] = "{\"op\":\"go\",\"text\":\"in pieces\"}";
	char whole[4 + sizeof text];
	uint32_t length = htonl(sizeof text - 1);
	struct pair pair;
	json_t *got;

	(void)state;
	pair_open(&pair);
	memcpy(whole, &length, 4);
	memcpy(whole + 4, text, sizeof text - 1);
	for (size_t i = 0; i < 4 + sizeof text - 1; i++) {
		assert_int_equal(wr_control_receive(&pair.control, 0, &got, NULL), 1);
		raw(&pair, whole + i, 1);
	}
	assert_int_equal(wr_control_receive(&pair.control, 0, &got, NULL), 0);
	assert_string_equal(wr_control_op(got), "go");
	json_decref(got);
	pair_close(&pair);
}

static void several_at_once(void **state)
{
	struct pair pair;
	json_t *got;

	(void)state;
	pair_open(&pair);
	for (int i = 0; i < 100; i++) {
		char text[64];

		snprintf(text, sizeof text, "{\"op\":\"x%d\"}", i);
		framed(&pair, text);
	}
	for (int i = 0; i < 100; i++) {
		char op[16];

		snprintf(op, sizeof op, "x%d", i);
		assert_int_equal(wr_control_receive(&pair.control, 0, &got, NULL), 0);
		assert_string_equal(wr_control_op(got), op);
		json_decref(got);
	}
	assert_int_equal(wr_control_receive(&pair.control, 0, &got, NULL), 1);
	pair_close(&pair);
}

static void the_longest_and_one_more(void **state)
{
	char text[MOST_BYTES + 2];
	struct weir_err err = {0};
	struct pair pair;
	json_t *got;

	(void)state;
	for (size_t n = MOST_BYTES; n <= MOST_BYTES + 1; n++) {
		pair_open(&pair);
		memset(text, ' ', n);
		memcpy(text, "{\"op\":\"long\"}", 13);
		text[n] = '\0';
		framed(&pair, text);
		assert_int_equal(wr_control_receive(&pair.control, 0, &got, &err), n == MOST_BYTES ? 0 : -1);
		if (n == MOST_BYTES)
			json_decref(got);
		pair_close(&pair);
	}
	assert_int_equal(err.code, WEIR_ERR_PEER);
}

static void lengths_that_lie(void **state)
{
	static const uint32_t lengths[] = {0, 0x7fffffff, 0xffffffff, 0x20202020};

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		uint32_t length = htonl(lengths[i]);
		struct weir_err err = {0};
		struct pair pair;
		json_t *got;

		pair_open(&pair);
		raw(&pair, &length, sizeof length);
		assert_int_equal(wr_control_receive(&pair.control, 0, &got, &err), -1);
		assert_int_equal(err.code, WEIR_ERR_PEER);
		pair_close(&pair);
	}
}

static void a_stranger_is_quoted(void **state)
{
	struct weir_err err = {0};
	struct pair pair;
	json_t *got;

	(void)state;
	pair_open(&pair);
	raw(&pair, "SSH-2.0-OpenSSH_9.2\r\n", 21);
	assert_int_equal(wr_control_receive(&pair.control, 0, &got, &err), -1);
	assert_non_null(strstr(err.text, "SSH-2.0-OpenSSH_9.2"));
	assert_true(err.hint[0]);
	assert_null(strchr(err.text, '\r'));
	pair_close(&pair);
}

static void what_is_no_object(void **state)
{
	static const char *const texts[] = {"[]", "7", "null", "\"x\"", "{", "{\"op\":1", "{\"op\":\"a\",\"op\":\"b\"}", "{} {}",
					    "{\"op\":\"\xff\"}"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct weir_err err = {0};
		struct pair pair;
		json_t *got;

		pair_open(&pair);
		framed(&pair, texts[i]);
		if (wr_control_receive(&pair.control, 0, &got, &err) != -1)
			fail_msg("%s was taken", texts[i]);
		pair_close(&pair);
	}
}

static void no_op_is_an_empty_one(void **state)
{
	json_t *message = json_pack("{s:i}", "op", 5);

	(void)state;
	assert_string_equal(wr_control_op(message), "");
	assert_string_equal(wr_control_op(NULL), "");
	json_decref(message);
}

static void waits_end_in_time(void **state)
{
	int64_t began = wr_clock_ns();
	struct pair pair;
	char byte;
	json_t *got;

	(void)state;
	pair_open(&pair);
	assert_int_equal(wr_control_receive(&pair.control, 30 * MS, &got, NULL), 1);
	assert_int_equal(wr_bytes_receive(pair.control.fd, &byte, 1, 30 * MS), -1);
	assert_true(wr_clock_ns() - began >= 60 * MS);
	assert_true(wr_clock_ns() - began < 10000 * MS);
	pair_close(&pair);
}

static void a_peer_that_takes_nothing(void **state)
{
	struct weir_err err = {0};
	struct pair pair;
	int rc;

	(void)state;
	pair_open(&pair);
	do {
		rc = wr_control_send(&pair.control, json_pack("{s:s,s:s}", "op", "x", "fill", TOKEN TOKEN TOKEN), 20 * MS, &err);
	} while (rc == 0);
	assert_int_equal(err.code, WEIR_ERR_PEER);
	assert_non_null(strstr(err.text, "took no message"));
	pair_close(&pair);
}

static void a_peer_that_is_gone(void **state)
{
	struct weir_err err = {0};
	struct pair pair;
	json_t *got;

	(void)state;
	pair_open(&pair);
	framed(&pair, "{\"op\":\"bye\"}");
	close(pair.other);
	pair.other = -1;
	/* What came before is not lost. */
	assert_int_equal(wr_control_receive(&pair.control, 0, &got, NULL), 0);
	json_decref(got);
	assert_int_equal(wr_control_receive(&pair.control, 1000 * MS, &got, &err), -1);
	assert_non_null(strstr(err.text, "closed"));
	assert_int_equal(wr_control_send(&pair.control, json_object(), MS, &err), -1);
	assert_int_equal(err.code, WEIR_ERR_PEER);
	pair_close(&pair);
}

static void nothing_can_not_be_sent(void **state)
{
	struct weir_err err = {0};
	struct pair pair;

	(void)state;
	pair_open(&pair);
	assert_int_equal(wr_control_send(&pair.control, NULL, MS, &err), -1);
	assert_true(err.text[0]);
	pair_close(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_round_trip),
		cmocka_unit_test(cookies_look_like_iperf3s),
		cmocka_unit_test(tokens_differ),
		cmocka_unit_test(what_is_no_cookie_of_weirs),
		cmocka_unit_test(messages_go_and_come),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(the_longest_and_one_more),
		cmocka_unit_test(lengths_that_lie),
		cmocka_unit_test(a_stranger_is_quoted),
		cmocka_unit_test(what_is_no_object),
		cmocka_unit_test(no_op_is_an_empty_one),
		cmocka_unit_test(waits_end_in_time),
		cmocka_unit_test(a_peer_that_takes_nothing),
		cmocka_unit_test(a_peer_that_is_gone),
		cmocka_unit_test(nothing_can_not_be_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
