/* SPDX-License-Identifier: MIT */
/*
 * Rates are compared by the ratio of their geometric means. Two results were measured one after the other, so their
 * runs are independent: Welch's t test on logarithms (stat/groups.h). Only of a grid that was measured again in the
 * same order (--again: the same seed) does the i-th block of one belong to the i-th of the other; then what the order
 * or the time since the start does to a run meets both, and the runs are paired (stat/paired.h). The cells of a sweep
 * are many comparisons, so their intervals are wider (Bonferroni): all of them hold together.
 */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "compare/differ.h"
#include "compare/samples.h"
#include "stat/distribution.h"
#include "stat/groups.h"
#include "stat/paired.h"
#include "stat/rank.h"
#include "stat/summary.h"

#define LEVEL 0.95
#define POWER_Z 0.8416 /* normal quantile of 80 % */

static const char *const kinds[] = {"weir.run/1", "weir.tune/1", "weir.sweep/1"};

static const char *kind_of(const json_t *result)
{
	const char *schema = json_string_value(json_object_get(result, "schema"));

	for (size_t i = 0; schema && i < WR_N_ELEMENTS(kinds); i++) {
		if (strcmp(schema, kinds[i]) == 0)
			return kinds[i];
	}
	return NULL;
}

bool wr_compare_comparable(const json_t *result)
{
	const char *kind = kind_of(result);

	/* A sweep's stream opens with its plan. */
	return kind && (strcmp(kind, "weir.sweep/1") != 0 || json_is_array(json_object_get(result, "cells")));
}

/* -- one figure -- */

static bool all_positive(const struct wr_runs *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		if (runs->values[i] <= 0)
			return false;
	}
	return runs->n > 0;
}

static bool may_pair(const struct wr_runs *a, const struct wr_runs *b)
{
	return a->n == b->n && a->n > 1 && all_positive(a) && all_positive(b) &&
	       memcmp(a->blocks, b->blocks, a->n * sizeof *a->blocks) == 0;
}

static void cell_of(struct wr_stat_cell *cell, const struct wr_runs *runs)
{
	struct wr_stat_run *copies = calloc(runs->n + 1, sizeof *copies);

	*cell = (struct wr_stat_cell){0, NAN, NAN};
	for (size_t i = 0; copies && i < runs->n; i++)
		copies[i].value = runs->values[i];
	if (copies)
		wr_stat_cells(cell, 1, copies, runs->n);
	free(copies);
}

static void judge_unpaired(struct wr_compared *out, const struct wr_runs sides[2], size_t n_comparisons, double *scratch)
{
	struct wr_stat_mann_whitney rank;
	struct wr_stat_interval interval;
	struct wr_stat_cell cells[2];
	struct wr_stat_pair pair;

	for (int side = 0; side < 2; side++)
		cell_of(&cells[side], &sides[side]);
	out->ratio = wr_stat_cells_ratio(&interval, &cells[1], &cells[0], n_comparisons, LEVEL);
	if (!isfinite(interval.low))
		return;
	out->ci95_ratio[0] = interval.low;
	out->ci95_ratio[1] = interval.high;
	wr_stat_pairs(&pair, cells, 2, 0);
	out->p = fmin(1, pair.single_p * (double)n_comparisons);
	out->min_effect_ratio = wr_stat_min_effect(cells, 2, n_comparisons, 0, 1 - LEVEL);
	if (wr_stat_mann_whitney(&rank, sides[0].values, sides[0].n, sides[1].values, sides[1].n, scratch) == WR_STAT_DONE)
		out->rank_p = rank.p;
}

