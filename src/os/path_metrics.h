/* SPDX-License-Identifier: MIT */
/* What the kernel remembers of a path from one connection to the next: ssthresh, RTT, reordering (tcp_metrics). */
#ifndef WR_OS_PATH_METRICS_H
#define WR_OS_PATH_METRICS_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * wr_path_metrics_forget - drop what is remembered of the path to @address, IPv4 or IPv6
 *
 * Return: whether the next connection starts without it: nothing was remembered, it was dropped, or this kernel
 * remembers nothing (net.ipv4.tcp_no_metrics_save); false without CAP_NET_ADMIN otherwise.
 */
bool wr_path_metrics_forget(const struct sockaddr *address);

#endif
