/* SPDX-License-Identifier: MIT */
/* Confirmation by intervention: the experiment that would refute a verdict's first cause, and its outcome as evidence. */
#ifndef WR_TUNE_CONFIRM_H
#define WR_TUNE_CONFIRM_H

#include "measure/confirm.h"
#include "model/verdict.h"

/*
 * wr_confirm - try to refute the first cause of @verdict
 * @plan: of the transfer that @evidence is of
 * @say: told what is tried; may be NULL
 *
 * A cause that holds is of high confidence afterwards, one that does not of low; a buffer that brought nothing makes room for
 * path-limited. Causes without an experiment are left alone. Return: 0; 1 stopped by the user; -1.
 */
int wr_confirm(struct wr_peer *peer, const struct wr_plan *plan, const struct wr_evidence *evidence,
	       struct wr_verdict *verdict, void (*say)(void *context, const char *text), void *context, struct weir_err *err);

/* wr_confirm_seconds - what it takes at most about; 0 when the first cause has no experiment. */
double wr_confirm_seconds(const struct wr_peer *peer, const struct wr_verdict *verdict);

#endif