static void judge_paired(struct wr_compared *out, const struct wr_runs sides[2], size_t n_comparisons, double *scratch)
{
	size_t n = sides[0].n;
	double df = (double)n - 1, t = wr_stat_t_quantile(1 - (1 - LEVEL) / (double)n_comparisons, df), error;
	struct wr_stat_paired paired;

	wr_stat_paired(&paired, sides[0].values, sides[1].values, n, 1, scratch);
	error = paired.sd_log / sqrt((double)n);
	out->paired = true;
	out->ratio = paired.ratio;
	out->ci95_ratio[0] = paired.ratio * exp(-t * error);
	out->ci95_ratio[1] = paired.ratio * exp(t * error);
	out->p = error > 0 ? fmin(1, (double)n_comparisons * wr_stat_t_tail(log(paired.ratio) / error, df)) : paired.ratio == 1;
	out->rank_p = paired.wilcoxon_p;
	out->min_effect_ratio = expm1((t + POWER_Z) * error);
}

/* @out: its names are there. @n_comparisons: how many intervals must hold together; 0 is one. */
static void judge(struct wr_compared *out, const struct wr_runs sides[2], bool pair, size_t n_comparisons, double *scratch)
{
	out->ratio = out->ci95_ratio[0] = out->ci95_ratio[1] = out->p = out->rank_p = out->min_effect_ratio = NAN;
	for (int side = 0; side < 2; side++) {
		out->n[side] = sides[side].n;
		out->median[side] = wr_stat_median(sides[side].values, sides[side].n, scratch);
	}
	n_comparisons = n_comparisons ? n_comparisons : 1;
	if (pair && may_pair(&sides[0], &sides[1]))
		judge_paired(out, sides, n_comparisons, scratch);
	else
		judge_unpaired(out, sides, n_comparisons, scratch);
	out->outcome = !isfinite(out->ci95_ratio[0]) ? WR_OUTCOME_SINGLE : out->ci95_ratio[1] < 1 ? WR_OUTCOME_LOWER
		     : out->ci95_ratio[0] > 1	       ? WR_OUTCOME_HIGHER
						       : WR_OUTCOME_UNDECIDED;
}

/* -- all -- */

/* The same order of runs: the same plan, measured again. */
static bool same_order(json_t *const sides[2])
{
	const json_t *a = json_array_get(sides[0], 0), *b = json_array_get(sides[1], 0);

	return json_array_size(sides[0]) == 1 && json_array_size(sides[1]) == 1 && json_object_get(a, "seed") &&
	       json_equal(json_object_get(a, "seed"), json_object_get(b, "seed")) &&
	       json_equal(json_object_get(a, "axes"), json_object_get(b, "axes"));
}

static bool on_both(const struct wr_samples *row)
{
	return row->sides[0].n > 0 && row->sides[1].n > 0;
}

static size_t most_runs(const struct wr_sample_table *table)
{
	size_t most = 0;

	for (size_t i = 0; i < table->n_rows; i++) {
		for (int side = 0; side < 2; side++)
			most = table->rows[i].sides[side].n > most ? table->rows[i].sides[side].n : most;
	}
	return most;
}

/* Each block's geometric mean over the cells that both sides have whole: cells of one block may move together. */
static int block_means(const struct wr_sample_table *table, int side, struct wr_runs *out, struct weir_err *err)
{
	size_t n_cells = 0, n_blocks = SIZE_MAX;

	for (size_t i = 0; i < table->n_rows; i++) {
		const struct wr_samples *row = &table->rows[i];

		if (!on_both(row))
			continue;
		if (!all_positive(&row->sides[0]) || !all_positive(&row->sides[1]))
			return 0;
		n_cells++;
		n_blocks = row->sides[side].n < n_blocks ? row->sides[side].n : n_blocks;
	}
	if (n_cells == 0)
		return 0;
	out->values = calloc(n_blocks, sizeof *out->values);
	out->blocks = calloc(n_blocks, sizeof *out->blocks);
	if (!out->values || !out->blocks)
		return wr_err_memory(err, "compare");
	for (size_t block = 0; block < n_blocks; block++) {
		for (size_t i = 0; i < table->n_rows; i++) {
			if (on_both(&table->rows[i]))
				out->values[block] += log(table->rows[i].sides[side].values[block]) / (double)n_cells;
		}
		out->values[block] = exp(out->values[block]);
		out->blocks[block] = (uint32_t)block;
	}
	out->n = n_blocks;
	return 0;
}

