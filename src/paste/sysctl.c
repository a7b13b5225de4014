/* SPDX-License-Identifier: MIT */
/*
 * sysctl -a, single "key = value" lines, /etc/sysctl.conf, and keys of buffers quoted without their path ("rmem_max =
 * 8388608" behind a whole one, "tcp_wmem 4096 16384 4194304").
 */
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

static const char *const roots[] = {"net.", "vm.",    "kernel.", "fs.",     "user.",
				    "dev.", "debug.", "abi.",    "sunrpc.", NULL};

static const struct {
	const char *name, *root;
} bare[] = {
	{"rmem_max", "net.core."},          {"wmem_max", "net.core."},           {"rmem_default", "net.core."},
	{"wmem_default", "net.core."},      {"optmem_max", "net.core."},         {"netdev_max_backlog", "net.core."},
	{"tcp_rmem", "net.ipv4."},          {"tcp_wmem", "net.ipv4."},           {"tcp_mem", "net.ipv4."},
	{"udp_mem", "net.ipv4."},           {"max_dgram_qlen", "net.unix."},     {"ipfrag_high_thresh", "net.ipv4."},
	{"tcp_notsent_lowat", "net.ipv4."}, {"tcp_window_scaling", "net.ipv4."},
};

static bool key_complete(const char *word, char *key, size_t n_key)
{
	for (size_t i = 0; roots[i]; i++) {
		if (wr_begins(word, roots[i])) {
			snprintf(key, n_key, "%s", word);
			return true;
		}
	}
	for (size_t i = 0; i < WR_N_ELEMENTS(bare); i++) {
		if (strcmp(word, bare[i].name) == 0) {
			snprintf(key, n_key, "%s%s", bare[i].root, word);
			return true;
		}
	}
	return false;
}

static int sysctl_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	char word[128], key[160];
	size_t length;

	(void)err;
	line += strspn(line, " \t");
	length = strcspn(line, " \t=:");
	if (length == 0 || length >= sizeof word || line[length] == '\0')
		return 0;
	snprintf(word, sizeof word, "%.*s", (int)length, line);
	for (char *at = word; *at; at++)
		*at = *at == '/' ? '.' : *at;
	if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_.-*@ABCDEFGHIJKLMNOPQRSTUVWXYZ")] ||
	    !key_complete(word, key, sizeof key))
		return 0;
	line += length;
	line += strspn(line, " \t");
	/* The separator, or (only before a number) none. */
	if (*line != '=' && *line != ':' && !(*line >= '0' && *line <= '9'))
		return 0;
	line += *line == '=' || *line == ':';
	wr_fact_setting(reader, key, line + strspn(line, " \t"));
	return 1;
}

const struct wr_paste_kind wr_paste_kind_sysctl = {
	.name = "sysctl",
	.summary = "sysctl -a, sysctl KEY, sysctl.conf",
	.line = sysctl_line,
};
