/* SPDX-License-Identifier: MIT */
/* What kind of host this is, for whoever compares results: a few milliseconds of reading, never during a transfer. */
#ifndef WR_OS_FACTS_H
#define WR_OS_FACTS_H

#include "model/facts.h"

/* wr_facts_gather - fill @facts; what can't be read stays unknown. Needs no privilege. */
void wr_facts_gather(struct wr_facts *facts);

#endif
