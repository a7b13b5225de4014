/* SPDX-License-Identifier: MIT */
/* The table of the counters. */
#include "lab/counters.h"

#include <inttypes.h>

#include "base/units.h"

static void print_traffic(FILE *out, const char *name, const struct wr_lab_traffic *traffic)
{
	fprintf(out, "  %-10s %" PRIu64 " packets, %" PRIu64 " segments, %" PRIu64 " bytes on the wire\n", name,
		traffic->n_packets, traffic->n_segs, traffic->wire_bytes);
}

static void print_depth(FILE *out, const struct wr_stat_octaves *depth)
{
	char p50[WR_UNIT_TEXT], p99[WR_UNIT_TEXT], max[WR_UNIT_TEXT];

	if (depth->n)
		fprintf(out, "  %-10s %s at most, p50 %s, p99 %s\n", "queue", wr_size_text(max, (double)depth->max),
			wr_size_text(p50, (double)wr_stat_octaves_quantile(depth, 0.5)),
			wr_size_text(p99, (double)wr_stat_octaves_quantile(depth, 0.99)));
}

static void print_times(FILE *out, const char *name, const struct wr_stat_octaves *times)
{
	char p50[WR_UNIT_TEXT], p99[WR_UNIT_TEXT], max[WR_UNIT_TEXT];

	if (times->n)
		fprintf(out, "  %-10s p50 %s, p99 %s, max %s\n", name,
			wr_time_text(p50, (double)wr_stat_octaves_quantile(times, 0.5)),
			wr_time_text(p99, (double)wr_stat_octaves_quantile(times, 0.99)),
			wr_time_text(max, (double)times->max));
}

static void print_way(FILE *out, int end, const struct wr_lab_way_counters *way)
{
	fprintf(out, "%s -> %s\n", wr_lab_end_names[end], wr_lab_end_names[!end]);
	print_traffic(out, "taken", &way->in);
	print_traffic(out, "delivered", &way->out);
	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		if (way->drops[row].n_segs)
			fprintf(out, "  %-10s %" PRIu64 " segments dropped by %s\n", "", way->drops[row].n_segs,
				wr_lab_elements[row]->name);
		if (way->drops[row].n_touched)
			fprintf(out, "  %-10s %" PRIu64 " segments %s\n", "", way->drops[row].n_touched,
				wr_lab_elements[row]->touches);
	}
	if (way->n_icmp)
		fprintf(out, "  %-10s %" PRIu64 " answers that a packet was too large\n", "ICMP", way->n_icmp);
	if (way->n_refused_packets)
		fprintf(out, "  %-10s %" PRIu64 " packets\n", "refused", way->n_refused_packets);
	if (way->n_overflow_packets)
		fprintf(out, "  %-10s %" PRIu64 " packets in the sender's device\n", "lost", way->n_overflow_packets);
	if (way->n_waits)
		fprintf(out, "  %-10s %" PRIu64 " times all buffers were in use\n", "waited", way->n_waits);
	print_depth(out, &way->depth);
	print_times(out, "sojourn", &way->sojourn);
	print_times(out, "lateness", way->lateness);
}

void wr_lab_counters_print(const struct wr_lab_counters *counters, FILE *out)
{
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		print_way(out, end, &counters->ways[end]);
}
