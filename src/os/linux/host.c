/* SPDX-License-Identifier: MIT */
/*
 * Host facts from /proc. /proc/sys/net and /proc/net/netstat answer for the reader's network namespace,
 * /proc/stat for the whole machine.
 */
#include "os/host.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

/* The TcpExt counters that separate receiver causes (net/ipv4/proc.c). */
static const char *const counter_names[] = {
	"TCPToZeroWindowAdv", "TCPFromZeroWindowAdv", "PruneCalled", "RcvPruned", "TCPRcvCollapsed", "TCPRcvQDrop",
	"TCPZeroWindowDrop",  "TCPTimeouts",	      "DelayedACKs", "TCPMemoryPressures",
};

static int file_read(const char *path, char *text, size_t n_text)
{
	wr_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -1;
	while (used + 1 < n_text && n > 0) {
		n = read(fd, text + used, n_text - 1 - used);
		if (n > 0)
			used += (size_t)n;
	}
	text[used] = '\0';
	return n < 0 ? -1 : 0;
}

static void sysctl_path(char *path, size_t n_path, const char *key)
{
	size_t start = (size_t)snprintf(path, n_path, "/proc/sys/");

	snprintf(path + start, n_path - start, "%s", key);
	for (char *c = path + start; *c; c++) {
		if (*c == '.')
			*c = '/';
	}
}

int wr_sysctl_read(const char *key, char *text, size_t n_text)
{
	char path[256];

	sysctl_path(path, sizeof path, key);
	if (file_read(path, text, n_text) < 0)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	for (char *c = text; *c; c++) {
		if (*c == '\t')
			*c = ' ';
	}
	return 0;
}

int wr_sysctl_write(const char *key, const char *value, struct weir_err *err)
{
	char path[256];
	size_t n = strlen(value);

	sysctl_path(path, sizeof path, key);
	wr_auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, value, n) == (ssize_t)n)
		return 0;
	wr_err_errno(err, WEIR_ERR_HOST, "sysctl", errno, "sysctl %s=\"%s\"", key, value);
	return wr_err_hint(err, "needs root, and a key that this namespace may change");
}

bool wr_sysctl_may_write(const char *key)
{
	char path[256];

	sysctl_path(path, sizeof path, key);
	return access(path, W_OK) == 0;
}

static uint64_t last_number(const char *key)
{
	char text[128], *last;

	if (wr_sysctl_read(key, text, sizeof text) < 0)
		return WR_UNSET;
	last = strrchr(text, ' ');
	return strtoull(last ? last + 1 : text, NULL, 10);
}

void wr_host_limits(struct wr_end *end)
{
	struct utsname names;

	if (wr_sysctl_read("net.ipv4.tcp_rmem", end->tcp_rmem, sizeof end->tcp_rmem) < 0)
		end->tcp_rmem[0] = '\0';
	if (wr_sysctl_read("net.ipv4.tcp_wmem", end->tcp_wmem, sizeof end->tcp_wmem) < 0)
		end->tcp_wmem[0] = '\0';
	end->tcp_rmem_max_bytes = last_number("net.ipv4.tcp_rmem");
	end->tcp_wmem_max_bytes = last_number("net.ipv4.tcp_wmem");
	end->core_rmem_max_bytes = last_number("net.core.rmem_max");
	end->core_wmem_max_bytes = last_number("net.core.wmem_max");
	end->unix_max_dgram_qlen = last_number("net.unix.max_dgram_qlen");
	end->n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (uname(&names) == 0) {
		snprintf(end->host, sizeof end->host, "%.63s", names.nodename);
		snprintf(end->kernel, sizeof end->kernel, "%.63s", names.release);
	}
}

/* /proc/net/netstat: pairs of lines, the first names the columns of the second. */
static void counters_read(int64_t *counters)
{
	static const char prefix[] = "TcpExt:";
	char text[32768], *names, *values, *name_state, *value_state, *name, *value;

	for (size_t i = 0; i < WR_N_ELEMENTS(counter_names); i++)
		counters[i] = 0;
	if (file_read("/proc/net/netstat", text, sizeof text) < 0)
		return;
	names = strstr(text, prefix);
	values = names ? strstr(names + 1, prefix) : NULL;
	if (!values)
		return;
	values[-1] = '\0';
	values[strcspn(values, "\n")] = '\0';
	name = strtok_r(names, " ", &name_state);
	value = strtok_r(values, " ", &value_state);
	while (name && value) {
		for (size_t i = 0; i < WR_N_ELEMENTS(counter_names); i++) {
			if (strcmp(name, counter_names[i]) == 0)
				counters[i] = strtoll(value, NULL, 10);
		}
		name = strtok_r(NULL, " ", &name_state);
		value = strtok_r(NULL, " ", &value_state);
	}
}

/* /proc/stat "cpu": user nice system idle iowait irq softirq steal guest guest_nice. */
static void cpu_read(struct wr_host_reading *reading)
{
	long long ticks[8] = {0};
	char text[256];
	struct tms own;

	reading->busy_ticks = reading->all_ticks = 0;
	if (file_read("/proc/stat", text, sizeof text) == 0 &&
	    sscanf(text, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
		   &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8) {
		for (size_t i = 0; i < WR_N_ELEMENTS(ticks); i++)
			reading->all_ticks += ticks[i];
		reading->busy_ticks = reading->all_ticks - ticks[3] - ticks[4];
	}
	times(&own);
	reading->own_ticks = own.tms_utime + own.tms_stime;
}

bool wr_lab_here(void)
{
	const char *inode = getenv("WEIR_LAB");
	struct stat here;

	return inode && stat("/proc/self/ns/net", &here) == 0 && strtoull(inode, NULL, 10) == (unsigned long long)here.st_ino;
}

/* The page that a lab names; whatever else is there is none. A FIFO or a terminal can't hold the run up. */
static bool lateness_read(struct wr_lateness *page)
{
	const char *path = wr_lab_here() ? getenv("WEIR_LAB_LATENESS") : NULL;
	wr_auto_fd int fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
	struct stat file;

	return fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == (off_t)sizeof *page &&
	       read(fd, page, sizeof *page) == (ssize_t)sizeof *page && wr_lateness_is(page, sizeof *page);
}

void wr_host_read(struct wr_host_reading *reading)
{
	counters_read(reading->counters);
	cpu_read(reading);
	reading->has_lateness = lateness_read(&reading->lateness);
}

void wr_host_delta(const struct wr_host_reading *before, struct wr_end *end)
{
	struct wr_host_reading now;
	int64_t all, others;

	wr_host_read(&now);
	end->n_counters = 0;
	for (size_t i = 0; i < WR_N_ELEMENTS(counter_names); i++) {
		struct wr_counter *counter = &end->counters[end->n_counters++];

		snprintf(counter->name, sizeof counter->name, "%s", counter_names[i]);
		counter->delta = now.counters[i] - before->counters[i];
	}
	all = now.all_ticks - before->all_ticks;
	others = now.busy_ticks - before->busy_ticks - (now.own_ticks - before->own_ticks);
	end->other_cpu_ratio = all > 0 ? (double)(others > 0 ? others : 0) / (double)all : -1;
	if (before->has_lateness && now.has_lateness)
		end->link_late_p99_ns = wr_lateness_p99_ns(&before->lateness, &now.lateness);
}

int64_t wr_thread_runq_ns(pid_t tid)
{
	char path[64], text[128];
	long long ran, waited;

	snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
	if (file_read(path, text, sizeof text) < 0 || sscanf(text, "%lld %lld", &ran, &waited) != 2)
		return WR_ABSENT;
	return waited;
}

int wr_cpu_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}
