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
#include "lab/server.h"
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
	const char *rate_file, *queue, *codel, *jitter, *reorder, *loss, *duplicate, *police, *outage;
	const char *corrupt, *ecn, *path_mtu, *txqueuelen, *ack_policy, *pcap;
	bool strip_wscale;
};

/*
 * The option rows of one direction: ROW(name, kind, member, metavar, min, max, help). The command makes of each an
 * option for both directions and, with near- and far- before the name, one for each.
 */
#define WR_LAB_WAY_OPTIONS(ROW)                                                                                     \
	ROW("rate", WR_OPTION_RATE, rate_bps, "RATE", 1e3, 1e12, "bits a second on the wire, framing included; unset: no limit") \
	ROW("rate-file", WR_OPTION_TEXT, rate_file, "FILE", 0, 0, "a rate that changes: lines of TIME RATE, last TIME repeat") \
	ROW("queue", WR_OPTION_TEXT, queue, "SIZE|TIME", 0, 0, "the bottleneck's buffer, or 100p segments; unset: rate x RTT, 1M at least") \
	ROW("codel", WR_OPTION_TEXT, codel, "TARGET", 0, 0, "CoDel in that buffer: 5ms[,interval=100ms][,ecn]")    \
	ROW("loss", WR_OPTION_TEXT, loss, "SHARE|MODEL", 0, 0, "of segments: 1%, ge:p=0.5%,r=30%[,h=..,k=..], every:100, gso:1%") \
	ROW("duplicate", WR_OPTION_TEXT, duplicate, "SHARE", 0, 0, "share of the segments that come twice")                \
	ROW("police", WR_OPTION_TEXT, police, "RATE", 0, 0, "drop what exceeds a token bucket: 50mbit[,burst=64K]") \
	ROW("outage", WR_OPTION_TEXT, outage, "TIME", 0, 0, "nothing passes: 2s,for=500ms[,every=10s][,hold]")        \
	ROW("jitter", WR_OPTION_TEXT, jitter, "TIME", 0, 0, "delay that varies: 5ms[,normal][,reorder]")             \
	ROW("reorder", WR_OPTION_TEXT, reorder, "SHARE", 0, 0, "segments that come late: 1%[,by=3|,late=2ms]")         \
	ROW("corrupt", WR_OPTION_TEXT, corrupt, "SHARE", 0, 0, "share of the segments with a flipped bit")                 \
	ROW("ecn", WR_OPTION_TEXT, ecn, "SIZE|TIME", 0, 0, "mark ECN-capable segments that find more than this in the buffer") \
	ROW("path-mtu", WR_OPTION_TEXT, path_mtu, "BYTES", 0, 0, "drop what is larger: 1400[,blackhole]; without it ICMP tells") \
	ROW("strip-wscale", WR_OPTION_FLAG, strip_wscale, NULL, 0, 0, "take the window scale out of TCP's SYNs")            \
	ROW("txqueuelen", WR_OPTION_TEXT, txqueuelen, "N", 0, 0, "packets that wait in the sender's own slow device, which drops more") \
	ROW("ack-policy", WR_OPTION_TEXT, ack_policy, "RULE", 0, 0, "hold pure ACKs: microsoft, or timer=200ms,count=2")   \
	ROW("pcap", WR_OPTION_TEXT, pcap, "FILE", 0, 0, "write the packets that leave the bottleneck into a pcapng file")    \
	ROW("delay", WR_OPTION_TIME, delay_ns, "TIME", 0, 60e9, "one-way delay, instead of --rtt")

struct wr_lab_wish {
	struct wr_lab_way_wish both, ends[WR_LAB_N_ENDS];
	uint64_t rtt_ns, mtu_bytes, seed;
	const char *offload;
};

/* Which segments get lost. */
enum wr_lab_loss_kind {
	WR_LAB_LOSS_RANDOM, /* each with the same chance */
	WR_LAB_LOSS_BURSTS, /* Gilbert-Elliott */
	WR_LAB_LOSS_EVERY,  /* each n-th */
	WR_LAB_LOSS_GSO,    /* whole super-packets */
};

/*
 * @ratio: of segments (RANDOM) or super-packets (GSO); 0: none
 * @p, @r: chance to become bad, and good again, at each segment; @h, @k: chance that a segment gets through while bad, good
 * @every: 0: none
 */
struct wr_lab_loss {
	enum wr_lab_loss_kind kind;
	double ratio, p, r, h, k;
	uint64_t every;
};

/* One direction as it will be. rate_bps and queue_bytes are WR_UNSET without a limit; all other zeros mean "not". */
struct wr_lab_way {
	uint64_t rate_bps, delay_ns; /* the highest rate where there is a schedule */
	struct wr_lab_rate_schedule schedule;
	uint64_t queue_bytes, queue_ns; /* queue_ns only where the rate varies */
	uint32_t queue_segs, mtu_bytes;
	struct {
		uint64_t target_ns, interval_ns;
		bool ecn;
	} codel;
	struct wr_lab_loss loss;
	double duplicate_ratio, corrupt_ratio;
	struct {
		uint64_t above_bytes, above_ns;
	} ecn;
	struct {
		uint64_t bytes;
		bool black_hole;
	} path_mtu;
	bool strip_wscale;
	const char *pcap; /* the wish's text */
	uint64_t device_packets;
	struct {
		uint64_t timer_ns, count;
	} ack;
	struct {
		uint64_t rate_bps, burst_bytes;
	} police;
	struct wr_lab_outage outage;
	struct {
		uint64_t spread_ns;
		bool normal, reorder;
	} jitter;
	struct {
		double ratio;
		uint64_t late_ns, by_segs; /* by_segs only while it is being resolved */
	} reorder;
};

struct wr_lab_config {
	struct wr_lab_way ways[WR_LAB_N_ENDS];
	uint64_t seed;
	uint32_t mtu_bytes;
	bool offload;
};

/*
 * wr_lab_config_resolve - complete a wish: near- and far- over both, half the RTT each way, queues of one BDP
 * @config: out: to be freed by wr_lab_config_deinit
 *
 * Return: 0; -1 with @err (WEIR_ERR_USAGE) naming the options that are wrong or contradict each other.
 */
int wr_lab_config_resolve(const struct wr_lab_wish *wish, struct wr_lab_config *config, struct weir_err *err);

void wr_lab_config_deinit(struct wr_lab_config *config);

#endif
