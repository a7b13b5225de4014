/* SPDX-License-Identifier: MIT */
/*
 * Facts of this host that bound a transfer: sysctls, kernel counters, CPU time of threads and of everybody else.
 */
#ifndef WR_OS_HOST_H
#define WR_OS_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/evidence.h"
#include "model/lateness.h"

/* wr_sysctl_read - the text of a sysctl ("net.ipv4.tcp_rmem"), tabs as spaces. Return: 0; -1 unreadable. */
int wr_sysctl_read(const char *key, char *text, size_t n_text);

/* wr_sysctl_write - Return: 0; -1 with @err naming key, value and what forbids it. */
int wr_sysctl_write(const char *key, const char *value, struct weir_err *err);

/* wr_sysctl_may_write - whether this process may change @key here. */
bool wr_sysctl_may_write(const char *key);

/* wr_host_limits - fill the sysctl limits, names and CPU count of @end. */
void wr_host_limits(struct wr_end *end);

/*
 * What is read before and after a run: TCP counters of this namespace, CPU time of the host and of this process, and in a
 * lab how late its link was.
 */
struct wr_host_reading {
	int64_t counters[WR_MAX_COUNTERS];
	int64_t busy_ticks, all_ticks, own_ticks;
	bool has_lateness;
	struct wr_lateness lateness;
};

void wr_host_read(struct wr_host_reading *reading);

/* wr_host_delta - counters, other_cpu_ratio and link_late_p99_ns of @end from a reading before and the present. */
void wr_host_delta(const struct wr_host_reading *before, struct wr_end *end);

/* wr_thread_runq_ns - time that thread @tid of this process has waited for a CPU; WR_ABSENT unknown. */
int64_t wr_thread_runq_ns(pid_t tid);

/* wr_cpu_pin - bind the calling thread to @cpu. Return: 0; -1 when there is no such CPU. */
int wr_cpu_pin(int cpu);

/*
 * wr_lab_here - whether this process's network namespace is a lab's own (the environment's WEIR_LAB names its
 * inode), so that its sysctls may be changed.
 */
bool wr_lab_here(void);

#endif
