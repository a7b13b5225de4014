/* SPDX-License-Identifier: MIT */
/*
 * Framing and cookies. A peer may be hostile or dead: nothing here waits without a deadline, trusts a length or
 * allocates more than a message that it is ready to take.
 */
#include "peer/control.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/clock.h"

#define PREFIX "weir1"
#define LENGTH_BYTES 4

void wr_cookie_make(char cookie[WR_COOKIE_BYTES], enum wr_cookie_kind kind, unsigned int stream, const char *token)
{
	snprintf(cookie, WR_COOKIE_BYTES, PREFIX "%c%02x%.28s", kind, stream & 0xff, token);
}

int wr_cookie_parse(const char cookie[WR_COOKIE_BYTES], enum wr_cookie_kind *kind, unsigned int *stream,
		    char token[WR_TOKEN_TEXT])
{
	char digits[3];

	if (cookie[WR_COOKIE_BYTES - 1] != '\0')
		return -1;
	for (size_t i = 0; i < WR_COOKIE_BYTES - 1; i++) {
		unsigned char c = (unsigned char)cookie[i];

		if (!islower(c) && !isdigit(c) && c != '-')
			return -1;
	}
	if (strncmp(cookie, PREFIX, strlen(PREFIX)) != 0)
		return 1;
	*kind = (enum wr_cookie_kind)cookie[5];
	if (*kind != WR_COOKIE_CONTROL && *kind != WR_COOKIE_DATA)
		return -1;
	memcpy(digits, cookie + 6, 2);
	digits[2] = '\0';
	if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
		return -1;
	*stream = (unsigned int)strtoul(digits, NULL, 16);
	memcpy(token, cookie + 8, WR_TOKEN_TEXT);
	return 0;
}

void wr_token_random(char token[WR_TOKEN_TEXT])
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char noise[WR_TOKEN_TEXT - 1];

	if (getrandom(noise, sizeof noise, 0) != (ssize_t)sizeof noise)
		memset(noise, 0, sizeof noise);
	for (size_t i = 0; i < sizeof noise; i++)
		token[i] = alphabet[noise[i] % 32];
	token[sizeof noise] = '\0';
}

void wr_control_init(struct wr_control *control, int fd, const char *peer, size_t max_message_bytes)
{
	int one = 1;

	memset(control, 0, sizeof *control);
	control->fd = fd;
	control->max_message_bytes = max_message_bytes;
	snprintf(control->peer, sizeof control->peer, "%s", peer);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

void wr_control_deinit(struct wr_control *control)
{
	if (control->fd >= 0)
		close(control->fd);
	free(control->buffer);
	memset(control, 0, sizeof *control);
	control->fd = -1;
}

int wr_control_send(struct wr_control *control, json_t *message, int64_t timeout_ns, struct weir_err *err)
{
	wr_auto_free char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t n = text ? strlen(text) : 0;
	uint32_t length = htonl((uint32_t)n);

	json_decref(message);
	if (!text)
		return wr_err_memory(err, "control message");
	if (wr_bytes_send(control->fd, &length, sizeof length, timeout_ns) == 0 &&
	    wr_bytes_send(control->fd, text, n, timeout_ns) == 0)
		return 0;
	if (errno == ETIMEDOUT)
		return wr_err_set(err, WEIR_ERR_PEER, "control", "%s took no message for %.0f s", control->peer,
				  (double)timeout_ns / 1e9);
	return wr_err_errno(err, WEIR_ERR_PEER, "control", errno, "the control connection to %s broke", control->peer);
}

static int buffer_room(struct wr_control *control, size_t wanted, struct weir_err *err)
{
	char *buffer;

	if (wanted <= control->capacity)
		return 0;
	buffer = realloc(control->buffer, wanted);
	if (!buffer)
		return wr_err_memory(err, "control message");
	control->buffer = buffer;
	control->capacity = wanted;
	return 0;
}

/* What the first bytes of a stranger look like, for the message. */
static int foreign(struct wr_control *control, struct weir_err *err)
{
	char shown[33] = "";
	size_t n = control->used < 32 ? control->used : 32;

	for (size_t i = 0; i < n; i++)
		shown[i] = isprint((unsigned char)control->buffer[i]) ? control->buffer[i] : '.';
	shown[n] = '\0';
	wr_err_set(err, WEIR_ERR_PEER, "control", "%s is not a weir server: it answers \"%s\"", control->peer, shown);
	return wr_err_hint(err, "run `weir serve` there, or give the port that it listens on with --port");
}

/* Return: 0 a message was taken out of the buffer; 1 not whole yet; -1. */
static int take_message(struct wr_control *control, json_t **message, struct weir_err *err)
{
	json_error_t problem;
	uint32_t length;
	json_t *object;

	if (control->used < LENGTH_BYTES)
		return 1;
	memcpy(&length, control->buffer, sizeof length);
	length = ntohl(length);
	if (length == 0 || length > control->max_message_bytes)
		return foreign(control, err);
	if (control->used < LENGTH_BYTES + length)
		return buffer_room(control, LENGTH_BYTES + length, err) < 0 ? -1 : 1;
	object = json_loadb(control->buffer + LENGTH_BYTES, length, JSON_REJECT_DUPLICATES, &problem);
	control->used -= LENGTH_BYTES + length;
	memmove(control->buffer, control->buffer + LENGTH_BYTES + length, control->used);
	if (!json_is_object(object)) {
		json_decref(object);
		return wr_err_set(err, WEIR_ERR_PEER, "control", "%s sent a message that is no JSON object", control->peer);
	}
	*message = object;
	return 0;
}

int wr_control_receive(struct wr_control *control, int64_t timeout_ns, json_t **message, struct weir_err *err)
{
	int64_t until = wr_clock_ns() + timeout_ns;

	if (buffer_room(control, 4096, err) < 0)
		return -1;
	for (;;) {
		int rc = take_message(control, message, err);
		ssize_t n;

		if (rc <= 0)
			return rc;
		n = recv(control->fd, control->buffer + control->used, control->capacity - control->used, 0);
		if (n > 0) {
			control->used += (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			wr_err_set(err, WEIR_ERR_PEER, "control", "%s closed the control connection%s%s", control->peer,
				   n < 0 ? ": " : "", n < 0 ? strerror(errno) : "");
			return wr_err_hint(err, "it may have died, been stopped, or be no weir server");
		}
		if (wr_fd_wait(control->fd, POLLIN, until) <= 0)
			return 1;
	}
}

const char *wr_control_op(const json_t *message)
{
	const char *op = json_string_value(json_object_get(message, "op"));

	return op ? op : "";
}
