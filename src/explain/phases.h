/* SPDX-License-Identifier: MIT */
/* A timeline: what limited a transfer at which time, where that changed. */
#ifndef WR_EXPLAIN_PHASES_H
#define WR_EXPLAIN_PHASES_H

#include "model/evidence.h"
#include "model/verdict.h"

/*
 * wr_explain_phases - the ramp, then the steady interval, cut where its first cause changes
 * @verdict: of the whole interval, whose first cause stands for stretches that are too short to be judged
 *
 * Return: 0; -1 out of memory.
 */
int wr_explain_phases(const struct wr_evidence *evidence, struct wr_verdict *verdict, struct weir_err *err);

#endif
