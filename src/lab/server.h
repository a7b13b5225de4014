/* SPDX-License-Identifier: MIT */
/*
 * The bottleneck of a direction as a fluid server: it sends one segment after the other at a rate that may follow a
 * schedule and stand still in outages. The rate element moves it on; queue, CoDel and ECN judge by what waits in it.
 */
#ifndef WR_LAB_SERVER_H
#define WR_LAB_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One rate from an instant on, counted from the link's start. */
struct wr_lab_rate_step {
	uint64_t from_ns, rate_bps;
};

/* @repeat_ns: after so long it begins again; 0: the last rate stays. The first step begins at 0. */
struct wr_lab_rate_schedule {
	uint64_t repeat_ns;
	size_t n_steps;
	struct wr_lab_rate_step *steps;
};

/* Windows in which nothing gets through. @length_ns 0: none; @every_ns 0: one window only. */
struct wr_lab_outage {
	uint64_t from_ns, length_ns, every_ns;
	bool hold; /* what is sent meanwhile waits instead of being lost */
};

/*
 * @rate_bps: when there is no schedule; 0: no bottleneck
 * @origin_ns: the link's start, from which schedule and outage count
 * The rest is the server's own.
 */
struct wr_lab_server {
	uint64_t rate_bps, origin_ns;
	const struct wr_lab_rate_schedule *schedule;
	const struct wr_lab_outage *stops;
	uint64_t busy_until_ns;
	uint64_t remainder;   /* of the division that gave busy_until_ns, so that no bit is lost to rounding */
	uint64_t drained_ns;  /* until when @waiting is brought up to date, if the rate varies */
	unsigned __int128 waiting; /* bits x 10^9 */
	uint64_t *departures; /* of the segments that wait, when the queue counts segments: a ring */
	uint32_t n_departures, first_departure, max_departures;
};

/* wr_lab_outage_at - whether @at_ns (from the link's start) is in a window. @until_ns: out: when that changes. */
bool wr_lab_outage_at(const struct wr_lab_outage *outage, uint64_t at_ns, uint64_t *until_ns);

/* wr_lab_server_rate_at - the rate at @at_ns (absolute). @until_ns: out: how long it holds; UINT64_MAX: for ever. */
uint64_t wr_lab_server_rate_at(const struct wr_lab_server *server, uint64_t at_ns, uint64_t *until_ns);

/* wr_lab_server_serve - take @n_bytes that came at @at_ns; busy_until_ns moves to when their last bit is sent. */
void wr_lab_server_serve(struct wr_lab_server *server, uint64_t at_ns, uint64_t n_bytes);

/* wr_lab_server_backlog_bytes - what waits, or is being sent, at @at_ns, which may not go back. */
uint64_t wr_lab_server_backlog_bytes(struct wr_lab_server *server, uint64_t at_ns);

/* wr_lab_server_backlog_segs - the same in segments; only with departures. */
uint32_t wr_lab_server_backlog_segs(struct wr_lab_server *server, uint64_t at_ns);

/* wr_lab_server_wait_ns - how long something that comes at @at_ns waits until its first bit is sent. */
static inline uint64_t wr_lab_server_wait_ns(const struct wr_lab_server *server, uint64_t at_ns)
{
	return server->busy_until_ns > at_ns ? server->busy_until_ns - at_ns : 0;
}

#endif
