/* SPDX-License-Identifier: MIT */
/*
 * Rows of `ss` and `netstat -an`. A row is [Netid] [State] Recv-Q Send-Q Local Peer and words, on one line, on a second
 * one that begins with a tab, or wrapped anywhere by a terminal; so it is gathered until something else comes, and a
 * piece that begins with no known word is glued to the one before.
 */
#include "paste/ss.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MOST_ANONYMOUS 64
#define UDP_DEFAULT_BYTES 212992 /* net.core.rmem_default: no TCP socket has it by itself */

static const struct {
	const char *name;
	enum wr_protocol protocol;
} netids[] = {
	{"tcp", WR_TCP},     {"tcp6", WR_TCP},   {"mptcp", WR_TCP},    {"udp", WR_UDP},    {"udp6", WR_UDP},
	{"u_str", WR_UNIX},  {"u_dgr", WR_UNIX}, {"u_seq", WR_UNIX},   {"nl", WR_NETLINK}, {"v_str", WR_VSOCK},
	{"v_dgr", WR_VSOCK}, {"raw", WR_HOST},   {"p_raw", WR_HOST},   {"p_dgr", WR_HOST}, {"icmp6", WR_HOST},
	{"sctp", WR_HOST},   {"dccp", WR_HOST},  {"udplite", WR_HOST}, {"tipc", WR_HOST},  {"xdp", WR_HOST},
};

static const struct {
	const char *name;
	enum wr_socket_state state;
} states[] = {
	{"ESTAB", WR_SOCKET_OPEN},      {"ESTABLISHED", WR_SOCKET_OPEN}, {"UNCONN", WR_SOCKET_OPEN},
	{"CLOSE-WAIT", WR_SOCKET_OPEN}, {"CLOSE_WAIT", WR_SOCKET_OPEN},  {"FIN-WAIT-1", WR_SOCKET_OPEN},
	{"FIN_WAIT1", WR_SOCKET_OPEN},  {"LISTEN", WR_SOCKET_LISTENS},   {"TIME-WAIT", WR_SOCKET_OTHER},
	{"TIME_WAIT", WR_SOCKET_OTHER}, {"FIN-WAIT-2", WR_SOCKET_OTHER}, {"FIN_WAIT2", WR_SOCKET_OTHER},
	{"LAST-ACK", WR_SOCKET_OTHER},  {"LAST_ACK", WR_SOCKET_OTHER},   {"SYN-SENT", WR_SOCKET_OTHER},
	{"SYN_SENT", WR_SOCKET_OTHER},  {"SYN-RECV", WR_SOCKET_OTHER},   {"SYN_RECV", WR_SOCKET_OTHER},
	{"CLOSING", WR_SOCKET_OTHER},   {"CLOSED", WR_SOCKET_OTHER},     {"CLOSE", WR_SOCKET_OTHER},
	{"UNKNOWN", WR_SOCKET_OTHER},
};

/* Families of netlink, as ss names them (iproute2 misc/ss.c, /etc/iproute2/nl_protos). */
static const char *const netlink_names[] = {
	"rtnl:",    "unused:", "usersock:", "fw:",         "tcpdiag:",   "nflog:", "xfrm:",
	"selinux:", "iscsi:",  "audit:",    "fiblookup:",  "connector:", "nft:",   "ip6_fw:",
	"dec-rt:",  "uevent:", "genl:",     "scsi-trans:", "ecryptfs:",  "rdma:",  "crypto:",
};

/* What stands before the words. @words: where they begin, NULL while the addresses are not complete. */
struct heading {
	bool has_netid, has_state, has_queues;
	enum wr_protocol protocol;
	enum wr_socket_state state;
	bool unconnected;
	int64_t recv_q, send_q;
	char local[WR_NAME_TEXT], peer[WR_NAME_TEXT];
	const char *words;
};

static int netid_find(const char *word)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(netids); i++) {
		if (strcmp(word, netids[i].name) == 0)
			return (int)i;
	}
	return -1;
}

static int state_find(const char *word)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(states); i++) {
		if (strcmp(word, states[i].name) == 0)
			return (int)i;
	}
	return -1;
}

static bool is_number(const char *word)
{
	return word[0] && word[strspn(word, "0123456789")] == '\0';
}

