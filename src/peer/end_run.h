/* SPDX-License-Identifier: MIT */
/*
 * One end of a run, the same at both ends: the crew that moves bytes, the sampler beside it, and what the host
 * did meanwhile, gathered into a struct wr_end.
 */
#ifndef WR_PEER_END_RUN_H
#define WR_PEER_END_RUN_H

#include "model/evidence.h"
#include "os/host.h"
#include "os/socket.h"
#include "probe/sampler.h"
#include "transport/transport.h"
#include "workload/crew.h"

/* The operation of an error: messages that no buffer of this run holds. */
#define WR_MISFIT "message"

struct wr_end_run {
	const struct wr_transport *transport;
	struct wr_crew crew;
	struct wr_sampler sampler;
	struct wr_end end;
	struct wr_host_reading before;
	struct wr_socket_wish wish;
	bool far, sender;
};

/* wr_end_run_init - @far: which end of @plan, which runs over @transport, this is. Return: 0; -1. */
int wr_end_run_init(struct wr_end_run *run, const struct wr_transport *transport, const struct wr_plan *plan, bool far,
		    struct weir_err *err);

/*
 * wr_end_run_adopt - give stream @index its connection, whatever comes of it
 * Return: 0; -1 (WEIR_ERR_USAGE, WR_MISFIT) its messages would be larger than the transport takes.
 */
int wr_end_run_adopt(struct wr_end_run *run, const struct wr_plan *plan, size_t index, struct wr_channel channel,
		     struct weir_err *err);

/* wr_end_run_spawn - threads at the gate. Return: 0; -1. */
int wr_end_run_spawn(struct wr_end_run *run, struct weir_err *err);

/* wr_end_run_go - start moving and sampling. Return: 0; -1. */
int wr_end_run_go(struct wr_end_run *run, struct weir_err *err);

/*
 * wr_end_run_set - one thing of every connection while it runs
 * @knob: "sndbuf", "rcvbuf" (bytes), "pace" (bit/s of each connection, by the kernel), "speed" (the program's own pace in
 *	bit/s, 0 none), "nodelay" (0 or 1)
 * @effective: out: what getsockopt says of a buffer then, else @value
 *
 * Return: 0; -1, with an unknown knob too.
 */
int wr_end_run_set(struct wr_end_run *run, const char *knob, uint64_t value, uint64_t *effective, struct weir_err *err);

/* wr_end_run_stop - the last samples, then everything stops; run->end is complete. */
void wr_end_run_stop(struct wr_end_run *run);

/* wr_end_run_bytes - bytes moved by stream @index so far. */
uint64_t wr_end_run_bytes(const struct wr_end_run *run, size_t index);

void wr_end_run_deinit(struct wr_end_run *run);

#endif
