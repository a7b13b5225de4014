/* SPDX-License-Identifier: MIT */
/*
 * Making namespaces as whoever calls: root makes them, an ordinary user is root of a user namespace in which they are
 * made. Where a system forbids that, the switch that does is named.
 */
#ifndef WR_OS_LINUX_USERNS_H
#define WR_OS_LINUX_USERNS_H

#include <stdbool.h>
#include <sys/types.h>

#include "weir/err.h"

/* Who becomes root of a user namespace. @needed: false where the caller may make namespaces without one. */
struct wr_userns {
	bool needed;
	uid_t uid;
	gid_t gid;
};

/*
 * wr_userns_fork - fork a child that is pid 1 of a PID namespace, in a user namespace if that is needed
 * @userns: out: what the child hands to wr_userns_become_root
 * @pid: out: as of fork(2); 0 in the child
 *
 * The caller must have one thread; it stays in its own namespaces.
 * Return: 0; -1 with @err, whose text names what forbids it.
 */
int wr_userns_fork(struct wr_userns *userns, pid_t *pid, struct weir_err *err);

/*
 * wr_userns_become_root - in the child: root there is the user outside
 * Return: 0, also when no user namespace was needed; -1 with @err.
 */
int wr_userns_become_root(const struct wr_userns *userns, struct weir_err *err);

/* wr_userns_explain - @operation on a namespace failed with @saved: name what forbids it. Return: always -1. */
int wr_userns_explain(const char *operation, int saved, struct weir_err *err);

#endif
