/* SPDX-License-Identifier: MIT */
/*
 * Integer socket options by name: a table of those that are known, and LEVEL:NUMBER for any other. They are asked for as
 * OPT=VALUE[,OPT=VALUE...], set, and read back. What a peer may ask of a server is marked in the table and bounded.
 */
#ifndef WR_OS_SOCKOPT_H
#define WR_OS_SOCKOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/evidence.h"

/*
 * @late: set on the connected socket: it would hold the greeting back, or isn't inherited
 * @wide: 8 bytes; else an int
 * @peer_most: the largest value that a peer may ask for, from 0 on; -1: none at all
 */
struct wr_sockopt {
	const char *name;
	int level, number;
	bool late, wide;
	int64_t peer_most;
	const char *summary;
};

/* Every known option, in display order; NULL name ends it. */
extern const struct wr_sockopt wr_sockopts[];

/* @row: the table's, or one made of LEVEL:NUMBER; @text: its name as it was written */
struct wr_sockopt_value {
	struct wr_sockopt row;
	char text[WR_SETTING_TEXT];
	int64_t value;
};

/* @option: the option of weir's that asked, for messages */
struct wr_sockopt_list {
	const char *option;
	struct wr_sockopt_value values[WR_MAX_SETTINGS];
	size_t n_values;
};

/*
 * wr_sockopt_parse - read OPT=VALUE[,...]; "+" parts them too
 * @text: "" for none
 * @far: it is a peer who asks, and --far-set that said it
 *
 * Return: 0; -1 (WEIR_ERR_USAGE): an unknown name, a bad value, one that a peer may not set.
 */
int wr_sockopt_parse(struct wr_sockopt_list *list, const char *text, bool far, struct weir_err *err);

/* wr_sockopt_apply - set those that are @late, or those that aren't. Return: 0; -1 (WEIR_ERR_HOST) naming it. */
int wr_sockopt_apply(int fd, const struct wr_sockopt_list *list, bool late, struct weir_err *err);

/* wr_sockopt_read - what became of them. @settings: WR_MAX_SETTINGS of them. Return: how many. */
size_t wr_sockopt_read(int fd, const struct wr_sockopt_list *list, struct wr_setting *settings);

#endif
