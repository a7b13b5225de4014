/* SPDX-License-Identifier: MIT */
/*
 * Any option of a plan that has a value may be a list, which makes it an axis; so the rows of sweep are those of a
 * plan, reading texts. A plan travels in every result, so --plan, --again and --resume read the same thing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/sweep.h"
#include "sweep/sweep.h"
#include "weir/version.h"

#define FIELD(field) offsetof(struct wr_sweep_choice, field)
#define MAX_FILE_OBJECTS 100000

static const struct wr_option own_options[] = {
	{"repeat", 0, WR_OPTION_COUNT, FIELD(repeats), "N", "6", 1, 1000, NULL,
	 "runs a cell; below 6 there are no intervals", NULL},
	{"until", 0, WR_OPTION_SHARE, FIELD(until_ratio), "SHARE", NULL, 0.001, 0.5, NULL,
	 "repeat cells until their interval reaches no further than SHARE from the median", NULL},
	{"budget", 0, WR_OPTION_TIME, FIELD(budget_ns), "TIME", NULL, 1e9, 0, NULL, "begin no run after TIME", NULL},
	{"seed", 0, WR_OPTION_COUNT, FIELD(seed), "N", NULL, 0, 0, NULL, "of the order of runs (drawn and printed)", NULL},
	{"no-unset", 0, WR_OPTION_FLAG, FIELD(no_unset), NULL, NULL, 0, 0, NULL,
	 "leave out the cell with autotuning that every buffer axis has", NULL},
	{"staircase", 0, WR_OPTION_FLAG, FIELD(staircase), NULL, NULL, 0, 0, "until",
	 "step one connection down the sizes of the buffer axis, a second a size", NULL},
	{"vary", 0, WR_OPTION_TEXT, FIELD(vary), "FLAG,...", NULL, 0, 0, NULL,
	 "measure with and without these flags: --vary nodelay", NULL},
	{"cell", 0, WR_OPTION_TEXT, FIELD(face), "WHAT", "all", 0, 0, NULL,
	 "what a cell shows: all, median, mean, ci, cv, rtt, time, messages, latency", NULL},
	{"format", 0, WR_OPTION_TEXT, FIELD(format), "NAME", "text", 0, 0, NULL, "text, json, csv or markdown", NULL},
	{"plan", 0, WR_OPTION_TEXT, FIELD(plan_file), "FILE", NULL, 0, 0, "again", "measure the plan in FILE", NULL},
	{"save-plan", 0, WR_OPTION_TEXT, FIELD(save_plan), "FILE", NULL, 0, 0, NULL,
	 "write the plan to FILE and measure nothing", NULL},
	{"again", 0, WR_OPTION_TEXT, FIELD(again), "RESULT", NULL, 0, 0, "resume", "measure a result's plan once more", NULL},
	{"resume", 0, WR_OPTION_TEXT, FIELD(resume), "RESULT", NULL, 0, 0, "plan",
	 "go on with an interrupted sweep: its JSON or its stream", NULL},
	{0},
};

/* Options that all cells share: where and how long, not what. */
static const char *const never_axes[] = {"port", "time", "bytes", "interval", "bind", "connect-timeout", "cpu", "workload"};

struct wr_option wr_sweep_options[WR_MAX_OPTIONS];

static bool may_be_axis(const struct wr_option *row)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(never_axes); i++) {
		if (strcmp(row->name, never_axes[i]) == 0)
			return false;
	}
	return wr_option_find(wr_plan_options, row->name) && row->kind != WR_OPTION_FLAG && !row->repeat;
}

/* The plan's row with its text kept instead of read; help says that lists are welcome. */
static struct wr_option axis_row(const struct wr_option *row, size_t index)
{
	struct wr_option taken = *row;

	taken.kind = WR_OPTION_TEXT;
	taken.offset = offsetof(struct wr_sweep_choice, lists) + index * sizeof(const char *);
	return taken;
}

