/* SPDX-License-Identifier: MIT */
/*
 * The table has the numbers of Linux itself, as headers are older than kernels. A peer may ask for what only its own
 * connection feels: not for marks, devices, priorities above 6 (CAP_NET_ADMIN), polling that burns the server's CPU, or
 * memory past --max-buffer. Sources: include/uapi/asm-generic/socket.h, include/uapi/linux/tcp.h, in.h, in6.h of 6.18.
 */
#include "os/sockopt.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"

enum { LEVEL_IP = 0, LEVEL_SOCKET = 1, LEVEL_TCP = 6, LEVEL_IPV6 = 41 };

#define NOT_FOR_PEERS (-1)
/* net/core/sock.c sk_set_prio_allowed */
#define MOST_PRIORITY 6
/* net/ipv4/tcp.c MAX_TCP_WINDOW */
#define MOST_MSS 32767
/* A reader of weir's asks for more at a time. */
#define MOST_LOWAT 65536
/* Any window and any speed: they only make the peer's own connection slower. */
#define MOST_WINDOW INT_MAX
/* include/net/tcp.h TCP_DELACK_MAX */
#define MOST_DELACK_US 200000

const struct wr_sockopt wr_sockopts[] = {
	{"TCP_NODELAY", LEVEL_TCP, 1, false, false, 1, "Nagle's algorithm off"},
	{"TCP_CORK", LEVEL_TCP, 3, true, false, 1, "only full segments, or after 200 ms"},
	{"TCP_QUICKACK", LEVEL_TCP, 12, true, false, 2, "acknowledge at once, until the kernel thinks otherwise; 0: delay"},
	{"TCP_DELACK_MAX_US", LEVEL_TCP, 46, true, false, MOST_DELACK_US, "longest delay of an acknowledgement (6.15)"},
	{"TCP_MAXSEG", LEVEL_TCP, 2, false, false, MOST_MSS, "largest segment, as --mss"},
	{"TCP_NOTSENT_LOWAT", LEVEL_TCP, 25, false, false, MOST_WINDOW, "unsent bytes above which writing waits, as --notsent-lowat"},
	{"TCP_WINDOW_CLAMP", LEVEL_TCP, 10, false, false, MOST_WINDOW, "largest window to advertise"},
	{"TCP_THIN_LINEAR_TIMEOUTS", LEVEL_TCP, 16, false, false, 1, "no exponential backoff where little is in flight"},
	{"TCP_USER_TIMEOUT", LEVEL_TCP, 18, false, false, INT_MAX, "ms without acknowledgement until the connection ends"},
	{"TCP_RTO_MAX_MS", LEVEL_TCP, 44, false, false, NOT_FOR_PEERS, "longest retransmission timeout (6.15)"},
	{"TCP_RTO_MIN_US", LEVEL_TCP, 45, false, false, NOT_FOR_PEERS, "shortest retransmission timeout (6.15)"},
	{"TCP_TX_DELAY", LEVEL_TCP, 37, false, false, NOT_FOR_PEERS, "us to delay every packet, by fq (5.3)"},
	{"TCP_KEEPIDLE", LEVEL_TCP, 4, false, false, NOT_FOR_PEERS, "s of silence before keepalives"},
	{"TCP_KEEPINTVL", LEVEL_TCP, 5, false, false, NOT_FOR_PEERS, "s between keepalives"},
	{"TCP_KEEPCNT", LEVEL_TCP, 6, false, false, NOT_FOR_PEERS, "keepalives without answer"},
	{"TCP_SYNCNT", LEVEL_TCP, 7, false, false, NOT_FOR_PEERS, "SYNs without answer"},
	{"SO_MAX_PACING_RATE", LEVEL_SOCKET, 47, false, true, INT64_MAX, "bytes/s that segments are spaced to at most"},
	{"SO_RCVLOWAT", LEVEL_SOCKET, 18, true, false, MOST_LOWAT, "bytes that wake a reader"},
	{"SO_PRIORITY", LEVEL_SOCKET, 12, false, false, MOST_PRIORITY, "of packets in the host's queues, 0 to 6"},
	{"SO_KEEPALIVE", LEVEL_SOCKET, 9, false, false, 1, "keepalives in silence"},
	{"SO_BUF_LOCK", LEVEL_SOCKET, 72, false, false, NOT_FOR_PEERS, "which buffers the kernel may not resize: 1 send, 2 receive (5.15)"},
	{"SO_RESERVE_MEM", LEVEL_SOCKET, 73, false, false, NOT_FOR_PEERS, "bytes charged in advance (5.16)"},
	{"SO_BUSY_POLL", LEVEL_SOCKET, 46, false, false, NOT_FOR_PEERS, "us that a reader polls the device"},
	{"SO_PREFER_BUSY_POLL", LEVEL_SOCKET, 69, false, false, NOT_FOR_PEERS, "polling before interrupts (5.11)"},
	{"SO_BUSY_POLL_BUDGET", LEVEL_SOCKET, 70, false, false, NOT_FOR_PEERS, "packets a poll (5.11)"},
	{"SO_INCOMING_CPU", LEVEL_SOCKET, 49, false, false, NOT_FOR_PEERS, "CPU whose packets a listener prefers"},
	{"SO_TXREHASH", LEVEL_SOCKET, 74, false, false, NOT_FOR_PEERS, "another path after a timeout (6.0)"},
	{"SO_MARK", LEVEL_SOCKET, 36, false, false, NOT_FOR_PEERS, "mark for routing and filters"},
	{"SO_BINDTOIFINDEX", LEVEL_SOCKET, 62, false, false, NOT_FOR_PEERS, "only this interface"},
	{"SO_DONTROUTE", LEVEL_SOCKET, 5, false, false, NOT_FOR_PEERS, "no gateway"},
	{"IP_TOS", LEVEL_IP, 1, false, false, NOT_FOR_PEERS, "type of service of IPv4 packets"},
	{"IP_TTL", LEVEL_IP, 2, false, false, NOT_FOR_PEERS, "hops that IPv4 packets live"},
	{"IP_MTU_DISCOVER", LEVEL_IP, 10, false, false, NOT_FOR_PEERS, "0 never, 1 as routes say, 2 always, 3 probe"},
	{"IPV6_TCLASS", LEVEL_IPV6, 67, false, false, NOT_FOR_PEERS, "traffic class of IPv6 packets"},
	{"IPV6_UNICAST_HOPS", LEVEL_IPV6, 16, false, false, NOT_FOR_PEERS, "hops that IPv6 packets live"},
	{0},
};

