/* SPDX-License-Identifier: MIT */
/*
 * The near end's view of a server: a peer is a control connection to it, a run one transfer that both ends measure.
 */
#ifndef WR_PEER_RUN_H
#define WR_PEER_RUN_H

#include <signal.h>

#include "peer/beside.h"
#include "peer/control.h"
#include "peer/end_run.h"
#include "transport/transport.h"

/*
 * @address: where the control connection leads, and data connections unless far says otherwise
 * @beside: far, where the target names no server
 * @target: as the user wrote it
 * @host: far's limits, without connections
 * @local: both ends share this machine (a local address, or a lab)
 * @max_buffer_bytes: far's cap on a buffer; @max_rate_bps: on the rate of a run, WR_UNSET none
 * @stop: set by a signal handler; every wait ends soon after. May be NULL.
 */
struct wr_peer {
	struct wr_control control;
	struct wr_address address;
	struct wr_beside beside;
	struct wr_end host;
	char target[WR_NAME_TEXT], token[WR_TOKEN_TEXT];
	bool local, lab;
	uint64_t max_buffer_bytes, max_streams, max_rate_bps;
	int64_t rtt_ns, connect_timeout_ns;
	const volatile sig_atomic_t *stop;
};

/*
 * wr_peer_open - connect to a weir server
 * @target: as wr_transports has it; @plan: transport, port, family, bind and timeout
 *
 * Return: 0; -1 (WEIR_ERR_USAGE bad target; WEIR_ERR_HOST the transport doesn't work here; WEIR_ERR_PEER unreachable,
 * or another program listens there).
 */
int wr_peer_open(struct wr_peer *peer, const char *target, const struct wr_plan *plan,
		 const volatile sig_atomic_t *stop, struct weir_err *err);

void wr_peer_close(struct wr_peer *peer);

/* wr_peer_sysctl - set a limit on far (a lab's namespaces only). Return: 0; -1. */
int wr_peer_sysctl(struct wr_peer *peer, const char *key, const char *value, struct weir_err *err);

/* Far's count at an instant of its own clock since the start. */
struct wr_progress {
	int64_t t_ns;
	uint64_t bytes;
	bool done;
};

/*
 * One run. @far: progress as far reported it last; @heard_ns: when that was, on the run's clock; @ends: it is through
 * after so many bytes or messages
 */
struct wr_run {
	struct wr_peer *peer;
	struct wr_plan plan;
	struct wr_end_run near;
	struct wr_progress far;
	int64_t heard_ns;
	bool open, ends;
};

/*
 * wr_run_start - connect the streams and start at both ends. @plan: copied.
 * Return: 0; -1 (nothing is left open). After an error whose operation is WR_MISFIT @peer may start other runs.
 */
int wr_run_start(struct wr_run *run, struct wr_peer *peer, const struct wr_plan *plan, struct weir_err *err);

/*
 * wr_run_wait - let it run until @until_ns after its start, or far reports progress
 *
 * Return: 0 the time has come; 1 a progress report came (run->far); 2 the bytes asked for are through; 3 the user
 * stopped it; -1 far died, went silent, or a connection broke.
 */
int wr_run_wait(struct wr_run *run, int64_t until_ns, struct weir_err *err);

/* wr_run_set - wr_end_run_set at one end. Return: 0; -1. */
int wr_run_set(struct wr_run *run, bool far, const char *knob, uint64_t value, uint64_t *effective, struct weir_err *err);

/* wr_run_now_ns - time since the start. */
int64_t wr_run_now_ns(const struct wr_run *run);

/*
 * wr_run_stop - stop both ends and collect their evidence (steady interval not yet judged)
 * @evidence: out: wr_evidence_deinit it
 *
 * Return: 0; -1.
 */
int wr_run_stop(struct wr_run *run, struct wr_evidence *evidence, struct weir_err *err);

/* wr_run_abandon - drop a run without its evidence; the peer must be closed next. */
void wr_run_abandon(struct wr_run *run);

#endif
