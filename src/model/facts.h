/* SPDX-License-Identifier: MIT */
/*
 * Facts of the host that a command ran on: what differs between two hosts, or between two days of one, when the
 * figures differ. They go with every result.
 */
#ifndef WR_MODEL_FACTS_H
#define WR_MODEL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define WR_MAX_NICS 16
#define WR_FACT_TEXT 96

/* @driver: "" unknown; @mtu_bytes, @speed_bps: 0 unknown (a virtual device has no speed) */
struct wr_nic {
	char name[16], driver[32];
	int64_t mtu_bytes, speed_bps;
};

/*
 * Texts are "" and numbers 0 where unknown; the net.core limits WR_UNSET.
 *
 * @virtualisation: the hypervisor by the names of systemd-detect-virt(1), "none" on bare metal
 * @container: the container manager by the same names
 * @tcp_rmem, @tcp_wmem, @congestion, @nics: of this network namespace; @nics: those that are up, but for loopback
 * @lab: the network namespace is a lab's
 */
struct wr_facts {
	char kernel[WR_FACT_TEXT], machine[WR_FACT_TEXT], cpu_model[WR_FACT_TEXT], virtualisation[32], container[32];
	char tcp_rmem[WR_FACT_TEXT], tcp_wmem[WR_FACT_TEXT], congestion[32];
	uint64_t core_rmem_max_bytes, core_wmem_max_bytes;
	int64_t n_cpus, memory_bytes;
	struct wr_nic nics[WR_MAX_NICS];
	size_t n_nics, n_nics_left_out;
	bool lab;
};

/* wr_facts_to_json - host{...} of a result; what is unknown is absent. */
json_t *wr_facts_to_json(const struct wr_facts *facts);

#endif
