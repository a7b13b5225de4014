/* SPDX-License-Identifier: MIT */
/*
 * The words that ss prints after a socket's addresses: tcp_info, skmem, timer and users, of any iproute2 since 4.x.
 * Source: iproute2 misc/ss.c tcp_stats_print, print_skmeminfo, tcp_timer_print. Times are ms with a fraction, but for
 * the timer, whose "1.812ms" of a second and more are seconds.
 */
#include "paste/ss.h"

#include <stdio.h>
#include <string.h>

/* What the figure of a word is. */
enum figure { FIGURE_COUNT, FIGURE_MS, FIGURE_MS_TO_US, FIGURE_RATE };

struct word {
	const char *key;
	enum wr_metric_id id;
	enum figure figure;
};

static const struct word words[] = {
	{"bytes_sent", WR_M_BYTES_SENT, FIGURE_COUNT},
	{"bytes_retrans", WR_M_BYTES_RETRANS, FIGURE_COUNT},
	{"bytes_acked", WR_M_BYTES_ACKED, FIGURE_COUNT},
	{"bytes_received", WR_M_BYTES_RECEIVED, FIGURE_COUNT},
	{"segs_out", WR_M_SEGS_OUT, FIGURE_COUNT},
	{"data_segs_out", WR_M_DATA_SEGS_OUT, FIGURE_COUNT},
	{"data_segs_in", WR_M_DATA_SEGS_IN, FIGURE_COUNT},
	{"cwnd", WR_M_CWND_SEGS, FIGURE_COUNT},
	{"ssthresh", WR_M_SSTHRESH_SEGS, FIGURE_COUNT},
	{"unacked", WR_M_UNACKED_SEGS, FIGURE_COUNT},
	{"lost", WR_M_LOST_SEGS, FIGURE_COUNT},
	{"sacked", WR_M_SACKED_SEGS, FIGURE_COUNT},
	{"notsent", WR_M_NOTSENT_BYTES, FIGURE_COUNT},
	{"backoff", WR_M_BACKOFF, FIGURE_COUNT},
	{"rcv_space", WR_M_RCV_SPACE_BYTES, FIGURE_COUNT},
	{"rcv_ssthresh", WR_M_RCV_SSTHRESH_BYTES, FIGURE_COUNT},
	{"snd_wnd", WR_M_SND_WND_BYTES, FIGURE_COUNT},
	{"rcv_wnd", WR_M_RCV_WND_BYTES, FIGURE_COUNT},
	{"delivered_ce", WR_M_DELIVERED_CE_SEGS, FIGURE_COUNT},
	{"lastsnd", WR_M_LAST_SND_MS, FIGURE_MS},
	{"lastrcv", WR_M_LAST_RCV_MS, FIGURE_MS},
	{"lastack", WR_M_LAST_ACK_MS, FIGURE_MS},
	{"busy", WR_M_BUSY_US, FIGURE_MS_TO_US},
	{"rwnd_limited", WR_M_RWND_US, FIGURE_MS_TO_US},
	{"sndbuf_limited", WR_M_SNDBUF_US, FIGURE_MS_TO_US},
	{"minrtt", WR_M_MIN_RTT_US, FIGURE_MS_TO_US},
	{"rcv_rtt", WR_M_RCV_RTT_US, FIGURE_MS_TO_US},
	{"pacing_rate", WR_M_PACING_BPS, FIGURE_RATE},
	{"delivery_rate", WR_M_DELIVERY_BPS, FIGURE_RATE},
	{"Send-Q", WR_M_SEND_Q_BYTES, FIGURE_COUNT},
	{"Recv-Q", WR_M_RECV_Q_BYTES, FIGURE_COUNT},
};

/* Known and read elsewhere or of no use. "send" is cwnd / rtt, what could be sent: no rate of anything. */
static const char *const other_words[] = {
	"wscale",      "rtt",     "retrans",   "timer",         "skmem",      "mem",
	"users",       "mss",     "rto",       "ato",           "pmtu",       "rcvmss",
	"advmss",      "segs_in", "delivered", "reordering",    "reord_seen", "dsack_dups",
	"rcv_ooopack", "ino",     "sk",        "cgroup",        "uid",        "send",
	"bbr",         "dctcp",   "vegas",     "total_retrans", "fwmark",     "tcp-ulp-tls",
	"qack",        "rehash",  "rcv_nxt",   "class_id",      "fallback",   NULL,
};

static const char *const congestions[] = {
	"cubic",    "reno", "bbr",  "bbr2",     "bbr3", "dctcp", "vegas", "westwood",  "htcp",   "hybla", "bic",
	"illinois", "yeah", "veno", "scalable", "lp",   "nv",    "cdg",   "highspeed", "prague", NULL,
};

static const char *const flags[] = {"ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "<->", NULL};

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++) {
		if (strcmp(word, *list) == 0)
			return true;
	}
	return false;
}

