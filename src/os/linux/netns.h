/* SPDX-License-Identifier: MIT */
/* Network namespaces without a name (they live as long as a process or descriptor holds them), and their sysctls. */
#ifndef WR_OS_LINUX_NETNS_H
#define WR_OS_LINUX_NETNS_H

#include <stdint.h>

#include "weir/err.h"

/*
 * wr_netns_new - make a network namespace and enter it
 * @fd: out: a descriptor that holds it (close-on-exec); the caller's
 *
 * Return: 0; -1 with @err.
 */
int wr_netns_new(int *fd, struct weir_err *err);

/* wr_netns_enter - move the calling thread into the namespace that @fd holds. */
int wr_netns_enter(int fd, struct weir_err *err);

/* wr_netns_inode - the number that tells namespaces apart, as in readlink /proc/self/ns/net; 0 when unknown. */
uint64_t wr_netns_inode(int fd);

/*
 * wr_netns_sysctl_set - write one sysctl of the caller's network namespace, by a key that a user named
 * @key: below net., as sysctl(8) writes it: "net.ipv4.tcp_rmem"
 * @value: text
 *
 * Return: 0; -1 with @err naming key, value and the kernel's answer; a key outside net. is WEIR_ERR_USAGE.
 */
int wr_netns_sysctl_set(const char *key, const char *value, struct weir_err *err);

#endif
