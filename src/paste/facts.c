/* SPDX-License-Identifier: MIT */
/*
 * Facts of a host: counters and settings. Of the hundreds that nstat and sysctl print, those are kept that a cause
 * reads; a rule that wants another one adds its name here.
 */
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

/* Names as nstat prints them, without "TcpExt" (net/ipv4/proc.c). */
static const char *const counter_names[] = {
	"PruneCalled",
	"RcvPruned",
	"OfoPruned",
	"TCPRcvCollapsed",
	"TCPRcvQDrop",
	"TCPZeroWindowDrop",
	"TCPToZeroWindowAdv",
	"TCPFromZeroWindowAdv",
	"TCPWantZeroWindowAdv",
	"DelayedACKs",
	"TCPTimeouts",
	"TCPLossProbes",
	"TCPSackRecovery",
	"TCPSackRecoveryFail",
	"TCPMemoryPressures",
	"TCPAbortOnMemory",
	"TCPBacklogDrop",
	"ListenOverflows",
	"TCPAutoCorking",
	"TcpRetransSegs",
	"TcpOutSegs",
	"UdpInDatagrams",
	"UdpNoPorts",
	"UdpInErrors",
	"UdpOutDatagrams",
	"UdpRcvbufErrors",
	"UdpSndbufErrors",
	"UdpInCsumErrors",
	"UdpMemErrors",
	"Udp6InDatagrams",
	"Udp6NoPorts",
	"Udp6InErrors",
	"Udp6OutDatagrams",
	"Udp6RcvbufErrors",
	"Udp6SndbufErrors",
	"Udp6InCsumErrors",
	"Udp6MemErrors",
	"IpReasmTimeout",
	"IpReasmReqds",
	"IpReasmOKs",
	"IpReasmFails",
	"Ip6ReasmTimeout",
	"Ip6ReasmReqds",
	"Ip6ReasmOKs",
	"Ip6ReasmFails",
	"IpOutDiscards",
	NULL,
};

static const char *const setting_names[] = {
	"net.core.rmem_max",
	"net.core.wmem_max",
	"net.core.rmem_default",
	"net.core.wmem_default",
	"net.core.netdev_max_backlog",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_wmem",
	"net.ipv4.tcp_mem",
	"net.ipv4.udp_mem",
	"net.ipv4.udp_rmem_min",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_no_ssthresh_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.ipfrag_high_thresh",
	"net.ipv4.ipfrag_time",
	"net.ipv6.ip6frag_high_thresh",
	"net.ipv6.ip6frag_time",
	"net.unix.max_dgram_qlen",
	NULL,
};

static bool is_listed(const char *const *names, const char *name)
{
	for (; *names; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

struct wr_paste_facts *wr_reader_facts(struct wr_reader *reader)
{
	return reader->host < reader->paste->n_hosts ? &reader->paste->hosts[reader->host]->facts : &reader->pending;
}

static void counter_store(struct wr_paste_facts *facts, const char *name, int64_t value)
{
	struct wr_reading *reading = NULL;

	for (size_t i = 0; i < facts->n_counters && !reading; i++) {
		if (strcmp(facts->counters[i].name, name) == 0)
			reading = &facts->counters[i];
	}
	if (!reading) {
		if (facts->n_counters == WR_MAX_COUNTERS)
			return;
		reading = &facts->counters[facts->n_counters++];
		*reading = (struct wr_reading){.first = value};
		snprintf(reading->name, sizeof reading->name, "%s", name);
	}
	/*
	 * A counter that falls was read anew from 0, as nstat does between two calls: then the later reading is a
	 * difference.
	 */
	if (value < reading->last)
		reading->first = 0;
	reading->last = value;
	reading->n++;
}

void wr_fact_counter(struct wr_reader *reader, const char *name, int64_t value)
{
	if (wr_begins(name, "TcpExt"))
		name += 6;
	if (is_listed(counter_names, name))
		counter_store(wr_reader_facts(reader), name, value);
}

void wr_fact_device(struct wr_reader *reader, const char *what, const char *device, int64_t value)
{
	char name[32];

	snprintf(name, sizeof name, "%s@%.15s", what, device);
	counter_store(wr_reader_facts(reader), name, value);
}

static void setting_store(struct wr_paste_facts *facts, const char *name, const char *value)
{
	size_t i = 0;

	while (i < facts->n_pasted && strcmp(facts->pasted[i].name, name) != 0)
		i++;
	if (i == WR_MAX_PASTED)
		return;
	snprintf(facts->pasted[i].name, sizeof facts->pasted[i].name, "%s", name);
	snprintf(facts->pasted[i].value, sizeof facts->pasted[i].value, "%s", value);
	for (char *at = facts->pasted[i].value; *at; at++)
		*at = *at == '\t' ? ' ' : *at;
	if (i == facts->n_pasted)
		facts->n_pasted++;
}

void wr_fact_setting(struct wr_reader *reader, const char *name, const char *value)
{
	/* Those of the kernel are many; those that a parser made are few. */
	if (!wr_begins(name, "net.") || is_listed(setting_names, name))
		setting_store(wr_reader_facts(reader), name, value);
}

void wr_paste_facts_merge(struct wr_paste_facts *into, const struct wr_paste_facts *from)
{
	for (size_t i = 0; i < from->n_counters; i++) {
		counter_store(into, from->counters[i].name, from->counters[i].first);
		if (from->counters[i].n > 1)
			counter_store(into, from->counters[i].name, from->counters[i].last);
	}
	for (size_t i = 0; i < from->n_pasted; i++)
		setting_store(into, from->pasted[i].name, from->pasted[i].value);
	for (size_t i = 0; i < from->n_remarks && into->n_remarks < WR_MAX_REMARKS; i++)
		into->remarks[into->n_remarks++] = from->remarks[i];
}

static void number_take(const struct wr_end *end, const char *name, int nth, uint64_t *bytes)
{
	double value = wr_end_number(end, name, nth);

	*bytes = value >= 0 ? (uint64_t)value : WR_UNSET;
}

void wr_paste_facts_to_end(const struct wr_paste_facts *facts, struct wr_end *end)
{
	const char *rmem, *wmem;

	for (size_t i = 0; i < facts->n_counters; i++) {
		const struct wr_reading *reading = &facts->counters[i];
		struct wr_counter *counter = &end->counters[end->n_counters++];

		snprintf(counter->name, sizeof counter->name, "%s", reading->name);
		counter->since_boot = reading->n < 2;
		counter->delta = reading->last - (counter->since_boot ? 0 : reading->first);
	}
	memcpy(end->pasted, facts->pasted, sizeof end->pasted);
	end->n_pasted = facts->n_pasted;
	memcpy(end->remarks, facts->remarks, sizeof end->remarks);
	end->n_remarks = facts->n_remarks;
	number_take(end, "net.ipv4.tcp_rmem", 2, &end->tcp_rmem_max_bytes);
	number_take(end, "net.ipv4.tcp_wmem", 2, &end->tcp_wmem_max_bytes);
	number_take(end, "net.core.rmem_max", 0, &end->core_rmem_max_bytes);
	number_take(end, "net.core.wmem_max", 0, &end->core_wmem_max_bytes);
	rmem = wr_end_pasted(end, "net.ipv4.tcp_rmem");
	wmem = wr_end_pasted(end, "net.ipv4.tcp_wmem");
	snprintf(end->tcp_rmem, sizeof end->tcp_rmem, "%.63s", rmem ? rmem : "");
	snprintf(end->tcp_wmem, sizeof end->tcp_wmem, "%.63s", wmem ? wmem : "");
}
