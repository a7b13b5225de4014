/* SPDX-License-Identifier: MIT */
/*
 * Network namespaces and their sysctls. /proc/sys/net shows the namespace of the task that opens the file, so
 * entering comes first. net.core.*mem_* exists in a namespace but is read-only there (tried on 6.18).
 */
#include "os/linux/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

int wr_netns_new(int *fd, struct weir_err *err)
{
	if (unshare(CLONE_NEWNET) < 0) {
		int saved = errno;

		wr_err_errno(err, WEIR_ERR_HOST, "unshare CLONE_NEWNET", saved, "can't make a network namespace");
		if (saved == EPERM)
			wr_err_hint(err, "it needs CAP_SYS_ADMIN: run it as root (sudo), in a container with --privileged");
		else if (saved == ENOSPC)
			wr_err_hint(err, "raise user.max_net_namespaces");
		return -1;
	}
	*fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "open", errno, "can't open /proc/self/ns/net");
	return 0;
}

int wr_netns_enter(int fd, struct weir_err *err)
{
	if (setns(fd, CLONE_NEWNET) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "setns", errno, "can't enter a network namespace");
	return 0;
}

uint64_t wr_netns_inode(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* "net.ipv4.x" or "net/ipv4/x" (for a device with a dot) to a path that stays below /proc/sys/net. */
static int sysctl_path(const char *key, char *path, size_t n_path, struct weir_err *err)
{
	size_t first = strcspn(key, "./");
	int dotted = key[first] == '.';

	if (strncmp(key, "net", first) != 0 || first != 3 || strlen(key) + 12 > n_path)
		return wr_err_set(err, WEIR_ERR_USAGE, "sysctl", "sysctl key '%s' does not begin with net.", key);
	snprintf(path, n_path, "/proc/sys/%s", key);
	for (char *c = path + strlen("/proc/sys/"); dotted && *c; c++) {
		if (*c == '.')
			*c = '/';
		else if (*c == '/')
			*c = '.';
	}
	if (strstr(path, "/../") || strstr(path, "//") || path[strlen(path) - 1] == '/')
		return wr_err_set(err, WEIR_ERR_USAGE, "sysctl", "sysctl key '%s' is malformed", key);
	return 0;
}

static int explain_refusal(const char *key, const char *value, const char *operation, int saved, struct weir_err *err)
{
	int code = saved == EINVAL || saved == ENOENT ? WEIR_ERR_USAGE : WEIR_ERR_HOST;

	wr_err_errno(err, code, operation, saved, "can't set %s to '%s'", key, value);
	if (strncmp(key, "net.core.", 9) == 0 && (saved == EACCES || saved == EPERM || saved == ENOENT))
		wr_err_hint(err, "inside a network namespace net.core limits can't be changed; SO_SNDBUFFORCE and SO_RCVBUFFORCE"
				 " pass net.core.wmem_max and rmem_max");
	else if (saved == ENOENT)
		wr_err_hint(err, "this kernel has no such key in a network namespace");
	return -1;
}

int wr_netns_sysctl_set(const char *key, const char *value, struct weir_err *err)
{
	char path[PATH_MAX];
	size_t n = strlen(value);
	wr_auto_fd int fd = -1;

	if (sysctl_path(key, path, sizeof path, err) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return explain_refusal(key, value, "open", errno, err);
	if (write(fd, value, n) != (ssize_t)n)
		return explain_refusal(key, value, "write", errno, err);
	return 0;
}
