/* SPDX-License-Identifier: MIT */
/* Running one point of a plan and reading its figures: warm-up is excluded by rule, the receiver's bytes count. */
#ifndef WR_MEASURE_MEASURE_H
#define WR_MEASURE_MEASURE_H

#include "model/result.h"
#include "peer/run.h"

/* The length of a run for which no time was asked. */
#define WR_DEFAULT_DURATION_NS 5000000000LL

/*
 * What a caller wants to see while a run goes on: called on the calling thread after each interval.
 * @interval: receiver's rate; round trip, window and retransmissions where near is the sender, else 0
 * @bytes: read so far
 * Return: whether to go on; false ends the run early, its evidence is incomplete then.
 */
typedef bool wr_measure_progress(void *context, const struct wr_interval *interval, uint64_t bytes);

/*
 * @progress: may be NULL, called with @context
 * @extend_ns: how much longer a timed run may go on while its rate is still growing
 */
struct wr_measure_watch {
	wr_measure_progress *progress;
	void *context;
	int64_t extend_ns;
};

/*
 * wr_measure_run - one transfer from start to evidence
 * @watch: may be NULL
 * @evidence: out, judged; deinit it. evidence->complete is false when the user or @watch stopped it.
 *
 * Return: 0; -1.
 */
int wr_measure_run(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_measure_watch *watch,
		   struct wr_evidence *evidence, struct weir_err *err);

/*
 * wr_measure_judge - find the steady interval of @evidence and set its fields
 * Return: 0; -1 out of memory.
 */
int wr_measure_judge(struct wr_evidence *evidence, struct weir_err *err);

/* wr_measure_result - the figures of judged evidence. Return: 0; -1 out of memory. */
int wr_measure_result(const struct wr_evidence *evidence, struct wr_result *result, struct weir_err *err);

/*
 * wr_measure_rate - receiver's rate between two instants
 * Return: bit/s; NaN when nothing of the stretch was sampled or memory is out.
 */
double wr_measure_rate(const struct wr_evidence *evidence, int64_t from_ns, int64_t to_ns);

/*
 * wr_measure_slope - the same by least squares over the samples between: a flow that sends in bursts, one a round
 * trip, has no edges in it that could fall into the stretch or beside it
 */
double wr_measure_slope(const struct wr_evidence *evidence, int64_t from_ns, int64_t to_ns);

/* wr_measure_messages - the figures of @result about segments and messages. */
void wr_measure_messages(const struct wr_evidence *evidence, struct wr_result *result);

/* wr_measure_rtt_us - median smoothed round trip of the sender between two instants; NaN unknown. */
double wr_measure_rtt_us(const struct wr_evidence *evidence, int64_t from_ns, int64_t to_ns);

#endif
