/* SPDX-License-Identifier: MIT */
/* How far repeated runs may be trusted, from the coefficient of variation of their means. */
#ifndef WR_STAT_GRADE_H
#define WR_STAT_GRADE_H

/* Ordered from best to worst. */
enum wr_stat_grade {
	WR_STAT_GRADE_GOOD, /* cv <= 3 % */
	WR_STAT_GRADE_USABLE, /* cv <= 10 % */
	WR_STAT_GRADE_POOR, /* cv <= 20 % */
	WR_STAT_GRADE_UNRANKED, /* above, or unknown: settings must not be ranked */
};

/*
 * wr_stat_grade - the grade of a coefficient of variation
 * @cv_ratio: sd / mean of per-connection means, 0.03 for 3 %; NaN (unknown) grades as unranked.
 * Samples within one connection vary by 20 % and more on a healthy path and are not what this is
 * for.
 *
 * Source: our own lab runs. 20 % is the usual refusal line: with 12 pairs a change below 16 % can't
 * be seen. 3 % lets 6 pairs see 3.4 % (2.8 sd / sqrt n).
 */
enum wr_stat_grade wr_stat_grade(double cv_ratio);

/* wr_stat_grade_name - Return: "good", "usable", "poor" or "unranked". */
const char *wr_stat_grade_name(enum wr_stat_grade grade);

#endif
