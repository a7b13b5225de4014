/* SPDX-License-Identifier: MIT */
/*
 * Devices: ip -s link (two formats of its counters: names and numbers in two lines), ethtool -S, -k, -g, -c, and
 * tc -s qdisc. Of each the drops are kept, the length of the device's queue, and whether segments are cut by the
 * device.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

extern const struct wr_paste_kind wr_paste_kind_ip_link, wr_paste_kind_ethtool, wr_paste_kind_tc;

/* "2: eth0: <BROADCAST,...> mtu 1500 qdisc fq state UP mode DEFAULT group default qlen 1000" */
static bool link_head(struct wr_reader *reader, const char *line)
{
	char index[16], name[32], word[64], number[32], key[96];
	const char *text = wr_word_next(wr_word_next(line, index, sizeof index), name, sizeof name);
	size_t length = strlen(name);
	int64_t value;

	if (!wr_int_parse(index, &value) || index[strlen(index) - 1] != ':' || length < 2 || name[length - 1] != ':' ||
	    !strstr(text, "mtu "))
		return false;
	name[strcspn(name, ":@")] = '\0';
	snprintf(reader->section, sizeof reader->section, "%s", name);
	while (text[strspn(text, " ")]) {
		text = wr_word_next(text, word, sizeof word);
		if (strcmp(word, "mtu") != 0 && strcmp(word, "qlen") != 0)
			continue;
		wr_word_next(text, number, sizeof number);
		snprintf(key, sizeof key, "%s@%.15s", word, name);
		wr_fact_setting(reader, key, number);
	}
	return true;
}

static void link_numbers(struct wr_reader *reader, const char *numbers)
{
	bool receives = wr_begins(reader->names, "RX");
	const char *names = reader->names + 3;
	char name[32], number[32], key[32];
	int64_t value;

	while (names[strspn(names, " ")]) {
		names = wr_word_next(names, name, sizeof name);
		numbers = wr_word_next(numbers, number, sizeof number);
		if (!wr_scaled_parse(number, 1000, &(double){0}, NULL) || !wr_int_parse(number, &value))
			return;
		if (strcmp(name, "dropped") != 0 && strcmp(name, "missed") != 0 && strcmp(name, "overrun") != 0)
			continue;
		snprintf(key, sizeof key, "%s_%.10s", receives ? "rx" : "tx", name);
		wr_fact_device(reader, key, reader->section, value);
	}
}

static int link_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	const char *text = line + strspn(line, " \t");

	(void)err;
	if (text == line && isdigit((unsigned char)*text))
		return link_head(reader, line);
	if (text == line || reader->current != &wr_paste_kind_ip_link)
		return 0;
	if (wr_begins(text, "RX:") || wr_begins(text, "TX:")) {
		snprintf(reader->names, sizeof reader->names, "%s", text);
		return 1;
	}
	if (isdigit((unsigned char)*text) && reader->names[0] && reader->names[2] == ':') {
		link_numbers(reader, text);
		reader->names[0] = '\0';
		return 1;
	}
	return wr_begins(text, "link/") || wr_begins(text, "inet") || wr_begins(text, "altname") ||
	       wr_begins(text, "RX errors") || wr_begins(text, "TX errors") || wr_begins(text, "valid_lft");
}

static int forget(struct wr_reader *reader, struct weir_err *err)
{
	(void)err;
	reader->section[0] = reader->names[0] = '\0';
	return 0;
}

const struct wr_paste_kind wr_paste_kind_ip_link = {
	.name = "ip link",
	.summary = "ip -s link",
	.line = link_line,
	.finish = forget,
};

