/* SPDX-License-Identifier: MIT */
/*
 * Evidence: what one run left behind at both ends - samples, socket facts, host limits, counters. Rules read
 * nothing else, so a stored run can be explained again.
 */
#ifndef WR_MODEL_EVIDENCE_H
#define WR_MODEL_EVIDENCE_H

#include "model/metric.h"
#include "model/plan.h"

#define WR_NAME_TEXT 64
#define WR_MAX_COUNTERS 128
#define WR_MAX_PASTED 64
#define WR_MAX_REMARKS 8

/* What the judged socket is; WR_HOST judges the counters of a host alone. */
enum wr_protocol { WR_TCP, WR_UDP, WR_UNIX, WR_NETLINK, WR_VSOCK, WR_HOST };

/*
 * One connection as one end saw it. Sizes in bytes, WR_UNSET where unknown or (requests) not asked.
 *
 * @program: who owns it, "" unknown
 * @n_glimpses, @n_held: further looks at its send queue, and in how many a part of a segment was held back
 * @sndbuf_eff_bytes, @rcvbuf_eff_bytes: getsockopt's answer right after the options were set
 * @snd_autotuning, @rcv_autotuning: the kernel may still resize it (SO_BUF_LOCK, 5.15)
 * @sndbuf_option, @rcvbuf_option: what the sizes were set with, "" where nothing bounds that side
 * @ran_on_cpu: where the thread ended, -1 unknown
 */
struct wr_connection {
	uint64_t sndbuf_req_bytes, sndbuf_eff_bytes, rcvbuf_req_bytes, rcvbuf_eff_bytes;
	bool snd_autotuning, rcv_autotuning, nodelay;
	int64_t mss_bytes, ran_on_cpu;
	size_t n_glimpses, n_held;
	char congestion[16], program[32], local[WR_NAME_TEXT], peer[WR_NAME_TEXT], sndbuf_option[32], rcvbuf_option[32];
	struct wr_series series;
};

/* A socket option that was asked for by name. @effective: what the kernel says then, WR_ABSENT when it doesn't */
#define WR_SETTING_TEXT 32
#define WR_MAX_SETTINGS 16
struct wr_setting {
	char name[WR_SETTING_TEXT];
	int64_t requested, effective;
};

/* @since_boot: one reading only, so not a difference */
struct wr_counter {
	char name[32];
	int64_t delta;
	bool since_boot;
};

/* A fact of a host in words, as it last was: a sysctl, "qlen@eth0", "FRAG.memory". */
struct wr_pasted {
	char name[48], value[80];
};

/* What a program said about a buffer; sizes WR_UNSET where it named none. */
struct wr_remark {
	bool receive;
	uint64_t wanted_bytes, got_bytes;
	char line[160];
};

/*
 * One end of a run.
 *
 * @tcp_rmem, @tcp_wmem: the sysctls' own three numbers, "" unreadable
 * @tcp_rmem_max_bytes ... @core_wmem_max_bytes: sysctl limits, WR_UNSET where unreadable
 * @unix_max_dgram_qlen: messages that a reader's queue of unix datagrams takes, WR_UNSET unreadable
 * @n_cpus: CPUs of the host; @other_cpu_ratio: share of all of them that other processes used, -1 unknown
 * @write_bytes: bytes of one write, after alignment
 * @link_late_p99_ns: one in a hundred packets left a lab's link so late or later meanwhile; WR_UNSET not in a lab, or unknown
 * @may_force: SO_*BUFFORCE works here
 * @zerocopy_writes: writes of MSG_ZEROCOPY that the kernel was done with, @zerocopy_copied: of those it copied anyway;
 *	WR_UNSET where there were none
 * @settings: of the first connection
 * @latency_...: what a message took this end's senders, of the whole run; WR_UNSET where no messages are timed
 * @pasted, @remarks: other facts, where a person pasted them
 */
