/* SPDX-License-Identifier: MIT */
/*
 * Sockets as /proc/net shows them: udp and udp6 (addresses in hex, the drops in the last column) and netlink. Source:
 * net/ipv4/udp.c udp4_format_sock, net/netlink/af_netlink.c netlink_native_seq_show.
 */
#include <ctype.h>
#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "paste/reader.h"

static const char *const netlink_families[] = {"rtnl", "unused",  "usersock", "fw",     "tcpdiag",   "nflog",
					       "xfrm", "selinux", "iscsi",    "audit",  "fiblookup", "connector",
					       "nft",  "ip6_fw",  "dec-rt",   "uevent", "genl"};

static bool are_hex(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

static unsigned hex(const char *text, size_t n)
{
	char digits[9];

	snprintf(digits, sizeof digits, "%.*s", (int)n, text);
	return (unsigned)strtoul(digits, NULL, 16);
}

/* "0100007F:07D3": the address's bytes stand as this (little-endian) machine has them in memory. */
static bool address_read(const char *word, char out[WR_NAME_TEXT])
{
	size_t length = strcspn(word, ":");
	unsigned port, a;

	if ((length != 8 && length != 32) || strlen(word) != length + 5 || !are_hex(word, length) ||
	    !are_hex(word + length + 1, 4))
		return false;
	port = hex(word + length + 1, 4);
	a = hex(word + length - 8, 8);
	if (length == 8 || memcmp(word, "0000000000000000FFFF0000", 24) == 0)
		snprintf(out, WR_NAME_TEXT, "%u.%u.%u.%u:%u", a & 255, a >> 8 & 255, a >> 16 & 255, a >> 24, port);
	else if (strspn(word, "0") >= 32)
		snprintf(out, WR_NAME_TEXT, "*:%u", port);
	else
		snprintf(out, WR_NAME_TEXT, "[%.32s]:%u", word, port);
	if (port == 0)
		memcpy(strrchr(out, ':'), ":*", 3);
	return true;
}

/* sl local rem st tx:rx tr:when retrnsmt uid timeout inode ref pointer drops */
static int udp_row(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	char words[13][48];
	struct wr_row row;
	size_t length;

	for (size_t i = 0; i < WR_N_ELEMENTS(words); i++)
		line = wr_word_next(line, words[i], sizeof words[i]);
	length = strlen(words[0]);
	wr_row_init(&row, WR_UDP);
	if (length < 2 || words[0][length - 1] != ':' || !isdigit((unsigned char)words[0][0]) ||
	    !address_read(words[1], row.local) || !address_read(words[2], row.peer) || strlen(words[4]) != 17 ||
	    !wr_int_parse(words[12], &row.sample.value[WR_M_DROPS]))
		return 0;
	/* What stands there is memory (sk_rmem_alloc_get), not bytes of payload. */
	row.sample.value[WR_M_RMEM_BYTES] = hex(words[4] + 9, 8);
	row.sample.value[WR_M_WMEM_BYTES] = hex(words[4], 8);
	return wr_reader_row(reader, &row, err) < 0 ? -1 : 1;
}

/* sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode */
static int netlink_row(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	char words[10][32];
	struct wr_row row;
	int64_t family, pid, rmem, drops;

	for (size_t i = 0; i < WR_N_ELEMENTS(words); i++)
		line = wr_word_next(line, words[i], sizeof words[i]);
	if (strlen(words[0]) != 16 || !are_hex(words[0], 16) || !are_hex(words[3], 8) ||
	    !wr_int_parse(words[1], &family) || !wr_int_parse(words[2], &pid) || !wr_int_parse(words[4], &rmem) ||
	    !wr_int_parse(words[8], &drops) || line[strspn(line, " ")])
		return 0;
	wr_row_init(&row, WR_NETLINK);
	row.pid = pid;
	row.sample.value[WR_M_RMEM_BYTES] = rmem;
	row.sample.value[WR_M_DROPS] = drops;
	snprintf(row.local, sizeof row.local, "%s/%" PRId64,
		 family >= 0 && family < (int64_t)WR_N_ELEMENTS(netlink_families) ? netlink_families[family]
										  : "netlink",
		 pid);
	snprintf(row.peer, sizeof row.peer, "*");
	return wr_reader_row(reader, &row, err) < 0 ? -1 : 1;
}

static int sockets_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	int rc;

	if (strstr(line, "local_address") || (wr_begins(line, "sk ") && strstr(line, "Groups"))) {
		reader->block = ++reader->paste->n_blocks;
		return 1;
	}
	rc = udp_row(reader, line, err);
	return rc ? rc : netlink_row(reader, line, err);
}

const struct wr_paste_kind wr_paste_kind_proc_sockets = {
	.name = "/proc/net/udp",
	.summary = "/proc/net/udp, udp6, netlink",
	.line = sockets_line,
};
