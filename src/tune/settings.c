/* SPDX-License-Identifier: MIT */
/*
 * What the advice would put in force, as the B runs of a proof need it: the limiting end's ceiling from the knee, the
 * other end's from the same arithmetic where it is the next limit, pinned buffers given back to autotuning.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "os/host.h"
#include "tune/tune.h"

/* Margins on what a path needs in flight: below the first a limit is the next one, the second is advised. */
#define ENOUGH_RATIO 1.1
#define HEADROOM_RATIO 1.35

static void limit_text(char *out, const char *current, uint64_t max_bytes)
{
	unsigned long long low = 4096, middle = 16384;

	(void)sscanf(current, "%llu %llu", &low, &middle);
	snprintf(out, WR_NAME_TEXT, "%llu %llu %llu", low, middle, (unsigned long long)max_bytes);
}

static void raise_limit(struct wr_tuner *tuner, struct wr_settings *after, enum wr_knob knob, enum wr_side side,
			const char *current, double needed_bytes)
{
	uint64_t bytes = wr_tune_round((uint64_t)(HEADROOM_RATIO * needed_bytes));
	bool send = knob == WR_KNOB_SNDBUF;

	limit_text(send ? after->limits.wmem[side] : after->limits.rmem[side], current, bytes);
	snprintf(send ? after->before.wmem[side] : after->before.rmem[side], WR_NAME_TEXT, "%s", current);
	/* Where no sysctl may be set the same size stands in; the kernel doubles what it is asked for. */
	if (after->sysctls)
		return;
	wr_tuner_knob(&after->plan, knob, side, bytes / 2);
	wr_tuner_note_cap(tuner, knob, side, bytes / 2);
	after->out_of_reach |= bytes / 2 > wr_tuner_most_bytes(tuner, knob, side);
}

void wr_tune_settings(struct wr_tuner *tuner, struct wr_settings *after, double window_per_eff)
{
	const struct wr_knee *knee = &tuner->tuning->knee;
	const struct wr_end *ends[2] = {&tuner->near_host, &tuner->peer->host};
	const struct wr_end *sender = ends[tuner->sender_side], *receiver = ends[tuner->receiver_side];
	double bdp = wr_tuner_per_stream(tuner, tuner->tuning->bdp_bytes);
	double wmem = 2 * bdp / WR_IN_FLIGHT_PER_REQUEST, rmem = bdp / window_per_eff;

	memset(after, 0, sizeof *after);
	after->plan = tuner->options->plan;
	after->sysctls = tuner->peer->lab && wr_sysctl_may_write("net.ipv4.tcp_wmem");
	wr_tuner_knob(&after->plan, WR_KNOB_SNDBUF, tuner->sender_side, WR_UNSET);
	wr_tuner_knob(&after->plan, WR_KNOB_RCVBUF, tuner->receiver_side, WR_UNSET);
	if (knee->knob == WR_KNOB_SNDBUF)
		wmem = fmax(wmem, 2 * (double)knee->req_bytes);
	else
		rmem = fmax(rmem, 2 * (double)knee->req_bytes);
	if ((double)sender->tcp_wmem_max_bytes < ENOUGH_RATIO * wmem)
		raise_limit(tuner, after, WR_KNOB_SNDBUF, tuner->sender_side, sender->tcp_wmem, wmem);
	if ((double)receiver->tcp_rmem_max_bytes < ENOUGH_RATIO * rmem)
		raise_limit(tuner, after, WR_KNOB_RCVBUF, tuner->receiver_side, receiver->tcp_rmem, rmem);
}

static void add_buffer(struct wr_tuner *tuner, const struct wr_settings *after, enum wr_knob knob, enum wr_side side)
{
	bool far = side == WR_SIDE_FAR, send = knob == WR_KNOB_SNDBUF;
	const struct wr_plan *before = &tuner->options->plan;
	uint64_t was = send ? wr_plan_sndbuf(before, far) : wr_plan_rcvbuf(before, far);
	uint64_t is = send ? wr_plan_sndbuf(&after->plan, far) : wr_plan_rcvbuf(&after->plan, far);
	char texts[2][24] = {"unset", "unset"};

	if (was == is)
		return;
	if (was != WR_UNSET)
		snprintf(texts[0], sizeof texts[0], "%llu", (unsigned long long)was);
	if (is != WR_UNSET)
		snprintf(texts[1], sizeof texts[1], "%llu", (unsigned long long)is);
	wr_proof_setting_add(&tuner->tuning->proof, side, wr_knob_option(knob), texts[0], texts[1]);
}

void wr_tune_list_settings(struct wr_tuner *tuner, const struct wr_settings *after)
{
	for (int side = 0; side < 2 && after->sysctls; side++) {
		if (after->limits.wmem[side][0])
			wr_proof_setting_add(&tuner->tuning->proof, side, "net.ipv4.tcp_wmem", after->before.wmem[side],
					     after->limits.wmem[side]);
		if (after->limits.rmem[side][0])
			wr_proof_setting_add(&tuner->tuning->proof, side, "net.ipv4.tcp_rmem", after->before.rmem[side],
					     after->limits.rmem[side]);
	}
	add_buffer(tuner, after, WR_KNOB_SNDBUF, tuner->sender_side);
	add_buffer(tuner, after, WR_KNOB_RCVBUF, tuner->receiver_side);
}
