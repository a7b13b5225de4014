/* SPDX-License-Identifier: MIT */
/* `weir lab`: option rows of the link, each for both directions and for one, and the command line of near. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/lab.h"

int wr_lab_add_sysctl(void *target, const char *text, struct weir_err *err)
{
	struct wr_lab_settings *settings = &((struct wr_lab_options *)target)->settings;

	if (settings->n_sysctls == WR_LAB_MAX_SYSCTLS)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "--sysctl more than %d times", WR_LAB_MAX_SYSCTLS);
	if (wr_lab_sysctl_parse(text, &settings->sysctls[settings->n_sysctls], err) < 0)
		return -1;
	settings->n_sysctls++;
	return 0;
}

#define AT(member) offsetof(struct wr_lab_options, member)
#define BOTH(name, kind, member, metavar, min, max, help) \
	{name, 0, kind, AT(wish.both.member), metavar, NULL, min, max, NULL, help, NULL},
#define NEAR(name, kind, member, metavar, min, max, help) \
	{"near-" name, 0, kind, AT(wish.ends[WR_LAB_NEAR].member), metavar, NULL, min, max, NULL, \
	 "--" name " of the packets that near sends", NULL},
#define FAR(name, kind, member, metavar, min, max, help) \
	{"far-" name, 0, kind, AT(wish.ends[WR_LAB_FAR].member), metavar, NULL, min, max, NULL, \
	 "--" name " of the packets that far sends", NULL},

const struct wr_option wr_lab_option_rows[] = {
	{"rtt", 0, WR_OPTION_TIME, AT(wish.rtt_ns), "TIME", NULL, 0, 120e9, NULL, "round-trip time, half each way; unset: 0", NULL},
	WR_LAB_WAY_OPTIONS(BOTH)
	{"offload", 0, WR_OPTION_TEXT, AT(wish.offload), "on|off", "on", 0, 0, NULL,
	 "let the ends pass super-packets, which the link accounts for by segment", NULL},
	{"mtu", 0, WR_OPTION_COUNT, AT(wish.mtu_bytes), "BYTES", "1500", WR_LAB_MIN_MTU_BYTES, WR_LAB_MAX_MTU_BYTES, NULL,
	 "of both ends", NULL},
	{"seed", 0, WR_OPTION_COUNT, AT(wish.seed), "N", "1", 0, 0, NULL,
	 "start of the random decisions: the same packets then meet the same fate", NULL},
	WR_LAB_WAY_OPTIONS(NEAR)
	WR_LAB_WAY_OPTIONS(FAR)
	{"sysctl", 0, WR_OPTION_TEXT, 0, "END:KEY=VALUE", NULL, 0, 0, NULL,
	 "set a sysctl of near or far, after the stock ones; repeatable", wr_lab_add_sysctl},
	{"congestion", 'C', WR_OPTION_TEXT, AT(congestion), "NAME", NULL, 0, 0, NULL,
	 "congestion control that weir uses at both ends; unset: cubic", NULL},
	{"far-cmd", 0, WR_OPTION_TEXT, AT(far_command), "TEXT", NULL, 0, 0, NULL,
	 "what runs on far, by sh -c; unset: weir serve; '': nothing", NULL},
	{"stats", 0, WR_OPTION_FLAG, AT(stats), NULL, NULL, 0, 0, NULL,
	 "print the link's counters at the end, on stderr or, as --stats=FILE, there", NULL},
	{"stats-file", 0, WR_OPTION_TEXT, AT(stats_file), "FILE", NULL, 0, 0, NULL, "the same as --stats=FILE", NULL},
	{"stats-json", 0, WR_OPTION_TEXT, AT(stats_json), "FILE", NULL, 0, 0, NULL,
	 "the counters as JSON, written again each half second while the lab lives", NULL},
	{0},
};

static void say(const char *line)
{
	fprintf(stderr, "weir lab: %s\n", line);
}

/* The folder of this binary leads the PATH, so that CMD may be plain `weir ...`. */
void wr_lab_weir_folder(char *folder, size_t n_folder)
{
	ssize_t n = readlink("/proc/self/exe", folder, n_folder - 1);
	char *slash;

	folder[n > 0 ? n : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

static bool in_path(const char *name, const char *path)
{
	char file[4096];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name);
		if (access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* Said before anything is set up; a name with a slash is taken as it is. */
static int check_command(char *const *command, const char *weir_folder, struct weir_err *err)
{
	if (!command[0]) {
		wr_err_set(err, WEIR_ERR_USAGE, "lab", "there is no command to run on near");
		return wr_err_hint(err, "end the options with -- and a command: weir lab --rtt 100ms -- weir tune far");
	}
	if (strchr(command[0], '/') ? access(command[0], X_OK) == 0
				    : in_path(command[0], weir_folder) || in_path(command[0], getenv("PATH")))
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "lab", "there is no program '%s' to run on near", command[0]);
}

int wr_lab_live(struct wr_lab_options *parsed, char *const *command, int *status, struct weir_err *err)
{
	struct wr_lab_settings *settings = &parsed->settings;
	char weir_folder[4096];

	wr_lab_weir_folder(weir_folder, sizeof weir_folder);
	settings->command = command;
	settings->weir_folder = weir_folder;
	settings->congestion = parsed->congestion;
	settings->far_command = parsed->far_command;
	settings->stats = (struct wr_lab_stats){
		.text = parsed->stats_file, .json = parsed->stats_json, .on_stderr = parsed->stats};
	settings->say = say;
	if (wr_lab_config_resolve(&parsed->wish, &settings->link, err) < 0 || check_command(command, weir_folder, err) < 0)
		return -1;
	return wr_lab_session_run(settings, status, err);
}

/* --stats takes a value or none; the parser knows options that do and options that don't. */
static void spell_out_stats(int argc, char **argv, char word[4096])
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strncmp(argv[i], "--stats=", 8) != 0)
			continue;
		snprintf(word, 4096, "--stats-file=%s", argv[i] + 8);
		argv[i] = word;
	}
}

