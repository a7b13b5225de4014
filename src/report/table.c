/* SPDX-License-Identifier: MIT */
#include "report/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

int wr_table_init(struct wr_table *table, size_t n_rows, size_t n_columns, struct weir_err *err)
{
	*table = (struct wr_table){n_rows, n_columns, calloc(n_rows * n_columns, WR_TABLE_TEXT)};
	return table->texts ? 0 : wr_err_memory(err, "table");
}

void wr_table_deinit(struct wr_table *table)
{
	free(table->texts);
	table->texts = NULL;
}

static const char *text_at(const struct wr_table *table, size_t row, size_t column)
{
	return table->texts[row * table->n_columns + column];
}

void wr_table_put(struct wr_table *table, size_t row, size_t column, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(table->texts[row * table->n_columns + column], WR_TABLE_TEXT, format, args);
	va_end(args);
}

static int width(const struct wr_table *table, size_t column)
{
	size_t most = 0;

	for (size_t row = 0; row < table->n_rows; row++) {
		size_t n = strlen(text_at(table, row, column));

		most = n > most ? n : most;
	}
	return (int)most;
}

void wr_table_text(const struct wr_table *table, FILE *out)
{
	for (size_t row = 0; row < table->n_rows; row++) {
		fprintf(out, "  %-*s", width(table, 0), text_at(table, row, 0));
		for (size_t column = 1; column < table->n_columns; column++)
			fprintf(out, "  %*s", width(table, column), text_at(table, row, column));
		fputc('\n', out);
	}
}

void wr_table_markdown(const struct wr_table *table, FILE *out)
{
	for (size_t row = 0; row < table->n_rows; row++) {
		for (size_t column = 0; column < table->n_columns; column++)
			fprintf(out, "| %s ", text_at(table, row, column));
		fputs("|\n", out);
		for (size_t column = 0; row == 0 && column < table->n_columns; column++)
			fputs(column ? "|---:" : "|---", out);
		if (row == 0)
			fputs("|\n", out);
	}
}
