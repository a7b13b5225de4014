/* SPDX-License-Identifier: MIT */
/* /proc/net/sockstat ("FRAG: inuse 43 memory 4194968") and softnet_stat (a line of hex columns a CPU). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paste/reader.h"

static const char *const sockstat_sections[] = {"sockets", "TCP",  "UDP",      "UDPLITE", "RAW",   "FRAG",
						"TCP6",    "UDP6", "UDPLITE6", "RAW6",    "FRAG6", NULL};

static int sockstat_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	char section[32], word[32], number[32], name[72];
	const char *text = wr_word_next(line, section, sizeof section);
	size_t length = strlen(section);
	bool known = false;

	(void)err;
	if (length < 2 || section[length - 1] != ':')
		return 0;
	section[length - 1] = '\0';
	for (size_t i = 0; sockstat_sections[i] && !known; i++)
		known = strcmp(section, sockstat_sections[i]) == 0;
	text = wr_word_next(text, word, sizeof word);
	if (!known || (strcmp(word, "inuse") != 0 && strcmp(word, "used") != 0))
		return 0;
	while (word[0]) {
		text = wr_word_next(text, number, sizeof number);
		snprintf(name, sizeof name, "%s.%s", section, word);
		if (strcmp(word, "memory") == 0 || strcmp(word, "mem") == 0)
			wr_fact_setting(reader, name, number);
		text = wr_word_next(text, word, sizeof word);
	}
	return 1;
}

const struct wr_paste_kind wr_paste_kind_sockstat = {
	.name = "sockstat",
	.summary = "/proc/net/sockstat, sockstat6",
	.line = sockstat_line,
};

#define LEAST_COLUMNS 9
#define MOST_COLUMNS 32

static int softnet_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	unsigned long columns[MOST_COLUMNS];
	char word[16], cpu[24];
	size_t n = 0;

	(void)err;
	while (n < MOST_COLUMNS && line[strspn(line, " ")]) {
		line = wr_word_next(line, word, sizeof word);
		if (strlen(word) != 8 || word[strspn(word, "0123456789abcdef")])
			return 0;
		columns[n++] = strtoul(word, NULL, 16);
	}
	if (n < LEAST_COLUMNS)
		return 0;
	/* Each CPU's line stands for itself: column 13 is its number, in older kernels the lines' order. */
	snprintf(cpu, sizeof cpu, "cpu%lu", n > 12 ? columns[12] : reader->paste->n_lines % 1024);
	wr_fact_device(reader, "softnet_dropped", cpu, (int64_t)columns[1]);
	return 1;
}

const struct wr_paste_kind wr_paste_kind_softnet = {
	.name = "softnet_stat",
	.summary = "/proc/net/softnet_stat",
	.line = softnet_line,
};