void wr_sweep_options_init(void)
{
	size_t n = 0;

	_Static_assert(offsetof(struct wr_sweep_choice, measuring) == 0, "the measuring rows hold offsets into it");
	for (const struct wr_option *row = wr_measuring_options; row->name; row++) {
		if (strcmp(row->name, "interval") == 0 || strcmp(row->name, "evidence") == 0 ||
		    strcmp(row->name, "confirm") == 0)
			continue;
		wr_sweep_options[n] = may_be_axis(row) ? axis_row(row, n) : *row;
		n++;
	}
	for (const struct wr_option *row = own_options; row->name; row++)
		wr_sweep_options[n++] = *row;
}

static int axis_add(struct wr_grid_plan *plan, const struct wr_option *row, const char *text, bool with_unset,
		    struct weir_err *err)
{
	struct wr_axis *axis = &plan->axes[plan->n_axes];

	if (plan->n_axes == WR_MAX_AXES)
		return wr_err_set(err, WEIR_ERR_USAGE, "axis", "more than %d axes", WR_MAX_AXES);
	if (wr_axis_parse(axis, row, text, err) < 0)
		return -1;
	if (with_unset && wr_axis_is_buffer(axis) && wr_axis_include_unset(axis, err) < 0)
		return -1;
	plan->n_axes++;
	return 0;
}

static int vary(struct wr_grid_plan *plan, const char *flags, struct weir_err *err)
{
	wr_auto_free char *copy = strdup(flags);
	char *rest = copy;

	while (rest) {
		const char *name = strsep(&rest, ",");
		const struct wr_option *row = wr_option_find(wr_plan_options, name);

		if (!row || row->kind != WR_OPTION_FLAG)
			return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--vary: '%.40s' is no flag of a run, as nodelay is", name);
		if (wr_grid_plan_axis(plan, name))
			return wr_err_set(err, WEIR_ERR_USAGE, "axis", "--vary names %s twice", name);
		if (axis_add(plan, row, "off,on", false, err) < 0)
			return -1;
	}
	return copy ? 0 : wr_err_memory(err, "axis");
}

static uint64_t draw_seed(void)
{
	uint32_t seed = 1;

	if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
		seed = 1;
	return seed % 1000000;
}

int wr_sweep_plan(const struct wr_sweep_choice *choice, struct wr_grid_plan *plan, struct weir_err *err)
{
	memset(plan, 0, sizeof *plan);
	wr_option_defaults(wr_plan_options, &plan->base);
	/* Rows that are no axes were read into the choice's plan; the others have texts. */
	for (size_t i = 0; wr_sweep_options[i].name; i++) {
		const struct wr_option *row = wr_option_find(wr_plan_options, wr_sweep_options[i].name);

		if (row && !may_be_axis(row))
			memcpy((char *)&plan->base + row->offset, (const char *)&choice->measuring.plan + row->offset,
			       row->kind == WR_OPTION_FLAG ? sizeof(bool) : sizeof(uint64_t));
		if (!row || !choice->lists[i])
			continue;
		if (wr_axis_is_list(choice->lists[i]) || wr_axis_is_buffer(&(struct wr_axis){.row = row})) {
			if (axis_add(plan, row, choice->lists[i], !choice->no_unset, err) < 0)
				return -1;
		} else if (wr_option_set(wr_plan_options, &plan->base, row->name, choice->lists[i], err) < 0) {
			return -1;
		}
	}
	plan->repeats = choice->repeats;
	plan->until_ratio = choice->until_ratio;
	plan->budget_ns = choice->budget_ns;
	plan->seed = choice->seed == WR_UNSET ? draw_seed() : choice->seed;
	/* A user's own write size is what is asked about; the default one is cut to whole segments. */
	plan->base.write_exact = choice->measuring.plan.write_exact || plan->base.len_bytes != WR_UNSET ||
				 plan->base.far_len_bytes != WR_UNSET || wr_grid_plan_axis(plan, "length") ||
				 wr_grid_plan_axis(plan, "far-length");
	plan->base.force = true;
	if (plan->until_ratio > 0 && plan->repeats < 6)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "--until needs intervals, so --repeat 6 at least");
	if (choice->vary && vary(plan, choice->vary, err) < 0)
		return -1;
	plan->staircase = choice->staircase;
	return plan->staircase ? wr_sweep_stairs_check(plan, err) : 0;
}