static int judge_overall(struct wr_comparison *out, const struct wr_sample_table *table, bool pair, double *scratch,
			 struct weir_err *err)
{
	struct wr_runs sides[2] = {{0}};
	int rc = 0;

	out->overall = (struct wr_compared){.ratio = NAN};
	for (int side = 0; side < 2 && rc == 0; side++)
		rc = block_means(table, side, &sides[side], err);
	if (rc == 0 && sides[0].n > 0) {
		for (size_t i = 0; pair && i < table->n_rows; i++)
			pair = !on_both(&table->rows[i]) || may_pair(&table->rows[i].sides[0], &table->rows[i].sides[1]);
		judge(&out->overall, sides, pair, 1, scratch);
		out->overall.title = "All cells";
	}
	for (int side = 0; side < 2; side++) {
		free(sides[side].values);
		free(sides[side].blocks);
	}
	return rc;
}

static int judge_all(struct wr_comparison *out, struct wr_sample_table *table, json_t *const sides[2], struct weir_err *err)
{
	wr_auto_free double *scratch = calloc(2 * most_runs(table) + 1, sizeof *scratch);
	bool pair = same_order(sides);
	size_t n_comparisons = 0;

	out->compared = calloc(table->n_rows + 1, sizeof *out->compared);
	if (!scratch || !out->compared)
		return wr_err_memory(err, "compare");
	for (size_t i = 0; i < table->n_rows; i++)
		n_comparisons += table->index && table->rows[i].sides[0].n > 1 && table->rows[i].sides[1].n > 1;
	for (size_t i = 0; i < table->n_rows; i++) {
		struct wr_samples *row = &table->rows[i];
		struct wr_compared *compared = &out->compared[out->n_compared];

		if (!on_both(row)) {
			if (row->cell)
				json_array_append(out->only[row->sides[0].n == 0], row->cell);
			continue;
		}
		*compared = (struct wr_compared){.figure = row->figure->path, .title = row->figure->title,
						 .judged = row->figure->judged, .cell = json_incref(row->cell)};
		judge(compared, row->sides, pair, n_comparisons, scratch);
		out->n_compared++;
	}
	return table->index ? judge_overall(out, table, pair, scratch, err) : 0;
}

static int check_kinds(const char **schema, json_t *const sides[2], struct weir_err *err)
{
	*schema = NULL;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < json_array_size(sides[side]); i++) {
			const char *kind = kind_of(json_array_get(sides[side], i));

			if (!kind)
				return wr_err_set(err, WEIR_ERR_USAGE, "compare", "only results of run, sweep and tune can be compared");
			if (*schema && kind != *schema)
				return wr_err_set(err, WEIR_ERR_USAGE, "compare", "a %s and a %s have nothing in common to compare", *schema,
						  kind);
			*schema = kind;
		}
		if (json_array_size(sides[side]) == 0)
			return wr_err_set(err, WEIR_ERR_USAGE, "compare", "there is nothing to compare");
	}
	return 0;
}

int wr_compare(struct wr_comparison *out, json_t *const sides[2], struct weir_err *err)
{
	struct wr_sample_table table = {0};
	int rc;

	*out = (struct wr_comparison){.overall.ratio = NAN, .only = {json_array(), json_array()}};
	rc = check_kinds(&out->schema, sides, err);
	if (rc == 0)
		rc = wr_samples_collect(&table, out->schema, sides, err);
	if (rc == 0)
		rc = judge_all(out, &table, sides, err);
	if (rc == 0)
		wr_differ(out, json_array_get(sides[0], 0), json_array_get(sides[1], 0));
	wr_samples_deinit(&table);
	if (rc < 0)
		wr_comparison_deinit(out);
	return rc;
}