struct wr_end {
	char host[WR_NAME_TEXT], kernel[WR_NAME_TEXT], tcp_rmem[WR_NAME_TEXT], tcp_wmem[WR_NAME_TEXT];
	uint64_t tcp_rmem_max_bytes, tcp_wmem_max_bytes, core_rmem_max_bytes, core_wmem_max_bytes;
	uint64_t unix_max_dgram_qlen;
	int64_t n_cpus, write_bytes, duration_ns;
	uint64_t latency_p50_ns, latency_p90_ns, latency_p99_ns, latency_p999_ns, latency_max_ns;
	uint64_t link_late_p99_ns;
	double other_cpu_ratio;
	bool may_force;
	struct wr_connection *connections;
	size_t n_connections;
	struct wr_counter counters[WR_MAX_COUNTERS];
	size_t n_counters, n_settings, n_pasted, n_remarks;
	uint64_t zerocopy_writes, zerocopy_copied;
	struct wr_setting settings[WR_MAX_SETTINGS];
	struct wr_pasted pasted[WR_MAX_PASTED];
	struct wr_remark remarks[WR_MAX_REMARKS];
};

/*
 * @steady_from_ns, @steady_to_ns: the interval that is judged; equal when there was none
 * @steady_bps: what the receiver read in it, bit/s
 * @ramping: the transfer ended before its rate was steady
 * @path_rtt_ns: round trip of the idle path before the run, 0 unknown
 * @outside: read off sockets of programs that weir doesn't know: a few snapshots, and nobody says when a writer waits
 * @lifetime: one snapshot; differences are those since the connection began
 * @bounded: the interval is a lower bound, so rates and shares of busy time are upper ones
 * @one_host: both ends are sockets of the same host, @on_far of far
 */
struct wr_evidence {
	enum wr_protocol protocol;
	bool outside, lifetime, bounded, one_host, on_far;
	struct wr_plan plan;
	struct wr_end near, far;
	int64_t steady_from_ns, steady_to_ns, path_rtt_ns;
	double steady_bps;
	bool ramping, complete;
};

/* wr_end_blank - an end without connections, of which nothing is known. */
void wr_end_blank(struct wr_end *end);
void wr_end_deinit(struct wr_end *end);
int wr_end_init(struct wr_end *end, size_t n_connections, struct weir_err *err);
json_t *wr_end_to_json(const struct wr_end *end, bool with_samples);
/* The settings alone: [{name, requested, effective}]. */
json_t *wr_settings_to_json(const struct wr_end *end);
int wr_end_from_json(struct wr_end *end, const json_t *object, struct weir_err *err);

void wr_evidence_deinit(struct wr_evidence *evidence);
json_t *wr_evidence_to_json(const struct wr_evidence *evidence);

/*
 * wr_evidence_to_json_within - the same, bounded: samples are thinned out evenly until they hold no more than
 * @most_values figures, but for the first and the last of each connection, which are kept.
 */
json_t *wr_evidence_to_json_within(const struct wr_evidence *evidence, size_t most_values);
int wr_evidence_from_json(struct wr_evidence *evidence, const json_t *object, struct weir_err *err);

/* wr_pasted_number - the @nth number (from 0) of a setting among @n, NAN where there is none. */
double wr_pasted_number(const struct wr_pasted *pasted, size_t n, const char *name, int nth);

/* wr_end_counter - the change of a counter, NAN where nobody read it. */
double wr_end_counter(const struct wr_end *end, const char *name);

/* wr_end_pasted - the text of a setting, NULL where nobody told it. */
const char *wr_end_pasted(const struct wr_end *end, const char *name);

/* wr_end_number - the @nth number (from 0) of a setting, NAN where there is none. */
static inline double wr_end_number(const struct wr_end *end, const char *name, int nth)
{
	return wr_pasted_number(end->pasted, end->n_pasted, name, nth);
}

/*
 * wr_end_devices - the counter @what of all devices ("tx_dropped") together, NAN where nobody read it
 * @worst: out: the device with most of it, "" without one
 */
double wr_end_devices(const struct wr_end *end, const char *what, char worst[32]);

/* The end that sends, the end that receives. */
static inline const struct wr_end *wr_evidence_sender(const struct wr_evidence *evidence)
{
	return evidence->plan.reverse ? &evidence->far : &evidence->near;
}
static inline const struct wr_end *wr_evidence_receiver(const struct wr_evidence *evidence)
{
	return evidence->plan.reverse ? &evidence->near : &evidence->far;
}

#endif