static bool is_address(const char *word)
{
	const char *port = strrchr(word, ':');

	return strcmp(word, "*") == 0 || (port && port[1] && !wr_ss_is_word(word)) || word[0] == '/' || word[0] == '@';
}

static void state_set(struct heading *heading, int state, const char *word)
{
	heading->has_state = true;
	heading->state = states[state].state;
	heading->unconnected = strcmp(word, "UNCONN") == 0;
}

/* unix: a path and an inode make an address. */
static const char *unix_address(const char *text, char *address)
{
	char path[WR_NAME_TEXT - 24], inode[24];

	text = wr_word_next(text, path, sizeof path);
	text = wr_word_next(text, inode, sizeof inode);
	snprintf(address, WR_NAME_TEXT, "%s %s", path, inode);
	return inode[0] ? text : NULL;
}

static const char *address(const char *text, char *out)
{
	char word[WR_NAME_TEXT];
	const char *rest = wr_word_next(text, word, sizeof word);

	if (!is_address(word))
		return NULL;
	wr_paste_address_normalize(word);
	snprintf(out, WR_NAME_TEXT, "%s", word);
	return rest;
}

static void addresses(struct heading *heading, const char *text)
{
	const char *rest;

	heading->words = NULL;
	if (heading->has_netid && heading->protocol == WR_UNIX) {
		text = unix_address(text, heading->local);
		heading->words = text ? unix_address(text, heading->peer) : NULL;
		return;
	}
	text = address(text, heading->local);
	if (!text)
		return;
	rest = address(text, heading->peer);
	/* netstat shows none for an unconnected socket in some releases; then what follows is the program. */
	heading->words = rest ? rest : heading->has_netid && text[strspn(text, " \t")] ? text : NULL;
}

/* Whether @line begins like a row; @heading: what could be read of it. */
static bool heading_read(const char *line, struct heading *heading)
{
	char word[WR_NAME_TEXT];
	const char *text = wr_word_next(line, word, sizeof word);
	int found = netid_find(word);

	memset(heading, 0, sizeof *heading);
	if (found >= 0) {
		heading->has_netid = true;
		heading->protocol = netids[found].protocol;
		text = wr_word_next(text, word, sizeof word);
	}
	found = state_find(word);
	if (found >= 0) {
		state_set(heading, found, word);
		heading->words = text;
		text = wr_word_next(text, word, sizeof word);
	}
	if (!is_number(word))
		return heading->has_state && found >= 0 && wr_ss_is_word(word);
	heading->words = NULL;
	heading->has_queues = wr_int_parse(word, &heading->recv_q);
	text = wr_word_next(text, word, sizeof word);
	if (!is_number(word) || !wr_int_parse(word, &heading->send_q))
		return false;
	addresses(heading, text);
	return heading->has_netid || heading->has_state || heading->words;
}

static bool is_netlink(const char *local)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(netlink_names); i++) {
		if (wr_begins(local, netlink_names[i]))
			return true;
	}
	return false;
}

/* What family a row is of that does not say it: words of tcp_info are TCP's; UDP's memory has its own default. */
static enum wr_protocol protocol_guess(const struct wr_reader *reader, const struct heading *heading,
				       const struct wr_row *row)
{
	const int64_t *value = row->sample.value;

	if (heading->has_netid)
		return heading->protocol;
	if (is_netlink(heading->local))
		return WR_NETLINK;
	if (row->has_info || heading->state == WR_SOCKET_LISTENS)
		return WR_TCP;
	if (heading->unconnected || reader->is_udp || value[WR_M_RCVBUF_BYTES] == UDP_DEFAULT_BYTES ||
	    value[WR_M_SNDBUF_BYTES] == UDP_DEFAULT_BYTES)
		return WR_UDP;
	return WR_TCP;
}

/* "ESTABLISHED 1234/perl", "1234/perl" or "perl": what netstat prints at the end. */
static void netstat_tail(struct wr_row *row, struct heading *heading)
{
	char word[WR_NAME_TEXT];
	const char *text = wr_word_next(heading->words, word, sizeof word);
	int state = state_find(word);
	const char *name;

	if (state >= 0) {
		state_set(heading, state, word);
		wr_word_next(text, word, sizeof word);
	}
	name = strchr(word, '/');
	if (name)
		wr_int_parse(word, &row->pid);
	name = name ? name + 1 : word;
	if (isalpha((unsigned char)name[0]) && !strchr(name, ':'))
		snprintf(row->program, sizeof row->program, "%.31s", name);
}

