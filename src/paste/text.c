/* SPDX-License-Identifier: MIT */
/*
 * Reading a text: it is cut into lines, and each is offered to the kind that took the one before, then to all of the
 * table in turn. Whoever quotes several lines in one joins them with " / ": they are taken apart again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "paste/reader.h"

extern const struct wr_paste_kind wr_paste_kind_json, wr_paste_kind_ss, wr_paste_kind_netstat, wr_paste_kind_proc_pairs,
	wr_paste_kind_nstat, wr_paste_kind_proc_sockets, wr_paste_kind_sockstat, wr_paste_kind_softnet,
	wr_paste_kind_sysctl, wr_paste_kind_ip_link, wr_paste_kind_tcp_metrics, wr_paste_kind_ethtool, wr_paste_kind_tc,
	wr_paste_kind_iperf3, wr_paste_kind_ping, wr_paste_kind_log;

const struct wr_paste_kind *const wr_paste_kinds[] = {
	&wr_paste_kind_json,
	&wr_paste_kind_ss,
	&wr_paste_kind_proc_pairs,
	&wr_paste_kind_netstat,
	&wr_paste_kind_nstat,
	&wr_paste_kind_proc_sockets,
	&wr_paste_kind_sockstat,
	&wr_paste_kind_softnet,
	&wr_paste_kind_sysctl,
	&wr_paste_kind_ip_link,
	&wr_paste_kind_tcp_metrics,
	&wr_paste_kind_ethtool,
	&wr_paste_kind_tc,
	&wr_paste_kind_iperf3,
	&wr_paste_kind_ping,
	&wr_paste_kind_log,
	NULL,
};

static int leave(struct wr_reader *reader, struct weir_err *err)
{
	const struct wr_paste_kind *kind = reader->current;

	reader->current = NULL;
	return kind && kind->finish ? kind->finish(reader, err) : 0;
}

static void note_kind(struct wr_reader *reader, size_t index)
{
	reader->paste->kinds[index] = true;
}

static int offer(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	int rc = reader->current ? reader->current->line(reader, line, err) : 0;

	if (rc)
		return rc < 0 ? rc : 0;
	for (size_t i = 0; wr_paste_kinds[i]; i++) {
		if (wr_paste_kinds[i] == reader->current)
			continue;
		rc = wr_paste_kinds[i]->line(reader, line, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			continue;
		if (leave(reader, err) < 0)
			return -1;
		reader->current = wr_paste_kinds[i];
		note_kind(reader, i);
		return 0;
	}
	reader->paste->n_skipped++;
	return 0;
}

/* A line, or one of several that were joined: without the marks that quoting leaves at its ends. */
static int part(struct wr_reader *reader, char *line, size_t length, struct weir_err *err)
{
	size_t begin = 0;

	while (length && strchr(" \t\r`\"'", line[length - 1]))
		length--;
	line[length] = '\0';
	begin = strspn(line, " \t");
	if (line[begin] == '\0')
		return 0;
	/* Where a line begins matters; a quote mark does not. */
	if (line[begin] == '`')
		line += begin + 1;
	reader->paste->n_lines++;
	return offer(reader, line, err);
}

static int line_read(struct wr_reader *reader, char *line, struct weir_err *err)
{
	char *joint;

	while (line[strspn(line, " \t")] != '{' && (joint = strstr(line, " / "))) {
		if (part(reader, line, (size_t)(joint - line), err) < 0)
			return -1;
		line = joint + 3;
	}
	return part(reader, line, strlen(line), err);
}

/* The next line, cut to what a line may have, without control characters. */
static void line_copy(char *out, const char *text, size_t length)
{
	size_t n = length < WR_PASTE_LINE - 1 ? length : WR_PASTE_LINE - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)text[i] < ' ' && text[i] != '\t' ? ' ' : text[i];
	out[n] = '\0';
}

static int lines_read(struct wr_reader *reader, char *line, struct weir_err *err)
{
	while (reader->text < reader->end) {
		const char *begin = reader->text, *newline = memchr(begin, '\n', (size_t)(reader->end - begin));
		size_t length = (size_t)((newline ? newline : reader->end) - begin);

		reader->line = begin;
		reader->text = begin + length + (newline != NULL);
		line_copy(line, begin, length);
		if (line_read(reader, line, err) < 0)
			return -1;
	}
	return leave(reader, err);
}

int wr_paste_add(struct wr_paste *paste, enum wr_paste_from from, const char *text, size_t n, struct weir_err *err)
{
	struct wr_reader *reader = calloc(1, sizeof *reader);
	char *line = malloc(WR_PASTE_LINE);
	int rc = -1;

	if (reader && line) {
		reader->paste = paste;
		reader->from = from;
		reader->text = text;
		reader->end = text + (n < WR_PASTE_MAX_BYTES ? n : WR_PASTE_MAX_BYTES);
		reader->host = WR_PASTE_MAX_HOSTS;
		reader->block = ++paste->n_blocks;
		rc = from == WR_PASTE_UNKNOWN ? 0 : wr_reader_settle(reader, "", err);
		if (rc == 0)
			rc = lines_read(reader, line, err);
		/* A text without sockets belongs to the host of the one before it. */
		if (rc == 0 && reader->host >= paste->n_hosts)
			rc = wr_reader_settle(reader, "", err);
	} else {
		wr_err_memory(err, "text");
	}
	free(line);
	free(reader);
	return rc;
}