int wr_sweep_file(const struct wr_sweep_choice *choice, const char **file, struct weir_err *err)
{
	*file = choice->resume ? choice->resume : choice->again ? choice->again : choice->plan_file;
	for (size_t i = 0; *file && wr_sweep_options[i].name; i++) {
		if (choice->lists[i] && choice->lists[i] != wr_sweep_options[i].fallback)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "--%s beside a file that holds the whole plan",
					  wr_sweep_options[i].name);
	}
	return 0;
}

/* -- files -- */

static int take_plan(struct wr_grid *grid, const json_t *object, const char *file, struct weir_err *err)
{
	struct wr_grid_plan plan;

	if (wr_grid_plan_from_json(&plan, json_object_get(object, "plan"), err) < 0 ||
	    (plan.staircase && wr_sweep_stairs_check(&plan, err) < 0) || wr_grid_init(grid, &plan, err) < 0) {
		struct weir_err cause = *err;

		wr_plan_deinit(&plan.base);
		return wr_err_set(err, WEIR_ERR_USAGE, "plan", "%.100s: %.300s", file, cause.text);
	}
	return 0;
}

static int take_run(struct wr_grid *grid, const json_t *object, const char *file, struct weir_err *err)
{
	struct wr_grid_run run;

	if (wr_grid_run_from_json(&run, object, grid->n_cells, err) < 0) {
		struct weir_err cause = *err;

		return wr_err_set(err, WEIR_ERR_USAGE, "resume", "%.100s: %.300s", file, cause.text);
	}
	/* A stream ends with the result, which repeats the runs. */
	return wr_grid_has(grid, run.cell, run.block) ? 0 : wr_grid_add(grid, &run, err);
}

static int take(struct wr_grid *grid, const json_t *object, bool with_runs, const char *file, struct weir_err *err)
{
	json_t *runs = json_object_get(object, "runs"), *run;
	size_t i;

	if (!grid->cells && take_plan(grid, object, file, err) < 0)
		return -1;
	if (with_runs && json_object_get(object, "cell"))
		return take_run(grid, object, file, err);
	json_array_foreach(runs, i, run) {
		if (with_runs && take_run(grid, run, file, err) < 0)
			return -1;
	}
	return 0;
}

int wr_sweep_read(const char *file, bool with_runs, struct wr_grid *grid, char *target, size_t n_target, struct weir_err *err)
{
	FILE *in = fopen(file, "re");
	int rc = 0;

	memset(grid, 0, sizeof *grid);
	target[0] = '\0';
	if (!in)
		return wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "the plan can't be read from %.100s", file);
	for (size_t n = 0; rc == 0 && n < MAX_FILE_OBJECTS; n++) {
		json_error_t where;
		json_t *object = json_loadf(in, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &where);
		const char *named = json_string_value(json_object_get(object, "target"));

		/* A stream that was cut off ends in the middle of a line. */
		if (!object && grid->cells)
			break;
		if (!object)
			rc = wr_err_set(err, WEIR_ERR_USAGE, "plan", "%.100s:%d: no JSON object: %.200s", file, where.line, where.text);
		else
			rc = take(grid, object, with_runs, file, err);
		if (named && !target[0])
			snprintf(target, n_target, "%s", named);
		json_decref(object);
	}
	fclose(in);
	if (rc < 0)
		wr_grid_deinit(grid);
	return rc;
}

int wr_sweep_save_plan(const char *file, const struct wr_grid_plan *plan, const char *target, struct weir_err *err)
{
	json_t *object = json_pack("{s:s,s:s,s:s,s:o}", "schema", "weir.sweep-plan/1", "version", WEIR_VERSION, "target", target,
				   "plan", wr_grid_plan_to_json(plan));
	int rc;

	if (strcmp(file, "-") == 0)
		rc = json_dumpf(object, stdout, JSON_INDENT(2)) < 0 || putchar('\n') == EOF ? -1 : 0;
	else
		rc = json_dump_file(object, file, JSON_INDENT(2));
	json_decref(object);
	return rc == 0 ? 0 : wr_err_set(err, WEIR_ERR_HOST, "write", "the plan could not be written to %.100s", file);
}
