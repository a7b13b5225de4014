/* SPDX-License-Identifier: MIT */
/*
 * Tuning: probe, verdict, then either a refusal or a curve, a knee, a proof with interleaved pairs, and advice.
 * Nothing is advised that was not proved.
 */
#ifndef WR_TUNE_TUNE_H
#define WR_TUNE_TUNE_H

#include "measure/staircase.h"
#include "model/tuning.h"

/*
 * @budget_ns, @max_bytes: bounds of the whole, WR_UNSET none
 * @max_rate_bps: that the plan's writers are paced to in all, WR_UNSET not
 * @pairs: of the proof, 6 at least for an exact test to reach p < 0.05
 * @strategy: name of a row of wr_strategies
 * @sizes: of the curve, descending, instead of those that follow from the path; n_sizes of them, 0 none
 * @say: told what is being tried, for a progress line; may be NULL
 */
struct wr_tune_options {
	struct wr_plan plan;
	uint64_t budget_ns, max_bytes, max_rate_bps, pairs;
	double tolerance_ratio;
	const char *strategy;
	uint64_t sizes[WR_MAX_CURVE];
	size_t n_sizes;
	void (*say)(void *context, const char *text);
	void *context;
};

/* A stage's tools: where runs are made and counted. */
struct wr_tuner {
	struct wr_peer *peer;
	const struct wr_tune_options *options;
	struct wr_tuning *tuning;
	struct wr_end near_host;
	int64_t began_ns;
	double rtt_s, run_s, rate_bps, window_per_eff_ratio;
	enum wr_side sender_side, receiver_side;
	bool stopped;
};

/*
 * wr_tune - the whole procedure
 * @tuning: out, valid also after 1
 *
 * Return: 0 done; 1 stopped early by the user or a bound, @tuning holds what there is; -1.
 */
int wr_tune(struct wr_peer *peer, const struct wr_tune_options *options, struct wr_tuning *tuning,
	    struct weir_err *err);

/* -- for the stages -- */

/* One fresh connection with @plan's settings: its figures. */
struct wr_trial {
	double bps, rtt_us;
	uint64_t sndbuf_eff_bytes, rcvbuf_eff_bytes;
};

/*
 * wr_tuner_try - run @plan for the tuner's run length
 * @evidence: out, or NULL
 *
 * Return: 0; 1 stopped; -1.
 */
int wr_tuner_try(struct wr_tuner *tuner, const struct wr_plan *plan, double seconds, struct wr_trial *trial,
		 struct wr_evidence *evidence, struct weir_err *err);