/* "key:value", "key=value"; the key alone goes to @key. Return: where the value begins, NULL without one. */
static const char *key_split(const char *word, char *key, size_t n_key)
{
	size_t length = strcspn(word, ":=");

	snprintf(key, n_key, "%.*s", (int)(length < n_key ? length : n_key - 1), word);
	return word[length] ? word + length + 1 : NULL;
}

bool wr_ss_is_word(const char *word)
{
	char key[48];
	bool has_value = key_split(word, key, sizeof key) != NULL;

	if (!has_value)
		return is_one_of(word, flags) || is_one_of(word, congestions) || strcmp(word, "send") == 0 ||
		       strcmp(word, "pacing_rate") == 0 || strcmp(word, "delivery_rate") == 0;
	if (is_one_of(key, other_words))
		return true;
	for (size_t i = 0; i < WR_N_ELEMENTS(words); i++) {
		if (strcmp(key, words[i].key) == 0)
			return true;
	}
	return false;
}

static int64_t *value_of(struct wr_row *row, enum wr_metric_id id)
{
	return &row->sample.value[id];
}

static void take(struct wr_row *row, const struct word *word, const char *text)
{
	double number;

	if (word->figure == FIGURE_COUNT) {
		wr_int_parse(text, value_of(row, word->id));
	} else if (word->figure == FIGURE_RATE) {
		if (wr_scaled_parse(text, 1000, &number, NULL))
			*value_of(row, word->id) = (int64_t)number;
	} else if (wr_real_parse(text, &number, NULL)) {
		*value_of(row, word->id) = (int64_t)(word->figure == FIGURE_MS ? number : number * 1e3 + 0.5);
	}
}

/* "a/b" or "a,b": the second number. */
static const char *second(const char *text)
{
	const char *at = text + strcspn(text, "/,");

	return *at ? at + 1 : at;
}

static void take_pair(struct wr_row *row, const char *key, const char *text)
{
	double number;

	if (strcmp(key, "wscale") == 0) {
		wr_int_parse(text, value_of(row, WR_M_SND_WSCALE));
		wr_int_parse(second(text), value_of(row, WR_M_RCV_WSCALE));
		*value_of(row, WR_M_WSCALE_OK) = 1;
	} else if (strcmp(key, "rtt") == 0) {
		if (wr_real_parse(text, &number, NULL))
			*value_of(row, WR_M_RTT_US) = (int64_t)(number * 1e3 + 0.5);
		if (wr_real_parse(second(text), &number, NULL))
			*value_of(row, WR_M_RTTVAR_US) = (int64_t)(number * 1e3 + 0.5);
	} else if (strcmp(key, "retrans") == 0) {
		wr_int_parse(text, value_of(row, WR_M_RETRANS_SEGS));
		wr_int_parse(second(text), value_of(row, WR_M_TOTAL_RETRANS_SEGS));
	} else if (strcmp(key, "mss") == 0) {
		wr_int_parse(text, &row->mss_bytes);
	} else if (strcmp(key, "timer") == 0) {
		*value_of(row, WR_M_PERSISTING) = wr_begins(text, "(persist");
	}
}

/* skmem:(r0,rb131072,t0,tb65536,f1768,w47384,o0,bl0,d0); older mem:(r0,w0,f0,t0). */
static void take_memory(struct wr_row *row, const char *text)
{
	static const struct {
		const char *letters;
		enum wr_metric_id id;
	} parts[] = {
		{"rb", WR_M_RCVBUF_BYTES}, {"tb", WR_M_SNDBUF_BYTES},     {"r", WR_M_RMEM_BYTES},
		{"t", WR_M_WMEM_BYTES},    {"w", WR_M_WMEM_QUEUED_BYTES}, {"d", WR_M_DROPS},
	};

	for (text += *text == '('; *text && *text != ')'; text += *text == ',') {
		size_t n_letters = strspn(text, "abcdefghijklmnopqrstuvwxyz");

		for (size_t i = 0; i < WR_N_ELEMENTS(parts); i++) {
			if (strlen(parts[i].letters) == n_letters && strncmp(text, parts[i].letters, n_letters) == 0)
				wr_int_parse(text + n_letters, value_of(row, parts[i].id));
		}
		text += n_letters;
		text += strcspn(text, ",)");
	}
}

/* users:(("name",pid=1,fd=4)): the first of them. */
static const char *take_users(struct wr_row *row, const char *text)
{
	const char *name = strchr(text, '"'), *end = name ? strchr(name + 1, '"') : NULL, *close = strstr(text, "))");
	const char *pid = end ? strstr(end, "pid=") : NULL;

	if (end)
		snprintf(row->program, sizeof row->program, "%.*s",
			 (int)(end - name - 1 < (ptrdiff_t)sizeof row->program - 1
				       ? end - name - 1
				       : (ptrdiff_t)sizeof row->program - 1),
			 name + 1);
	if (pid)
		wr_int_parse(pid + 4, &row->pid);
	return close ? close + 2 : text + strlen(text);
}

