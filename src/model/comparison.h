/* SPDX-License-Identifier: MIT */
/*
 * Two results, or two sets of results, side by side: each figure that both have, with as much certainty as their runs
 * allow, and what else differs between them. Plain data.
 */
#ifndef WR_MODEL_COMPARISON_H
#define WR_MODEL_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "weir/err.h"

/*
 * What the two sets of runs say of a figure.
 *
 * SINGLE: one run on a side, so there is no interval; UNDECIDED: the interval of the ratio holds 1
 */
enum wr_outcome { WR_OUTCOME_SINGLE, WR_OUTCOME_UNDECIDED, WR_OUTCOME_LOWER, WR_OUTCOME_HIGHER, WR_N_OUTCOMES };

extern const char *const wr_outcome_names[WR_N_OUTCOMES];

/*
 * One figure of both sides, in the figure's own unit.
 *
 * @figure: its path in the result, static: "throughput_bps", "baseline.throughput_bps"
 * @title: for people, static
 * @cell: of a sweep: the values of its axes; NULL elsewhere; owned
 * @judged: a rate that this comparison is about: lower is worse
 * @n: runs of each side; @median of each side
 * @ratio: geometric mean of the second side over that of the first; NaN where a value isn't above 0
 * @ci95_ratio: its 95 % interval; of the cells of a sweep all together hold their truths with that probability;
 *	NaN where a side has one run
 * @p: two-sided, of the same test; @rank_p: of Wilcoxon's or Mann and Whitney's, for this figure alone; NaN without
 * @min_effect_ratio: the relative difference that would have been seen with 80 % probability; NaN unknown
 * @paired: run by run
 */
struct wr_compared {
	const char *figure, *title;
	json_t *cell;
	bool judged, paired;
	size_t n[2];
	double median[2], ratio, ci95_ratio[2], p, rank_p, min_effect_ratio;
	enum wr_outcome outcome;
};

/* One fact or option that differs. @where: static, "host"; @values: NULL absent; owned */
struct wr_difference {
	const char *where;
	char key[96];
	json_t *values[2];
};

#define WR_MAX_DIFFERENCES 128
#define WR_MAX_COMPARED 4096

/*
 * @schema: of all results, static
 * @sources: of each side an array of {id or file, command, target, started, version}; owned
 * @overall: of all cells that both have, together; its n are blocks; ratio NaN without
 * @only: cells that only that side has, an array of their axes' values; owned
 */
struct wr_comparison {
	const char *schema;
	json_t *sources[2], *only[2];
	struct wr_compared *compared;
	size_t n_compared;
	struct wr_compared overall;
	struct wr_difference differences[WR_MAX_DIFFERENCES];
	size_t n_differences, n_differences_left_out;
};

void wr_comparison_deinit(struct wr_comparison *comparison);

/*
 * wr_compared_is_worse - whether a judged figure fell by more than @margin_ratio, and not by chance as far as can be told
 *
 * Where there is no interval the ratio alone decides.
 */
bool wr_compared_is_worse(const struct wr_compared *compared, double margin_ratio);

/* wr_comparison_to_json - sources, figures, overall, only, differences of weir.compare/1. NULL out of memory. */
json_t *wr_comparison_to_json(const struct wr_comparison *comparison);

#endif
