/* SPDX-License-Identifier: MIT */
/*
 * The control connection: a 37-byte cookie that an iperf3 server accepts as one of its own, then messages of a
 * 4-byte big-endian length and JSON. Every wait has a deadline and every length a bound.
 */
#ifndef WR_PEER_CONTROL_H
#define WR_PEER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "transport/channel.h"
#include "weir/err.h"

/* 36 characters of [a-z0-9-] and NUL: "weir1", the kind, two hex digits of the stream, 28 of the session's token. */
#define WR_COOKIE_BYTES 37
#define WR_TOKEN_TEXT 29

enum wr_cookie_kind { WR_COOKIE_CONTROL = 'c', WR_COOKIE_DATA = 'd' };

void wr_cookie_make(char cookie[WR_COOKIE_BYTES], enum wr_cookie_kind kind, unsigned int stream, const char *token);

/*
 * wr_cookie_parse - Return: 0 weir's cookie, the out parameters filled; 1 some other program's (iperf3's) cookie;
 * -1 no cookie at all.
 */
int wr_cookie_parse(const char cookie[WR_COOKIE_BYTES], enum wr_cookie_kind *kind, unsigned int *stream,
		    char token[WR_TOKEN_TEXT]);

/* wr_token_random - a fresh token. */
void wr_token_random(char token[WR_TOKEN_TEXT]);

/*
 * One end of a control connection.
 *
 * @fd: non-blocking, owned
 * @max_message_bytes: longest message taken
 * @peer: for messages
 */
struct wr_control {
	int fd;
	size_t max_message_bytes, used, capacity;
	char *buffer;
	char peer[80];
};

/* wr_control_init - takes @fd over and makes it non-blocking, without Nagle. */
void wr_control_init(struct wr_control *control, int fd, const char *peer, size_t max_message_bytes);
void wr_control_deinit(struct wr_control *control);

/*
 * wr_control_send - send @message and drop the reference to it
 * Return: 0; -1 (WEIR_ERR_PEER): closed, or did not take it within @timeout_ns.
 */
int wr_control_send(struct wr_control *control, json_t *message, int64_t timeout_ns, struct weir_err *err);

/*
 * wr_control_receive - the next message
 * @message: out: a new reference, an object with a string "op"
 *
 * Return: 0; 1 nothing whole within @timeout_ns (or a signal came); -1 closed, too long, no JSON.
 */
int wr_control_receive(struct wr_control *control, int64_t timeout_ns, json_t **message, struct weir_err *err);

/* wr_control_op - the "op" of a message, "" without one. */
const char *wr_control_op(const json_t *message);

#endif
