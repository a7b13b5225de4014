/* SPDX-License-Identifier: MIT */
/*
 * A scenario file: refused with its line, or with a command, something expected and bounds that are bounds; and what it
 * expects is compared with a result without surprise.
 */
#include "fuzz_link.h"
#include "lab/scenario.h"

static int n_sysctls;

static int take_sysctl(void *target, const char *text, struct weir_err *err)
{
	(void)target;
	(void)err;
	CHECK(strncmp(text, "near:net.", 9) == 0 || strncmp(text, "far:net.", 8) == 0, "a sysctl '%s'", text);
	CHECK(strchr(text, '='), "a sysctl without a value: '%s'", text);
	n_sysctls++;
	return 0;
}

/* Rows whose file would be opened are no part of this target; resolving what was read is link_fuzz's. */
static void check_scenario(const struct wr_lab_scenario *scenario)
{
	static const char *const results[] = {
		"{\"throughput_bps\":9e7,\"near\":{\"sndbuf_eff_bytes\":212992},\"verdict\":{\"causes\":[{\"cause\":\"path-limited\","
		"\"side\":\"path\",\"share_ratio\":0.9},{\"cause\":\"bufferbloat\",\"side\":\"path\"}]}}",
		"{\"verdict\":{\"causes\":{\"0\":1}},\"near\":[],\"throughput_bps\":\"fast\"}",
	};
	size_t n_words = 0;

	while (scenario->command[n_words])
		n_words++;
	CHECK(n_words >= 4 && n_words <= WR_LAB_MAX_WORDS + 1, "%zu words", n_words);
	CHECK(strcmp(scenario->command[n_words - 1], "--json") == 0, "no --json");
	CHECK(scenario->n_expected >= 1 && scenario->n_expected <= WR_LAB_MAX_EXPECTED, "%zu expected", scenario->n_expected);
	for (size_t i = 0; i < scenario->n_expected; i++)
		CHECK(scenario->expected[i].text || scenario->expected[i].low <= scenario->expected[i].high, "nothing inside %s",
		      scenario->expected[i].key);
	for (int i = 0; i < 2; i++) {
		json_t *result = json_loads(results[i], 0, NULL), *checks;
		bool pass, all = true;

		checks = wr_lab_scenario_compare(scenario, result, &pass);
		CHECK(json_array_size(checks) == scenario->n_expected, "%zu checks", json_array_size(checks));
		for (size_t k = 0; k < scenario->n_expected; k++)
			all &= json_is_true(json_object_get(json_array_get(checks, k), "pass"));
		CHECK(all == pass, "passed as a whole but not in parts");
		json_decref(checks);
		json_decref(result);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct wr_lab_scenario scenario;
	struct wr_lab_wish wish;
	struct weir_err err = {0};

	memset(&wish, 0, sizeof wish);
	wr_option_defaults(link_rows, &wish);
	if (wr_lab_scenario_parse("file", text, link_rows, &wish, take_sysctl, &scenario, &err) < 0)
		CHECK(err.code == WEIR_ERR_USAGE && strncmp(err.text, "file:", 5) == 0, "refused with code %d and '%s'", err.code,
		      err.text);
	else
		check_scenario(&scenario);
	wr_lab_scenario_deinit(&scenario);
	free(text);
	return 0;
}
