/* SPDX-License-Identifier: MIT */
/*
 * From what was said to a complete link. The default queue is one bandwidth-delay product, 1 MB at least: what a
 * router of the path would be given (RFC 3439's rule of thumb), and enough that a short path is not starved.
 */
#include "lab/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define MIN_DEFAULT_QUEUE_BYTES 1048576ULL
/* More than this may not wait in one direction: it would all be memory. */
#define MAX_QUEUE_BYTES (512ULL << 20)

const char *const wr_lab_end_names[WR_LAB_N_ENDS] = {"near", "far"};

/* The name of the option that gave a value, for messages: "near-queue" or "queue". */
static const char *option_name(char *out, size_t n_out, bool own, int end, const char *name)
{
	snprintf(out, n_out, "--%s%s%s", own ? wr_lab_end_names[end] : "", own ? "-" : "", name);
	return out;
}

static int name_error(struct weir_err *err, const char *option)
{
	char sentence[sizeof err->text];

	if (!err)
		return -1;
	memcpy(sentence, err->text, sizeof sentence);
	snprintf(err->text, sizeof err->text, "%s: %.440s", option, sentence);
	return -1;
}

static int resolve_delay(const struct wr_lab_wish *wish, int end, struct wr_lab_way *way, struct weir_err *err)
{
	uint64_t delay_ns = wish->ends[end].delay_ns != WR_UNSET ? wish->ends[end].delay_ns : wish->both.delay_ns;

	if (delay_ns != WR_UNSET && wish->rtt_ns != WR_UNSET)
		return wr_err_set(err, WEIR_ERR_USAGE, "link", "--rtt and --%sdelay contradict each other: the RTT is the sum"
				  " of both delays", wish->both.delay_ns != WR_UNSET ? "" : end == WR_LAB_NEAR ? "near-" : "far-");
	if (delay_ns != WR_UNSET)
		way->delay_ns = delay_ns;
	else if (wish->rtt_ns != WR_UNSET)
		way->delay_ns = end == WR_LAB_NEAR ? wish->rtt_ns / 2 : wish->rtt_ns - wish->rtt_ns / 2;
	else
		way->delay_ns = 0;
	return 0;
}

static int resolve_loss(const struct wr_lab_wish *wish, int end, struct wr_lab_way *way, struct weir_err *err)
{
	bool own = wish->ends[end].loss != NULL;
	const char *text = own ? wish->ends[end].loss : wish->both.loss;
	char option[32];

	way->loss_ratio = 0;
	if (text && wr_share_parse(text, &way->loss_ratio, err) < 0)
		return name_error(err, option_name(option, sizeof option, own, end, "loss"));
	return 0;
}

/* A time when its suffix is one of time, otherwise a size. A bare number is bytes. */
static bool is_time(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && text[n - 1] == 's' && text[0] >= '0' && text[0] <= '9';
}

static int parse_queue(const char *text, uint64_t rate_bps, uint64_t *bytes, struct weir_err *err)
{
	uint64_t ns;

	if (!is_time(text))
		return wr_size_parse(text, bytes, err);
	if (wr_time_parse(text, &ns, err) < 0)
		return -1;
	*bytes = (uint64_t)llround((double)rate_bps * (double)ns / 8e9);
	return 0;
}

static uint64_t default_queue_bytes(const struct wr_lab_way *way, uint64_t rtt_ns)
{
	double bdp = (double)way->rate_bps * (double)rtt_ns / 8e9;

	if (bdp > MAX_QUEUE_BYTES)
		return MAX_QUEUE_BYTES;
	return bdp > MIN_DEFAULT_QUEUE_BYTES ? (uint64_t)llround(bdp) : MIN_DEFAULT_QUEUE_BYTES;
}

static int resolve_queue(const struct wr_lab_wish *wish, int end, uint64_t rtt_ns, struct wr_lab_way *way,
			 struct weir_err *err)
{
	bool own = wish->ends[end].queue != NULL;
	const char *text = own ? wish->ends[end].queue : wish->both.queue;
	char option[32], most[WR_UNIT_TEXT];

	way->queue_bytes = WR_UNSET;
	option_name(option, sizeof option, own, end, "queue");
	if (way->rate_bps == WR_UNSET) {
		if (!own)
			return 0;
		wr_err_set(err, WEIR_ERR_USAGE, "link", "%s without a rate: nothing would ever wait in it", option);
		return wr_err_hint(err, "add --%s-rate or --rate", wr_lab_end_names[end]);
	}
	if (!text) {
		way->queue_bytes = default_queue_bytes(way, rtt_ns);
		return 0;
	}
	if (parse_queue(text, way->rate_bps, &way->queue_bytes, err) < 0)
		return name_error(err, option);
	if (way->queue_bytes > MAX_QUEUE_BYTES)
		return wr_err_set(err, WEIR_ERR_USAGE, "link", "%s %s is more than %s", option, text,
				  wr_size_text(most, MAX_QUEUE_BYTES));
	return 0;
}

static int resolve_both(const struct wr_lab_wish *wish, struct wr_lab_config *config, struct weir_err *err)
{
	if (wish->both.queue && config->ways[0].rate_bps == WR_UNSET && config->ways[1].rate_bps == WR_UNSET) {
		wr_err_set(err, WEIR_ERR_USAGE, "link", "--queue without --rate: nothing would ever wait in it");
		return wr_err_hint(err, "add --rate, as in --rate 100mbit --queue %s", wish->both.queue);
	}
	config->mtu_bytes = wish->mtu_bytes == WR_UNSET ? WR_LAB_DEFAULT_MTU_BYTES : (uint32_t)wish->mtu_bytes;
	config->seed = wish->seed == WR_UNSET ? 1 : wish->seed;
	config->offload = !wish->offload || strcmp(wish->offload, "on") == 0;
	if (!config->offload && strcmp(wish->offload, "off") != 0)
		return wr_err_set(err, WEIR_ERR_USAGE, "link", "--offload is on or off, not '%s'", wish->offload);
	return 0;
}

int wr_lab_config_resolve(const struct wr_lab_wish *wish, struct wr_lab_config *config, struct weir_err *err)
{
	uint64_t rtt_ns = 0;

	memset(config, 0, sizeof *config);
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		struct wr_lab_way *way = &config->ways[end];

		way->rate_bps = wish->ends[end].rate_bps != WR_UNSET ? wish->ends[end].rate_bps : wish->both.rate_bps;
		if (resolve_delay(wish, end, way, err) < 0 || resolve_loss(wish, end, way, err) < 0)
			return -1;
		rtt_ns += way->delay_ns;
	}
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		if (resolve_queue(wish, end, rtt_ns, &config->ways[end], err) < 0)
			return -1;
	}
	return resolve_both(wish, config, err);
}
