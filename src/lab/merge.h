/* SPDX-License-Identifier: MIT */
/*
 * Two streams of records into one, in order of their stamps: a record waits here until nothing earlier can come. Within a
 * stream stamps grow, but for a few. Its room is fixed.
 */
#ifndef WR_LAB_MERGE_H
#define WR_LAB_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "weir/err.h"

#define WR_LAB_MERGE_LANES 2

struct wr_lab_merge;

/* wr_lab_merge_new - @n_bytes: room for the records of each stream, a power of two. Return: 0; -1 no memory. */
int wr_lab_merge_new(struct wr_lab_merge **out, size_t n_bytes, struct weir_err *err);

struct wr_lab_merge *wr_lab_merge_free(struct wr_lab_merge *merge);

/*
 * wr_lab_merge_room - where @n_bytes of the next record of @lane are to be written, before wr_lab_merge_add
 * Return: NULL when records must be taken first.
 */
uint8_t *wr_lab_merge_room(struct wr_lab_merge *merge, int lane, size_t n_bytes);

/* wr_lab_merge_add - the record that was written there */
void wr_lab_merge_add(struct wr_lab_merge *merge, int lane, uint64_t stamp, size_t n_bytes);

/*
 * wr_lab_merge_take - the earliest record, if it is not after @until; of equal ones the first lane's, then the older
 * @n_bytes: out
 *
 * Return: valid until the next call; NULL when there is none.
 */
const uint8_t *wr_lab_merge_take(struct wr_lab_merge *merge, uint64_t until, size_t *n_bytes);

#endif
