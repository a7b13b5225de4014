/* SPDX-License-Identifier: MIT */
/*
 * From init's fork to the commands' own program, and the wait until far listens. What is said when one of them can't be
 * run is said by its own process, which is still weir's.
 */
#include "lab/ends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/linux/netns.h"

#define LISTEN_WAIT_NS (2 * WR_NS_PER_S)
#define LISTEN_POLL_MS 2

/* Before exec: what the tool changed for itself must not reach the commands. */
static void restore_signals(const sigset_t *mask)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static void set_environment(const struct wr_lab_init *init, int end)
{
	const char *path = getenv("PATH");
	char inode[32], page[32], led[8192];

	snprintf(inode, sizeof inode, "%llu", (unsigned long long)wr_netns_inode(init->bed.netns_fds[end]));
	setenv("WEIR_LAB", inode, 1);
	/* Pid 1 is init, and /proc the lab's own: who runs as the lab's user may open what it holds open. */
	snprintf(page, sizeof page, "/proc/1/fd/%d", init->lateness_fd);
	setenv("WEIR_LAB_LATENESS", page, 1);
	setenv("WEIR_CONGESTION", init->congestion, 1);
	snprintf(led, sizeof led, "%s:%s", init->settings->weir_folder, path ? path : "/usr/local/bin:/usr/bin:/bin");
	setenv("PATH", led, 1);
}

_Noreturn void wr_lab_far_run(const struct wr_lab_init *init)
{
	const char *text = init->settings->far_command;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is the near command's alone */
	set_environment(init, WR_LAB_FAR);
	restore_signals(&init->old_mask);
	if (text)
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	else
		execl("/proc/self/exe", "weir", "serve", "--quiet", (char *)NULL);
	wr_lab_init_say(init, "can't run %s: %s", text ? "/bin/sh" : "weir serve", strerror(errno));
	_exit(127);
}

_Noreturn void wr_lab_near_run(const struct wr_lab_init *init)
{
	struct weir_err err = {0};

	if (wr_netns_enter(init->bed.netns_fds[WR_LAB_NEAR], &err) < 0) {
		wr_lab_init_say(init, "%s", err.text);
		_exit(WEIR_ERR_HOST);
	}
	set_environment(init, WR_LAB_NEAR);
	if (init->settings->foreground)
		wr_lab_session_take_terminal(true);
	restore_signals(&init->old_mask);
	execvp(init->settings->command[0], init->settings->command);
	wr_lab_init_say(init, "can't run %s: %s", init->settings->command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static bool table_has_listener(const char *table)
{
	char path[64], line[512];
	bool found = false;
	FILE *in;

	/* Init itself is still in far's namespace. */
	snprintf(path, sizeof path, "/proc/self/net/%s", table);
	in = fopen(path, "re");
	while (in && !found && fgets(line, sizeof line, in)) {
		unsigned state;

		found = sscanf(line, "%*d: %*[0-9A-Fa-f]:%*x %*[0-9A-Fa-f]:%*x %x", &state) == 1 && state == 0x0a;
	}
	if (in)
		fclose(in);
	return found;
}

/* Whether the far command left anyone behind, as a daemon does: a process besides init and the link. */
static bool others_live(void)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	int n = 0;

	while (folder && (entry = readdir(folder)))
		n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	if (folder)
		closedir(folder);
	return n > 2;
}

const char *wr_lab_far_name(const struct wr_lab_init *init)
{
	return init->settings->far_command ? init->settings->far_command : "weir serve";
}

/* Until far listens; a far command that fails first is an error, one that never listens is not. */
int wr_lab_far_wait(struct wr_lab_init *init, struct weir_err *err)
{
	int64_t until_ns = wr_clock_ns() + (int64_t)LISTEN_WAIT_NS;

	while (wr_clock_ns() < until_ns) {
		wr_lab_init_reap(init);
		if (table_has_listener("tcp") || table_has_listener("tcp6"))
			return 0;
		if (init->far < 0 && init->far_status == 0 && !others_live())
			return 0;
		if (init->far < 0 && init->far_status != 0) {
			wr_err_set(err, WEIR_ERR_HOST, "far", "'%s' on far ended with status %d before it listened",
				   wr_lab_far_name(init), init->far_status);
			return wr_err_hint(err, "its own words stand above; it ran in far's namespace by sh -c");
		}
		poll(NULL, 0, LISTEN_POLL_MS);
	}
	wr_lab_init_say(init, "'%s' on far does not listen on a TCP port after 2 s; going on", wr_lab_far_name(init));
	return 0;
}
