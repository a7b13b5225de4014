/* SPDX-License-Identifier: MIT */
/* The noise grade at and around its limits. */
#include "stat/grade.h"

#include "stat/testing.h"

static void limits_belong_to_the_better_grade(void **state)
{
	static const struct {
		double cv_ratio;
		enum wr_stat_grade grade;
		const char *name;
	} rows[] = {
		{0, WR_STAT_GRADE_GOOD, "good"},
		{0.03, WR_STAT_GRADE_GOOD, "good"},
		{0.0301, WR_STAT_GRADE_USABLE, "usable"},
		{0.10, WR_STAT_GRADE_USABLE, "usable"},
		{0.101, WR_STAT_GRADE_POOR, "poor"},
		{0.20, WR_STAT_GRADE_POOR, "poor"},
		{0.201, WR_STAT_GRADE_UNRANKED, "unranked"},
		{INFINITY, WR_STAT_GRADE_UNRANKED, "unranked"},
		{NAN, WR_STAT_GRADE_UNRANKED, "unranked"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(wr_stat_grade(rows[i].cv_ratio), rows[i].grade);
		assert_string_equal(wr_stat_grade_name(rows[i].grade), rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_belong_to_the_better_grade),
	};

	return cmocka_run_group_tests_name("grade", tests, NULL, NULL);
}
