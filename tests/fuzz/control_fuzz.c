/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a control connection: a cookie, then framed messages, arriving in pieces whose size the first byte says.
 * A message that was taken is sent on and must arrive as it was.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "peer/control.h"

#define MOST_MESSAGE_BYTES 1024
#define MOST_BYTES 8192
#define SEND_NS 1000000000LL

static void check_cookie(const char bytes[WR_COOKIE_BYTES])
{
	char token[WR_TOKEN_TEXT], again[WR_COOKIE_BYTES];
	enum wr_cookie_kind kind;
	unsigned int stream;

	if (wr_cookie_parse(bytes, &kind, &stream, token) != 0)
		return;
	wr_cookie_make(again, kind, stream, token);
	CHECK(memcmp(bytes, again, WR_COOKIE_BYTES) == 0, "cookie %s is made %s", bytes, again);
}

static void check_sent_on(json_t *message)
{
	struct wr_control from, to;
	json_t *arrived = NULL;
	int fds[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "no sockets");
	wr_control_init(&from, fds[0], "one", 0);
	wr_control_init(&to, fds[1], "other", MOST_BYTES);
	CHECK(wr_control_send(&from, json_incref(message), SEND_NS, NULL) == 0, "a message can't be sent");
	CHECK(wr_control_receive(&to, 0, &arrived, NULL) == 0 && json_equal(message, arrived), "a message changes on its way");
	json_decref(arrived);
	wr_control_deinit(&from);
	wr_control_deinit(&to);
}

/* Return: false the receiver has given the connection up. */
static int receive_all(struct wr_control *control)
{
	for (;;) {
		struct weir_err err = {0};
		json_t *message = NULL;
		int rc = wr_control_receive(control, 0, &message, &err);

		CHECK(control->capacity <= 4 + 4096, "%zu bytes are held for messages of %d", control->capacity,
		      MOST_MESSAGE_BYTES);
		if (rc < 0)
			CHECK(err.code == WEIR_ERR_PEER && err.text[0], "refused with code %d and '%s'", err.code, err.text);
		if (rc != 0)
			return rc == 1;
		CHECK(json_is_object(message) && wr_control_op(message), "a message is no object");
		check_sent_on(message);
		json_decref(message);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wr_control control;
	int fds[2], open = 1;
	size_t piece;

	if (size < 1 + WR_COOKIE_BYTES || size > MOST_BYTES)
		return 0;
	piece = data[0] ? data[0] : size;
	data++;
	size--;
	check_cookie((const char *)data);
	data += WR_COOKIE_BYTES;
	size -= WR_COOKIE_BYTES;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "no sockets");
	wr_control_init(&control, fds[1], "peer", MOST_MESSAGE_BYTES);
	while (size > 0 && open) {
		size_t n = size < piece ? size : piece;

		CHECK(wr_bytes_send(fds[0], data, n, SEND_NS) == 0, "bytes can't be sent");
		open = receive_all(&control);
		data += n;
		size -= n;
	}
	close(fds[0]);
	if (open)
		(void)receive_all(&control);
	wr_control_deinit(&control);
	return 0;
}
