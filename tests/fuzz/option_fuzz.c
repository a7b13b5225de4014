/* SPDX-License-Identifier: MIT */
/*
 * A command line, words between blanks: whatever is typed is taken or refused with words, and a plan that was taken
 * goes through JSON unchanged. The first byte says whether options end at the first operand.
 */
#include "fuzz.h"
#include "model/plan.h"

#define MOST_WORDS 64

static void check_plan(struct wr_plan *plan)
{
	struct weir_err err = {0};
	struct wr_plan again;
	json_t *object, *object_again;

	plan->texts = NULL;
	plan->force = false;
	if (wr_plan_finish(plan, &err) < 0) {
		CHECK(err.text[0], "a plan is refused without a word");
		return;
	}
	object = wr_plan_to_json(plan);
	CHECK(wr_plan_from_json(&again, object, &err) == 0, "a plan can't be read back: %s", err.text);
	object_again = wr_plan_to_json(&again);
	CHECK(json_equal(object, object_again), "a plan changes on its way through JSON");
	json_decref(object_again);
	wr_plan_deinit(&again);
	json_decref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *words[MOST_WORDS + 1] = {"fuzz"}, *rest;
	struct wr_plan plan;
	struct weir_err err = {0};
	int argc = 1, first = 0, rc;

	if (size == 0)
		return 0;
	text = rest = fuzz_text(data + 1, size - 1);
	while (argc < MOST_WORDS && (words[argc] = strsep(&rest, " ")))
		argc++;
	words[argc] = NULL;
	memset(&plan, 0, sizeof plan);
	rc = wr_option_parse(wr_plan_options, &plan, argc, words, data[0] & 1, &first, &err);
	CHECK(rc >= -1 && rc <= 1, "wr_option_parse returns %d", rc);
	if (rc < 0)
		CHECK(err.code == WEIR_ERR_USAGE && err.text[0], "refused with code %d and '%s'", err.code, err.text);
	if (rc == 0) {
		CHECK(first >= 1 && first <= argc, "first operand %d of %d", first, argc);
		check_plan(&plan);
	}
	free(text);
	return 0;
}
