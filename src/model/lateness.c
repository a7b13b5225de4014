/* SPDX-License-Identifier: MIT */
/* The page comes from a file that anybody in the lab could have put there: nothing of it is believed unseen. */
#include "model/lateness.h"

#include <string.h>

#include "base/units.h"

/* Below 2 ms the delay's own error is no more than what a busy host adds; of a long path a fiftieth is as little. */
#define LATE_NS (2 * WR_NS_PER_MS)
#define LATE_RTT_SHARE 50
#define LATE_QUANTILE 0.99

void wr_lateness_begin(struct wr_lateness *page)
{
	memset(page, 0, sizeof *page);
	memcpy(page->magic, WR_LATENESS_MAGIC, sizeof page->magic);
	page->version = WR_LATENESS_VERSION;
	page->n_ways = WR_LATENESS_WAYS;
}

bool wr_lateness_is(const struct wr_lateness *page, size_t n_bytes)
{
	return n_bytes == sizeof *page && memcmp(page->magic, WR_LATENESS_MAGIC, sizeof page->magic) == 0 &&
	       page->version == WR_LATENESS_VERSION && page->n_ways == WR_LATENESS_WAYS;
}

uint64_t wr_lateness_p99_ns(const struct wr_lateness *before, const struct wr_lateness *after)
{
	uint64_t worst_ns = WR_UNSET;

	for (int way = 0; way < WR_LATENESS_WAYS; way++) {
		struct wr_stat_octaves between;
		uint64_t ns;

		if (!wr_stat_octaves_since(&before->ways[way], &after->ways[way], &between))
			return WR_UNSET;
		if (between.n == 0)
			continue;
		ns = wr_stat_octaves_quantile(&between, LATE_QUANTILE);
		if (worst_ns == WR_UNSET || ns > worst_ns)
			worst_ns = ns;
	}
	return worst_ns;
}

uint64_t wr_lateness_bound_ns(uint64_t rtt_ns)
{
	return LATE_NS + rtt_ns / LATE_RTT_SHARE;
}
