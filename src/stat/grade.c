/* SPDX-License-Identifier: MIT */
/* The noise grade: three limits. Written so that a NaN falls through to the last row. */
#include "stat/grade.h"

#include <assert.h>
#include <stddef.h>

static const struct {
	double max_cv_ratio;
	const char *name;
} grades[] = {
	[WR_STAT_GRADE_GOOD] = {0.03, "good"},
	[WR_STAT_GRADE_USABLE] = {0.10, "usable"},
	[WR_STAT_GRADE_POOR] = {0.20, "poor"},
	[WR_STAT_GRADE_UNRANKED] = {0, "unranked"},
};

enum wr_stat_grade wr_stat_grade(double cv_ratio)
{
	enum wr_stat_grade grade = WR_STAT_GRADE_GOOD;

	while (grade < WR_STAT_GRADE_UNRANKED && !(cv_ratio <= grades[grade].max_cv_ratio))
		grade++;
	return grade;
}

const char *wr_stat_grade_name(enum wr_stat_grade grade)
{
	assert((size_t)grade < sizeof grades / sizeof grades[0]);
	return grades[grade].name;
}