/* Options of weir's own do these, and know what they mean. */
static const struct {
	const char *name, *option;
} others[] = {
	{"SO_SNDBUF", "--sndbuf and --far-sndbuf"},	  {"SO_RCVBUF", "--rcvbuf and --far-rcvbuf"},
	{"SO_SNDBUFFORCE", "--sndbuf and --far-sndbuf"},	  {"SO_RCVBUFFORCE", "--rcvbuf and --far-rcvbuf"},
	{"TCP_CONGESTION", "--congestion"},
	{"SO_ZEROCOPY", "--msg-zerocopy"},
};

static int level_parse(const char *text, size_t n, int *level)
{
	static const struct {
		const char *name;
		int level;
	} names[] = {
		{"SOL_SOCKET", LEVEL_SOCKET}, {"IPPROTO_TCP", LEVEL_TCP}, {"SOL_TCP", LEVEL_TCP}, {"IPPROTO_IP", LEVEL_IP},
		{"SOL_IP", LEVEL_IP},	      {"IPPROTO_IPV6", LEVEL_IPV6}, {"SOL_IPV6", LEVEL_IPV6},
	};

	for (size_t i = 0; i < WR_N_ELEMENTS(names); i++) {
		if (strlen(names[i].name) == n && strncmp(names[i].name, text, n) == 0) {
			*level = names[i].level;
			return 0;
		}
	}
	if (n == 0 || n > 5 || strspn(text, "0123456789") != n)
		return -1;
	*level = atoi(text);
	return 0;
}

/* "6:19", "SOL_SOCKET:12" */
static int numbered(struct wr_sockopt *row, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? strspn(colon + 1, "0123456789") : 0;

	*row = (struct wr_sockopt){.name = NULL, .peer_most = NOT_FOR_PEERS};
	if (!colon || n == 0 || n > 5 || colon[1 + n] || level_parse(text, (size_t)(colon - text), &row->level) < 0)
		return -1;
	row->number = atoi(colon + 1);
	return 0;
}

static int row_find(struct wr_sockopt *row, const char *option, const char *name, struct weir_err *err)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(others); i++) {
		if (strcmp(others[i].name, name) != 0)
			continue;
		wr_err_set(err, WEIR_ERR_USAGE, "option", "%s: %s has an option of its own", option, name);
		return wr_err_hint(err, "%s", others[i].option);
	}
	for (const struct wr_sockopt *known = wr_sockopts; known->name; known++) {
		if (strcmp(known->name, name) == 0) {
			*row = *known;
			return 0;
		}
	}
	if (numbered(row, name) == 0)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "option", "%s: there is no socket option '%.40s'", option, name);
	return wr_err_hint(err, "weir list sockopts names them; any other is LEVEL:NUMBER, as SOL_SOCKET:12");
}

/* Decimal, 0x..., or a size with its unit. */
static int value_parse(struct wr_sockopt_value *value, const char *option, const char *text, struct weir_err *err)
{
	int64_t least = value->row.wide ? 0 : INT_MIN, most = value->row.wide ? INT64_MAX : UINT_MAX;
	uint64_t bytes;
	char *end;

	errno = 0;
	value->value = strtoll(text, &end, 0);
	if (end == text || *end || errno) {
		if (text[0] < '0' || text[0] > '9' || wr_size_parse(text, &bytes, NULL) < 0 || bytes > INT64_MAX)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s %s: '%.40s' is no whole number", option, value->text,
					  text);
		value->value = (int64_t)bytes;
	}
	if (value->value < least || value->value > most)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s %s: %.40s is outside %lld to %lld", option, value->text, text,
				  (long long)least, (long long)most);
	return 0;
}

