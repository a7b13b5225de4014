/* SPDX-License-Identifier: MIT */
/*
 * A grid for people: buffers down, message sizes across, each cell the figures that were asked for; one axis alone
 * gets a line a value with all of them. Text and Markdown differ in how a table is drawn only.
 */
#include "report/sweep.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/table.h"

#define NONE WR_MAX_AXES

/* -- what a cell shows -- */

static const char *figure(char *out, double bps, double unit_bps)
{
	double value = bps / unit_bps;

	if (!isfinite(value))
		snprintf(out, WR_UNIT_TEXT, "-");
	else
		snprintf(out, WR_UNIT_TEXT, "%.*f", value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3, value);
	return out;
}

static void four_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	char min[WR_UNIT_TEXT], max[WR_UNIT_TEXT], mean[WR_UNIT_TEXT], median[WR_UNIT_TEXT];

	snprintf(out, WR_TABLE_TEXT, "%.14s/%.14s/%.14s/%.14s", figure(min, cell->bps.min, unit_bps),
		 figure(max, cell->bps.max, unit_bps), figure(mean, cell->bps.mean, unit_bps),
		 figure(median, cell->bps.median, unit_bps));
}

static void median_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	figure(out, cell->bps.median, unit_bps);
}

static void mean_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	figure(out, cell->bps.mean, unit_bps);
}

static void ci_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	char median[WR_UNIT_TEXT], low[WR_UNIT_TEXT], high[WR_UNIT_TEXT];

	if (!isfinite(cell->ci95.low)) {
		snprintf(out, WR_TABLE_TEXT, "%.14s (%.14s to %.14s)", figure(median, cell->bps.median, unit_bps),
			 figure(low, cell->bps.min, unit_bps), figure(high, cell->bps.max, unit_bps));
		return;
	}
	snprintf(out, WR_TABLE_TEXT, "%.14s [%.14s, %.14s]", figure(median, cell->bps.median, unit_bps),
		 figure(low, cell->ci95.low, unit_bps), figure(high, cell->ci95.high, unit_bps));
}

static void cv_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	(void)unit_bps;
	if (isfinite(cell->bps.cv))
		snprintf(out, WR_TABLE_TEXT, "%.1f %% %s", 100 * cell->bps.cv, wr_stat_grade_name(cell->grade));
	else
		snprintf(out, WR_TABLE_TEXT, "-");
}

static void rtt_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	char text[WR_UNIT_TEXT];

	(void)unit_bps;
	snprintf(out, WR_TABLE_TEXT, "%s", isfinite(cell->rtt_us) ? wr_time_text(text, cell->rtt_us * 1e3) : "-");
}

static void time_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	(void)unit_bps;
	if (isfinite(cell->transfer_s))
		snprintf(out, WR_TABLE_TEXT, "%.3f s", cell->transfer_s);
	else
		snprintf(out, WR_TABLE_TEXT, "-");
}

static void messages_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	(void)unit_bps;
	figure(out, cell->messages_per_s, 1);
}

static void latency_text(char *out, const struct wr_grid_cell *cell, double unit_bps)
{
	char text[WR_UNIT_TEXT];

	(void)unit_bps;
	snprintf(out, WR_TABLE_TEXT, "%s", isfinite(cell->latency_p99_us) ? wr_time_text(text, cell->latency_p99_us * 1e3) : "-");
}

static const struct wr_sweep_face faces[] = {
	{"all", "minimum, maximum, mean, median", "min/max/avg/median", true, four_text},
	{"median", "median", "median", true, median_text},
	{"mean", "mean", "mean", true, mean_text},
	{"ci", "median and its 95 % interval; below 6 runs minimum and maximum", "median [95 % CI]", true, ci_text},
	{"cv", "coefficient of variation and grade", "coefficient of variation, grade", false, cv_text},
	{"rtt", "median round trip under load", "RTT under load", false, rtt_text},
	{"time", "median time of a transfer, for --bytes", "time of a transfer", false, time_text},
	{"messages", "median messages a second, of a workload of messages", "messages/s", false, messages_text},
	{"latency", "median of the 99th percentile of a message's time", "p99 latency", false, latency_text},
};

const struct wr_sweep_face *const wr_sweep_faces[] = {&faces[0], &faces[1], &faces[2], &faces[3], &faces[4], &faces[5],
								    &faces[6], &faces[7], &faces[8], NULL};