static bool goes_on(const struct wr_sample *last, const struct wr_sample *next)
{
	static const enum wr_metric_id counts[] = {WR_M_BYTES_ACKED, WR_M_BYTES_SENT, WR_M_BYTES_RECEIVED,
						   WR_M_BUSY_US};

	for (size_t i = 0; i < WR_N_ELEMENTS(counts); i++) {
		if (next->value[counts[i]] < last->value[counts[i]])
			return false;
	}
	return next->value[WR_M_SND_MSS_BYTES] == last->value[WR_M_SND_MSS_BYTES] &&
	       next->value[WR_M_SND_WSCALE] == last->value[WR_M_SND_WSCALE];
}

/* A row without addresses is a further snapshot of the one before if its counts can be, else another socket. */
static void name_anonymous(struct wr_reader *reader, struct wr_row *row)
{
	for (unsigned k = 1; k <= MOST_ANONYMOUS; k++) {
		const struct wr_paste_socket *known;

		snprintf(row->local, sizeof row->local, "?");
		snprintf(row->peer, sizeof row->peer, "?%.0u", k > 1 ? k : 0);
		known = wr_paste_find(reader->paste, reader->host, WR_TCP, row->local, row->peer);
		if (!known || goes_on(wr_series_at(&known->connection.series, INT64_MAX), &row->sample))
			return;
	}
}

/* "rtnl:neighmon/11005": family, program, port. /proc/net/netlink has no program, so it is no part of the name. */
static void netlink_name(struct wr_row *row, char *local)
{
	char family[24], program[32];
	const char *colon = strchr(local, ':'), *slash = strrchr(local, '/');
	int64_t port = 0;

	if (!colon)
		return;
	if (slash)
		wr_int_parse(slash + 1, &port);
	snprintf(family, sizeof family, "%.*s", (int)(colon - local < 23 ? colon - local : 23), local);
	snprintf(program, sizeof program, "%.*s",
		 (int)(slash && slash > colon ? (slash - colon - 1 < 31 ? slash - colon - 1 : 31) : 31), colon + 1);
	snprintf(local, WR_NAME_TEXT, "%s/%lld", family, (long long)port);
	snprintf(row->program, sizeof row->program, "%s", program);
	row->pid = port;
}

static int flush(struct wr_reader *reader, struct weir_err *err)
{
	struct heading heading;
	struct wr_row row;

	reader->gathering = false;
	if (!heading_read(reader->gathered, &heading) || !heading.words)
		return 0;
	wr_row_init(&row, WR_TCP);
	if (wr_ss_info(&row, heading.words) == 0 && heading.has_netid && !heading.has_state)
		netstat_tail(&row, &heading);
	row.protocol = protocol_guess(reader, &heading, &row);
	row.state = heading.state;
	reader->is_udp |= heading.unconnected && row.protocol == WR_UDP;
	if (row.protocol == WR_HOST || row.state == WR_SOCKET_OTHER)
		return 0;
	if (row.protocol == WR_TCP)
		wr_ss_complete(&row);
	if (row.protocol == WR_NETLINK)
		netlink_name(&row, heading.local);
	snprintf(row.local, sizeof row.local, "%s", heading.local);
	snprintf(row.peer, sizeof row.peer, "%s", heading.peer);
	if (heading.has_queues && row.state == WR_SOCKET_OPEN) {
		row.sample.value[WR_M_RECV_Q_BYTES] = heading.recv_q;
		row.sample.value[WR_M_SEND_Q_BYTES] = heading.send_q;
	}
	if (!heading.local[0]) {
		if (wr_reader_settle(reader, "", err) < 0)
			return -1;
		name_anonymous(reader, &row);
	}
	return wr_reader_row(reader, &row, err);
}

static bool is_header(const char *line)
{
	return (strstr(line, "Recv-Q") && strstr(line, "Local")) || wr_begins(line, "Active Internet connections");
}

static size_t count_words(const char *line)
{
	char word[512];
	size_t n = 0;

	while (line[strspn(line, " \t")]) {
		line = wr_word_next(line, word, sizeof word);
		n += wr_ss_is_word(word);
	}
	return n;
}

