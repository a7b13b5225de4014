/* SPDX-License-Identifier: MIT */
/*
 * iperf3's text: "[  5]   0.00-1.00   sec  3.46 MBytes  29.0 Mbits/sec    0    512 KBytes". Each interval makes a
 * sample of the stream: bytes so far, segments sent again, congestion window. The text tells neither RTT nor the peer's
 * window.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

/* The text names no segment size; this one is of MTU 1500. */
#define USUAL_MSS 1448
/* A line that begins at 0 and is longer sums up the whole test. */
#define LONGEST_FIRST_S 1.5

/* "[  5]", "[SUM]" or nothing. Return: the stream's number, 0 without one; -1 a sum. */
static int64_t stream_number(const char **text)
{
	int64_t id = 0;

	*text += strspn(*text, " \t");
	if (**text != '[')
		return 0;
	*text += 1 + strspn(*text + 1, " ");
	if (wr_begins(*text, "SUM"))
		id = -1;
	else
		wr_int_parse(*text, &id);
	*text += strcspn(*text, "]");
	*text += **text == ']';
	return id;
}

/* A number and its unit, which are two words; @step of the unit. */
static const char *quantity(const char *text, double step, const char *of, double *value)
{
	char number[32], unit[32], both[80];

	text = wr_word_next(wr_word_next(text, number, sizeof number), unit, sizeof unit);
	snprintf(both, sizeof both, "%s %s", number, unit);
	return strstr(unit, of) && wr_scaled_parse(both, step, value, NULL) ? text : NULL;
}

/* Return: 1 an interval; 0 no such line; 2 the sum of the test. */
static int interval_read(struct wr_row *row, const char *text)
{
	char word[64];
	double from, to, bytes, bps, cwnd;
	const char *rest;
	int64_t retrans;

	text = wr_word_next(text, word, sizeof word);
	if (!wr_real_parse(word, &from, &rest) || *rest != '-' || !wr_real_parse(rest + 1, &to, NULL) || to > 1e6)
		return 0;
	text = wr_word_next(text, word, sizeof word);
	text = strcmp(word, "sec") == 0 ? quantity(text, 1024, "Byte", &bytes) : NULL;
	text = text ? quantity(text, 1000, "bit", &bps) : NULL;
	if (!text)
		return 0;
	row->sample.value[WR_M_T_NS] = llround(to * 1e9);
	row->sample.value[WR_M_BYTES_ACKED] = llround(bytes);
	row->sample.value[WR_M_DELIVERY_BPS] = llround(bps);
	text = wr_word_next(text, word, sizeof word);
	if (word[0] && word[strspn(word, "0123456789")] == '\0' && wr_int_parse(word, &retrans)) {
		row->sample.value[WR_M_TOTAL_RETRANS_SEGS] = retrans;
		if (quantity(text, 1024, "Byte", &cwnd))
			row->sample.value[WR_M_CWND_SEGS] = llround(cwnd / USUAL_MSS);
	}
	return from > 0 || to <= LONGEST_FIRST_S ? 1 : 2;
}

void wr_row_accumulate(const struct wr_reader *reader, struct wr_row *row)
{
	static const enum wr_metric_id counts[] = {WR_M_BYTES_ACKED, WR_M_BYTES_RECEIVED, WR_M_TOTAL_RETRANS_SEGS};
	const struct wr_paste_socket *known =
		wr_paste_find(reader->paste, reader->host, row->protocol, row->local, row->peer);
	const struct wr_sample *last = known ? wr_series_at(&known->connection.series, INT64_MAX) : NULL;

	for (size_t i = 0; last && i < WR_N_ELEMENTS(counts); i++) {
		if (row->sample.value[counts[i]] != WR_ABSENT && last->value[counts[i]] != WR_ABSENT)
			row->sample.value[counts[i]] += last->value[counts[i]];
	}
}

static bool is_decoration(const char *line)
{
	static const char *const heads[] = {
		"[ ID]",   "Connecting to host", "iperf Done", "Accepted connection", "Server listening",
		"- - - -", "-----------"};

	for (size_t i = 0; i < WR_N_ELEMENTS(heads); i++) {
		if (wr_begins(line, heads[i]))
			return true;
	}
	return wr_begins(line, "[") && strstr(line, "] local ") && strstr(line, " connected to ");
}

static int iperf3_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	const char *text = line;
	int64_t id = stream_number(&text);
	struct wr_row row;
	int rc;

	if (is_decoration(line))
		return 1;
	wr_row_init(&row, WR_TCP);
	rc = interval_read(&row, text);
	if (rc != 1 || id < 0)
		return rc != 0;
	snprintf(row.local, sizeof row.local, "iperf3");
	snprintf(row.peer, sizeof row.peer, "stream %lld", (long long)id);
	snprintf(row.program, sizeof row.program, "iperf3");
	row.sample.value[WR_M_SND_MSS_BYTES] = row.mss_bytes = USUAL_MSS;
	if (wr_reader_settle(reader, "", err) < 0)
		return -1;
	wr_row_accumulate(reader, &row);
	return wr_reader_row(reader, &row, err) < 0 ? -1 : 1;
}

const struct wr_paste_kind wr_paste_kind_iperf3 = {
	.name = "iperf3",
	.summary = "iperf3's text",
	.line = iperf3_line,
};
