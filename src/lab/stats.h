/* SPDX-License-Identifier: MIT */
/* The link's counters for people and programs: a table on stderr or in a file, and JSON that can be read while the lab lives. */
#ifndef WR_LAB_STATS_H
#define WR_LAB_STATS_H

#include <stdbool.h>

#include "lab/counters.h"
#include "weir/err.h"

/* How often the JSON is written again. */
#define WR_LAB_STATS_PERIOD_NS 500000000LL

/*
 * @text, @json: files, or NULL; @on_stderr: the table goes there
 * @late_bound_ns: a direction whose 99th percentile of lateness is above it was late
 * The rest is the module's own.
 */
struct wr_lab_stats {
	const char *text, *json;
	bool on_stderr;
	uint64_t late_bound_ns;
	char started[32];
	int64_t began_ns, next_ns;
};

/* wr_lab_stats_begin - the lab begins; both files must be writable. Return: 0; -1 with @err. */
int wr_lab_stats_begin(struct wr_lab_stats *stats, const struct wr_lab_counters *counters, struct weir_err *err);

/* wr_lab_stats_refresh - write the JSON again if it is time. Return: when to call again; 0: never. */
int64_t wr_lab_stats_refresh(struct wr_lab_stats *stats, const struct wr_lab_counters *counters, int64_t now_ns);

/* wr_lab_stats_end - the lab ends: everything is written for the last time. */
void wr_lab_stats_end(struct wr_lab_stats *stats, const struct wr_lab_counters *counters);

/* wr_lab_stats_is_late - whether so many packets left late that what was measured is not to be trusted. */
bool wr_lab_stats_is_late(const struct wr_lab_way_counters *way, uint64_t bound_ns);

#endif
