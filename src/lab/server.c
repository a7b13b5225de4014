/* SPDX-License-Identifier: MIT */
/*
 * Work is counted in bits x 10^9, so that rate x nanoseconds is work without a division. With one rate for all time
 * the backlog follows from busy_until_ns; with a schedule it is drained step by step, each step once.
 */
#include "lab/server.h"

#include <assert.h>

#define WORK_PER_BYTE 8000000000ULL
/* What leaves so late, in 146 years, never does: a schedule may send a bit a day. */
#define NEVER_NS (UINT64_C(1) << 62)

bool wr_lab_outage_at(const struct wr_lab_outage *outage, uint64_t at_ns, uint64_t *until_ns)
{
	uint64_t into_ns, round_ns = 0;

	*until_ns = UINT64_MAX;
	if (outage->length_ns == 0)
		return false;
	if (at_ns < outage->from_ns) {
		*until_ns = outage->from_ns;
		return false;
	}
	into_ns = at_ns - outage->from_ns;
	if (outage->every_ns) {
		round_ns = into_ns / outage->every_ns * outage->every_ns;
		into_ns -= round_ns;
	}
	if (into_ns < outage->length_ns) {
		*until_ns = outage->from_ns + round_ns + outage->length_ns;
		return true;
	}
	if (outage->every_ns)
		*until_ns = outage->from_ns + round_ns + outage->every_ns;
	return false;
}

/* The last step that has begun. */
static size_t step_at(const struct wr_lab_rate_schedule *schedule, uint64_t at_ns)
{
	size_t low = 0, high = schedule->n_steps;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (schedule->steps[middle].from_ns <= at_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint64_t scheduled_rate(const struct wr_lab_rate_schedule *schedule, uint64_t at_ns, uint64_t *until_ns)
{
	uint64_t round_ns = schedule->repeat_ns ? at_ns / schedule->repeat_ns * schedule->repeat_ns : 0;
	size_t i = step_at(schedule, at_ns - round_ns);

	if (i + 1 < schedule->n_steps)
		*until_ns = round_ns + schedule->steps[i + 1].from_ns;
	else
		*until_ns = schedule->repeat_ns ? round_ns + schedule->repeat_ns : UINT64_MAX;
	return schedule->steps[i].rate_bps;
}

uint64_t wr_lab_server_rate_at(const struct wr_lab_server *server, uint64_t at_ns, uint64_t *until_ns)
{
	uint64_t from_start_ns = at_ns > server->origin_ns ? at_ns - server->origin_ns : 0, stop_until_ns;
	uint64_t rate_bps = server->rate_bps;

	*until_ns = UINT64_MAX;
	if (server->schedule)
		rate_bps = scheduled_rate(server->schedule, from_start_ns, until_ns);
	if (server->stops) {
		if (wr_lab_outage_at(server->stops, from_start_ns, &stop_until_ns))
			rate_bps = 0;
		if (stop_until_ns < *until_ns)
			*until_ns = stop_until_ns;
	}
	if (*until_ns != UINT64_MAX)
		*until_ns += server->origin_ns;
	return rate_bps;
}

static bool varies(const struct wr_lab_server *server)
{
	return server->schedule || server->stops;
}

/* Send @work from busy_until_ns on, through as many steps as it takes. */
static void serve_steps(struct wr_lab_server *server, unsigned __int128 work)
{
	while (work && server->busy_until_ns < NEVER_NS) {
		uint64_t until_ns, rate_bps = wr_lab_server_rate_at(server, server->busy_until_ns, &until_ns);
		unsigned __int128 room = (unsigned __int128)rate_bps * (until_ns - server->busy_until_ns);

		assert(rate_bps || until_ns != UINT64_MAX); /* the parsers let no rate end at 0 */
		if (until_ns != UINT64_MAX && work >= room) {
			work -= room;
			server->busy_until_ns = until_ns;
			continue;
		}
		server->busy_until_ns += (uint64_t)(work / rate_bps);
		server->remainder = (uint64_t)(work % rate_bps);
		return;
	}
	server->remainder = 0;
}

static void drain(struct wr_lab_server *server, uint64_t at_ns)
{
	if (server->busy_until_ns <= at_ns) {
		server->waiting = 0;
		server->drained_ns = at_ns;
	}
	while (server->drained_ns < at_ns) {
		uint64_t until_ns, rate_bps = wr_lab_server_rate_at(server, server->drained_ns, &until_ns);
		unsigned __int128 sent;

		if (until_ns > at_ns)
			until_ns = at_ns;
		sent = (unsigned __int128)rate_bps * (until_ns - server->drained_ns);
		server->waiting -= sent < server->waiting ? sent : server->waiting;
		server->drained_ns = until_ns;
	}
}

static void note_departure(struct wr_lab_server *server)
{
	uint32_t at = (server->first_departure + server->n_departures) % server->max_departures;

	if (server->n_departures == server->max_departures)
		return; /* can't be: the queue lets no more in */
	server->departures[at] = server->busy_until_ns;
	server->n_departures++;
}

void wr_lab_server_serve(struct wr_lab_server *server, uint64_t at_ns, uint64_t n_bytes)
{
	uint64_t work = n_bytes * WORK_PER_BYTE;

	if (varies(server))
		drain(server, at_ns);
	if (server->busy_until_ns <= at_ns) {
		server->busy_until_ns = at_ns;
		server->remainder = 0;
	}
	if (varies(server)) {
		server->waiting += work;
		serve_steps(server, (unsigned __int128)work + server->remainder);
	} else {
		work += server->remainder;
		server->busy_until_ns += work / server->rate_bps;
		server->remainder = work % server->rate_bps;
	}
	if (server->departures)
		note_departure(server);
}

uint64_t wr_lab_server_backlog_bytes(struct wr_lab_server *server, uint64_t at_ns)
{
	if (server->busy_until_ns <= at_ns)
		return 0;
	if (!varies(server))
		return (uint64_t)((unsigned __int128)(server->busy_until_ns - at_ns) * server->rate_bps / WORK_PER_BYTE);
	drain(server, at_ns);
	return (uint64_t)(server->waiting / WORK_PER_BYTE);
}

uint32_t wr_lab_server_backlog_segs(struct wr_lab_server *server, uint64_t at_ns)
{
	while (server->n_departures && server->departures[server->first_departure] <= at_ns) {
		server->first_departure = (server->first_departure + 1) % server->max_departures;
		server->n_departures--;
	}
	return server->n_departures;
}
