/* SPDX-License-Identifier: MIT */
/*
 * From what was said to a complete link. The default queue is one bandwidth-delay product, 1 MB at least: what a
 * router of the path would be given (RFC 3439's rule of thumb), and enough that a short path is not starved.
 */
#include "lab/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "lab/element.h"
#include "lab/schedule.h"
#include "lab/spec.h"

#define MIN_DEFAULT_QUEUE_BYTES 1048576ULL
/* More than this may not wait in one direction: it would all be memory. */
#define MAX_QUEUE_BYTES (512ULL << 20)
#define MAX_QUEUE_SEGS 200000u

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

/* A rate or a schedule; what is said of one direction goes before what is said of both. */
static int resolve_rate(const struct wr_lab_wish *wish, int end, struct wr_lab_way *way, struct weir_err *err)
{
	const struct wr_lab_way_wish *own = &wish->ends[end], *both = &wish->both;
	bool of_own = own->rate_bps != WR_UNSET || own->rate_file;
	const struct wr_lab_way_wish *from = of_own ? own : both;
	char rate[32], file[32];

	way->rate_bps = from->rate_bps;
	if (!from->rate_file)
		return 0;
	option_name(file, sizeof file, of_own, end, "rate-file");
	if (from->rate_bps != WR_UNSET)
		return wr_err_set(err, WEIR_ERR_USAGE, "link", "%s and %s contradict each other", file,
				  option_name(rate, sizeof rate, of_own, end, "rate"));
	if (wr_lab_schedule_read(from->rate_file, &way->schedule, err) < 0)
		return name_error(err, file);
	way->rate_bps = wr_lab_schedule_most_bps(&way->schedule);
	return 0;
}

/* The options that elements read themselves. */
static int resolve_elements(const struct wr_lab_wish *wish, int end, struct wr_lab_way *way, struct weir_err *err)
{
	for (size_t i = 0; wr_lab_elements[i]; i++) {
		const struct wr_lab_element *element = wr_lab_elements[i];
		const char *text, *own;
		char option[32];

		if (!element->parse)
			continue;
		own = *(const char *const *)((const char *)&wish->ends[end] + element->wish);
		text = own ? own : *(const char *const *)((const char *)&wish->both + element->wish);
		if (text && element->parse(text, way, err) < 0)
			return name_error(err, option_name(option, sizeof option, own != NULL, end, element->option));
	}
	return 0;
}

/* "100p": a number of segments. */
static int parse_segs(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	unsigned long n = strtoul(text, NULL, 10);

	if (n < 1 || n > MAX_QUEUE_SEGS)
		return wr_err_set(err, WEIR_ERR_USAGE, "link", "'%s' is outside 1p to %up", text, MAX_QUEUE_SEGS);
	way->queue_segs = (uint32_t)n;
	return 0;
}

static int parse_queue(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	size_t n_digits = strspn(text, "0123456789");
	uint64_t ns;

	if (n_digits > 0 && n_digits < 10 && strcmp(text + n_digits, "p") == 0)
		return parse_segs(text, way, err);
	if (!wr_lab_spec_is_time(text)) /* a bare number is bytes */
		return wr_size_parse(text, &way->queue_bytes, err);
	if (wr_time_parse(text, &ns, err) < 0)
		return -1;
	if (way->schedule.n_steps)
		way->queue_ns = ns ? ns : 1; /* 0 is no limit there */
	else
		way->queue_bytes = (uint64_t)llround((double)way->rate_bps * (double)ns / 8e9);
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
	if (parse_queue(text, way, err) < 0)
		return name_error(err, option);
	if (way->queue_bytes != WR_UNSET && way->queue_bytes > MAX_QUEUE_BYTES)
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

static int resolve(const struct wr_lab_wish *wish, struct wr_lab_config *config, struct weir_err *err)
{
	uint64_t rtt_ns = 0;

	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		struct wr_lab_way *way = &config->ways[end];

		way->mtu_bytes = wish->mtu_bytes == WR_UNSET ? WR_LAB_DEFAULT_MTU_BYTES : (uint32_t)wish->mtu_bytes;
		way->strip_wscale = wish->ends[end].strip_wscale || wish->both.strip_wscale;
		way->pcap = wish->ends[end].pcap ? wish->ends[end].pcap : wish->both.pcap;
		if (resolve_rate(wish, end, way, err) < 0 || resolve_delay(wish, end, way, err) < 0)
			return -1;
		rtt_ns += way->delay_ns;
	}
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		if (resolve_queue(wish, end, rtt_ns, &config->ways[end], err) < 0 ||
		    resolve_elements(wish, end, &config->ways[end], err) < 0)
			return -1;
	}
	return resolve_both(wish, config, err);
}

int wr_lab_config_resolve(const struct wr_lab_wish *wish, struct wr_lab_config *config, struct weir_err *err)
{
	memset(config, 0, sizeof *config);
	if (resolve(wish, config, err) == 0)
		return 0;
	wr_lab_config_deinit(config);
	return -1;
}

void wr_lab_config_deinit(struct wr_lab_config *config)
{
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		wr_lab_schedule_deinit(&config->ways[end].schedule);
}
