/* SPDX-License-Identifier: MIT */
/*
 * The switches: user.max_*_namespaces are the kernel's own limits (namespaces(7)); kernel.unprivileged_userns_clone is a
 * patch of Debian's and others' kernels, kernel.apparmor_restrict_unprivileged_userns one of Ubuntu's since 23.10, where
 * the namespace comes into being but its root may do nothing. A seccomp filter (Docker's) and a chroot say EPERM.
 */
#include "os/linux/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/host.h"

#define AS_ROOT "or run it as root (sudo)"

/* A lab has a namespace of each kind, two for the network. */
static const struct {
	const char *key;
	unsigned long least;
	const char *plenty;
} limits[] = {
	{"kernel.unprivileged_userns_clone", 1, "1"},
	{"user.max_user_namespaces", 1, "1000"},
	{"user.max_pid_namespaces", 1, "1000"},
	{"user.max_mnt_namespaces", 1, "1000"},
	{"user.max_net_namespaces", 2, "1000"},
};

static bool may_make_namespaces(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	uint32_t needed = 1U << CAP_SYS_ADMIN | 1U << CAP_NET_ADMIN;

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & needed) == needed;
}

/* Before anything is made: a limit that leaves no room. */
static int check_limits(struct weir_err *err)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(limits); i++) {
		char text[64];

		if (wr_sysctl_read(limits[i].key, text, sizeof text) < 0 || strtoul(text, NULL, 10) >= limits[i].least)
			continue;
		wr_err_set(err, WEIR_ERR_HOST, "namespaces", "%s is %s: an ordinary user can't make the namespaces of a lab",
			   limits[i].key, text);
		return wr_err_hint(err, "let root set it: sysctl -w %s=%s, " AS_ROOT, limits[i].key, limits[i].plenty);
	}
	return 0;
}

int wr_userns_explain(const char *operation, int saved, struct weir_err *err)
{
	char restricted[8];

	if (saved == ENOSPC || saved == EUSERS) {
		wr_err_set(err, WEIR_ERR_HOST, operation, "there are as many namespaces as user.max_*_namespaces allow");
		return wr_err_hint(err, "let root raise the limit that is too low (sysctl user), " AS_ROOT);
	}
	if (access("/proc/self/ns/user", F_OK) < 0) {
		wr_err_set(err, WEIR_ERR_HOST, operation, "this kernel has no user namespaces (CONFIG_USER_NS)");
		return wr_err_hint(err, "run it as root (sudo)");
	}
	if (wr_sysctl_read("kernel.apparmor_restrict_unprivileged_userns", restricted, sizeof restricted) == 0 &&
	    restricted[0] != '0') {
		wr_err_set(err, WEIR_ERR_HOST, operation, "kernel.apparmor_restrict_unprivileged_userns is %s: an ordinary user "
			   "may do nothing in a user namespace", restricted);
		return wr_err_hint(err, "let root set it to 0, or give weir an AppArmor profile with userns, " AS_ROOT);
	}
	wr_err_errno(err, WEIR_ERR_HOST, operation, saved, "a container, its seccomp filter or a chroot forbids user namespaces");
	return wr_err_hint(err, "run it as root (sudo), outside or in a container with --privileged");
}

int wr_userns_fork(struct wr_userns *userns, pid_t *pid, struct weir_err *err)
{
	*userns = (struct wr_userns){.needed = !may_make_namespaces(), .uid = geteuid(), .gid = getegid()};
	if (userns->needed && check_limits(err) < 0)
		return -1;
	fflush(NULL);
	/* Not unshare(2): that would move the caller's later children, too, and the caller into the user namespace for good. */
	*pid = (pid_t)syscall(SYS_clone, (userns->needed ? CLONE_NEWUSER : 0UL) | CLONE_NEWPID | SIGCHLD, 0UL, 0UL, 0UL, 0UL);
	if (*pid >= 0)
		return 0;
	if (userns->needed)
		return wr_userns_explain("clone CLONE_NEWUSER", errno, err);
	return wr_err_errno(err, WEIR_ERR_HOST, "clone CLONE_NEWPID", errno, "can't make a PID namespace");
}

static int write_text(const char *path, const char *text)
{
	wr_auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

int wr_userns_become_root(const struct wr_userns *userns, struct weir_err *err)
{
	char uids[32], gids[32];

	if (!userns->needed)
		return 0;
	snprintf(uids, sizeof uids, "0 %u 1", userns->uid);
	snprintf(gids, sizeof gids, "0 %u 1", userns->gid);
	/* A user may map its group only when nobody there can leave one: user_namespaces(7). */
	if (write_text("/proc/self/setgroups", "deny") < 0 || write_text("/proc/self/uid_map", uids) < 0 ||
	    write_text("/proc/self/gid_map", gids) < 0)
		return wr_userns_explain("write uid_map", errno, err);
	return 0;
}
