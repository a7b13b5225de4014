/* SPDX-License-Identifier: MIT */
/*
 * The bed of a lab: near and far, two network namespaces with a TUN device, addresses and stock limits each, and
 * the private mounts in which their names resolve. It vanishes with the processes that use it.
 */
#ifndef WR_LAB_BED_H
#define WR_LAB_BED_H

#include "lab/config.h"

#define WR_LAB_MAX_SYSCTLS 64

/* One --sysctl; @key and @value are allocated together, @key is to be freed. */
struct wr_lab_sysctl {
	enum wr_lab_end end;
	char *key;
	const char *value;
};

struct wr_lab_bed {
	int netns_fds[WR_LAB_N_ENDS], tun_fds[WR_LAB_N_ENDS];
	bool ipv6, hosts;
};

/*
 * wr_lab_sysctl_parse - "near:net.ipv4.tcp_wmem=4096 16384 4194304"
 *
 * Return: 0; -1 with @err (WEIR_ERR_USAGE).
 */
int wr_lab_sysctl_parse(const char *text, struct wr_lab_sysctl *sysctl, struct weir_err *err);

/*
 * wr_lab_bed_init - make the bed; the caller must be init of a new PID namespace and stays in far's namespace
 * @sysctls, @n_sysctls: set after the stock ones
 * @bed: out: descriptors, close-on-exec; whether IPv6 is there and whether near and far resolve
 *
 * Return: 0; -1 with @err saying which privilege, node or key is missing.
 */
int wr_lab_bed_init(struct wr_lab_bed *bed, const struct wr_lab_config *config, const struct wr_lab_sysctl *sysctls,
		    size_t n_sysctls, struct weir_err *err);

/*
 * wr_lab_bed_overflows - packets that an end's device has dropped because its queue was full
 *
 * Moves the caller into that end's namespace. Return: 0 also when it can't be read.
 */
uint64_t wr_lab_bed_overflows(const struct wr_lab_bed *bed, int end);

#endif
