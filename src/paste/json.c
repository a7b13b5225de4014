/* SPDX-License-Identifier: MIT */
/*
 * JSON, wherever it begins in a text: of iperf3, of nstat -j, of ip -j -s link, and weir's own evidence. What else it
 * may be is skipped as a whole. A text that is cut off within it is not JSON; its lines are then offered to the others.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "paste/reader.h"

/* Each attempt may read the rest of the text. */
#define MOST_ATTEMPTS 16
#define MOST_STORED 16
#define USUAL_MSS 1448

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	return fabs(number) < 1e18 ? number : NAN;
}

static void take(struct wr_row *row, enum wr_metric_id id, double value)
{
	if (value >= 0)
		row->sample.value[id] = llround(value);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* -- iperf3 -- */

static void iperf3_addresses(const json_t *start, double socket, struct wr_row *row)
{
	const json_t *connected = json_object_get(start, "connected"), *one;
	size_t i;

	snprintf(row->local, sizeof row->local, "iperf3");
	snprintf(row->peer, sizeof row->peer, "stream %.0f", socket);
	json_array_foreach(connected, i, one)
	{
		const char *local = text_of(one, "local_host"), *remote = text_of(one, "remote_host");

		if (number_of(one, "socket") != socket)
			continue;
		snprintf(row->local, sizeof row->local, strchr(local, ':') ? "[%.50s]:%.0f" : "%.50s:%.0f", local,
			 number_of(one, "local_port"));
		snprintf(row->peer, sizeof row->peer, strchr(remote, ':') ? "[%.50s]:%.0f" : "%.50s:%.0f", remote,
			 number_of(one, "remote_port"));
		wr_paste_address_normalize(row->local);
		wr_paste_address_normalize(row->peer);
	}
}

/*
 * An interval as a sample. What is in flight is not told, but by Little's law it is rate x RTT; and iperf3 always has
 * something to send, so what is unsent is unknown and not 0.
 */
static void iperf3_sample(const json_t *start, const json_t *stream, struct wr_row *row)
{
	double mss = number_of(start, "tcp_mss_default"), rtt_us = number_of(stream, "rtt"),
	       bps = number_of(stream, "bits_per_second");
	bool sends = !json_is_false(json_object_get(stream, "sender")) && json_object_get(stream, "snd_cwnd");

	mss = mss > 0 ? mss : USUAL_MSS;
	row->mss_bytes = llround(mss);
	take(row, WR_M_T_NS, number_of(stream, "end") * 1e9);
	take(row, sends ? WR_M_BYTES_ACKED : WR_M_BYTES_RECEIVED, number_of(stream, "bytes"));
	take(row, WR_M_RCVBUF_BYTES, number_of(start, "rcvbuf_actual"));
	take(row, WR_M_SNDBUF_BYTES, number_of(start, "sndbuf_actual"));
	if (!sends)
		return;
	row->sample.value[WR_M_SND_MSS_BYTES] = row->mss_bytes;
	take(row, WR_M_DELIVERY_BPS, bps);
	take(row, WR_M_TOTAL_RETRANS_SEGS, number_of(stream, "retransmits"));
	take(row, WR_M_CWND_SEGS, number_of(stream, "snd_cwnd") / mss);
	if (number_of(stream, "snd_wnd") > 0)
		take(row, WR_M_SND_WND_BYTES, number_of(stream, "snd_wnd"));
	if (rtt_us > 0) {
		take(row, WR_M_RTT_US, rtt_us);
		take(row, WR_M_UNACKED_SEGS, bps * rtt_us / 8e6 / mss);
	}
	take(row, WR_M_RTTVAR_US, number_of(stream, "rttvar"));
}

/* min_rtt stands in the summary only; without it the smallest of the intervals is the best guess. */
static double iperf3_min_rtt(const json_t *root, double socket)
{
	const json_t *stream;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(root, "end"), "streams"), i, stream)
	{
		const json_t *sender = json_object_get(stream, "sender");

		if (number_of(sender, "socket") == socket && number_of(sender, "min_rtt") > 0)
			return number_of(sender, "min_rtt");
	}
	return NAN;
}

