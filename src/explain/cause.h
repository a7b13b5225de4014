/* SPDX-License-Identifier: MIT */
/* A cause: one row of wr_causes, one file. It looks at a case and says whether, how much and by what it holds. */
#ifndef WR_EXPLAIN_CAUSE_H
#define WR_EXPLAIN_CAUSE_H

#include "explain/features.h"

/*
 * @name: the id, as in docs/causes/<id>.md
 * @summary: one sentence
 * @source: kernel file, RFC or measurement that the rule rests on
 * @protocols: what it may be said of, a bit (1 << enum wr_protocol) each; 0 is TCP alone
 * @companion: explains another cause; judged after the others and given what they found
 * @eval: fills side, share, confidence, ceiling and evidence of a zeroed finding. @found: what was found before.
 *	Return: 1 it holds; 0 it doesn't. NULL: it needs what only other connections have.
 * @eval_plain: the same for a connection without tcp_info (unix, vsock, mem)
 */
struct wr_cause {
	const char *name, *summary, *source;
	unsigned protocols;
	bool companion;
	int (*eval)(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out);
	int (*eval_plain)(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out);
};

/* Every cause, in the order of judging; NULL-ended. */
extern const struct wr_cause *const wr_causes[];

/* wr_finding_find - the finding of @cause in @verdict, NULL without one. */
const struct wr_finding *wr_finding_find(const struct wr_verdict *verdict, const char *cause);

/* wr_cause_is_loss - whether it is losses that keep the congestion window small. */
bool wr_cause_is_loss(const struct wr_features *f);

/* A receive queue that holds more of its buffer than this is one that its reader does not keep empty. */
#define WR_SLOW_READER_RATIO 0.25

#endif
