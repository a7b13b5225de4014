/* SPDX-License-Identifier: MIT */
/* Counters of the link and their table; the histogram is log-linear, so that adding costs two shifts. */
#include "lab/counters.h"

#include <inttypes.h>

#include "base/units.h"

#define SUB_BITS 4
#define N_SUB (1u << SUB_BITS)

/* Values below N_SUB have a bucket each; above, the octave and its next four bits pick one. */
static uint32_t bucket_of(uint64_t value)
{
	uint32_t octave;

	if (value < N_SUB)
		return (uint32_t)value;
	octave = 63 - (uint32_t)__builtin_clzll(value);
	return (octave - SUB_BITS + 1) * N_SUB + ((uint32_t)(value >> (octave - SUB_BITS)) & (N_SUB - 1));
}

static uint64_t upper_edge(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < N_SUB)
		return bucket;
	shift = bucket / N_SUB - 1;
	return (((uint64_t)(bucket % N_SUB) + N_SUB + 1) << shift) - 1;
}

void wr_lab_histogram_add(struct wr_lab_histogram *histogram, uint64_t value, uint64_t n)
{
	uint32_t bucket = bucket_of(value);

	histogram->buckets[bucket < WR_LAB_HISTOGRAM_BUCKETS ? bucket : WR_LAB_HISTOGRAM_BUCKETS - 1] += n;
	histogram->n += n;
	if (value > histogram->max)
		histogram->max = value;
}

uint64_t wr_lab_histogram_quantile(const struct wr_lab_histogram *histogram, double q)
{
	uint64_t seen = 0, wanted = (uint64_t)(q * (double)histogram->n);

	for (uint32_t i = 0; i < WR_LAB_HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen > wanted || (seen == histogram->n && seen > 0))
			return upper_edge(i) < histogram->max ? upper_edge(i) : histogram->max;
	}
	return 0;
}

static void print_traffic(FILE *out, const char *name, const struct wr_lab_traffic *traffic)
{
	fprintf(out, "  %-10s %" PRIu64 " packets, %" PRIu64 " segments, %" PRIu64 " bytes on the wire\n", name,
		traffic->n_packets, traffic->n_segs, traffic->wire_bytes);
}

static void print_depth(FILE *out, const struct wr_lab_histogram *depth)
{
	char p50[WR_UNIT_TEXT], p99[WR_UNIT_TEXT], max[WR_UNIT_TEXT];

	if (depth->n)
		fprintf(out, "  %-10s %s at most, p50 %s, p99 %s\n", "queue", wr_size_text(max, (double)depth->max),
			wr_size_text(p50, (double)wr_lab_histogram_quantile(depth, 0.5)),
			wr_size_text(p99, (double)wr_lab_histogram_quantile(depth, 0.99)));
}

static void print_times(FILE *out, const char *name, const struct wr_lab_histogram *times)
{
	char p50[WR_UNIT_TEXT], p99[WR_UNIT_TEXT], max[WR_UNIT_TEXT];

	if (times->n)
		fprintf(out, "  %-10s p50 %s, p99 %s, max %s\n", name,
			wr_time_text(p50, (double)wr_lab_histogram_quantile(times, 0.5)),
			wr_time_text(p99, (double)wr_lab_histogram_quantile(times, 0.99)),
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
	print_times(out, "lateness", &way->lateness);
}

void wr_lab_counters_print(const struct wr_lab_counters *counters, FILE *out)
{
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		print_way(out, end, &counters->ways[end]);
}
