/* SPDX-License-Identifier: MIT */
/*
 * The link process counts into shared memory; whoever owns a struct wr_lab_stats reads it there. The JSON file is
 * written beside itself and renamed, so that a reader always finds a whole object.
 */
#include "lab/stats.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/err.h"
#include "base/units.h"
#include "os/clock.h"
#include "weir/version.h"

bool wr_lab_stats_is_late(const struct wr_lab_way_counters *way, uint64_t bound_ns)
{
	return wr_stat_octaves_quantile(way->lateness, 0.99) > bound_ns;
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *traffic_json(const struct wr_lab_traffic *traffic)
{
	return json_pack("{s:o,s:o,s:o}", "packets", integer(traffic->n_packets), "segments", integer(traffic->n_segs),
			 "wire_bytes", integer(traffic->wire_bytes));
}

/* Absent when nothing was counted: unknown is never 0. @scale divides: 1000 makes microseconds of nanoseconds. */
static void put_histogram(json_t *object, const char *name, const struct wr_stat_octaves *histogram, double scale)
{
	if (histogram->n == 0)
		return;
	json_object_set_new(object, name, json_pack("{s:f,s:f,s:f,s:f}",
						    "p50", (double)wr_stat_octaves_quantile(histogram, 0.5) / scale,
						    "p90", (double)wr_stat_octaves_quantile(histogram, 0.9) / scale,
						    "p99", (double)wr_stat_octaves_quantile(histogram, 0.99) / scale,
						    "max", (double)histogram->max / scale));
}

static json_t *way_json(const struct wr_lab_way_counters *way, uint64_t late_bound_ns)
{
	json_t *drops = json_object(), *touched = json_object(), *object;

	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		const struct wr_lab_drops *of = &way->drops[row];

		if (of->n_segs)
			json_object_set_new(drops, wr_lab_elements[row]->name,
					    json_pack("{s:o,s:o}", "segments", integer(of->n_segs), "wire_bytes",
						      integer(of->wire_bytes)));
		if (of->n_touched)
			json_object_set_new(touched, wr_lab_elements[row]->name, integer(of->n_touched));
	}
	object = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "taken", traffic_json(&way->in), "delivered",
			   traffic_json(&way->out), "dropped", drops, "changed_segments", touched, "refused_packets",
			   integer(way->n_refused_packets), "device_drops_packets", integer(way->n_overflow_packets),
			   "icmp_packets", integer(way->n_icmp), "waits", integer(way->n_waits), "late",
			   wr_lab_stats_is_late(way, late_bound_ns));
	if (!object)
		return NULL;
	put_histogram(object, "queue_bytes", &way->depth, 1);
	put_histogram(object, "sojourn_us", &way->sojourn, 1e3);
	put_histogram(object, "lateness_us", way->lateness, 1e3);
	return object;
}

static json_t *stats_json(const struct wr_lab_stats *stats, const struct wr_lab_counters *counters, bool complete)
{
	json_t *object = json_pack("{s:s,s:s,s:s,s:f,s:b,s:s}", "schema", "weir.lab-stats/1", "version", WEIR_VERSION,
				   "started", stats->started, "duration_s", (double)(wr_clock_ns() - stats->began_ns) / 1e9,
				   "complete", complete, "command", "lab");

	for (int end = 0; object && end < WR_LAB_N_ENDS; end++)
		json_object_set_new(object, wr_lab_end_names[end], way_json(&counters->ways[end], stats->late_bound_ns));
	return object;
}

static int write_json(const struct wr_lab_stats *stats, const struct wr_lab_counters *counters, bool complete)
{
	json_t *object = stats_json(stats, counters, complete);
	char beside[4096];
	int rc = -1;

	if (object && snprintf(beside, sizeof beside, "%s.new", stats->json) < (int)sizeof beside &&
	    json_dump_file(object, beside, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0)
		rc = rename(beside, stats->json);
	json_decref(object);
	return rc;
}

static int write_text(const struct wr_lab_stats *stats, const struct wr_lab_counters *counters)
{
	FILE *out = fopen(stats->text, "we");

	if (!out)
		return -1;
	wr_lab_counters_print(counters, out);
	return fclose(out);
}

int wr_lab_stats_begin(struct wr_lab_stats *stats, const struct wr_lab_counters *counters, struct weir_err *err)
{
	time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	strftime(stats->started, sizeof stats->started, "%Y-%m-%dT%H:%M:%SZ", &parts);
	stats->began_ns = wr_clock_ns();
	stats->next_ns = stats->began_ns + WR_LAB_STATS_PERIOD_NS;
	if (stats->text && write_text(stats, counters) < 0)
		return wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "can't write the link's counters to %s", stats->text);
	if (stats->json && write_json(stats, counters, false) < 0)
		return wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "can't write the link's counters to %s", stats->json);
	return 0;
}

int64_t wr_lab_stats_refresh(struct wr_lab_stats *stats, const struct wr_lab_counters *counters, int64_t now_ns)
{
	if (!stats->json)
		return 0;
	if (now_ns >= stats->next_ns) {
		(void)write_json(stats, counters, false);
		stats->next_ns = now_ns + WR_LAB_STATS_PERIOD_NS;
	}
	return stats->next_ns;
}

void wr_lab_stats_end(struct wr_lab_stats *stats, const struct wr_lab_counters *counters)
{
	if (stats->on_stderr)
		wr_lab_counters_print(counters, stderr);
	if (stats->text)
		(void)write_text(stats, counters);
	if (stats->json)
		(void)write_json(stats, counters, true);
}
