/* SPDX-License-Identifier: MIT */
/* Two results that anybody wrote, as [a, b]: refused, or compared with figures that hang together, in JSON and in words. */
#include <math.h>

#include "compare/compare.h"
#include "fuzz.h"
#include "report/compare.h"

static void check(const struct wr_compared *compared)
{
	const double *interval = compared->ci95_ratio;

	if (isfinite(interval[0]))
		CHECK(interval[0] <= compared->ratio * (1 + 1e-9) && interval[1] >= compared->ratio * (1 - 1e-9),
		      "the ratio %g is outside its interval %g to %g", compared->ratio, interval[0], interval[1]);
	CHECK(!(compared->p < 0) && !(compared->p > 1), "p is %g", compared->p);
	CHECK(compared->n[0] > 0 && compared->n[1] > 0, "a figure of nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"a", "b"};
	json_t *pair = json_loadb((const char *)data, size, 0, NULL), *sides[2], *object;
	struct wr_comparison comparison;
	struct weir_err err = {0};

	for (int i = 0; i < 2; i++) {
		sides[i] = json_array();
		if (json_array_get(pair, (size_t)i))
			json_array_append(sides[i], json_array_get(pair, (size_t)i));
	}
	if (wr_compare(&comparison, sides, &err) < 0) {
		CHECK(err.text[0], "results are refused without a word");
	} else {
		for (size_t i = 0; i < comparison.n_compared; i++)
			check(&comparison.compared[i]);
		object = wr_comparison_to_json(&comparison);
		CHECK(object, "no JSON");
		json_decref(object);
		CHECK(wr_report_compare_text(stdout, &comparison, names, &err) == 0, "no text");
		wr_comparison_deinit(&comparison);
	}
	json_decref(sides[0]);
	json_decref(sides[1]);
	json_decref(pair);
	return 0;
}