static bool take_keyed(struct wr_row *row, const char *key, const char *text)
{
	if (strcmp(key, "skmem") == 0 || strcmp(key, "mem") == 0)
		take_memory(row, text);
	else if (strcmp(key, "wscale") == 0 || strcmp(key, "rtt") == 0 || strcmp(key, "retrans") == 0 ||
		 strcmp(key, "mss") == 0 || strcmp(key, "timer") == 0)
		take_pair(row, key, text);
	else {
		for (size_t i = 0; i < WR_N_ELEMENTS(words); i++) {
			if (strcmp(key, words[i].key) != 0)
				continue;
			take(row, &words[i], text);
			row->has_info |= words[i].id != WR_M_SEND_Q_BYTES && words[i].id != WR_M_RECV_Q_BYTES;
			return true;
		}
		row->has_rto |= strcmp(key, "rto") == 0;
		return is_one_of(key, other_words);
	}
	row->has_info |= strstr(key, "mem") == NULL && strcmp(key, "timer") != 0;
	return true;
}

size_t wr_ss_info(struct wr_row *row, const char *text)
{
	char word[512], key[48];
	size_t n_known = 0;

	while (text[strspn(text, " \t")]) {
		const char *at = text + strspn(text, " \t"), *value;

		if (wr_begins(at, "users:(")) {
			text = take_users(row, at);
			n_known++;
			continue;
		}
		text = wr_word_next(at, word, sizeof word);
		value = key_split(word, key, sizeof key);
		if (!value && is_one_of(word, congestions)) {
			snprintf(row->congestion, sizeof row->congestion, "%.15s", word);
			n_known++;
			continue;
		}
		/* "send 4Mbps", "Send-Q 9600", "rwnd_limited: 73ms": the figure is the next word. */
		if (!value || *value == '\0') {
			if (is_one_of(word, flags)) {
				n_known++;
				continue;
			}
			if (wr_word_next(text, word, sizeof word) == text || !(word[0] >= '0' && word[0] <= '9'))
				continue;
			value = word;
		}
		n_known += take_keyed(row, key, value);
	}
	return n_known;
}

/* Where words of a release are shown, what isn't is 0; where none is, it is unknown. */
static void zero_where_absent(struct wr_row *row, const enum wr_metric_id *ids, size_t n_ids)
{
	for (size_t i = 0; i < n_ids; i++) {
		if (*value_of(row, ids[i]) == WR_ABSENT)
			*value_of(row, ids[i]) = 0;
	}
}

static bool shows(struct wr_row *row, enum wr_metric_id id)
{
	return *value_of(row, id) != WR_ABSENT;
}

void wr_ss_complete(struct wr_row *row)
{
	static const enum wr_metric_id always[] = {
		WR_M_UNACKED_SEGS, WR_M_SACKED_SEGS, WR_M_LOST_SEGS,   WR_M_RETRANS_SEGS, WR_M_TOTAL_RETRANS_SEGS,
		WR_M_BACKOFF,      WR_M_LAST_SND_MS, WR_M_LAST_RCV_MS, WR_M_LAST_ACK_MS,
	};
	static const enum wr_metric_id since_4_6[] = {
		WR_M_BYTES_ACKED,   WR_M_BYTES_RECEIVED, WR_M_SEGS_OUT,
		WR_M_DATA_SEGS_OUT, WR_M_DATA_SEGS_IN,   WR_M_NOTSENT_BYTES,
	};
	static const enum wr_metric_id since_4_10[] = {WR_M_BUSY_US, WR_M_RWND_US, WR_M_SNDBUF_US};
	static const enum wr_metric_id since_4_19[] = {WR_M_BYTES_SENT, WR_M_BYTES_RETRANS};

	if (!row->has_info)
		return;
	row->sample.value[WR_M_SND_MSS_BYTES] = row->mss_bytes ? row->mss_bytes : WR_ABSENT;
	/* ss prints wscale right before rto: a row that was cut on its left says nothing about scaling. */
	if (!shows(row, WR_M_WSCALE_OK) && row->has_rto)
		row->sample.value[WR_M_WSCALE_OK] = 0;
	zero_where_absent(row, always, WR_N_ELEMENTS(always));
	if (shows(row, WR_M_DATA_SEGS_OUT) || shows(row, WR_M_DATA_SEGS_IN) || shows(row, WR_M_MIN_RTT_US) ||
	    shows(row, WR_M_NOTSENT_BYTES))
		zero_where_absent(row, since_4_6, WR_N_ELEMENTS(since_4_6));
	if (shows(row, WR_M_BUSY_US) || shows(row, WR_M_BYTES_SENT) || shows(row, WR_M_SND_WND_BYTES) ||
	    shows(row, WR_M_DELIVERY_BPS))
		zero_where_absent(row, since_4_10, WR_N_ELEMENTS(since_4_10));
	if (shows(row, WR_M_BYTES_SENT) || shows(row, WR_M_BYTES_RETRANS) || shows(row, WR_M_SND_WND_BYTES))
		zero_where_absent(row, since_4_19, WR_N_ELEMENTS(since_4_19));
}