/* A line of nothing but such words: one with a figure that only ss prints, or several. */
static bool is_loose(const char *line)
{
	char first[512];

	wr_word_next(line, first, sizeof first);
	if (strcmp(first, "Send-Q") == 0 || strcmp(first, "Recv-Q") == 0)
		return count_words(line) > 0;
	return wr_begins(first, "unacked:") || wr_begins(first, "notsent:") ||
	       (wr_ss_is_word(first) && count_words(line) > 2);
}

/* Whether the first word of @line ends one that was broken off: "snd_wn" and "d:84320", "snd_wnd:84" and "320". */
static bool glues(const struct wr_reader *reader, const char *line)
{
	char both[600];
	const char *begin = reader->gathered + reader->n_gathered, *rest;
	size_t length;

	while (begin > reader->gathered && !strchr(" \t", begin[-1]))
		begin--;
	length = strlen(begin);
	rest = line + strcspn(line, " \t");
	if (length == 0 || length + (size_t)(rest - line) >= sizeof both || rest == line)
		return false;
	if (wr_ss_is_word(begin))
		return line[strspn(line, "0123456789.")] == '\0';
	snprintf(both, sizeof both, "%s%.*s", begin, (int)(rest - line), line);
	return wr_ss_is_word(both);
}

static void gather(struct wr_reader *reader, const char *line)
{
	char first[512];
	size_t length = strlen(line), room = sizeof reader->gathered - reader->n_gathered;
	bool apart = strchr(" \t", line[0]) != NULL;

	wr_word_next(line, first, sizeof first);
	apart |=
		wr_ss_is_word(first) || (reader->n_gathered && strchr(" \t", reader->gathered[reader->n_gathered - 1]));
	if (length + 2 > room)
		return;
	reader->n_gathered +=
		(size_t)snprintf(reader->gathered + reader->n_gathered, room, "%s%s", apart ? " " : "", line);
}

static void gather_first(struct wr_reader *reader, const char *line)
{
	reader->n_gathered = 0;
	reader->gathered[0] = '\0';
	gather(reader, line);
	reader->gathering = true;
}

/* Words without a row: a socket without a name, or just a look at a send queue. */
static int loose_words(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	struct wr_paste_host *host;
	struct wr_row row;

	if (wr_reader_settle(reader, "", err) < 0)
		return -1;
	wr_row_init(&row, WR_TCP);
	wr_ss_info(&row, line);
	if (row.sample.value[WR_M_CWND_SEGS] != WR_ABSENT || row.sample.value[WR_M_RWND_US] != WR_ABSENT ||
	    row.sample.value[WR_M_SEND_Q_BYTES] != WR_ABSENT || row.sample.value[WR_M_RECV_Q_BYTES] != WR_ABSENT) {
		wr_ss_complete(&row);
		name_anonymous(reader, &row);
		return wr_reader_row(reader, &row, err);
	}
	host = reader->paste->hosts[reader->host];
	host->n_glimpses++;
	host->n_held += row.sample.value[WR_M_UNACKED_SEGS] > 0 && row.sample.value[WR_M_NOTSENT_BYTES] > 0;
	return 0;
}

static int ss_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	struct heading heading;
	bool row, incomplete = false;

	if (is_header(line)) {
		if (reader->gathering && flush(reader, err) < 0)
			return -1;
		reader->block = ++reader->paste->n_blocks;
		reader->is_udp = false;
		return 1;
	}
	row = heading_read(line, &heading);
	if (!row && reader->gathering) {
		incomplete = heading_read(reader->gathered, &heading) && !heading.words;
		if (incomplete || count_words(line) > 0 || glues(reader, line)) {
			gather(reader, line);
			return 1;
		}
	}
	if (reader->gathering && flush(reader, err) < 0)
		return -1;
	if (row) {
		gather_first(reader, line);
		return 1;
	}
	if (is_loose(line))
		return loose_words(reader, line, err) < 0 ? -1 : 1;
	return 0;
}

static int ss_finish(struct wr_reader *reader, struct weir_err *err)
{
	return reader->gathering ? flush(reader, err) : 0;
}

const struct wr_paste_kind wr_paste_kind_ss = {
	.name = "ss",
	.summary = "sockets: ss with any of -tunxliemop, netstat -an",
	.line = ss_line,
	.finish = ss_finish,
};
