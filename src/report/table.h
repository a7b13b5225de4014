/* SPDX-License-Identifier: MIT */
/* A table of short texts, printed in aligned columns for a terminal or as Markdown. The first row is its heading. */
#ifndef WR_REPORT_TABLE_H
#define WR_REPORT_TABLE_H

#include <stdio.h>

#include "weir/err.h"

#define WR_TABLE_TEXT 64

struct wr_table {
	size_t n_rows, n_columns;
	char (*texts)[WR_TABLE_TEXT];
};

/* wr_table_init - all cells empty. Return: 0; -1 out of memory. */
int wr_table_init(struct wr_table *table, size_t n_rows, size_t n_columns, struct weir_err *err);
void wr_table_deinit(struct wr_table *table);

/* wr_table_put - a cell's text, cut at WR_TABLE_TEXT - 1 bytes. */
void wr_table_put(struct wr_table *table, size_t row, size_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The printers: the first column to the left, the others to the right. */
typedef void wr_table_print(const struct wr_table *table, FILE *out);
wr_table_print wr_table_text, wr_table_markdown;

#endif
