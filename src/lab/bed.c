/* SPDX-License-Identifier: MIT */
/*
 * Addresses are those set aside for benchmarks (RFC 2544: 198.18.0.0/15, RFC 5180: 2001:2::/48), so they meet no
 * real network. Limits are the kernel's stock ones of a machine with enough memory, because a new namespace copies
 * the host's tcp_rmem and tcp_wmem and a run should mean the same everywhere.
 */
#include "lab/bed.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/linux/netlink.h"
#include "os/linux/netns.h"
#include "os/linux/tun.h"
#include "os/linux/userns.h"

/* The device must hold what the link can't take at once: a window of 256 MiB in packets of 1280 bytes. */
#define QUEUE_PACKETS 220000

static const char *const ipv4_addresses[WR_LAB_N_ENDS] = {"198.18.0.1", "198.18.0.2"};
static const char *const ipv6_addresses[WR_LAB_N_ENDS] = {"2001:2::1", "2001:2::2"};

/*
 * Linux 6.1's values for 4 GiB of memory and more. No metrics: a second connection must not start with what the
 * first one learned. The rest keeps the kernel's own packets (router solicitations, MLD) off the link.
 */
static const struct {
	const char *key, *value;
	bool ipv6;
} stock[] = {
	{"net.ipv4.tcp_rmem", "4096 131072 6291456", false},
	{"net.ipv4.tcp_wmem", "4096 16384 4194304", false},
	{"net.ipv4.tcp_no_metrics_save", "1", false},
	{"net.ipv6.conf.all.disable_ipv6", "0", true},
	{"net.ipv6.conf.default.disable_ipv6", "0", true},
	{"net.ipv6.conf.default.accept_ra", "0", true},
	{"net.ipv6.conf.default.router_solicitations", "0", true},
	{"net.ipv6.conf.default.addr_gen_mode", "1", true},
};

int wr_lab_sysctl_parse(const char *text, struct wr_lab_sysctl *sysctl, struct weir_err *err)
{
	const char *colon = strchr(text, ':'), *equals = strchr(text, '=');
	char *copy;

	if (!colon || !equals || equals < colon || equals == colon + 1 || !equals[1])
		goto malformed;
	if (strncmp(text, "near:", 5) == 0)
		sysctl->end = WR_LAB_NEAR;
	else if (strncmp(text, "far:", 4) == 0)
		sysctl->end = WR_LAB_FAR;
	else
		goto malformed;
	copy = strdup(colon + 1);
	if (!copy)
		return wr_err_memory(err, "sysctl");
	copy[equals - colon - 1] = '\0';
	sysctl->key = copy;
	sysctl->value = copy + (equals - colon);
	return 0;
malformed:
	wr_err_set(err, WEIR_ERR_USAGE, "sysctl", "--sysctl '%s' is not near:KEY=VALUE or far:KEY=VALUE", text);
	return wr_err_hint(err, "write it like --sysctl near:net.ipv4.tcp_wmem=\"4096 16384 33554432\"");
}

static int set_stock(bool ipv6, struct weir_err *err)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(stock); i++) {
		if (stock[i].ipv6 && !ipv6)
			continue;
		if (wr_netns_sysctl_set(stock[i].key, stock[i].value, err) < 0)
			return -1;
	}
	return 0;
}

static int end_addresses(const struct wr_lab_bed *bed, int end, const struct wr_lab_config *config, struct weir_err *err)
{
	const char *name = wr_lab_end_names[end];
	const struct wr_lab_way *way = &config->ways[end];
	uint32_t n_queue = way->device_packets ? (uint32_t)way->device_packets : QUEUE_PACKETS;

	if (wr_netlink_link_up("lo", 0, 0, err) < 0 || wr_netlink_no_qdisc(name, err) < 0 ||
	    wr_netlink_link_up(name, config->mtu_bytes, n_queue, err) < 0 ||
	    wr_netlink_address_add(name, AF_INET, ipv4_addresses[end], 30, err) < 0)
		return -1;
	if (bed->ipv6 && wr_netlink_address_add(name, AF_INET6, ipv6_addresses[end], 64, err) < 0)
		return -1;
	if (!way->ack.count)
		return 0;
	/* The link holds the ACKs; the stack must not, too. */
	if (wr_netlink_route_quickack(name, AF_INET, ipv4_addresses[!end], err) < 0)
		return -1;
	return bed->ipv6 ? wr_netlink_route_quickack(name, AF_INET6, ipv6_addresses[!end], err) : 0;
}

