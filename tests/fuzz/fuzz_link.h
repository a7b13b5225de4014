/* SPDX-License-Identifier: MIT */
/* The link's options as the fuzz targets say them: the rows of both directions and of each, as `weir lab` has them. */
#ifndef WR_TESTS_FUZZ_LINK_H
#define WR_TESTS_FUZZ_LINK_H

#include "fuzz.h"
#include "lab/chain.h"

#define LINK_BOTH(name, kind, member, metavar, min, max, help) \
	{name, 0, kind, offsetof(struct wr_lab_wish, both.member), metavar, NULL, min, max, NULL, help, NULL},
#define LINK_NEAR(name, kind, member, metavar, min, max, help) \
	{"near-" name, 0, kind, offsetof(struct wr_lab_wish, ends[WR_LAB_NEAR].member), metavar, NULL, min, max, NULL, help, NULL},
#define LINK_FAR(name, kind, member, metavar, min, max, help) \
	{"far-" name, 0, kind, offsetof(struct wr_lab_wish, ends[WR_LAB_FAR].member), metavar, NULL, min, max, NULL, help, NULL},

static const struct wr_option link_rows[] = {
	{"rtt", 0, WR_OPTION_TIME, offsetof(struct wr_lab_wish, rtt_ns), "TIME", NULL, 0, 120e9, NULL, "", NULL},
	{"mtu", 0, WR_OPTION_COUNT, offsetof(struct wr_lab_wish, mtu_bytes), "BYTES", "1500", WR_LAB_MIN_MTU_BYTES,
	 WR_LAB_MAX_MTU_BYTES, NULL, "", NULL},
	{"offload", 0, WR_OPTION_TEXT, offsetof(struct wr_lab_wish, offload), "on|off", "on", 0, 0, NULL, "", NULL},
	{"seed", 0, WR_OPTION_COUNT, offsetof(struct wr_lab_wish, seed), "N", "1", 0, 0, NULL, "", NULL},
	WR_LAB_WAY_OPTIONS(LINK_BOTH) WR_LAB_WAY_OPTIONS(LINK_NEAR) WR_LAB_WAY_OPTIONS(LINK_FAR){0},
};

/* link_names_a_file - options that would open what a fuzzer names; a capture is only named here, never begun. */
static inline int link_names_a_file(const char *name)
{
	return strstr(name, "rate-file") != NULL;
}

/* link_check_config - a configuration that was taken is in bounds. */
static inline void link_check_config(const struct wr_lab_config *config)
{
	CHECK(config->mtu_bytes >= WR_LAB_MIN_MTU_BYTES && config->mtu_bytes <= WR_LAB_MAX_MTU_BYTES, "MTU %u", config->mtu_bytes);
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		const struct wr_lab_way *way = &config->ways[end];

		CHECK(way->rate_bps == WR_UNSET || way->rate_bps >= 1000, "rate %llu", (unsigned long long)way->rate_bps);
		CHECK(way->delay_ns <= 120000000000, "delay %llu", (unsigned long long)way->delay_ns);
		CHECK(way->queue_bytes == WR_UNSET || way->queue_bytes <= 512ULL << 20, "queue %llu",
		      (unsigned long long)way->queue_bytes);
		CHECK(way->loss.ratio >= 0 && way->loss.ratio <= 1 && way->duplicate_ratio >= 0 && way->duplicate_ratio <= 1 &&
		      way->corrupt_ratio >= 0 && way->corrupt_ratio <= 1 && way->reorder.ratio >= 0 && way->reorder.ratio <= 1,
		      "a share is none");
		CHECK(way->jitter.spread_ns <= way->delay_ns, "jitter above the delay");
		CHECK(!way->outage.every_ns || way->outage.every_ns > way->outage.length_ns, "an outage without end");
		CHECK(way->rate_bps != WR_UNSET || (!way->outage.hold && !way->codel.target_ns && !way->device_packets),
		      "what needs a rate has none");
	}
}

#endif
