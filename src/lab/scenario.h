/* SPDX-License-Identifier: MIT */
/*
 * A scenario: a link, two ends, what runs on them, and what must come of it, from an INI file. The link's keys are the
 * options of `weir lab`, read by the same rows. Comparing is pure: the command's JSON in, a list of checks out.
 */
#ifndef WR_LAB_SCENARIO_H
#define WR_LAB_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/option.h"

#define WR_LAB_MAX_EXPECTED 32
#define WR_LAB_MAX_WORDS 64

/*
 * One thing that must be found.
 * @key: cause, side or companion (then @text), or a number's place in the command's JSON, as "near.sndbuf_eff_bytes",
 *       with cause.share_ratio for the first cause's share (then @low and @high, in the key's unit)
 */
struct wr_lab_expected {
	const char *key, *text;
	double low, high;
};

/* @command: NULL-ended argv of near, --json at its end; @far_command: or NULL. Texts belong to the scenario. */
struct wr_lab_scenario {
	const char *about, *far_command;
	char *command[WR_LAB_MAX_WORDS + 2];
	struct wr_lab_expected expected[WR_LAB_MAX_EXPECTED];
	size_t n_expected, n_texts;
	char **texts;
};

/*
 * wr_lab_scenario_parse - read one
 * @name: of the file, for messages
 * @options, @target: the rows of the [link] section and what they fill; texts point into the scenario
 * @sysctl: called with "near:KEY=VALUE" for each sysctl of an end; texts are not kept
 * @scenario: out: to be freed by wr_lab_scenario_deinit, also after a failure
 *
 * Return: 0; -1 with @err (WEIR_ERR_USAGE) naming file and line.
 */
int wr_lab_scenario_parse(const char *name, const char *text, const struct wr_option *options, void *target,
			  int (*sysctl)(void *target, const char *text, struct weir_err *err),
			  struct wr_lab_scenario *scenario, struct weir_err *err);
void wr_lab_scenario_deinit(struct wr_lab_scenario *scenario);

/*
 * wr_lab_scenario_compare - what was found beside what was expected
 * @result: of the command: weir.run/1 or weir.tune/1
 * @pass: out: whether all of it is as expected
 *
 * Return: an array of {key, expected or low and high, found (absent where there is none), pass}; NULL without memory.
 */
json_t *wr_lab_scenario_compare(const struct wr_lab_scenario *scenario, const json_t *result, bool *pass);

#endif
