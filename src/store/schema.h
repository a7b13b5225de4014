/* SPDX-License-Identifier: MIT */
/*
 * The archive's tables and how they came about: step N makes a file of version N out of one of version N - 1, so a
 * file of any age comes up to date. A step that was in a release is never changed; a change is one more step.
 */
#ifndef WR_STORE_SCHEMA_H
#define WR_STORE_SCHEMA_H

#include <stddef.h>

/* NULL-ended; SQL. */
extern const char *const wr_store_steps[];

/* "weir" in SQLite's header: whose file it is. */
#define WR_STORE_APPLICATION_ID 0x77656972

#endif