static int check_peer(const struct wr_sockopt_value *value, const char *option, struct weir_err *err)
{
	if (value->row.peer_most == NOT_FOR_PEERS) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "%s: a server sets no %s for a peer", option, value->text);
		return wr_err_hint(err, "weir list sockopts tells which it sets");
	}
	if (value->value >= 0 && value->value <= value->row.peer_most)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s %s: %lld is outside 0 to %lld, which a server sets for a peer", option,
			  value->text, (long long)value->value, (long long)value->row.peer_most);
}

static int add(struct wr_sockopt_list *list, const char *part, size_t n, bool far, struct weir_err *err)
{
	struct wr_sockopt_value *value = &list->values[list->n_values];
	char text[2 * WR_SETTING_TEXT], *equals;

	if (list->n_values == WR_MAX_SETTINGS)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s: more than %d options", list->option, WR_MAX_SETTINGS);
	snprintf(text, sizeof text, "%.*s", (int)n, part);
	equals = strchr(text, '=');
	if (!equals || equals == text || n >= sizeof text || (size_t)(equals - text) >= sizeof value->text) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "%s: '%.60s' is not OPT=VALUE", list->option, text);
		return wr_err_hint(err, "write it like %s TCP_QUICKACK=1", list->option);
	}
	*equals = '\0';
	snprintf(value->text, sizeof value->text, "%.31s", text);
	if (row_find(&value->row, list->option, value->text, err) < 0 ||
	    value_parse(value, list->option, equals + 1, err) < 0 || (far && check_peer(value, list->option, err) < 0))
		return -1;
	for (size_t i = 0; i < list->n_values; i++) {
		if (list->values[i].row.level == value->row.level && list->values[i].row.number == value->row.number)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s: %s stands there twice", list->option, value->text);
	}
	list->n_values++;
	return 0;
}

int wr_sockopt_parse(struct wr_sockopt_list *list, const char *text, bool far, struct weir_err *err)
{
	memset(list, 0, sizeof *list);
	list->option = far ? "--far-set" : "--set";
	while (*text) {
		size_t n = strcspn(text, ",+");

		if (add(list, text, n, far, err) < 0)
			return -1;
		text += n + (text[n] && text[n + 1]);
		if (*text == ',' || *text == '+')
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "%s: an option is missing at the end", list->option);
	}
	return 0;
}

static int refused(const struct wr_sockopt_list *list, const struct wr_sockopt_value *value, int error, struct weir_err *err)
{
	wr_err_errno(err, WEIR_ERR_HOST, "setsockopt", error, "%s %s=%lld is refused by the kernel", list->option, value->text,
		     (long long)value->value);
	if (error == EPERM)
		return wr_err_hint(err, "it needs a privilege, as CAP_NET_ADMIN");
	if (error == ENOPROTOOPT)
		return wr_err_hint(err, "this kernel does not have it");
	return wr_err_hint(err, "the value may be out of its range");
}

int wr_sockopt_apply(int fd, const struct wr_sockopt_list *list, bool late, struct weir_err *err)
{
	for (size_t i = 0; i < list->n_values; i++) {
		const struct wr_sockopt_value *value = &list->values[i];
		int narrow = (int)(uint32_t)value->value, rc;

		if (value->row.late != late)
			continue;
		if (value->row.wide)
			rc = setsockopt(fd, value->row.level, value->row.number, &value->value, sizeof value->value);
		else
			rc = setsockopt(fd, value->row.level, value->row.number, &narrow, sizeof narrow);
		if (rc < 0)
			return refused(list, value, errno, err);
	}
	return 0;
}

static int64_t read_back(int fd, const struct wr_sockopt_value *value)
{
	int64_t wide = 0;
	int narrow = 0;
	socklen_t length = value->row.wide ? sizeof wide : sizeof narrow;
	void *into = value->row.wide ? (void *)&wide : (void *)&narrow;

	if (getsockopt(fd, value->row.level, value->row.number, into, &length) < 0)
		return WR_ABSENT;
	if (value->row.wide && length == sizeof wide)
		return wide;
	/* The option has a byte where an int was asked for: little-endian or not, the kernel writes the first. */
	if (length == 1)
		return *(unsigned char *)into;
	return value->row.wide ? (int64_t) * (int *)into : narrow;
}

size_t wr_sockopt_read(int fd, const struct wr_sockopt_list *list, struct wr_setting *settings)
{
	for (size_t i = 0; i < list->n_values; i++) {
		struct wr_setting *setting = &settings[i];

		memset(setting, 0, sizeof *setting);
		memcpy(setting->name, list->values[i].text, sizeof setting->name);
		setting->requested = list->values[i].value;
		setting->effective = read_back(fd, &list->values[i]);
	}
	return list->n_values;
}