static int iperf3_read(struct wr_reader *reader, const json_t *root, struct weir_err *err)
{
	const json_t *start = json_object_get(root, "start"), *interval, *stream;
	bool udp = strcmp(text_of(json_object_get(start, "test_start"), "protocol"), "UDP") == 0;
	double asked = number_of(start, "sock_bufsize");
	size_t i, j;

	json_array_foreach(json_object_get(root, "intervals"), i, interval)
	{
		json_array_foreach(json_object_get(interval, "streams"), j, stream)
		{
			struct wr_row row;
			char address[WR_NAME_TEXT];

			if (udp || json_is_true(json_object_get(stream, "omitted")))
				continue;
			wr_row_init(&row, WR_TCP);
			snprintf(row.program, sizeof row.program, "iperf3");
			iperf3_addresses(start, number_of(stream, "socket"), &row);
			iperf3_sample(start, stream, &row);
			take(&row, WR_M_MIN_RTT_US, iperf3_min_rtt(root, number_of(stream, "socket")));
			snprintf(row.congestion, sizeof row.congestion, "%.15s",
				 text_of(json_object_get(root, "end"), "sender_tcp_congestion"));
			wr_paste_address_host(row.local, address);
			if (wr_reader_settle(reader, address, err) < 0)
				return -1;
			wr_row_accumulate(reader, &row);
			row.asked_bytes = asked > 0 ? (uint64_t)asked : 0;
			if (wr_reader_row(reader, &row, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* -- nstat -j, ip -j -s link -- */

static void nstat_read(struct wr_reader *reader, json_t *kernel)
{
	const char *name;
	json_t *value;

	json_object_foreach(kernel, name, value)
	{
		if (json_is_integer(value))
			wr_fact_counter(reader, name, json_integer_value(value));
	}
}

static void links_read(struct wr_reader *reader, const json_t *links)
{
	const json_t *link;
	size_t i;

	json_array_foreach(links, i, link)
	{
		const char *name = text_of(link, "ifname");
		const json_t *stats = json_object_get(link, "stats64");
		double rx = number_of(json_object_get(stats, "rx"), "dropped"),
		       tx = number_of(json_object_get(stats, "tx"), "dropped");
		double qlen = number_of(link, "txqlen");
		char key[48], value[32];

		if (!name[0])
			continue;
		if (rx >= 0)
			wr_fact_device(reader, "rx_dropped", name, llround(rx));
		if (tx >= 0)
			wr_fact_device(reader, "tx_dropped", name, llround(tx));
		snprintf(key, sizeof key, "qlen@%.15s", name);
		snprintf(value, sizeof value, "%.0f", qlen);
		if (qlen > 0)
			wr_fact_setting(reader, key, value);
	}
}

/* -- weir's own -- */

static int evidence_read(struct wr_paste *paste, const json_t *root, struct weir_err *err)
{
	struct wr_evidence *stored;

	if (paste->n_stored == MOST_STORED)
		return 0;
	stored = realloc(paste->stored, (paste->n_stored + 1) * sizeof *stored);
	if (!stored)
		return wr_err_memory(err, "evidence");
	paste->stored = stored;
	/* Evidence that is not whole is none, as any text that isn't understood. */
	if (wr_evidence_from_json(&stored[paste->n_stored], root, NULL) == 0)
		paste->n_stored++;
	return 0;
}

static int value_read(struct wr_reader *reader, json_t *root, struct weir_err *err)
{
	const char *schema = text_of(root, "schema");

	if (json_object_get(root, "start") && json_object_get(root, "intervals"))
		return iperf3_read(reader, root, err);
	if (strcmp(schema, "weir.evidence/1") == 0)
		return evidence_read(reader->paste, root, err);
	if (json_is_object(json_object_get(root, "kernel")))
		nstat_read(reader, json_object_get(root, "kernel"));
	else if (json_is_array(root))
		links_read(reader, root);
	return 0;
}

static int json_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	const char *begin = reader->line + strspn(line, " \t`");
	json_error_t problem;
	json_t *root;
	int rc;

	line += strspn(line, " \t");
	if (*line != '{' && !wr_begins(line, "[{") && strcmp(line, "[") != 0)
		return 0;
	if (reader->n_attempts++ >= MOST_ATTEMPTS)
		return 0;
	root = json_loadb(begin, (size_t)(reader->end - begin), JSON_DISABLE_EOF_CHECK, &problem);
	if (!root)
		return 0;
	reader->n_attempts = 0;
	/* Lines of the value are counted, and the next line begins behind it. */
	for (const char *at = begin; at < begin + problem.position; at++)
		reader->paste->n_lines += *at == '\n';
	reader->text = begin + problem.position;
	rc = value_read(reader, root, err);
	json_decref(root);
	return rc < 0 ? -1 : 1;
}

const struct wr_paste_kind wr_paste_kind_json = {
	.name = "JSON",
	.summary = "iperf3 -J, nstat -j, ip -j -s link, weir's evidence",
	.line = json_line,
};
