/* SPDX-License-Identifier: MIT */
/*
 * Flows in a small table, found by addresses and ports. An ACK is held only while it acknowledges fewer new segments
 * than the count; what says something else (duplicates, SACK blocks, window updates, the answer to a FIN) goes at once,
 * as it does in the Microsoft stack. Source: RFC 1122 section 4.2.3.2; TcpDelAckTicks and TcpAckFrequency,
 * https://learn.microsoft.com/troubleshoot/windows-server/networking/registry-entry-control-tcp-acknowledgment-behavior.
 */
#include "lab/acks.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"
#include "lab/packet.h"

#define N_FLOWS 4096
#define N_PROBES 8
#define FLAG_FIN 0x01
#define FLAG_SYN 0x02
#define FLAG_RST 0x04
#define FLAG_ACK 0x10
#define OPTION_SACK 5
#define OPTIONS_AT 20

struct key {
	uint8_t addresses[2][16]; /* of the end whose ACKs these are, of its peer */
	uint8_t ports[2][2];
};

/*
 * @acked: the number that the last ACK let through has acknowledged; @known: whether there was one
 * @n_new: data segments given to the end since then; the first at @first_ns
 * @at_once: the next ACK answers something that must not wait
 */
struct flow {
	struct key key;
	uint32_t acked, n_new;
	uint64_t first_ns, used;
	void *held;
	bool known, at_once;
};

struct wr_lab_acks {
	uint64_t timer_ns, due_ns, n_used;
	uint32_t count;
	struct flow flows[N_FLOWS];
};

/* A TCP packet as this file needs it. */
struct view {
	struct key key;
	const uint8_t *tcp;
	uint32_t ack, n_payload, n_header;
	uint8_t flags;
};

int wr_lab_acks_new(struct wr_lab_acks **out, uint64_t timer_ns, uint32_t count, struct weir_err *err)
{
	struct wr_lab_acks *acks = calloc(1, sizeof *acks);

	if (!acks)
		return wr_err_memory(err, "acknowledgements");
	acks->timer_ns = timer_ns;
	acks->count = count;
	acks->due_ns = WR_UNSET;
	*out = acks;
	return 0;
}

struct wr_lab_acks *wr_lab_acks_free(struct wr_lab_acks *acks)
{
	free(acks);
	return NULL;
}

/* @reverse: the packet goes to the end whose ACKs are looked at, so source and destination change places. */
static bool view_init(struct view *view, const uint8_t *data, size_t n_bytes, bool reverse)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	struct wr_lab_shape shape;
	size_t n_address;

	if (!wr_lab_packet_find_l4(data, n_bytes, &shape) || !shape.tcp)
		return false;
	memset(view, 0, sizeof *view);
	view->tcp = ip + shape.l4_offset_bytes;
	view->flags = view->tcp[13];
	view->n_header = shape.header_bytes - shape.l4_offset_bytes;
	view->n_payload = shape.ip_bytes - shape.header_bytes;
	view->ack = (uint32_t)view->tcp[8] << 24 | (uint32_t)view->tcp[9] << 16 | (uint32_t)view->tcp[10] << 8 | view->tcp[11];
	n_address = shape.ipv6 ? 16 : 4;
	for (int i = 0; i < 2; i++) {
		memcpy(view->key.addresses[i ^ reverse], ip + (shape.ipv6 ? 8 : 12) + (size_t)i * n_address, n_address);
		memcpy(view->key.ports[i ^ reverse], view->tcp + 2 * i, 2);
	}
	return true;
}

