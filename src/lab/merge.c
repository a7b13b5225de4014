/* SPDX-License-Identifier: MIT */
/*
 * Each stream has a ring of bytes, used up in the order of arrival, and a ring of entries in the order of stamps. A record
 * that leaves before an older one is only marked, and its bytes come free with that one's.
 */
#include "lab/merge.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"

/* Before each record in the ring. @n_bytes: of the record alone */
struct head {
	uint32_t n_bytes, taken;
};

struct entry {
	uint64_t stamp;
	uint64_t at; /* of the head, counted from the first byte that ever was in the ring */
};

struct lane {
	uint8_t *bytes;
	struct entry *entries;
	uint64_t begin, end;		 /* of the bytes in use */
	uint64_t first_entry, end_entry; /* likewise */
};

struct wr_lab_merge {
	size_t n_bytes, n_entries;
	struct lane lanes[WR_LAB_MERGE_LANES];
};

/* No packet is smaller than this with its block around it, so bytes and entries end together. */
#define LEAST_RECORD_BYTES 64

int wr_lab_merge_new(struct wr_lab_merge **out, size_t n_bytes, struct weir_err *err)
{
	struct wr_lab_merge *merge = calloc(1, sizeof *merge);

	if (!merge)
		return wr_err_memory(err, "merge");
	merge->n_bytes = n_bytes;
	merge->n_entries = n_bytes / LEAST_RECORD_BYTES;
	for (int i = 0; i < WR_LAB_MERGE_LANES; i++) {
		merge->lanes[i].bytes = malloc(n_bytes);
		merge->lanes[i].entries = calloc(merge->n_entries, sizeof *merge->lanes[i].entries);
		if (!merge->lanes[i].bytes || !merge->lanes[i].entries) {
			wr_lab_merge_free(merge);
			return wr_err_memory(err, "merge");
		}
	}
	*out = merge;
	return 0;
}

struct wr_lab_merge *wr_lab_merge_free(struct wr_lab_merge *merge)
{
	for (int i = 0; merge && i < WR_LAB_MERGE_LANES; i++) {
		free(merge->lanes[i].bytes);
		free(merge->lanes[i].entries);
	}
	free(merge);
	return NULL;
}

static struct head *head_at(const struct wr_lab_merge *merge, const struct lane *lane, uint64_t at)
{
	return (struct head *)(void *)(lane->bytes + (at & (merge->n_bytes - 1)));
}

static struct entry *entry_at(const struct wr_lab_merge *merge, const struct lane *lane, uint64_t i)
{
	return &lane->entries[i & (merge->n_entries - 1)];
}

/* What a record takes: its head before it, and what keeps the next one's aligned behind it. */
static uint64_t with_head(size_t n_bytes)
{
	return (sizeof(struct head) + n_bytes + sizeof(struct head) - 1) / sizeof(struct head) * sizeof(struct head);
}

static void reclaim(const struct wr_lab_merge *merge, struct lane *lane)
{
	while (lane->begin < lane->end && head_at(merge, lane, lane->begin)->taken)
		lane->begin += with_head(head_at(merge, lane, lane->begin)->n_bytes);
}

/* A record lies in one piece: what is left before the ring's end is skipped when it is too short. */
uint8_t *wr_lab_merge_room(struct wr_lab_merge *merge, int which, size_t n_bytes)
{
	struct lane *lane = &merge->lanes[which];
	uint64_t need = with_head(n_bytes), to_end = merge->n_bytes - (lane->end & (merge->n_bytes - 1));
	uint64_t skip = need > to_end ? to_end : 0;

	reclaim(merge, lane);
	if (lane->end + skip + need - lane->begin > merge->n_bytes || lane->end_entry - lane->first_entry == merge->n_entries)
		return NULL;
	if (skip)
		*head_at(merge, lane, lane->end) = (struct head){(uint32_t)(skip - sizeof(struct head)), true};
	lane->end += skip;
	return (uint8_t *)(head_at(merge, lane, lane->end) + 1);
}

void wr_lab_merge_add(struct wr_lab_merge *merge, int which, uint64_t stamp, size_t n_bytes)
{
	struct lane *lane = &merge->lanes[which];
	uint64_t i = lane->end_entry++;

	for (; i > lane->first_entry && entry_at(merge, lane, i - 1)->stamp > stamp; i--)
		*entry_at(merge, lane, i) = *entry_at(merge, lane, i - 1);
	*entry_at(merge, lane, i) = (struct entry){stamp, lane->end};
	*head_at(merge, lane, lane->end) = (struct head){(uint32_t)n_bytes, false};
	lane->end += with_head(n_bytes);
}

const uint8_t *wr_lab_merge_take(struct wr_lab_merge *merge, uint64_t until, size_t *n_bytes)
{
	struct lane *earliest = NULL;
	struct head *head;

	for (int i = 0; i < WR_LAB_MERGE_LANES; i++) {
		struct lane *lane = &merge->lanes[i];

		if (lane->first_entry == lane->end_entry || entry_at(merge, lane, lane->first_entry)->stamp > until)
			continue;
		until = entry_at(merge, lane, lane->first_entry)->stamp;
		if (!earliest || until < entry_at(merge, earliest, earliest->first_entry)->stamp)
			earliest = lane;
	}
	if (!earliest)
		return NULL;
	head = head_at(merge, earliest, entry_at(merge, earliest, earliest->first_entry++)->at);
	head->taken = true;
	*n_bytes = head->n_bytes;
	return (const uint8_t *)(head + 1);
}
