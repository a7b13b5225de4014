/* SPDX-License-Identifier: MIT */
/* The figures of two sets of results as samples: a row a figure, or a cell of a sweep, with the runs of both sides. */
#ifndef WR_COMPARE_SAMPLES_H
#define WR_COMPARE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "weir/err.h"

/* A figure of a kind of result. @runs: where its runs are; NULL where it is one value. */
struct wr_figure {
	const char *path, *title, *runs;
	bool judged;
};

/* @blocks: of a sweep, the block of each run; NULL elsewhere */
struct wr_runs {
	double *values;
	uint32_t *blocks;
	size_t n, room;
};

/*
 * One row.
 * @figure: static; @cell: the values of a sweep's axes, owned; NULL elsewhere
 */
struct wr_samples {
	const struct wr_figure *figure;
	json_t *cell;
	struct wr_runs sides[2];
};

/* @index: from a cell's values, written out, to its row */
struct wr_sample_table {
	struct wr_samples *rows;
	size_t n_rows, room;
	json_t *index;
};

/*
 * wr_samples_collect - the samples of @sides
 * @schema: of all of them
 * @table: out: wr_samples_deinit it, also after a failure
 *
 * Return: 0; -1 with @err: too many cells or runs, no memory.
 */
int wr_samples_collect(struct wr_sample_table *table, const char *schema, json_t *const sides[2], struct weir_err *err);
void wr_samples_deinit(struct wr_sample_table *table);

/* wr_json_at - the value at a path of keys, "path.rtt_min_us"; NULL where there is none. */
const json_t *wr_json_at(const json_t *object, const char *path);

#endif
