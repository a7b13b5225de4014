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
	out->ceiling_bps = buffer->ceiling_bps;
	out->companion = false;
	out->confidence = WR_CONFIDENCE_HIGH;
	wr_finding_prove(out, key, (double)cap, "bytes", "%s%s asked for, cut to %s by %s on %s (%s effective, the kernel doubles it)",
			 wr_size_text(wanted, (double)asked), asked <= cap ? " or more" : "", wr_size_text(limit, (double)cap), key, wr_side_name(out->side),
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

/* Of another's socket what was asked is not known; locked at exactly twice the cap it was that or more. */
static bool is_cut(const struct wr_case *judged, bool locked, uint64_t asked, uint64_t cap, uint64_t eff)
{
	if (cap == WR_UNSET)
		return false;
	if (judged->evidence->outside && locked && eff == 2 * cap)
		return true;
	return asked != WR_UNSET && asked > cap && eff < 2 * asked;
}

/* A socket of UDP that loses because its request was cut. */
static int udp(const struct wr_case *judged, const struct wr_finding *overflow, struct wr_finding *out)
{
	const struct wr_end *end = overflow->side == WR_SIDE_FAR ? &judged->evidence->far : &judged->evidence->near;
	uint64_t eff = end->n_connections ? end->connections[0].rcvbuf_eff_bytes : WR_UNSET;

	if (end->core_rmem_max_bytes == WR_UNSET || eff != 2 * end->core_rmem_max_bytes)
		return 0;
	return capped(out, overflow, "net.core.rmem_max", end->core_rmem_max_bytes, eff / 2, eff);
}

/* "wanted 7168 kiB, got 416 kiB": what was got is twice the cap, of the direction that the line names. */
static bool remark(const struct wr_end *end, enum wr_side side, const struct wr_remark *said, struct wr_finding *out)
{
	const char *key = said->receive ? "net.core.rmem_max" : "net.core.wmem_max";
	char wanted[WR_UNIT_TEXT], got[WR_UNIT_TEXT], limit[WR_UNIT_TEXT];
	uint64_t cap = said->receive ? end->core_rmem_max_bytes : end->core_wmem_max_bytes;

	if (said->wanted_bytes == WR_UNSET || said->got_bytes == WR_UNSET || said->got_bytes >= 2 * said->wanted_bytes)
		return false;
	if (said->got_bytes >= said->wanted_bytes && cap == WR_UNSET)
		return false;
	out->side = side;
	wr_finding_prove(out, key, (double)said->got_bytes / 2, "bytes", "%s wanted, %s got = 2 x %s: %s on %s%s",
			 wr_size_text(wanted, (double)said->wanted_bytes), wr_size_text(got, (double)said->got_bytes),
			 wr_size_text(limit, (double)said->got_bytes / 2), key, wr_side_name(side),
			 cap != WR_UNSET && 2 * cap == said->got_bytes ? ", as sysctl says" : "");
	out->confidence = cap == WR_UNSET || 2 * cap == said->got_bytes ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return true;
}

/* iperf3 says that something was cut and not what: the smaller of the two caps is the likelier one. */
static bool mute_remark(const struct wr_end *end, enum wr_side side, const struct wr_remark *said, struct wr_finding *out)
{
	uint64_t rmem = end->core_rmem_max_bytes, wmem = end->core_wmem_max_bytes;
	const char *key = wmem < rmem ? "net.core.wmem_max" : "net.core.rmem_max";
	char limit[WR_UNIT_TEXT];
	double cap = (double)(wmem < rmem ? wmem : rmem);

	if (!strstr(said->line, "not set correctly") || rmem == WR_UNSET || wmem == WR_UNSET || rmem == wmem)
		return false;
	out->side = side;
	wr_finding_prove(out, key, cap, "bytes", "a request was cut, and %s on %s is the smaller cap: more than %s is not granted", key,
			 wr_side_name(side), wr_size_text(limit, cap));
	out->confidence = WR_CONFIDENCE_MEDIUM;
	return true;
}

static int remarks(const struct wr_evidence *evidence, struct wr_finding *out)
{
	for (int far = 0; far < 2; far++) {
		const struct wr_end *end = far ? &evidence->far : &evidence->near;

		for (size_t i = 0; i < end->n_remarks; i++) {
			if (remark(end, far ? WR_SIDE_FAR : WR_SIDE_NEAR, &end->remarks[i], out) ||
			    mute_remark(end, far ? WR_SIDE_FAR : WR_SIDE_NEAR, &end->remarks[i], out))
				out->share_ratio = 1;
		}
	}
	return out->n_proofs > 0;
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_finding *snd = judged->out ? wr_finding_find(found, "sndbuf-limited") : NULL;
	const struct wr_finding *rcv = judged->in ? wr_finding_find(found, "rcvbuf-limited") : NULL;
	const struct wr_finding *overflow = wr_finding_find(found, "udp-rcvbuf-overflow");
	const struct wr_connection *sender = judged->out, *receiver = judged->in;

	if (judged->evidence->protocol == WR_HOST)
		return remarks(judged->evidence, out);
	if (judged->evidence->protocol == WR_UDP)
		return overflow ? udp(judged, overflow, out) : 0;
	/* At both ends the cut that binds more is the one to say first. */
	if (rcv && snd && rcv->share_ratio > snd->share_ratio)
		snd = NULL;
	if (snd && is_cut(judged, !sender->snd_autotuning, sender->sndbuf_req_bytes, judged->sender->core_wmem_max_bytes,
			  sender->sndbuf_eff_bytes))
		return capped(out, snd, "net.core.wmem_max", judged->sender->core_wmem_max_bytes, sender->sndbuf_req_bytes,
			      sender->sndbuf_eff_bytes);
	if (rcv && is_cut(judged, !receiver->rcv_autotuning, receiver->rcvbuf_req_bytes, judged->receiver->core_rmem_max_bytes,
			  receiver->rcvbuf_eff_bytes))
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
	.protocols = 1U << WR_TCP | 1U << WR_UDP | 1U << WR_HOST,
	.companion = true,
	.eval = eval,
};
