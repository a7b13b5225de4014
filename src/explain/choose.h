/* SPDX-License-Identifier: MIT */
/* Of many sockets the one whose verdict counts: the connection that loses most. */
#ifndef WR_EXPLAIN_CHOOSE_H
#define WR_EXPLAIN_CHOOSE_H

#include "explain/features.h"

/* No host, no process. */
#define WR_NOWHERE ((size_t)-1)

/*
 * What is weighed of a case, without its verdict.
 *
 * @grade: 4 stalled with data waiting, 3 limited, 2 perhaps, 1 by its own program's pace or unknown, 0 not at all
 * @bytes: payload moved in the interval; of a stalled one what waits; of a queue that drops what was dropped
 * @reads: the first cause is a slow reader
 * @writer_host, @reader_host, @writer_pid, @reader_pid: where the programs are; WR_NOWHERE, 0 unknown
 */
struct wr_weight {
	int grade;
	double bytes;
	bool reads;
	size_t writer_host, reader_host;
	int64_t writer_pid, reader_pid;
};

/* wr_weigh - grade, bytes and reads of a case; the places are the caller's. */
void wr_weigh(struct wr_weight *weight, const struct wr_evidence *evidence, const struct wr_verdict *verdict);

/*
 * wr_choose - the case that loses most, of @n
 *
 * A slow reader that is itself held up while it sends on (a relay, a proxy) passes the blame to what holds it up.
 * Return: its index; 0 when n is 0.
 */
size_t wr_choose(const struct wr_weight *weights, size_t n);

#endif
