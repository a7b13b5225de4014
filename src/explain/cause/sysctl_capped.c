/* SPDX-License-Identifier: MIT */
/*
 * sysctl-capped: an explicit request was cut by net.core.[rw]mem_max, which is then the first thing to say; or
 * autotuning stands at tcp_[rw]mem[2], which accompanies the buffer's own verdict.
 */
#include <string.h>

#include "base/units.h"
#include "explain/cause.h"

#define AT_CEILING_RATIO 0.9

static int capped(struct wr_finding *out, const struct wr_finding *buffer, const char *key, uint64_t cap,
		  uint64_t asked, uint64_t eff)
{
	char wanted[WR_UNIT_TEXT], got[WR_UNIT_TEXT], limit[WR_UNIT_TEXT];

	out->side = buffer->side;
	out->share_ratio = buffer->share_ratio;
	out->companion = false;
	out->confidence = WR_CONFIDENCE_HIGH;
	wr_finding_prove(out, key, (double)cap, "bytes", "%s asked for, cut to %s by %s on %s (%s effective, the kernel doubles it)",
			 wr_size_text(wanted, (double)asked), wr_size_text(limit, (double)cap), key, wr_side_name(out->side),
			 wr_size_text(got, (double)eff));
	return 1;
}

static int at_ceiling(struct wr_finding *out, const struct wr_finding *buffer, const char *key, double ceiling)
{
	char limit[WR_UNIT_TEXT];

	out->side = buffer->side;
	out->share_ratio = buffer->share_ratio;
	out->companion = true;
	out->confidence = WR_CONFIDENCE_HIGH;
	wr_finding_prove(out, key, ceiling, "bytes", "autotuning may not pass %s[2] = %s on %s", key,
			 wr_size_text(limit, ceiling), wr_side_name(out->side));
	return 1;
}

static bool is_cut(uint64_t asked, uint64_t cap, uint64_t eff)
{
	return asked != WR_UNSET && cap != WR_UNSET && asked > cap && eff < 2 * asked;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_finding *snd = wr_finding_find(found, "sndbuf-limited");
	const struct wr_finding *rcv = wr_finding_find(found, "rcvbuf-limited");
	const struct wr_connection *sender = &judged->sender->connections[0], *receiver = &judged->receiver->connections[0];

	if (snd && is_cut(sender->sndbuf_req_bytes, judged->sender->core_wmem_max_bytes, sender->sndbuf_eff_bytes))
		return capped(out, snd, "net.core.wmem_max", judged->sender->core_wmem_max_bytes, sender->sndbuf_req_bytes,
			      sender->sndbuf_eff_bytes);
	if (rcv && is_cut(receiver->rcvbuf_req_bytes, judged->receiver->core_rmem_max_bytes, receiver->rcvbuf_eff_bytes))
		return capped(out, rcv, "net.core.rmem_max", judged->receiver->core_rmem_max_bytes,
			      receiver->rcvbuf_req_bytes, receiver->rcvbuf_eff_bytes);
	if (snd && sender->snd_autotuning && judged->sender->tcp_wmem_max_bytes != WR_UNSET &&
	    judged->features.sndbuf_eff_bytes >= AT_CEILING_RATIO * (double)judged->sender->tcp_wmem_max_bytes)
		return at_ceiling(out, snd, "net.ipv4.tcp_wmem", (double)judged->sender->tcp_wmem_max_bytes);
	if (rcv && receiver->rcv_autotuning && judged->receiver->tcp_rmem_max_bytes != WR_UNSET &&
	    judged->features.rcvbuf_eff_bytes >= AT_CEILING_RATIO * (double)judged->receiver->tcp_rmem_max_bytes)
		return at_ceiling(out, rcv, "net.ipv4.tcp_rmem", (double)judged->receiver->tcp_rmem_max_bytes);
	return 0;
}

const struct wr_cause wr_cause_sysctl_capped = {
	.name = "sysctl-capped",
	.summary = "A sysctl keeps a buffer smaller than asked for or needed.",
	.source = "net/core/sock.c sk_setsockopt; net/ipv4/tcp_input.c tcp_sndbuf_expand",
	.companion = true,
	.eval = eval,
};
