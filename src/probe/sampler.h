/* SPDX-License-Identifier: MIT */
/* A thread that samples every stream of a crew, off the threads that move the data. */
#ifndef WR_PROBE_SAMPLER_H
#define WR_PROBE_SAMPLER_H

#include "model/evidence.h"
#include "transport/transport.h"
#include "workload/crew.h"

struct wr_sampler {
	const struct wr_transport *transport;
	struct wr_crew *crew;
	struct wr_end *end;
	pthread_t thread;
	bool thread_exists;
	_Atomic bool stop;
};

/*
 * wr_sampler_start - sample @crew, whose connections are of @transport, into the series of @end from now on
 * @end: as many connections as the crew has streams; read it only after wr_sampler_stop
 *
 * Return: 0; -1 out of memory or threads.
 */
int wr_sampler_start(struct wr_sampler *sampler, const struct wr_transport *transport, struct wr_crew *crew,
		     struct wr_end *end, struct weir_err *err);

/* wr_sampler_stop - a last sample of each stream, then the thread ends. Call it before wr_crew_stop. */
void wr_sampler_stop(struct wr_sampler *sampler);

#endif
