/* SPDX-License-Identifier: MIT */
/* What a tuning found: path, baseline, verdict, curve, knee, proof, advice and its own cost. Plain data. */
#ifndef WR_MODEL_TUNING_H
#define WR_MODEL_TUNING_H

#include "model/plan.h"
#include "model/verdict.h"

#define WR_MAX_CURVE 24
#define WR_MAX_PAIRS 32
#define WR_MAX_LEFT_OUT 8

enum wr_knob { WR_KNOB_SNDBUF, WR_KNOB_RCVBUF };

const char *wr_knob_name(enum wr_knob knob);
const char *wr_knob_option(enum wr_knob knob);

/* One size that was tried. @req_bytes: WR_UNSET is autotuning. */
struct wr_curve_point {
	enum wr_knob knob;
	enum wr_side side;
	uint64_t req_bytes, eff_bytes;
	double throughput_bps, rtt_loaded_us;
};

enum wr_goal { WR_GOAL_NONE, WR_GOAL_RATE, WR_GOAL_DELAY };

struct wr_knee {
	enum wr_goal goal;
	enum wr_knob knob;
	enum wr_side side;
	uint64_t req_bytes, eff_bytes;
	double throughput_bps, rtt_loaded_us, tolerance_ratio, plateau_bps;
};

/* One setting of a proof: its key ("near net.ipv4.tcp_wmem"), as it was, as advised. */
struct wr_proof_setting {
	char key[64], before[64], after[64];
};

#define WR_MAX_PROOF_SETTINGS 6

/*
 * Interleaved pairs of fresh connections: without and with all settings of the advice.
 *
 * @ratio: geometric mean of after/before rates; @ci95_ratio its 95 % interval; @p of the sign-flip test
 * @settings: what differed between the before and the after runs
 * @sysctls: the sysctls themselves were in force in the after runs (a lab); else sizes set by setsockopt
 */
struct wr_ab_proof {
	size_t pairs;
	double before_runs_bps[WR_MAX_PAIRS], after_runs_bps[WR_MAX_PAIRS];
	double before_bps, after_bps, ratio, ci95_ratio[2], p, mde_ratio;
	double before_rtt_us, after_rtt_us;
	struct wr_proof_setting settings[WR_MAX_PROOF_SETTINGS];
	size_t n_settings;
	bool sysctls, holds;
};

/*
 * @baseline_eff_bytes: by knob, at the end of the default probe
 * @n_runs: of runs_bps, the runs with nothing changed
 * @capacity_known: the path was filled, so capacity_bps and bdp_bytes are its own
 * @left_out: what a budget cut, in words; @cut: what it cut would have led to advice
 */
struct wr_tuning {
	struct wr_plan plan;
	char congestion[16];
	double rtt_min_us, mss_bytes, capacity_bps, bdp_bytes;
	double baseline_bps, baseline_ci95_bps[2], baseline_rtt_us, runs_bps[WR_MAX_PAIRS];
	uint64_t baseline_eff_bytes[2];
	size_t n_runs;
	struct wr_verdict verdict;
	struct wr_curve_point curve[WR_MAX_CURVE];
	size_t n_curve;
	struct wr_knee knee;
	struct wr_ab_proof proof;
	char left_out[WR_MAX_LEFT_OUT][WR_SENTENCE];
	size_t n_left_out;
	size_t probes;
	double wall_s, expected_s;
	uint64_t bytes;
	bool complete, cut, capacity_known;
};

/* wr_proof_setting_add - note a setting; @side near or far. */
void wr_proof_setting_add(struct wr_ab_proof *proof, enum wr_side side, const char *name, const char *before,
			  const char *after);

/* wr_tuning_leave_out - note what a budget cut. */
void wr_tuning_leave_out(struct wr_tuning *tuning, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
