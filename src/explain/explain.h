/* SPDX-License-Identifier: MIT */
/* From judged evidence to a verdict: the engine that runs the table of causes. Pure. */
#ifndef WR_EXPLAIN_EXPLAIN_H
#define WR_EXPLAIN_EXPLAIN_H

#include "explain/features.h"

/*
 * wr_explain - what limits the transfer of @evidence
 * @evidence: judged (its steady interval is set)
 * @verdict: out: causes by share, companions after them, refusals; never advice, which needs proof
 *
 * Return: 0; -1 out of memory.
 */
int wr_explain(const struct wr_evidence *evidence, struct wr_verdict *verdict, struct weir_err *err);

/* wr_explain_nothing - the verdict where there is no evidence at all: unknown. */
void wr_explain_nothing(struct wr_verdict *verdict);

/*
 * wr_explain_first - the first cause of @evidence alone, as for a stretch of a run
 * @first: its cause is NULL when there is none
 *
 * Return: 0; -1 out of memory.
 */
int wr_explain_first(const struct wr_evidence *evidence, struct wr_finding *first, struct weir_err *err);

/*
 * wr_explain_noise - put "noisy" first when repeats differ too much to be ranked; after loss, which explains that
 * @runs_bps: @n_runs rates of the same setting on fresh connections
 *
 * Return: whether it was noisy (coefficient of variation above 20 %).
 */
bool wr_explain_noise(struct wr_verdict *verdict, const double *runs_bps, size_t n_runs);

/*
 * wr_explain_full_path - larger buffers were tried and brought nothing: put path-limited first
 * @before_bps, @after_bps: the rates with the buffer as it was and on the curve's plateau
 */
void wr_explain_full_path(struct wr_verdict *verdict, double before_bps, double after_bps);

/* wr_explain_buffer_helps - whether the first cause is one that a larger buffer cures, with confidence. */
bool wr_explain_buffer_helps(const struct wr_verdict *verdict);

#endif
