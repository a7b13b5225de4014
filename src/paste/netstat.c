/* SPDX-License-Identifier: MIT */
/*
 * netstat -s: sentences under headings ("Udp:"). The sentences that a cause needs are a table; those of TcpExt that
 * have no sentence are printed as "Name: number" (net-tools statistics.c). Translated ones are not known.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

extern const struct wr_paste_kind wr_paste_kind_netstat;

static const struct {
	const char *section, *sentence, *name;
} sentences[] = {
	{"Tcp", "segments sent out", "TcpOutSegs"},
	{"Tcp", "segments send out", "TcpOutSegs"},
	{"Tcp", "segments retransmitted", "TcpRetransSegs"},
	{"Tcp", "segments retransmited", "TcpRetransSegs"},
	{"Udp", "packets received", "UdpInDatagrams"},
	{"Udp", "packets to unknown port received", "UdpNoPorts"},
	{"Udp", "packet receive errors", "UdpInErrors"},
	{"Udp", "packets sent", "UdpOutDatagrams"},
	{"Udp", "receive buffer errors", "UdpRcvbufErrors"},
	{"Udp", "send buffer errors", "UdpSndbufErrors"},
	{"Ip", "reassemblies required", "IpReasmReqds"},
	{"Ip", "packets reassembled ok", "IpReasmOKs"},
	{"Ip", "packet reassembles failed", "IpReasmFails"},
	{"Ip", "packet reassemblies failed", "IpReasmFails"},
	{"Ip", "fragments dropped after timeout", "IpReasmTimeout"},
	{"Ip", "outgoing packets dropped", "IpOutDiscards"},
	{"TcpExt", "delayed acks sent", "DelayedACKs"},
	{"TcpExt", "packets pruned from receive queue because of socket buffer overrun", "PruneCalled"},
	{"TcpExt", "packets pruned from receive queue", "RcvPruned"},
	{"TcpExt", "packets dropped from out-of-order queue because of socket buffer overrun", "OfoPruned"},
	{"TcpExt", "packets collapsed in receive queue due to low socket buffer", "TCPRcvCollapsed"},
	{"TcpExt", "other TCP timeouts", "TCPTimeouts"},
	{"TcpExt", "times the listen queue of a socket overflowed", "ListenOverflows"},
};

static const char *const sections[] = {
	"Ip",   "Ip6",     "Icmp",     "Icmp6",  "IcmpMsg", "Icmp6Msg", "Tcp", "Udp",
	"Udp6", "UdpLite", "UdpLite6", "TcpExt", "IpExt",   "MPTcpExt", NULL,
};

/*
 * "Udp:" alone, or followed by a sentence where lines were joined. Return: what follows it, NULL when it is no heading.
 */
static const char *heading_read(const char *line, char section[48])
{
	size_t length = strcspn(line, ":");
	const char *rest;

	if (line[length] != ':')
		return NULL;
	rest = line + length + 1 + strspn(line + length + 1, " ");
	for (size_t i = 0; sections[i]; i++) {
		if (strlen(sections[i]) != length || strncmp(line, sections[i], length) != 0)
			continue;
		if (*rest &&
		    !(isdigit((unsigned char)*rest) && isalpha((unsigned char)rest[strspn(rest, "0123456789 ")])))
			return NULL;
		snprintf(section, 48, "%s", sections[i]);
		return rest;
	}
	return NULL;
}

static void sentence_take(struct wr_reader *reader, int64_t value, const char *sentence)
{
	size_t length = strlen(sentence);

	length -= length && sentence[length - 1] == '.';
	for (size_t i = 0; i < WR_N_ELEMENTS(sentences); i++) {
		if (strcmp(reader->section, sentences[i].section) == 0 && strlen(sentences[i].sentence) == length &&
		    strncmp(sentence, sentences[i].sentence, length) == 0)
			wr_fact_counter(reader, sentences[i].name, value);
	}
}

/* "RcvbufErrors: 12", and nothing behind. */
static bool named_take(struct wr_reader *reader, const char *text)
{
	char word[64], number[32], name[112];
	const char *rest = wr_word_next(wr_word_next(text, word, sizeof word), number, sizeof number);
	size_t length = strlen(word);
	int64_t value;

	if (length < 2 || word[length - 1] != ':' || !wr_int_parse(number, &value) || rest[strspn(rest, " ")])
		return false;
	word[length - 1] = '\0';
	snprintf(name, sizeof name, "%s%s", reader->section, word);
	wr_fact_counter(reader, name, value);
	return true;
}

static int netstat_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	const char *text = line + strspn(line, " \t"), *rest = heading_read(line, reader->section);
	int64_t value;

	(void)err;
	if (rest && *rest == '\0')
		return 1;
	text = rest ? rest : text;
	if (!rest && reader->current != &wr_paste_kind_netstat)
		return 0;
	if (!wr_int_parse(text, &value)) {
		/* Headings within a section ("ICMP input histogram:") and names of its own. */
		return named_take(reader, text) || (text != line && text[strlen(text) - 1] == ':');
	}
	text += strspn(text, "0123456789");
	if (*text != ' ' || !isalpha((unsigned char)text[1]))
		return 0;
	sentence_take(reader, value, text + 1);
	return 1;
}

static int netstat_finish(struct wr_reader *reader, struct weir_err *err)
{
	(void)err;
	reader->section[0] = '\0';
	return 0;
}

const struct wr_paste_kind wr_paste_kind_netstat = {
	.name = "netstat -s",
	.summary = "netstat -s, netstat -su",
	.line = netstat_line,
	.finish = netstat_finish,
};