/* ethtool's headings name the device at times ("Features for eth0:"), else it is "nic". */
static bool ethtool_head(struct wr_reader *reader, const char *line)
{
	static const char *const heads[] = {"Features for ", "Ring parameters for ",  "Coalesce parameters for ",
					    "Settings for ", "Pause parameters for ", "Channel parameters for ",
					    "driver: "};
	const char *name = NULL;

	for (size_t i = 0; i < WR_N_ELEMENTS(heads); i++) {
		if (wr_begins(line, heads[i]))
			name = line + strlen(heads[i]);
	}
	if (!name && strcmp(line, "NIC statistics:") != 0)
		return false;
	snprintf(reader->section, sizeof reader->section, "%.*s", name ? (int)strcspn(name, ":") : 3,
		 name ? name : "nic");
	return true;
}

/* Drops have as many names as drivers; these words are in most of them. */
static const char *drop_kind(const char *name)
{
	bool drops = strstr(name, "drop") || strstr(name, "discard") || strstr(name, "missed") ||
		     strstr(name, "no_buf") || strstr(name, "no_dma") || strstr(name, "fifo_err") ||
		     strstr(name, "out_of_buffer");

	if (!drops || strstr(name, "queue_"))
		return NULL;
	return wr_begins(name, "tx") || strstr(name, "_tx") ? "tx_dropped" : "rx_missed";
}

static int ethtool_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	static const char *const features[] = {"tcp-segmentation-offload", "generic-segmentation-offload",
					       "generic-receive-offload", "large-receive-offload"};
	static const char *const short_names[] = {"tso", "gso", "gro", "lro"};
	const char *text = line + strspn(line, " \t"), *value;
	char name[64], key[48];
	int64_t number;

	(void)err;
	if (ethtool_head(reader, line))
		return 1;
	if (reader->current != &wr_paste_kind_ethtool)
		return 0;
	value = strrchr(text, ':');
	if (!value)
		return 0;
	snprintf(name, sizeof name, "%.*s", (int)(value - text < 63 ? value - text : 63), text);
	value += 1 + strspn(value + 1, " \t");
	for (size_t i = 0; i < WR_N_ELEMENTS(features); i++) {
		if (strcmp(name, features[i]) != 0)
			continue;
		snprintf(key, sizeof key, "%s@%.15s", short_names[i], reader->section);
		wr_fact_setting(reader, key, value);
	}
	if (wr_int_parse(value, &number) && drop_kind(name))
		wr_fact_device(reader, drop_kind(name), reader->section, number);
	return 1;
}

const struct wr_paste_kind wr_paste_kind_ethtool = {
	.name = "ethtool",
	.summary = "ethtool -S, -k, -g, -c",
	.line = ethtool_line,
	.finish = forget,
};

/*
 * "qdisc fq_codel 0: dev eth0 root ...", then " Sent 1 bytes 2 pkt (dropped 3, overlimits 4 requeues 5)"; police
 * likewise.
 */
static int tc_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	const char *text = line + strspn(line, " \t"), *device = strstr(line, " dev "),
		   *dropped = strstr(text, "dropped ");
	char name[32];
	int64_t value;

	(void)err;
	if (wr_begins(text, "qdisc ") && device) {
		wr_word_next(device + 5, name, sizeof name);
		snprintf(reader->section, sizeof reader->section, "%s", name);
		wr_word_next(text + 6, name, sizeof name);
		snprintf(reader->names, sizeof reader->names, "%s", name);
		return 1;
	}
	if (wr_begins(text, "police ") || wr_begins(text, "filter ") || strstr(text, " police ")) {
		snprintf(reader->names, sizeof reader->names, "%s", strstr(text, "police") ? "police" : reader->names);
		if (reader->section[0] == '\0')
			snprintf(reader->section, sizeof reader->section, "tc");
		return 1;
	}
	if (reader->current != &wr_paste_kind_tc)
		return 0;
	if (wr_begins(text, "Sent ") && dropped && wr_int_parse(dropped + 8, &value)) {
		wr_fact_device(reader, strcmp(reader->names, "police") == 0 ? "policed" : "qdisc_dropped",
			       reader->section, value);
		return 1;
	}
	return text != line;
}

const struct wr_paste_kind wr_paste_kind_tc = {
	.name = "tc",
	.summary = "tc -s qdisc, tc -s filter",
	.line = tc_line,
	.finish = forget,
};
