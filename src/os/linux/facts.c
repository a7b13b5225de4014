/* SPDX-License-Identifier: MIT */
/*
 * Host facts. Network devices are asked for by ioctl, which answers for this network namespace; /sys/class/net shows
 * the namespace that mounted it. The hypervisor is told by CPUID leaf 0x40000000 (x86), else by DMI, a hypervisor's
 * own node in /sys, or a flag; names and order follow systemd's src/basic/virt.c.
 */
#include "os/facts.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/mem.h"
#include "base/units.h"
#include "os/host.h"

struct name {
	const char *sign, *name;
};

/* The first line of a file, without its end; "" when it can't be read. */
static void line_read(const char *path, char *line, size_t n_line)
{
	FILE *in = fopen(path, "re");

	line[0] = '\0';
	if (!in)
		return;
	if (!fgets(line, (int)n_line, in))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(in);
}

/* -- processor -- */

/* The value of a line of /proc/cpuinfo. Return: false when there is none of that key. */
static bool cpuinfo_value(const char *key, char *value, size_t n_value)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char line[2048]; /* flags are the longest */
	bool found = false;

	while (in && !found && fgets(line, sizeof line, in)) {
		size_t n = strlen(key);
		const char *colon = strchr(line, ':');

		if (strncmp(line, key, n) != 0 || !colon || (line[n] != '\t' && line[n] != ' ' && line[n] != ':'))
			continue;
		line[strcspn(line, "\n")] = '\0';
		colon += 1 + strspn(colon + 1, " ");
		snprintf(value, n_value, "%s", colon);
		found = true;
	}
	if (in)
		fclose(in);
	return found;
}

/* x86 and MIPS, ARM (old), POWER, s390 by their own words. */
static void cpu_model_read(struct wr_facts *facts)
{
	static const char *const keys[] = {"model name", "cpu model", "Hardware", "cpu", "processor 0"};

	for (size_t i = 0; i < WR_N_ELEMENTS(keys); i++) {
		if (cpuinfo_value(keys[i], facts->cpu_model, sizeof facts->cpu_model))
			return;
	}
	line_read("/proc/device-tree/model", facts->cpu_model, sizeof facts->cpu_model);
}

/* -- hypervisor and container -- */

#if defined(__x86_64__) || defined(__i386__)
#define HYPERVISOR_BIT (1u << 31) /* CPUID leaf 1, ECX */
#define HYPERVISOR_LEAF 0x40000000u

static const struct name cpuid_names[] = {
	{"KVMKVMKVM", "kvm"}, {"Linux KVM Hv", "kvm"}, {"Microsoft Hv", "microsoft"}, {"VMwareVMware", "vmware"},
	{"XenVMMXenVMM", "xen"}, {"TCGTCGTCGTCG", "qemu"}, {"VBoxVBoxVBox", "oracle"}, {"bhyve bhyve ", "bhyve"},
	{"QNXQVMBSQG", "qnx"}, {"ACRNACRNACRN", "acrn"}, {" lrpepyh  vr", "parallels"},
};

static bool cpuid_read(char *name, size_t n_name)
{
	unsigned int eax, ebx, ecx, edx, words[3];
	char sign[sizeof words + 1] = "";

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return false;
	if (!(ecx & HYPERVISOR_BIT)) {
		snprintf(name, n_name, "none");
		return true;
	}
	__cpuid(HYPERVISOR_LEAF, eax, words[0], words[1], words[2]);
	memcpy(sign, words, sizeof words);
	for (size_t i = 0; i < WR_N_ELEMENTS(cpuid_names); i++) {
		if (strcmp(sign, cpuid_names[i].sign) == 0) {
			snprintf(name, n_name, "%s", cpuid_names[i].name);
			return true;
		}
	}
	snprintf(name, n_name, "vm-other");
	return true;
}
#else
static bool cpuid_read(char *name, size_t n_name)
{
	(void)name;
	(void)n_name;
	return false;
}
#endif

static const struct name dmi_names[] = {
	{"Amazon EC2", "amazon"}, {"Google Compute Engine", "google"}, {"KVM", "kvm"}, {"OpenStack", "kvm"},
	{"QEMU", "qemu"}, {"VMware", "vmware"}, {"VMW", "vmware"}, {"innotek GmbH", "oracle"}, {"VirtualBox", "oracle"},
	{"Xen", "xen"}, {"Bochs", "bochs"}, {"Parallels", "parallels"}, {"BHYVE", "bhyve"}, {"Hyper-V", "microsoft"},
	{"Apple Virtualization", "apple"},
};

static bool dmi_read(char *name, size_t n_name)
{
	static const char *const files[] = {"product_name", "sys_vendor", "board_vendor", "bios_vendor", "product_version"};

	for (size_t i = 0; i < WR_N_ELEMENTS(files); i++) {
		char path[64], line[128];

		snprintf(path, sizeof path, "/sys/class/dmi/id/%s", files[i]);
		line_read(path, line, sizeof line);
		for (size_t k = 0; k < WR_N_ELEMENTS(dmi_names); k++) {
			if (strncmp(line, dmi_names[k].sign, strlen(dmi_names[k].sign)) != 0)
				continue;
			snprintf(name, n_name, "%s", dmi_names[k].name);
			return true;
		}
	}
	return false;
}