/* wr_tuner_say - a line of progress. */
void wr_tuner_say(const struct wr_tuner *tuner, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* wr_tuner_affords - whether @seconds more, at the known rate, stay within the bounds. */
bool wr_tuner_affords(const struct wr_tuner *tuner, double seconds);

/* wr_tuner_within - whether the bounds hold, with @bytes of a run that is going on; else what is lost is noted. */
bool wr_tuner_within(struct wr_tuner *tuner, uint64_t bytes);

/* wr_tuner_elapsed_s - since the start; wr_tuner_overhead_s - of a run, beside moving data. */
double wr_tuner_elapsed_s(const struct wr_tuner *tuner);
double wr_tuner_overhead_s(const struct wr_tuner *tuner);

/* wr_tuner_window_ratio - peer's window over the receiver's effective buffer at the end of a run, 0.5 to 1. */
double wr_tuner_window_ratio(const struct wr_evidence *evidence);

/* wr_tuner_per_stream - a figure of the path as one connection's part. */
double wr_tuner_per_stream(const struct wr_tuner *tuner, double bytes);

/* wr_tuner_baseline - take the rates of @n runs with nothing changed as the baseline. */
void wr_tuner_baseline(struct wr_tuner *tuner, const double *runs_bps, size_t n);

/*
 * wr_tuner_most_bytes - the largest size that a buffer of an end may get: far's own cap, and without privilege the
 * sysctl's; wr_tuner_note_cap - say what was left out when @wanted_bytes is beyond it
 */
uint64_t wr_tuner_most_bytes(const struct wr_tuner *tuner, enum wr_knob knob, enum wr_side side);
void wr_tuner_note_cap(struct wr_tuner *tuner, enum wr_knob knob, enum wr_side side, uint64_t wanted_bytes);

/* wr_tuner_account - count a run's bytes. */
void wr_tuner_account(struct wr_tuner *tuner, uint64_t bytes);

/* wr_tuner_knob - set one buffer of @plan, by knob and side. */
void wr_tuner_knob(struct wr_plan *plan, enum wr_knob knob, enum wr_side side, uint64_t bytes);

/* wr_tuner_wait - let @run go on for @seconds. Return: 0; 1 stopped; -1. */
int wr_tuner_wait(struct wr_tuner *tuner, struct wr_run *run, double seconds, struct weir_err *err);

/* wr_tuner_stairs - how a staircase of this tuning waits; sizes and buffer are the caller's to add. */
struct wr_stairs wr_tuner_stairs(struct wr_tuner *tuner);

/* wr_tuner_rate - settle, then measure the receiver's rate of @run. Return: 0; 1 stopped; -1. */
int wr_tuner_rate(struct wr_tuner *tuner, struct wr_run *run, double *bps, struct weir_err *err);

/* How long after a step of a live buffer the flow takes to follow, and how long it is measured then. */
double wr_tuner_settle_s(const struct wr_tuner *tuner);
double wr_tuner_measure_s(const struct wr_tuner *tuner);

/* -- strategies: how a curve is measured -- */

/*
 * What a curve needs.
 *
 * @knob, @side: what is varied; the other end's buffer is @other_bytes on every point
 * @sizes: descending, n_sizes of them, bytes as asked of setsockopt
 */
struct wr_curve_request {
	enum wr_knob knob;
	enum wr_side side;
	uint64_t other_bytes, sizes[WR_MAX_CURVE];
	size_t n_sizes;
};

/*
 * @measure: appends a point a size to tuner->tuning->curve.
 *	Return: 0; 1 stopped; -1.
 * @seconds: what @measure will take
 */
struct wr_strategy {
	const char *name, *summary;
	int (*measure)(struct wr_tuner *tuner, const struct wr_curve_request *request, struct weir_err *err);
	double (*seconds)(const struct wr_tuner *tuner, size_t n_sizes);
};

extern const struct wr_strategy *const wr_strategies[];
const struct wr_strategy *wr_strategy_find(const char *name);

/* -- from a curve to a knee -- */

/* Payload in flight over the size asked of SO_SNDBUF, at least; from measurements at 20 to 100 ms. */
#define WR_IN_FLIGHT_PER_REQUEST 1.26
/* Points of a curve for the rate. */
#define WR_TYPICAL_CURVE 9

/* wr_tune_sizes - the user's sizes, or @multiples (descending) of @base_bytes within what is allowed. */
void wr_tune_sizes(struct wr_tuner *tuner, struct wr_curve_request *request, const double *multiples, size_t n,
		   double base_bytes);

/*
 * wr_tune_knee - curve, knee and confirmation into tuning->curve and ->knee
 * @unset: what the probe measured
 *
 * Return: 0 confirmed; 1 stopped; 2 none, or the bounds left no room (which was noted); -1.
 */
int wr_tune_knee(struct wr_tuner *tuner, const struct wr_curve_request *request, enum wr_goal goal,
		 const struct wr_trial *unset, struct weir_err *err);
double wr_tune_confirm_seconds(const struct wr_tuner *tuner);

/* -- the goals: each searches, proves and advises. Return: 0; 1 stopped; -1 -- */

int wr_tune_for_rate(struct wr_tuner *tuner, const struct wr_trial *unset, struct weir_err *err);
int wr_tune_for_delay(struct wr_tuner *tuner, const struct wr_trial *unset, struct weir_err *err);

/* -- the plateau -- */

/*
 * What a climb found: the send buffer was raised step by step, with the receive buffer large, until more of it
 * carried no more.
 *
 * @bps: what the path carries; @sndbuf_bytes: the size asked for that carried it
 * @window_per_eff_ratio: peer's window over the receiver's effective buffer
 * @capped: the largest size allowed was still the limit
 */
struct wr_plateau {
	double bps, rtt_us, window_per_eff_ratio;
	uint64_t sndbuf_bytes;
	bool capped;
};

/* wr_tune_climb - SO_SNDBUF from @first_bytes up to @most_bytes with SO_RCVBUF @rcvbuf_bytes, on one connection. Return: 0; 1 stopped; -1. */
int wr_tune_climb(struct wr_tuner *tuner, uint64_t first_bytes, uint64_t most_bytes, uint64_t rcvbuf_bytes,
		  struct wr_plateau *plateau, struct weir_err *err);
double wr_tune_climb_seconds(const struct wr_tuner *tuner);

/* -- proof -- */

/* tcp_wmem and tcp_rmem of near and far (enum wr_side) as text; "" leaves one alone. */
struct wr_limits {
	char wmem[2][WR_NAME_TEXT], rmem[2][WR_NAME_TEXT];
};

/*
 * What the B runs of a proof have in force.
 *
 * @limits, @before: sysctls of B and A runs; @sysctls: set them (a lab), else the plan's buffers stand in
 * @plan: of the B runs
 * @out_of_reach: this process may not set such sizes, so nothing can be proved
 */
struct wr_settings {
	struct wr_limits limits, before;
	struct wr_plan plan;
	bool sysctls, out_of_reach;
};

/* wr_tune_settings - what must be in force together. @window_per_eff: window over effective receive buffer. */
void wr_tune_settings(struct wr_tuner *tuner, struct wr_settings *after, double window_per_eff);

/* wr_tune_list_settings - write what @after changes into the proof. */
void wr_tune_list_settings(struct wr_tuner *tuner, const struct wr_settings *after);

double wr_tune_proof_seconds(const struct wr_tuner *tuner);

/*
 * wr_tune_prove - ABBA pairs of the tuner's plan against @after
 * Return: 0 tuning->proof is filled; 1 stopped; -1.
 */
int wr_tune_prove(struct wr_tuner *tuner, const struct wr_settings *after, struct weir_err *err);

/* -- advice -- */

/* wr_tune_advise_rate - sysctl and setsockopt rows for a proved gain. */
void wr_tune_advise_rate(struct wr_tuner *tuner, const struct wr_settings *after);

/* wr_tune_round - up to a size that people can read. Bytes. */
uint64_t wr_tune_round(uint64_t bytes);

/* wr_tune_advise_delay - the smaller buffer that keeps the rate. */
void wr_tune_advise_delay(struct wr_tuner *tuner);

#endif
