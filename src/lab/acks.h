/* SPDX-License-Identifier: MIT */
/*
 * An end's policy for acknowledgements, enforced on the link: a pure ACK waits until so many data segments have come,
 * until data goes its way anyhow, or until a timer ends. The end itself acknowledges at once, so that the policy is
 * the link's alone. Pure: packets in, decisions out, on the instants that it is given.
 */
#ifndef WR_LAB_ACKS_H
#define WR_LAB_ACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/err.h"

struct wr_lab_acks;

/*
 * wr_lab_acks_new - a policy for the ACKs of one end
 * @timer_ns: the longest that one waits, counted from the data segment that it acknowledges
 * @count: data segments after which it goes at once, 2 or more
 */
int wr_lab_acks_new(struct wr_lab_acks **out, uint64_t timer_ns, uint32_t count, struct weir_err *err);
struct wr_lab_acks *wr_lab_acks_free(struct wr_lab_acks *acks);

/* wr_lab_acks_data - a packet of @n_segs segments has been given to that end. */
void wr_lab_acks_data(struct wr_lab_acks *acks, const uint8_t *data, size_t n_bytes, uint32_t n_segs, uint64_t now_ns);

/*
 * wr_lab_acks_take - that end has sent a packet
 * @packet: what is kept if it must wait
 * @replaced: out: one that waited and says nothing any more, or NULL
 *
 * Return: whether it waits.
 */
bool wr_lab_acks_take(struct wr_lab_acks *acks, const uint8_t *data, size_t n_bytes, void *packet, void **replaced);

/* wr_lab_acks_due_ns - when the next one has waited long enough. Return: ns; WR_UNSET when none waits. */
uint64_t wr_lab_acks_due_ns(const struct wr_lab_acks *acks);

/* wr_lab_acks_expire - one that has waited long enough at @now_ns. Return: the packet; NULL when there is none. */
void *wr_lab_acks_expire(struct wr_lab_acks *acks, uint64_t now_ns);

#endif
