/* SPDX-License-Identifier: MIT */
/*
 * Counters of the kernel: nstat (with or without -a, -z), and the pairs of lines of /proc/net/snmp and netstat, whose
 * first has the names and second the numbers. Both print increments or totals; two readings make a difference.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

static const char *const nstat_prefixes[] = {"Ip", "Icmp", "Tcp", "Udp", "MPTcp", NULL};

static int nstat_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	char name[64], number[32], rate[32];
	const char *text;
	int64_t value;
	bool known = false;

	(void)err;
	if (strcmp(line, "#kernel") == 0 || strcmp(line, "#sleep") == 0 || wr_begins(line, "#kernel "))
		return 1;
	text = wr_word_next(wr_word_next(line, name, sizeof name), number, sizeof number);
	text = wr_word_next(text, rate, sizeof rate);
	for (size_t i = 0; nstat_prefixes[i] && !known; i++)
		known = wr_begins(name, nstat_prefixes[i]);
	if (!known || !wr_int_parse(number, &value) || !strchr(rate, '.') || text[strspn(text, " \t")])
		return 0;
	wr_fact_counter(reader, name, value);
	return 1;
}

const struct wr_paste_kind wr_paste_kind_nstat = {
	.name = "nstat",
	.summary = "nstat, nstat -az",
	.line = nstat_line,
};

/* "Tcp: " of a line whose rest is names, or whose rest is numbers. */
static bool pair_split(const char *line, char prefix[16], const char **rest, bool *numbers)
{
	size_t length = strcspn(line, ":");
	const char *first;

	if (line[length] != ':' || length == 0 || length > 12 || line[length + 1] != ' ')
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)line[i]))
			return false;
	}
	snprintf(prefix, 16, "%.*s", (int)length, line);
	*rest = line + length + 1;
	first = *rest + strspn(*rest, " ");
	*numbers = isdigit((unsigned char)*first) || *first == '-';
	return *numbers || isupper((unsigned char)*first);
}

static void pair_take(struct wr_reader *reader, const char *prefix, const char *numbers)
{
	const char *names = reader->names + strlen(prefix) + 1;
	char name[64], number[32], whole[96];
	int64_t value;

	while (names[strspn(names, " ")]) {
		names = wr_word_next(names, name, sizeof name);
		numbers = wr_word_next(numbers, number, sizeof number);
		if (!wr_int_parse(number, &value))
			return;
		snprintf(whole, sizeof whole, "%s%s", prefix, name);
		wr_fact_counter(reader, whole, value);
	}
}

/* All words of a line of names are names: letters and digits that begin with a letter. */
static bool are_names(const char *text)
{
	char word[64];
	size_t n = 0;

	while (text[strspn(text, " ")]) {
		text = wr_word_next(text, word, sizeof word);
		if (!isalpha((unsigned char)word[0]) ||
		    word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")])
			return false;
		n++;
	}
	return n > 1;
}

static int pairs_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	char prefix[16];
	const char *rest;
	bool numbers;

	(void)err;
	if (!pair_split(line, prefix, &rest, &numbers))
		return 0;
	if (!numbers) {
		if (!are_names(rest))
			return 0;
		snprintf(reader->names, sizeof reader->names, "%s", line);
		return 1;
	}
	if (!wr_begins(reader->names, prefix) || reader->names[strlen(prefix)] != ':')
		return 0;
	pair_take(reader, prefix, rest);
	reader->names[0] = '\0';
	return 1;
}

const struct wr_paste_kind wr_paste_kind_proc_pairs = {
	.name = "/proc/net/snmp",
	.summary = "/proc/net/snmp, /proc/net/netstat",
	.line = pairs_line,
};