/* Clouds by DMI before what CPUID says of their hypervisor; nothing where no source answers. */
static void virtualisation_read(char *name, size_t n_name)
{
	char cpuid[32] = "", dmi[32] = "", line[64];

	if (cpuinfo_value("vendor_id", line, sizeof line) && strcmp(line, "User Mode Linux") == 0) {
		snprintf(name, n_name, "uml");
		return;
	}
	cpuid_read(cpuid, sizeof cpuid);
	if (strcmp(cpuid, "none") != 0 && dmi_read(dmi, sizeof dmi) &&
	    (!cpuid[0] || strcmp(cpuid, "vm-other") == 0 || strcmp(dmi, "amazon") == 0 || strcmp(dmi, "google") == 0)) {
		snprintf(name, n_name, "%s", dmi);
		return;
	}
	line_read("/sys/hypervisor/type", line, sizeof line);
	snprintf(name, n_name, "%.31s", cpuid[0] ? cpuid : line);
}

static void container_read(char *name, size_t n_name)
{
	static const struct name files[] = {{"/run/.containerenv", "podman"}, {"/.dockerenv", "docker"}};

	line_read("/run/systemd/container", name, n_name);
	for (size_t i = 0; i < WR_N_ELEMENTS(files) && !name[0]; i++) {
		if (access(files[i].sign, F_OK) == 0)
			snprintf(name, n_name, "%s", files[i].name);
	}
}

/* -- network devices -- */

/* What these drivers report as a speed is a constant (drivers/net/tun.c, veth.c). */
static bool has_speed(const struct wr_nic *nic)
{
	return strcmp(nic->driver, "tun") != 0 && strcmp(nic->driver, "veth") != 0;
}

/* Mbit/s in two halves; ethtool_cmd_speed() of the header shifts into the sign. 0 unknown. */
static int64_t speed_of(const struct ethtool_cmd *link)
{
	uint32_t mbit = ((uint32_t)link->speed_hi << 16) | link->speed;

	return mbit == (uint32_t)SPEED_UNKNOWN || mbit == UINT16_MAX ? 0 : mbit * 1000000LL;
}

static bool nic_read(int fd, const char *name, struct wr_nic *nic)
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct ethtool_cmd link = {.cmd = ETHTOOL_GSET};
	struct ifreq request;

	memset(&request, 0, sizeof request);
	snprintf(request.ifr_name, sizeof request.ifr_name, "%.15s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &request) < 0 || !(request.ifr_flags & IFF_UP) || (request.ifr_flags & IFF_LOOPBACK))
		return false;
	*nic = (struct wr_nic){0};
	snprintf(nic->name, sizeof nic->name, "%.15s", name);
	if (ioctl(fd, SIOCGIFMTU, &request) == 0)
		nic->mtu_bytes = request.ifr_mtu;
	request.ifr_data = (char *)&driver;
	if (ioctl(fd, SIOCETHTOOL, &request) == 0)
		snprintf(nic->driver, sizeof nic->driver, "%.31s", driver.driver);
	request.ifr_data = (char *)&link;
	if (has_speed(nic) && ioctl(fd, SIOCETHTOOL, &request) == 0)
		nic->speed_bps = speed_of(&link);
	return true;
}

static void nics_read(struct wr_facts *facts)
{
	wr_auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct if_nameindex *names = fd < 0 ? NULL : if_nameindex();

	for (size_t i = 0; names && names[i].if_name; i++) {
		struct wr_nic nic;

		if (!nic_read(fd, names[i].if_name, &nic))
			continue;
		if (facts->n_nics < WR_MAX_NICS)
			facts->nics[facts->n_nics++] = nic;
		else
			facts->n_nics_left_out++;
	}
	if (names)
		if_freenameindex(names);
}

/* -- all -- */

static void limit_read(const char *key, char *text, size_t n_text)
{
	if (wr_sysctl_read(key, text, n_text) < 0)
		text[0] = '\0';
}

static uint64_t limit_number(const char *key)
{
	char text[32];

	limit_read(key, text, sizeof text);
	return text[0] ? strtoull(text, NULL, 10) : WR_UNSET;
}

void wr_facts_gather(struct wr_facts *facts)
{
	struct utsname names;
	long pages = sysconf(_SC_PHYS_PAGES);

	memset(facts, 0, sizeof *facts);
	if (uname(&names) == 0) {
		snprintf(facts->kernel, sizeof facts->kernel, "%s", names.release);
		snprintf(facts->machine, sizeof facts->machine, "%s", names.machine);
	}
	facts->n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	facts->memory_bytes = pages > 0 ? pages * (int64_t)sysconf(_SC_PAGESIZE) : 0;
	cpu_model_read(facts);
	virtualisation_read(facts->virtualisation, sizeof facts->virtualisation);
	container_read(facts->container, sizeof facts->container);
	limit_read("net.ipv4.tcp_rmem", facts->tcp_rmem, sizeof facts->tcp_rmem);
	limit_read("net.ipv4.tcp_wmem", facts->tcp_wmem, sizeof facts->tcp_wmem);
	limit_read("net.ipv4.tcp_congestion_control", facts->congestion, sizeof facts->congestion);
	facts->core_rmem_max_bytes = limit_number("net.core.rmem_max");
	facts->core_wmem_max_bytes = limit_number("net.core.wmem_max");
	facts->lab = wr_lab_here();
	nics_read(facts);
}