/* The user's own come last, when the device exists, so that net.ipv4.conf.near.* can be set too. */
static int end_init(struct wr_lab_bed *bed, int end, const struct wr_lab_config *config,
		    const struct wr_lab_sysctl *sysctls, size_t n_sysctls, struct weir_err *err)
{
	if (wr_netns_new(&bed->netns_fds[end], err) < 0)
		return -1;
	bed->ipv6 = access("/proc/sys/net/ipv6", F_OK) == 0;
	if (set_stock(bed->ipv6, err) < 0 ||
	    wr_tun_open(wr_lab_end_names[end], config->offload, &bed->tun_fds[end], err) < 0 ||
	    end_addresses(bed, end, config, err) < 0)
		return -1;
	for (size_t i = 0; i < n_sysctls; i++) {
		if ((int)sysctls[i].end == end && wr_netns_sysctl_set(sysctls[i].key, sysctls[i].value, err) < 0)
			return -1;
	}
	return 0;
}

/* Our names before the host's, IPv4 before IPv6, as most tools take the first. */
static int write_hosts(const char *path, bool ipv6)
{
	FILE *in = fopen("/etc/hosts", "re"), *out = fopen(path, "we");
	int c, rc;

	for (int end = 0; out && end < WR_LAB_N_ENDS; end++)
		fprintf(out, "%s %s\n", ipv4_addresses[end], wr_lab_end_names[end]);
	for (int end = 0; out && ipv6 && end < WR_LAB_N_ENDS; end++)
		fprintf(out, "%s %s\n", ipv6_addresses[end], wr_lab_end_names[end]);
	while (in && out && (c = getc(in)) != EOF)
		putc(c, out);
	if (in)
		fclose(in);
	if (!out)
		return -1;
	rc = ferror(out);
	return fclose(out) == 0 && rc == 0 ? 0 : -1;
}

/*
 * A private /etc/hosts without a file on disk: a tmpfs that stands on /proc for a moment (the one mount point that
 * every system has) holds it; the bind mount keeps it alive when the tmpfs has left /proc.
 */
static int mount_hosts(bool *hosts, struct weir_err *err)
{
	bool ipv6 = access("/proc/sys/net/ipv6", F_OK) == 0; /* while the old /proc is still there */
	int rc;

	*hosts = access("/etc/hosts", F_OK) == 0;
	if (!*hosts)
		return 0;
	if (mount("weir", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4m") < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "mount tmpfs", errno, "can't mount a tmpfs for /etc/hosts");
	rc = write_hosts("/proc/hosts", ipv6);
	if (rc == 0)
		rc = mount("/proc/hosts", "/etc/hosts", NULL, MS_BIND, NULL);
	if (rc < 0)
		wr_err_errno(err, WEIR_ERR_HOST, "mount", errno, "can't give the lab its own /etc/hosts");
	if (umount2("/proc", MNT_DETACH) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "umount", errno, "can't unmount the tmpfs again");
	return rc;
}

static int private_mounts(struct wr_lab_bed *bed, struct weir_err *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return wr_userns_explain("unshare CLONE_NEWNS", errno, err);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "mount MS_PRIVATE", errno, "can't make the mounts private");
	if (mount_hosts(&bed->hosts, err) < 0)
		return -1;
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		wr_err_errno(err, WEIR_ERR_HOST, "mount proc", errno, "can't mount /proc for the lab's processes");
		return wr_err_hint(err, "a container hides parts of /proc unless it is started with --privileged");
	}
	return 0;
}

int wr_lab_bed_init(struct wr_lab_bed *bed, const struct wr_lab_config *config, const struct wr_lab_sysctl *sysctls,
		    size_t n_sysctls, struct weir_err *err)
{
	memset(bed, 0, sizeof *bed);
	memset(bed->netns_fds, -1, sizeof bed->netns_fds);
	memset(bed->tun_fds, -1, sizeof bed->tun_fds);
	if (private_mounts(bed, err) < 0)
		return -1;
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		if (end_init(bed, end, config, sysctls, n_sysctls, err) < 0)
			return -1;
	}
	return 0;
}

uint64_t wr_lab_bed_overflows(const struct wr_lab_bed *bed, int end)
{
	unsigned long long n_dropped = 0;
	char line[512], name[32];
	FILE *in;

	if (wr_netns_enter(bed->netns_fds[end], NULL) < 0)
		return 0;
	in = fopen("/proc/self/net/dev", "re");
	while (in && fgets(line, sizeof line, in)) {
		unsigned long long n;

		/* name: eight columns of receiving, then bytes, packets, errs, drop */
		if (sscanf(line, " %31[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", name, &n) == 2 &&
		    strcmp(name, wr_lab_end_names[end]) == 0)
			n_dropped = n;
	}
	if (in)
		fclose(in);
	return n_dropped;
}