const struct wr_sweep_face *wr_sweep_face_find(const char *name)
{
	for (size_t i = 0; wr_sweep_faces[i]; i++) {
		if (strcmp(wr_sweep_faces[i]->name, name) == 0)
			return wr_sweep_faces[i];
	}
	return NULL;
}

const struct wr_sweep_writer *wr_sweep_writer_find(const char *name)
{
	for (size_t i = 0; wr_sweep_writers[i]; i++) {
		if (strcmp(wr_sweep_writers[i]->name, name) == 0)
			return wr_sweep_writers[i];
	}
	return NULL;
}

/* -- tables -- */

/* How a grid lies on paper: which axis goes down, which across. */
struct sheet {
	const struct wr_grid *grid;
	const struct wr_sweep_face *face;
	wr_table_print *print;
	FILE *out;
	size_t down, across;
	double unit_bps;
	const char *unit;
};

static size_t varied(const struct wr_grid_plan *plan, size_t i)
{
	return plan->axes[i].n_values > 1;
}

/* Buffers go down if there are any, as in every table of the kind. */
static void lay(struct sheet *sheet)
{
	const struct wr_grid_plan *plan = &sheet->grid->plan;
	double most = 0;

	sheet->down = sheet->across = NONE;
	for (size_t i = plan->n_axes; i-- > 0;) {
		if (varied(plan, i) && (sheet->down == NONE || wr_axis_is_buffer(&plan->axes[i]) ||
					!wr_axis_is_buffer(&plan->axes[sheet->down])))
			sheet->down = i;
	}
	for (size_t i = 0; i < plan->n_axes && sheet->across == NONE; i++) {
		if (varied(plan, i) && i != sheet->down)
			sheet->across = i;
	}
	for (size_t i = 0; i < sheet->grid->n_cells; i++)
		most = fmax(most, sheet->grid->cells[i].bps.max);
	sheet->unit_bps = most >= 2e10 ? 1e9 : 1e6;
	sheet->unit = most >= 2e10 ? "Gbit/s" : "Mbit/s";
}

/* The fastest group is marked with a star; a cell too noisy to be ranked with a question mark. */
static const char *mark(const struct wr_grid_cell *cell)
{
	if (cell->bps.n_samples > 1 && cell->grade == WR_STAT_GRADE_UNRANKED)
		return "?";
	return cell->group == 0 ? "*" : "";
}

static int matrix(const struct sheet *sheet, size_t place[WR_MAX_AXES], struct weir_err *err)
{
	const struct wr_axis *down = &sheet->grid->plan.axes[sheet->down], *across = &sheet->grid->plan.axes[sheet->across];
	char text[WR_TABLE_TEXT];
	struct wr_table table;

	if (wr_table_init(&table, down->n_values + 1, across->n_values + 1, err) < 0)
		return -1;
	wr_table_put(&table, 0, 0, "%s \\ %s", wr_axis_title(down), wr_axis_title(across));
	for (size_t j = 0; j < across->n_values; j++)
		wr_table_put(&table, 0, j + 1, "%s", wr_axis_value_text(text, across, j));
	for (size_t i = 0; i < down->n_values; i++) {
		wr_table_put(&table, i + 1, 0, "%s", wr_axis_value_text(text, down, i));
		for (size_t j = 0; j < across->n_values; j++) {
			const struct wr_grid_cell *cell;

			place[sheet->down] = i;
			place[sheet->across] = j;
			cell = &sheet->grid->cells[wr_grid_cell_at(&sheet->grid->plan, place)];
			sheet->face->text(text, cell, sheet->unit_bps);
			wr_table_put(&table, i + 1, j + 1, "%.60s%s", text, mark(cell));
		}
	}
	sheet->print(&table, sheet->out);
	wr_table_deinit(&table);
	return 0;
}

static void list_row(const struct sheet *sheet, struct wr_table *table, size_t row, const struct wr_grid_cell *cell)
{
	char text[WR_TABLE_TEXT], value[WR_UNIT_TEXT];

	wr_table_put(table, row, 1, "%zu", cell->bps.n_samples);
	wr_table_put(table, row, 2, "%s", figure(value, cell->bps.min, sheet->unit_bps));
	wr_table_put(table, row, 3, "%s", figure(value, cell->bps.max, sheet->unit_bps));
	wr_table_put(table, row, 4, "%s", figure(value, cell->bps.mean, sheet->unit_bps));
	wr_table_put(table, row, 5, "%s%s", figure(value, cell->bps.median, sheet->unit_bps), mark(cell));
	ci_text(text, cell, sheet->unit_bps);
	wr_table_put(table, row, 6, "%s", isfinite(cell->ci95.low) ? strchr(text, '[') : "-");
	cv_text(text, cell, sheet->unit_bps);
	wr_table_put(table, row, 7, "%s", text);
	rtt_text(text, cell, sheet->unit_bps);
	wr_table_put(table, row, 8, "%s", text);
}

