/* SPDX-License-Identifier: MIT */
/*
 * A verdict: ranked causes with their shares of time and the evidence for each, what is refused and why, and what
 * to change.
 */
#ifndef WR_MODEL_VERDICT_H
#define WR_MODEL_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

enum wr_side { WR_SIDE_NEAR, WR_SIDE_FAR, WR_SIDE_PATH };
enum wr_confidence { WR_CONFIDENCE_LOW, WR_CONFIDENCE_MEDIUM, WR_CONFIDENCE_HIGH };

const char *wr_side_name(enum wr_side side);

#define WR_MAX_PROOFS 8
#define WR_MAX_FINDINGS 12
#define WR_MAX_REFUSALS 6
#define WR_MAX_ADVICE 8
#define WR_SENTENCE 240

/* One line of evidence: @metric = @value in @unit, and what it @says. */
struct wr_proof_line {
	const char *metric, *unit;
	double value;
	char says[WR_SENTENCE];
};

/*
 * One cause.
 *
 * @cause: its id ("sndbuf-limited"), static
 * @share_ratio: share of the steady interval, 0..1
 * @companion: explains another cause rather than taking a share of its own
 * @ceiling_bps: what this cause alone lets through, 0 unknown
 */
struct wr_finding {
	const char *cause;
	enum wr_side side;
	double share_ratio, ceiling_bps;
	bool companion;
	enum wr_confidence confidence;
	struct wr_proof_line proofs[WR_MAX_PROOFS];
	size_t n_proofs;
};

struct wr_refusal {
	char knob[32], why[WR_SENTENCE];
};

/*
 * One thing to do. @action: sysctl, setsockopt, option, program, path or none.
 * @alternative: another way to what the rows before it do. Texts are ready to paste; empty where they don't apply. @value_bytes: 0 where it is no size.
 */
struct wr_advice {
	const char *action;
	enum wr_side side;
	char key[48], value[64], current[64];
	uint64_t value_bytes;
	char why[WR_SENTENCE], apply[WR_SENTENCE], persist[WR_SENTENCE], undo[WR_SENTENCE], cost[WR_SENTENCE];
	bool proved, alternative;
};

struct wr_phase {
	double from_s, to_s;
	const char *cause;
	enum wr_side side;
};

/*
 * @link_late_ns: the emulated link was so late meanwhile that all confidence is a step lower; 0 it was not
 * @next: the one further command that would settle the rest, "" none; for evidence from outside
 */
struct wr_verdict {
	uint64_t link_late_ns;
	struct wr_finding causes[WR_MAX_FINDINGS];
	size_t n_causes;
	struct wr_phase phases[8];
	size_t n_phases;
	char summary[2 * WR_SENTENCE], next[WR_SENTENCE];
	struct wr_refusal refused[WR_MAX_REFUSALS];
	size_t n_refused;
	struct wr_advice advice[WR_MAX_ADVICE];
	size_t n_advice;
};

/* wr_finding_prove - add a line of evidence; silently full after WR_MAX_PROOFS. A figure that isn't finite proves nothing. */
void wr_finding_prove(struct wr_finding *finding, const char *metric, double value, const char *unit,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* wr_verdict_refuse - refuse @knob, once, with a reason. */
void wr_verdict_refuse(struct wr_verdict *verdict, const char *knob, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* wr_verdict_advise - a new zeroed row of advice. Return: NULL when full. */
struct wr_advice *wr_verdict_advise(struct wr_verdict *verdict, const char *action, enum wr_side side);

/* wr_verdict_is - whether the first cause is @cause. */
bool wr_verdict_is(const struct wr_verdict *verdict, const char *cause);

json_t *wr_verdict_to_json(const struct wr_verdict *verdict);

#endif
