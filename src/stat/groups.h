/* SPDX-License-Identifier: MIT */
/*
 * The cells of a grid beside each other: which can't be told apart, how they compare with the best,
 * and how small a difference the grid could have shown at all. Larger values are better; of a time
 * give the reciprocal.
 *
 * Every pair of cells is compared by Welch's t test on logarithms (cells may differ in noise), and
 * Holm's steps hold the whole family: with 95 % probability no pair is told apart that is equal. Rank
 * tests can't do that here: with 6 runs each Mann and Whitney's p is never below 0.0022, so of 23
 * pairs or more none would ever be told apart. docs/methodology.md has the measured error rates and
 * powers.
 */
#ifndef WR_STAT_GROUPS_H
#define WR_STAT_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "stat/interval.h"

/* One run of a grid: its cell, and what it gave, in any unit. */
struct wr_stat_run {
	uint32_t cell;
	double value;
};

/* -- cells -- */

/*
 * @n_runs: with a value above 0 and finite; others have no logarithm and are left out
 * @mean_log: mean of ln value; NaN without runs
 * @var_log: its sample variance (divisor n - 1); NaN for fewer than 2 runs; the root is close to the
 * coefficient of variation where that is small
 */
struct wr_stat_cell {
	size_t n_runs;
	double mean_log, var_log;
};

/*
 * wr_stat_cells - the figures of each cell
 * @cells: out: room for @n_cells
 * @runs: @n_runs in any order, their cells below @n_cells
 */
void wr_stat_cells(struct wr_stat_cell *cells, size_t n_cells, const struct wr_stat_run *runs,
		   size_t n_runs);

/* -- pairs -- */

/*
 * Two cells of at least 2 runs each.
 *
 * @single_p: of Welch's test of this pair alone
 * @p: adjusted for all pairs of the grid: they are told apart where it is below the error rate
 */
struct wr_stat_pair {
	uint32_t first, second; /* first < second */
	double single_p, p;
};

/* The pairs of @n_cells cells. */
#define WR_STAT_N_PAIRS(n_cells) ((n_cells) * ((n_cells) - 1) / 2)

/*
 * wr_stat_pairs - compare each cell with each other
 * @pairs: out: room for WR_STAT_N_PAIRS(@n_cells); those of cells with fewer than 2 runs have p 1 and
 * don't count as comparisons
 * @cells: @n_cells from wr_stat_cells(); 2 or more for there to be a pair
 * @margin_ratio: a difference up to it doesn't matter, so only what is larger is told apart: 0.01 for
 * 1 %; 0 none
 *
 * Cost: a t tail a pair and two sorts; half a second for 1024 cells.
 * Return: how many comparisons count.
 * Source: Welch, "The Generalization of 'Student's' Problem When Several Different Population
 * Variances Are Involved", Biometrika 34, 1947; Holm, "A Simple Sequentially Rejective Multiple Test
 * Procedure", Scandinavian Journal of Statistics 6(2), 1979.
 */
size_t wr_stat_pairs(struct wr_stat_pair *pairs, const struct wr_stat_cell *cells, size_t n_cells,
		     double margin_ratio);

/* wr_stat_pair_p - the adjusted p of two cells in either order, from wr_stat_pairs(); 1 for a cell itself. */
double wr_stat_pair_p(const struct wr_stat_pair *pairs, size_t n_cells, size_t a, size_t b);

/*
 * wr_stat_cells_ratio - how a cell compares with another: geometric mean / geometric mean
 * @interval: out: of the ratio, at @level; all of @n_comparisons such intervals together hold their
 * truths with that probability; NaN with coverage 0 where a cell has fewer than 2 runs
 * @n_comparisons: from wr_stat_pairs(); 1 for an interval of this pair alone
 *
 * Return: the ratio; NaN where a cell has no runs.
 * Source: Welch's t and Bonferroni's inequality.
 */
double wr_stat_cells_ratio(struct wr_stat_interval *interval, const struct wr_stat_cell *cell,
			   const struct wr_stat_cell *base, size_t n_comparisons, double level);

/* -- groups -- */

#define WR_STAT_NOT_RANKED (-1)

/*
 * wr_stat_groups - cells that can't be told apart
 * @groups: out: @n_cells; 0: the cell of the highest geometric mean and all that can't be told from
 * it; 1: the highest of the others and all of them that can't be told from that one; and so on;
 * WR_STAT_NOT_RANKED for fewer than 2 runs
 * @best: out: the highest cell; @n_cells where none is ranked; may be NULL
 * @error_rate: 0.05: with 95 % probability no cells that are equal are in different groups
 * @scratch: room for @n_cells
 *
 * Cells of different groups may still be hard to tell from each other: only the first of each group
 * is told from all of the later ones. wr_stat_pair_p() answers for any two.
 *
 * Return: how many groups.
 */
int wr_stat_groups(int *groups, size_t *best, const struct wr_stat_cell *cells, size_t n_cells,
		   const struct wr_stat_pair *pairs, double error_rate, size_t *scratch);

/*
 * wr_stat_min_effect - the smallest difference that the grid would have shown
 * @n_comparisons, @margin_ratio, @error_rate: as they were used
 *
 * Of two cells with the pooled within-cell variance and the harmonic mean of the cells' runs, tested
 * among as many comparisons. Print it beside "can't be told apart".
 *
 * Return: the relative difference that is told apart with 80 % probability, 0.057 for 5.7 %; NaN
 * where no two cells have 2 runs.
 */
double wr_stat_min_effect(const struct wr_stat_cell *cells, size_t n_cells, size_t n_comparisons,
			  double margin_ratio, double error_rate);

/* -- along an axis -- */

/*
 * Where a larger size stops paying.
 *
 * @index: in the order of sizes, the smallest from which on, up to the fastest, none can be told from
 * the fastest: more than this buys nothing that the grid could show
 * @best_index: the fastest
 * @gain_ratio: what the fastest carries more than @index, 0.01 for 1 %; 0 where they are the same
 * @gain_interval: of it, simultaneous with all comparisons: say its upper end, for "can't be told
 * apart" in a noisy grid may hide a lot
 */
struct wr_stat_enough {
	size_t index, best_index;
	double gain_ratio;
	struct wr_stat_interval gain_interval;
};

/*
 * wr_stat_enough - the knee that the comparison of cells supports
 * @order: @n_sizes cells along an axis, size ascending; those that aren't ranked are passed over
 * @n_comparisons: from wr_stat_pairs(); @error_rate: 0.05
 *
 * Return: WR_STAT_DONE; WR_STAT_TOO_FEW when fewer than 2 of them are ranked (@out undefined).
 */
int wr_stat_enough(struct wr_stat_enough *out, const size_t *order, size_t n_sizes,
		   const struct wr_stat_cell *cells, size_t n_cells, const struct wr_stat_pair *pairs,
		   size_t n_comparisons, double error_rate);

#endif
