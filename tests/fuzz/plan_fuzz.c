/* SPDX-License-Identifier: MIT */
/* A plan as a peer sends it: refused, or in bounds and the same after another turn through JSON. */
#include "fuzz.h"
#include "model/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *object = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL), *first, *second;
	struct weir_err err = {0};
	struct wr_plan plan, again;

	if (!object)
		return 0;
	if (wr_plan_from_json(&plan, object, &err) < 0) {
		CHECK(err.text[0], "a plan is refused without a word");
		json_decref(object);
		return 0;
	}
	json_decref(object);
	CHECK(plan.streams >= 1 && plan.streams <= WR_MAX_STREAMS, "%llu streams", (unsigned long long)plan.streams);
	first = wr_plan_to_json(&plan);
	CHECK(wr_plan_from_json(&again, first, &err) == 0, "a plan can't be read back: %s", err.text);
	second = wr_plan_to_json(&again);
	CHECK(json_equal(first, second), "a plan changes on its way through JSON");
	json_decref(second);
	wr_plan_deinit(&again);
	json_decref(first);
	wr_plan_deinit(&plan);
	return 0;
}
