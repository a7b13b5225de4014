/* SPDX-License-Identifier: MIT */
/* CSV (RFC 4180), one line a cell with its figures; empty fields are unknown. Rates in bit/s, sizes in bytes. */
#include <math.h>
#include <string.h>

#include "report/sweep.h"

static void put_text(FILE *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"\n") != NULL;

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

static void put_number(FILE *out, double value, int n_decimals)
{
	fputc(',', out);
	if (isfinite(value))
		fprintf(out, "%.*f", n_decimals, value);
}

static double size_of(uint64_t bytes)
{
	return bytes == WR_UNSET ? NAN : (double)bytes;
}

static void put_cell(FILE *out, const struct wr_grid *grid, size_t index)
{
	const struct wr_grid_cell *cell = &grid->cells[index];
	size_t place[WR_MAX_AXES];

	wr_grid_place(&grid->plan, index, place);
	for (size_t i = 0; i < grid->plan.n_axes; i++) {
		const struct wr_axis_value *value = &grid->plan.axes[i].values[place[i]];

		if (value->number != WR_UNSET)
			fprintf(out, "%llu", (unsigned long long)value->number);
		else
			put_text(out, value->text);
		fputc(',', out);
	}
	fprintf(out, "%zu", cell->bps.n_samples);
	put_number(out, cell->bps.min, 0);
	put_number(out, cell->bps.max, 0);
	put_number(out, cell->bps.mean, 0);
	put_number(out, cell->bps.median, 0);
	put_number(out, cell->ci95.low, 0);
	put_number(out, cell->ci95.high, 0);
	put_number(out, cell->bps.cv, 4);
	fprintf(out, ",%s", cell->bps.n_samples > 1 ? wr_stat_grade_name(cell->grade) : "");
	put_number(out, cell->group < 0 ? NAN : cell->group, 0);
	put_number(out, cell->rtt_us, 0);
	put_number(out, size_of(cell->sndbuf_eff_bytes), 0);
	put_number(out, size_of(cell->rcvbuf_eff_bytes), 0);
	fputs("\r\n", out);
}

static int write_csv(FILE *out, const struct wr_report_head *head, const struct wr_grid *grid,
		     const struct wr_sweep_face *face, struct weir_err *err)
{
	char key[64];

	(void)head;
	(void)face;
	(void)err;
	for (size_t i = 0; i < grid->plan.n_axes; i++)
		fprintf(out, "%s,", wr_axis_key(&grid->plan.axes[i], key, sizeof key));
	fputs("n,min_bps,max_bps,mean_bps,median_bps,ci95_low_bps,ci95_high_bps,cv_ratio,grade,group,rtt_loaded_us,"
	      "sndbuf_eff_bytes,rcvbuf_eff_bytes\r\n", out);
	for (size_t i = 0; i < grid->n_cells; i++)
		put_cell(out, grid, i);
	return 0;
}

const struct wr_sweep_writer wr_sweep_csv = {"csv", "a line a cell, rates in bit/s", write_csv};