/* One axis, or none: a line a value, with everything. */
static int list(const struct sheet *sheet, size_t place[WR_MAX_AXES], struct weir_err *err)
{
	static const char *const heads[] = {"n", "min", "max", "avg", "median", "95 % CI", "CV, grade", "RTT under load"};
	const struct wr_axis *down = sheet->down == NONE ? NULL : &sheet->grid->plan.axes[sheet->down];
	size_t n_rows = down ? down->n_values : 1;
	char text[WR_UNIT_TEXT];
	struct wr_table table;

	if (wr_table_init(&table, n_rows + 1, sizeof heads / sizeof heads[0] + 1, err) < 0)
		return -1;
	wr_table_put(&table, 0, 0, "%s", down ? wr_axis_title(down) : "");
	for (size_t j = 0; j < sizeof heads / sizeof heads[0]; j++)
		wr_table_put(&table, 0, j + 1, "%s", heads[j]);
	for (size_t i = 0; i < n_rows; i++) {
		wr_table_put(&table, i + 1, 0, "%s", down ? wr_axis_value_text(text, down, i) : "as asked");
		if (down)
			place[sheet->down] = i;
		list_row(sheet, &table, i + 1, &sheet->grid->cells[wr_grid_cell_at(&sheet->grid->plan, place)]);
	}
	sheet->print(&table, sheet->out);
	wr_table_deinit(&table);
	return 0;
}

/* What the axes that have no side of the table are at. */
static void put_place(const struct sheet *sheet, const size_t place[WR_MAX_AXES])
{
	const struct wr_grid_plan *plan = &sheet->grid->plan;
	char text[WR_UNIT_TEXT];
	bool any = false;

	for (size_t i = 0; i < plan->n_axes; i++) {
		if (!varied(plan, i) || i == sheet->down || i == sheet->across)
			continue;
		fprintf(sheet->out, "%s%s %s", any ? ", " : "\n", wr_axis_title(&plan->axes[i]),
			wr_axis_value_text(text, &plan->axes[i], place[i]));
		any = true;
	}
	fputs(any ? ":\n\n" : "\n", sheet->out);
}

static int tables(const struct sheet *sheet, struct weir_err *err)
{
	for (size_t cell = 0; cell < sheet->grid->n_cells; cell++) {
		size_t place[WR_MAX_AXES];
		int rc;

		wr_grid_place(&sheet->grid->plan, cell, place);
		if ((sheet->down != NONE && place[sheet->down]) || (sheet->across != NONE && place[sheet->across]))
			continue;
		put_place(sheet, place);
		rc = sheet->across == NONE ? list(sheet, place, err) : matrix(sheet, place, err);
		if (rc < 0)
			return -1;
	}
	fputc('\n', sheet->out);
	return 0;
}

/* -- words below the tables -- */

static void put_knee(const struct sheet *sheet, const struct wr_grid_knee *knee)
{
	const struct wr_grid *grid = sheet->grid;
	const struct wr_axis *axis = &grid->plan.axes[knee->axis];
	char text[WR_UNIT_TEXT], rate[WR_UNIT_TEXT], plateau[WR_UNIT_TEXT];
	size_t place[WR_MAX_AXES];
	const char *before = " at ";

	wr_grid_place(&grid->plan, knee->cell, place);
	fprintf(sheet->out, "Knee of %s", wr_axis_title(axis));
	for (size_t i = 0; i < grid->plan.n_axes; i++) {
		if (i == knee->axis || !varied(&grid->plan, i))
			continue;
		fprintf(sheet->out, "%s%s %s", before, wr_axis_title(&grid->plan.axes[i]),
			wr_axis_value_text(text, &grid->plan.axes[i], place[i]));
		before = ", ";
	}
	wr_axis_value_text(text, axis, place[knee->axis]);
	wr_rate_text(rate, grid->cells[knee->cell].bps.median);
	if (knee->climbing)
		fprintf(sheet->out, ": none up to %s, which was still the fastest (%s): try larger ones\n", text, rate);
	else
		fprintf(sheet->out, ": %s (%s, plateau %s); more buys nothing%s\n", text, rate, wr_rate_text(plateau, knee->plateau_bps),
			knee->monotone ? "" : ", and some larger sizes were slower");
}

