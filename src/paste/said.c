/* SPDX-License-Identifier: MIT */
/*
 * What programs print: ping (its smallest round trip is the path's without a queue), and log lines about buffers, which
 * are kept as they are. Of the latter the sizes asked for and got are understood in the wordings that are about:
 * "failed to sufficiently increase receive buffer size (was: 208 kiB, wanted: 7168 kiB, got: 416 kiB)",
 * "so-rcvbuf 4194304 was not granted. Got 425984", "socket buffer size not set correctly".
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

static int ping_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	const char *figures = strstr(line, "min/avg/max"), *equals = figures ? strstr(figures, "= ") : NULL;
	const char *time = strstr(line, " time=");
	double ms, least;
	char text[32];

	(void)err;
	if (wr_begins(line, "PING ") || (wr_begins(line, "--- ") && strstr(line, "ping statistics")) ||
	    strstr(line, " packets transmitted"))
		return 1;
	if (equals ? !wr_real_parse(equals + 2, &ms, NULL)
		   : !(time && strstr(line, "icmp_seq") && wr_real_parse(time + 6, &ms, NULL)))
		return 0;
	least = ms;
	for (size_t i = 0; i < wr_reader_facts(reader)->n_pasted; i++) {
		const struct wr_pasted *known = &wr_reader_facts(reader)->pasted[i];

		if (strcmp(known->name, "ping.min_ms") == 0 && wr_real_parse(known->value, &least, NULL))
			least = least < ms ? least : ms;
	}
	snprintf(text, sizeof text, "%.3f", least);
	wr_fact_setting(reader, "ping.min_ms", text);
	return 1;
}

const struct wr_paste_kind wr_paste_kind_ping = {
	.name = "ping",
	.summary = "ping",
	.line = ping_line,
};

static bool contains(const char *lowered, const char *const *words)
{
	for (; *words; words++) {
		if (strstr(lowered, *words))
			return true;
	}
	return false;
}

/* The size that follows one of @words, with a unit of 1024; WR_UNSET without. */
static uint64_t size_after(const char *lowered, const char *const *words)
{
	for (; *words; words++) {
		const char *at = strstr(lowered, *words);
		double bytes;

		if (!at)
			continue;
		at += strlen(*words);
		at += strspn(at, " :=(");
		if (wr_scaled_parse(at, 1024, &bytes, NULL) && bytes > 0)
			return (uint64_t)bytes;
	}
	return WR_UNSET;
}

static int log_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	static const char *const subjects[] = {
		"buffer size",  "socket buffer",   "receive buffer", "send buffer",    "so_rcvbuf",   "so_sndbuf",
		"so-rcvbuf",    "so-sndbuf",       "rcvbuf",         "sndbuf",         "recv buffer", "read buffer",
		"write buffer", "no buffer space", "enobufs",        "max_dgram_qlen", "credit",      NULL};
	static const char *const receives[] = {"receive", "rcv", "recv", "read buffer", NULL};
	static const char *const asked[] = {"wanted",     "requested", "asked for", "asked", "desired",
					    "requesting", "so-rcvbuf", "so-sndbuf", NULL};
	static const char *const granted[] = {"got", "actual", "granted", "obtained", "only", "limited to", NULL};
	struct wr_paste_facts *facts = wr_reader_facts(reader);
	struct wr_remark *remark;
	char lowered[512];
	size_t i = 0;

	(void)err;
	for (; line[i] && i < sizeof lowered - 1; i++)
		lowered[i] = (char)tolower((unsigned char)line[i]);
	lowered[i] = '\0';
	if (!contains(lowered, subjects))
		return 0;
	for (i = 0; i < facts->n_remarks; i++) {
		if (strncmp(facts->remarks[i].line, line, sizeof facts->remarks[i].line - 1) == 0)
			return 1;
	}
	if (facts->n_remarks == WR_MAX_REMARKS)
		return 1;
	remark = &facts->remarks[facts->n_remarks++];
	remark->receive = contains(lowered, receives);
	remark->wanted_bytes = size_after(lowered, asked);
	remark->got_bytes = size_after(lowered, granted);
	snprintf(remark->line, sizeof remark->line, "%s", line + strspn(line, " \t"));
	return 1;
}

const struct wr_paste_kind wr_paste_kind_log = {
	.name = "log",
	.summary = "a program's log lines about socket buffers",
	.line = log_line,
};