void wr_lab_options_deinit(struct wr_lab_options *parsed)
{
	for (size_t i = 0; i < parsed->settings.n_sysctls; i++)
		free(parsed->settings.sysctls[i].key);
	wr_lab_config_deinit(&parsed->settings.link);
}

/* @shell: run that when no command follows the options */
static int run_command(int argc, char **argv, char *const *shell)
{
	struct wr_lab_options parsed = {0};
	struct weir_err err = {0};
	char word[4096];
	int first, status = 0, rc;

	spell_out_stats(argc, argv, word);
	rc = wr_command_options(&wr_command_lab, &parsed, argc, argv, true, &first);
	parsed.settings.foreground = shell != NULL;
	if (rc == 0 && wr_lab_live(&parsed, shell && first == argc ? shell : argv + first, &status, &err) < 0)
		status = wr_command_fail(&wr_command_lab, &err, false);
	else if (rc > 1)
		status = rc;
	wr_lab_options_deinit(&parsed);
	return status;
}

static int run_shell(int argc, char **argv)
{
	char *shell[] = {getenv("SHELL"), NULL};
	int status;

	if (!shell[0] || access(shell[0], X_OK) < 0)
		shell[0] = (char[]){"/bin/sh"};
	status = run_command(argc, argv, shell);
	wr_lab_session_take_terminal(false); /* back */
	return status;
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} words[] = {{"run", wr_lab_run_scenario}, {"list", wr_lab_list_scenarios}, {"shell", run_shell}};

	for (size_t i = 0; argc > 1 && i < WR_N_ELEMENTS(words); i++) {
		if (strcmp(argv[1], words[i].name) == 0)
			return words[i].run(argc - 1, argv + 1);
	}
	return run_command(argc, argv, NULL);
}

const struct wr_command wr_command_lab = {
	.name = "lab",
	.summary = "run a command on an emulated link, with `weir serve` at its far end",
	.usage = "[LINK OPTIONS] -- CMD... | run SCENARIO [--json] | list | shell [LINK OPTIONS]",
	.about = "Makes two network namespaces, near and far, joined by an emulated link, and runs CMD on near; its exit\n"
		 "status is the result. Both names resolve, also for other programs. Nothing of it stays behind.\n"
		 "`run` takes all of it from a scenario (a name of `list`, or an INI file) and compares what it finds with\n"
		 "what it should find, `shell` opens a shell on near.",
	.example = "  weir lab --rate 1gbit --rtt 100ms -- weir tune far\n"
		   "      a 1 Gbit/s path of 100 ms with stock limits at both ends",
	.options = wr_lab_option_rows,
	.run = run,
};
