/* SPDX-License-Identifier: MIT */
/* What to do about a cause, and what not: the table from causes to actions. */
#ifndef WR_EXPLAIN_REMEDY_H
#define WR_EXPLAIN_REMEDY_H

#include "explain/features.h"

/* wr_remedy_refuse - refuse buffers where none would help, and say in words what does. */
void wr_remedy_refuse(struct wr_verdict *verdict);

/* wr_remedy_advise - settings for the first cause of evidence from outside; none of them is proved. */
void wr_remedy_advise(const struct wr_case *judged, struct wr_verdict *verdict);

/* wr_remedy_next - the one further command that would settle most of what is open, into @verdict->next. */
void wr_remedy_next(const struct wr_case *judged, struct wr_verdict *verdict);

#endif
