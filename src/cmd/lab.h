/* SPDX-License-Identifier: MIT */
/* What the parts of `weir lab` share: its option rows, what they fill, and one life of a lab. */
#ifndef WR_CMD_LAB_H
#define WR_CMD_LAB_H

#include "base/option.h"
#include "lab/session.h"

struct wr_lab_options {
	struct wr_lab_wish wish;
	struct wr_lab_settings settings;
	const char *congestion, *far_command, *stats_file, *stats_json;
	bool stats;
};

extern const struct wr_option wr_lab_option_rows[];

/* wr_lab_add_sysctl - "near:KEY=VALUE" into struct wr_lab_options @target */
int wr_lab_add_sysctl(void *target, const char *text, struct weir_err *err);

/* wr_lab_weir_folder - the folder of this binary */
void wr_lab_weir_folder(char *folder, size_t n_folder);

/*
 * wr_lab_live - complete what was parsed and live one lab
 * @status: out: the near command's
 *
 * Return: 0; -1 with @err.
 */
int wr_lab_live(struct wr_lab_options *parsed, char *const *command, int *status, struct weir_err *err);
void wr_lab_options_deinit(struct wr_lab_options *parsed);

/*
 * wr_lab_each_scenario - call @each for those that are installed, by name, with what they say of themselves
 *
 * Return: how many there are.
 */
size_t wr_lab_each_scenario(void (*each)(void *context, const char *name, const char *about), void *context);

/* wr_lab_run_scenario, wr_lab_list_scenarios - `weir lab run` and `weir lab list`; argv[0] is that word. Return: the exit status. */
int wr_lab_run_scenario(int argc, char **argv);
int wr_lab_list_scenarios(int argc, char **argv);

#endif