static void put_best(const struct sheet *sheet)
{
	const struct wr_grid *grid = sheet->grid;
	size_t n_best = 0, best = 0;
	char text[256];

	for (size_t i = 0; i < grid->n_cells; i++) {
		n_best += grid->cells[i].group == 0;
		if (grid->cells[i].bps.median > grid->cells[best].bps.median)
			best = i;
	}
	if (grid->n_cells < 2 || n_best == 0)
		return;
	wr_grid_cell_text(&grid->plan, best, text, sizeof text);
	if (n_best == 1)
		fprintf(sheet->out, "Fastest   %s; every other cell is slower beyond doubt\n", text);
	else
		fprintf(sheet->out, "Fastest   %s; %zu cells with * can't be told from it\n", text, n_best);
}

static void put_words(const struct sheet *sheet)
{
	const struct wr_grid *grid = sheet->grid;

	put_best(sheet);
	for (size_t i = 0; i < grid->n_knees; i++)
		put_knee(sheet, &grid->knees[i]);
	if (grid->mde_ratio >= 1)
		fprintf(sheet->out, "Could see only differences by a factor of %.1f or more between two cells: repeat it more often\n",
			1 + grid->mde_ratio);
	else if (isfinite(grid->mde_ratio))
		fprintf(sheet->out, "Could see differences of %.1f %% or more between two cells\n", 100 * grid->mde_ratio);
	for (size_t i = 0; i < grid->n_notes; i++)
		fprintf(sheet->out, "Note      %s\n", grid->notes[i]);
	fprintf(sheet->out, "Took      %.0f s for %zu runs, %.0f s of them moving data%s\n", grid->wall_s, grid->n_runs,
		grid->transfer_s, grid->complete ? "" : "; incomplete: weir sweep --resume goes on with its JSON");
}

/* What carries it, where all cells have the same. */
static const char *carrier(const struct wr_grid_plan *plan)
{
	if (wr_grid_plan_axis(plan, "transport"))
		return "several transports";
	if (!wr_plan_is_tcp(&plan->base))
		return plan->base.transport;
	if (wr_grid_plan_axis(plan, "congestion"))
		return "TCP, several congestion controls";
	return plan->base.congestion ? plan->base.congestion : "the host's congestion control";
}

static void put_title(const struct sheet *sheet, const struct wr_report_head *head)
{
	const struct wr_grid_plan *plan = &sheet->grid->plan;

	fprintf(sheet->out, "weir sweep %s: %s, %zu cells, %zu runs in %zu blocks, %s, seed %llu\n", head->target,
		plan->base.reverse ? "far -> near" : "near -> far", sheet->grid->n_cells, sheet->grid->n_runs,
		sheet->grid->n_blocks, carrier(plan), (unsigned long long)plan->seed);
	if (sheet->across == NONE)
		fprintf(sheet->out, "Throughput in %s\n", sheet->unit);
	else if (sheet->face->rate)
		fprintf(sheet->out, "Throughput in %s: %s\n", sheet->unit, sheet->face->title);
	else
		fprintf(sheet->out, "Cells: %s\n", sheet->face->summary);
}

static int put_all(struct sheet *sheet, const struct wr_report_head *head, struct weir_err *err)
{
	lay(sheet);
	put_title(sheet, head);
	if (tables(sheet, err) < 0)
		return -1;
	put_words(sheet);
	return 0;
}

static int write_text(FILE *out, const struct wr_report_head *head, const struct wr_grid *grid,
		      const struct wr_sweep_face *face, struct weir_err *err)
{
	struct sheet sheet = {.grid = grid, .face = face, .print = wr_table_text, .out = out};

	return put_all(&sheet, head, err);
}

static int write_markdown(FILE *out, const struct wr_report_head *head, const struct wr_grid *grid,
			  const struct wr_sweep_face *face, struct weir_err *err)
{
	struct sheet sheet = {.grid = grid, .face = face, .print = wr_table_markdown, .out = out};

	return put_all(&sheet, head, err);
}

const struct wr_sweep_writer wr_sweep_text = {"text", "tables for a terminal", write_text};
const struct wr_sweep_writer wr_sweep_markdown = {"markdown", "the same tables in Markdown", write_markdown};

const struct wr_sweep_writer *const wr_sweep_writers[] = {&wr_sweep_text, &wr_sweep_json, &wr_sweep_csv, &wr_sweep_markdown, NULL};
