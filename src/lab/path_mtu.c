/* SPDX-License-Identifier: MIT */
/*
 * A link further on takes less than the ends' own MTU: what is larger is dropped, and the sender is told by ICMP, or
 * is not (a black hole, where a firewall eats ICMP). Source: RFC 1191, RFC 8201, RFC 2923 section 2.1.
 */
#include "base/err.h"
#include "base/mem.h"
#include "lab/element.h"
#include "lab/packet.h"

struct path_mtu {
	uint32_t most_wire_bytes;
	bool black_hole;
};

_Static_assert(sizeof(struct path_mtu) <= WR_LAB_STATE_BYTES, "state");

static const struct wr_lab_spec keys[] = {
	{"--path-mtu BYTES", "", WR_LAB_SPEC_SIZE, WR_LAB_WAY(path_mtu.bytes), 576, 65535, "bytes of an IP packet", "576 to 65535", "none",
	 "the most that passes"},
	{",blackhole", "blackhole", WR_LAB_SPEC_FLAG, WR_LAB_WAY(path_mtu.black_hole), 0, 0, NULL, NULL, "ICMP is sent",
	 "nobody is told"},
};

static int parse(const char *text, struct wr_lab_way *way, struct weir_err *err)
{
	if (wr_lab_spec_parse(text, keys, WR_N_ELEMENTS(keys), way, err) < 0)
		return -1;
	if (way->path_mtu.bytes == 0) {
		wr_err_set(err, WEIR_ERR_USAGE, "path-mtu", "'%s' begins with no size", text);
		return wr_err_hint(err, "write it like 1400 or 1400,blackhole");
	}
	return 0;
}

static bool init(void *state, struct wr_lab_shared *shared, const struct wr_lab_way *way)
{
	struct path_mtu *mtu = state;

	(void)shared;
	mtu->most_wire_bytes = way->path_mtu.bytes + WR_LAB_FRAMING_BYTES;
	mtu->black_hole = way->path_mtu.black_hole;
	return way->path_mtu.bytes > 0;
}

static enum wr_lab_fate pass(void *state, struct wr_lab_shared *shared, struct wr_lab_run *run)
{
	const struct path_mtu *mtu = state;
	uint32_t first = run->n_segs > 1 ? run->seg_wire_bytes : run->last_wire_bytes;

	(void)shared;
	if (first <= mtu->most_wire_bytes || run->traits & WR_LAB_TRAIT_FRAGMENTS)
		return WR_LAB_PASS;
	if (run->last_wire_bytes <= mtu->most_wire_bytes)
		wr_lab_run_shorten(run, run->n_segs - 1);
	return mtu->black_hole ? WR_LAB_DROP : WR_LAB_REFUSE;
}

const struct wr_lab_element wr_lab_element_path_mtu = {
	.name = "path-mtu",
	.keys = keys,
	.n_keys = WR_N_ELEMENTS(keys),
	.summary = "drops what is larger than a link further on takes, and tells the sender or not",
	.source = "RFC 1191, RFC 8201",
	.option = "path-mtu",
	.wish = offsetof(struct wr_lab_way_wish, path_mtu),
	.parse = parse,
	.init = init,
	.pass = pass,
};
