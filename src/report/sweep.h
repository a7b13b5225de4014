/* SPDX-License-Identifier: MIT */
/* The writers of a grid, one a row: text, Markdown, CSV, JSON. */
#ifndef WR_REPORT_SWEEP_H
#define WR_REPORT_SWEEP_H

#include "model/grid.h"
#include "report/report.h"

/*
 * What a cell of a table shows.
 * @rate: it is one of throughput, and needs its unit
 * @text: of @cell, in the @unit_bps of the table, into WR_TABLE_TEXT bytes
 */
struct wr_sweep_face {
	const char *name, *summary, *title;
	bool rate;
	void (*text)(char *out, const struct wr_grid_cell *cell, double unit_bps);
};

/* NULL-ended; the first is the default. */
extern const struct wr_sweep_face *const wr_sweep_faces[];

struct wr_sweep_writer {
	const char *name, *summary;
	int (*write)(FILE *out, const struct wr_report_head *head, const struct wr_grid *grid, const struct wr_sweep_face *face,
		     struct weir_err *err);
};

extern const struct wr_sweep_writer *const wr_sweep_writers[];

/* wr_sweep_face_find, wr_sweep_writer_find - by name; NULL when there is none. */
const struct wr_sweep_face *wr_sweep_face_find(const char *name);
const struct wr_sweep_writer *wr_sweep_writer_find(const char *name);

/* The writers: @face matters to the tables only. Return: 0; -1 out of memory. */
extern const struct wr_sweep_writer wr_sweep_text, wr_sweep_markdown, wr_sweep_csv, wr_sweep_json;

/* wr_report_sweep_json - the whole result, weir.sweep/1. */
json_t *wr_report_sweep_json(const struct wr_report_head *head, const struct wr_grid *grid);

/* The lines of a stream: the first, which holds what is needed to go on, and one a run. */
json_t *wr_report_sweep_start_json(const struct wr_report_head *head, const struct wr_grid *grid);
json_t *wr_report_sweep_run_json(const struct wr_grid *grid, const struct wr_grid_run *run);

#endif
