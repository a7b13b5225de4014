/* SPDX-License-Identifier: MIT */
/*
 * A workload: what a connection carries, a row of wr_workloads, one file each. It is written NAME[:key=value,...];
 * its keys are option rows, so they are parsed, bounded and listed like all others.
 */
#ifndef WR_WORKLOAD_WORKLOAD_H
#define WR_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"
#include "model/plan.h"

#define WR_WORKLOAD_KEYS_BYTES 64
#define WR_WORKLOAD_MAX_TEXT 256

struct wr_stream;

/*
 * @name, @summary: for lists; @example: as it is written; @source: where its pattern is from, or NULL
 * @message: what is counted and timed, as in "record"; NULL: it is a byte stream
 * @keys: rows whose offsets are into a struct of the workload's own, of WR_WORKLOAD_KEYS_BYTES at most. A TEXT row has
 *	a @repeat that turns it into a value: the text itself doesn't last. NULL: no keys
 * @check: contradictions among @keys and with @plan. Return: 0; -1 (WEIR_ERR_USAGE). May be NULL
 * @write_bytes: the longest write; NULL: the plan's --length
 * @ends: whether it ends by itself, after so many messages; NULL: never
 * @send, @receive: the loops of the plan's sender and receiver, on a thread of each stream, until they are through or
 *	crew->stop is set; they keep to wr_stream_pace and set bytes, messages and error of the stream
 */
struct wr_workload {
	const char *name, *summary, *example, *source, *message;
	const struct wr_option *keys;
	int (*check)(const void *keys, const struct wr_plan *plan, struct weir_err *err);
	uint64_t (*write_bytes)(const void *keys);
	bool (*ends)(const void *keys);
	void (*send)(struct wr_stream *stream);
	void (*receive)(struct wr_stream *stream);
};

extern const struct wr_workload wr_workload_stream, wr_workload_records;

/* Every workload, in display order; NULL-ended. */
extern const struct wr_workload *const wr_workloads[];

/* A workload as asked for. @keys: the row's own struct */
struct wr_work {
	const struct wr_workload *row;
	_Alignas(8) unsigned char keys[WR_WORKLOAD_KEYS_BYTES];
};

/*
 * wr_work_parse - the workload of @plan
 * @work: out: complete, with defaults
 *
 * Return: 0; -1 (WEIR_ERR_USAGE): an unknown name or key, a bad value, a contradiction.
 */
int wr_work_parse(struct wr_work *work, const struct wr_plan *plan, struct weir_err *err);

/* wr_work_ends - whether a transfer of @plan ends by itself: after so many bytes or messages. */
bool wr_work_ends(const struct wr_plan *plan);

#endif
