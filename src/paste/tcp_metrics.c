/* SPDX-License-Identifier: MIT */
/* ip tcp_metrics: "10.77.0.2 age 2.364sec ssthresh 3 cwnd 3 rtt 60873us rttvar 60873us source 10.77.0.1". */
#include <stdio.h>
#include <string.h>

#include "paste/reader.h"

static int tcp_metrics_line(struct wr_reader *reader, const char *line, struct weir_err *err)
{
	char peer[WR_NAME_TEXT], word[64], value[64], key[128];
	const char *text = wr_word_next(line, peer, sizeof peer);

	(void)err;
	wr_word_next(text, word, sizeof word);
	if (strcmp(word, "age") != 0 || !strpbrk(peer, ".:"))
		return 0;
	while (text[strspn(text, " ")]) {
		text = wr_word_next(text, word, sizeof word);
		if (strcmp(word, "ssthresh") != 0 && strcmp(word, "cwnd") != 0)
			continue;
		text = wr_word_next(text, value, sizeof value);
		snprintf(key, sizeof key, "metrics.%s@%.30s", word, peer);
		wr_fact_setting(reader, key, value);
	}
	return 1;
}

const struct wr_paste_kind wr_paste_kind_tcp_metrics = {
	.name = "ip tcp_metrics",
	.summary = "ip tcp_metrics",
	.line = tcp_metrics_line,
};
