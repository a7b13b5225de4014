/* SPDX-License-Identifier: MIT */
/*
 * The link that is asked for, and what that means. A wish is what options or a scenario say, with everything
 * that nobody set left unset; resolving it gives each direction its own complete settings or one clear refusal.
 */
#ifndef WR_LAB_CONFIG_H
#define WR_LAB_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option.h"
#include "base/units.h"
#include "weir/err.h"

#define WR_LAB_DEFAULT_MTU_BYTES 1500
#define WR_LAB_MIN_MTU_BYTES 1280 /* IPv6's, RFC 8200 section 5 */
#define WR_LAB_MAX_MTU_BYTES 65535

/* Whose packets: a direction is named after its sender. */
enum wr_lab_end {
	WR_LAB_NEAR,
	WR_LAB_FAR,
	WR_LAB_N_ENDS,
};

extern const char *const wr_lab_end_names[WR_LAB_N_ENDS];

/* One direction as wished: WR_UNSET or NULL where nothing was said. */
struct wr_lab_way_wish {
	uint64_t rate_bps, delay_ns;
	const char *queue, *loss;
};

/*
 * The option rows of one direction: ROW(name, kind, member, metavar, min, max, help). The command makes of each an
 * option for both directions and, with near- and far- before the name, one for each.
 */
#define WR_LAB_WAY_OPTIONS(ROW)                                                                                     \
	ROW("rate", WR_OPTION_RATE, rate_bps, "RATE", 1e3, 1e12, "bits a second on the wire, framing included; unset: no limit") \
	ROW("queue", WR_OPTION_TEXT, queue, "SIZE|TIME", 0, 0, "the bottleneck's buffer; unset: rate x RTT, 1M at least") \
	ROW("loss", WR_OPTION_TEXT, loss, "SHARE", 0, 0, "share of the segments that get lost at random; unset: none")     \
	ROW("delay", WR_OPTION_TIME, delay_ns, "TIME", 0, 60e9, "one-way delay, instead of --rtt")

struct wr_lab_wish {
	struct wr_lab_way_wish both, ends[WR_LAB_N_ENDS];
	uint64_t rtt_ns, mtu_bytes, seed;
	const char *offload;
};

/* One direction as it will be. rate_bps and queue_bytes are WR_UNSET without a limit. */
struct wr_lab_way {
	uint64_t rate_bps, queue_bytes, delay_ns;
	double loss_ratio;
};

struct wr_lab_config {
	struct wr_lab_way ways[WR_LAB_N_ENDS];
	uint64_t seed;
	uint32_t mtu_bytes;
	bool offload;
};

/*
 * wr_lab_config_resolve - complete a wish: near- and far- over both, half the RTT each way, queues of one BDP
 *
 * Return: 0; -1 with @err (WEIR_ERR_USAGE) naming the options that are wrong or contradict each other.
 */
int wr_lab_config_resolve(const struct wr_lab_wish *wish, struct wr_lab_config *config, struct weir_err *err);

#endif