static uint32_t hash_of(const struct key *key)
{
	const uint8_t *bytes = (const uint8_t *)key;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < sizeof *key; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

/* The flow, or a place for it: one that is free, or the longest unused without an ACK that waits. NULL: no place. */
static struct flow *flow_of(struct wr_lab_acks *acks, const struct key *key)
{
	uint32_t hash = hash_of(key);
	struct flow *oldest = NULL;

	for (uint32_t i = 0; i < N_PROBES; i++) {
		struct flow *flow = &acks->flows[(hash + i) % N_FLOWS];

		if (flow->used && memcmp(&flow->key, key, sizeof *key) == 0) {
			flow->used = ++acks->n_used;
			return flow;
		}
		if (!flow->held && (!oldest || flow->used < oldest->used))
			oldest = flow;
	}
	if (oldest)
		*oldest = (struct flow){.key = *key, .used = ++acks->n_used};
	return oldest;
}

static void find_due(struct wr_lab_acks *acks)
{
	acks->due_ns = WR_UNSET;
	for (size_t i = 0; i < N_FLOWS; i++) {
		const struct flow *flow = &acks->flows[i];

		if (flow->held && flow->first_ns + acks->timer_ns < acks->due_ns)
			acks->due_ns = flow->first_ns + acks->timer_ns;
	}
}

/* What waits in a flow leaves it. */
static void *unhold(struct wr_lab_acks *acks, struct flow *flow)
{
	void *held = flow->held;

	flow->held = NULL;
	if (held && flow->first_ns + acks->timer_ns <= acks->due_ns)
		find_due(acks);
	return held;
}

void wr_lab_acks_data(struct wr_lab_acks *acks, const uint8_t *data, size_t n_bytes, uint32_t n_segs, uint64_t now_ns)
{
	struct view view;
	struct flow *flow;

	if (!view_init(&view, data, n_bytes, true) || (!view.n_payload && !(view.flags & (FLAG_FIN | FLAG_SYN))))
		return;
	flow = flow_of(acks, &view.key);
	if (!flow)
		return;
	if (view.flags & (FLAG_FIN | FLAG_SYN))
		flow->at_once = true;
	if (!view.n_payload)
		return;
	if (flow->n_new == 0)
		flow->first_ns = now_ns;
	flow->n_new += n_segs;
}

static bool has_sack(const struct view *view)
{
	const uint8_t *at = view->tcp + OPTIONS_AT, *end = view->tcp + view->n_header;

	while (at < end && *at != 0) {
		if (*at == OPTION_SACK)
			return true;
		if (*at == 1) {
			at++;
			continue;
		}
		if (at + 1 >= end || at[1] < 2)
			return false;
		at += at[1];
	}
	return false;
}

static bool must_wait(const struct wr_lab_acks *acks, const struct flow *flow, const struct view *view)
{
	bool pure = view->n_payload == 0 && (view->flags & (FLAG_ACK | FLAG_SYN | FLAG_FIN | FLAG_RST)) == FLAG_ACK;
	bool news = !flow->known || (int32_t)(view->ack - flow->acked) > 0;

	return pure && news && !flow->at_once && flow->n_new > 0 && flow->n_new < acks->count && !has_sack(view);
}

bool wr_lab_acks_take(struct wr_lab_acks *acks, const uint8_t *data, size_t n_bytes, void *packet, void **replaced)
{
	struct view view;
	struct flow *flow;

	*replaced = NULL;
	if (!view_init(&view, data, n_bytes, false) || !(flow = flow_of(acks, &view.key)))
		return false;
	if (must_wait(acks, flow, &view)) {
		*replaced = flow->held;
		flow->held = packet;
		if (flow->first_ns + acks->timer_ns < acks->due_ns)
			acks->due_ns = flow->first_ns + acks->timer_ns;
		return true;
	}
	*replaced = unhold(acks, flow);
	if (view.flags & FLAG_ACK) {
		flow->acked = view.ack;
		flow->known = true;
		flow->n_new = 0;
		flow->at_once = false;
	}
	return false;
}

uint64_t wr_lab_acks_due_ns(const struct wr_lab_acks *acks)
{
	return acks->due_ns;
}

void *wr_lab_acks_expire(struct wr_lab_acks *acks, uint64_t now_ns)
{
	if (acks->due_ns > now_ns)
		return NULL;
	for (size_t i = 0; i < N_FLOWS; i++) {
		struct flow *flow = &acks->flows[i];

		if (!flow->held || flow->first_ns + acks->timer_ns > now_ns)
			continue;
		/* The number that it acknowledges is not looked up again: what follows it is news or a duplicate of it. */
		flow->n_new = 0;
		flow->known = false;
		return unhold(acks, flow);
	}
	find_due(acks);
	return NULL;
}
