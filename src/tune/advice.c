/* SPDX-License-Identifier: MIT */
/*
 * Advice in words that can be pasted: what to set where, how to keep it, how to undo it, what it costs. Rows say
 * whether the proof was of the setting itself or of the same size set by setsockopt.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "tune/tune.h"

static uint64_t last_number(const char *text)
{
	const char *last = strrchr(text, ' ');

	return strtoull(last ? last + 1 : text, NULL, 10);
}

static void delay_words(const struct wr_tuner *tuner, char *text, size_t n_text)
{
	const struct wr_ab_proof *proof = &tuner->tuning->proof;
	char before[WR_UNIT_TEXT], after[WR_UNIT_TEXT];

	snprintf(text, n_text, "RTT under load %s -> %s", wr_time_text(before, proof->before_rtt_us * 1e3),
		 wr_time_text(after, proof->after_rtt_us * 1e3));
}

static void advise_sysctl(struct wr_tuner *tuner, const struct wr_settings *after, enum wr_side side, bool wmem)
{
	const char *value = wmem ? after->limits.wmem[side] : after->limits.rmem[side];
	const char *key = wmem ? "net.ipv4.tcp_wmem" : "net.ipv4.tcp_rmem", *current = wmem ? after->before.wmem[side] : after->before.rmem[side];
	struct wr_advice *advice = value[0] ? wr_verdict_advise(&tuner->tuning->verdict, "sysctl", side) : NULL;
	char size[WR_UNIT_TEXT], delay[80];

	if (!advice)
		return;
	delay_words(tuner, delay, sizeof delay);
	snprintf(advice->key, sizeof advice->key, "%s", key);
	snprintf(advice->value, sizeof advice->value, "%s", value);
	snprintf(advice->current, sizeof advice->current, "%s", current);
	advice->value_bytes = last_number(value);
	advice->proved = tuner->tuning->proof.holds && after->sysctls;
	snprintf(advice->why, sizeof advice->why, "lets the %s buffer of every connection grow to %s; autotuning stays on%s",
		 wmem ? "send" : "receive", wr_size_text(size, (double)advice->value_bytes),
		 after->sysctls ? "" : " (proved with the same size, set by setsockopt)");
	snprintf(advice->apply, sizeof advice->apply, "sysctl -w %s=\"%s\"", key, value);
	snprintf(advice->persist, sizeof advice->persist, "echo '%s = %s' > /etc/sysctl.d/90-weir-%s.conf", key, value,
		 strrchr(key, '.') + 1);
	snprintf(advice->undo, sizeof advice->undo, "rm -f /etc/sysctl.d/90-weir-%s.conf; sysctl -w %s=\"%s\"",
		 strrchr(key, '.') + 1, key, current);
	snprintf(advice->cost, sizeof advice->cost, "up to %s of kernel memory a connection; %s", size, delay);
}

static uint64_t core_max(const struct wr_tuner *tuner, enum wr_side side, enum wr_knob knob)
{
	const struct wr_end *end = side == WR_SIDE_FAR ? &tuner->peer->host : &tuner->near_host;

	return knob == WR_KNOB_SNDBUF ? end->core_wmem_max_bytes : end->core_rmem_max_bytes;
}

/* What a size set by a program needs of net.core first; nothing where it is allowed already. */
static void advise_core(struct wr_tuner *tuner, enum wr_side side, enum wr_knob knob, uint64_t bytes)
{
	const char *name = knob == WR_KNOB_SNDBUF ? "wmem_max" : "rmem_max";
	uint64_t cap_bytes = core_max(tuner, side, knob);
	struct wr_advice *advice = cap_bytes < bytes ? wr_verdict_advise(&tuner->tuning->verdict, "sysctl", side) : NULL;

	if (!advice)
		return;
	snprintf(advice->key, sizeof advice->key, "net.core.%s", name);
	snprintf(advice->value, sizeof advice->value, "%llu", (unsigned long long)bytes);
	snprintf(advice->current, sizeof advice->current, "%llu", (unsigned long long)cap_bytes);
	advice->value_bytes = bytes;
	advice->alternative = true;
	snprintf(advice->why, sizeof advice->why, "only for setsockopt: lets programs ask for such a %s", wr_knob_option(knob));
	snprintf(advice->apply, sizeof advice->apply, "sysctl -w %s=%s", advice->key, advice->value);
	snprintf(advice->persist, sizeof advice->persist, "echo '%s = %s' > /etc/sysctl.d/90-weir-%s.conf", advice->key,
		 advice->value, name);
	snprintf(advice->undo, sizeof advice->undo, "rm -f /etc/sysctl.d/90-weir-%s.conf; sysctl -w %s=%s", name, advice->key,
		 advice->current);
}

/* A size for a program that sets its buffers itself. */
static struct wr_advice *advise_setsockopt(struct wr_tuner *tuner, enum wr_side side, enum wr_knob knob, uint64_t bytes,
					   bool proved)
{
	struct wr_advice *advice = wr_verdict_advise(&tuner->tuning->verdict, "setsockopt", side);
	char size[WR_UNIT_TEXT];

	if (!advice)
		return NULL;
	snprintf(advice->key, sizeof advice->key, "%s", wr_knob_option(knob));
	snprintf(advice->value, sizeof advice->value, "%llu", (unsigned long long)bytes);
	advice->value_bytes = bytes;
	advice->proved = proved;
	snprintf(advice->apply, sizeof advice->apply, "setsockopt(fd, SOL_SOCKET, %s, &(int){%llu}, sizeof(int));",
		 wr_knob_option(knob), (unsigned long long)bytes);
	snprintf(advice->undo, sizeof advice->undo, "leave %s unset", wr_knob_option(knob));
	snprintf(advice->cost, sizeof advice->cost, "up to %s of kernel memory a connection; autotuning is off",
		 wr_size_text(size, 2.0 * (double)bytes));
	return advice;
}

/*
 * The other way to the same sizes, for every limit that the sysctls raise: half a way would leave the next limit.
 */
static void advise_instead(struct wr_tuner *tuner, const struct wr_settings *after, enum wr_side side, enum wr_knob knob)
{
	const char *value = knob == WR_KNOB_SNDBUF ? after->limits.wmem[side] : after->limits.rmem[side];
	struct wr_advice *advice;

	if (!value[0])
		return;
	advise_core(tuner, side, knob, last_number(value) / 2);
	advice = advise_setsockopt(tuner, side, knob, last_number(value) / 2, tuner->tuning->proof.holds && !after->sysctls);
	if (!advice)
		return;
	advice->alternative = true;
	snprintf(advice->why, sizeof advice->why, "instead of the sysctls, in the program that %s, before %s%s",
		 knob == WR_KNOB_SNDBUF ? "sends" : "receives",
		 knob == WR_KNOB_SNDBUF ? "connect()" : "listen()", advice->proved ? "" : " (the pairs proved the sysctls)");
}

static void advise_unset(struct wr_tuner *tuner, enum wr_side side, enum wr_knob knob, uint64_t pinned_bytes)
{
	struct wr_advice *advice = wr_verdict_advise(&tuner->tuning->verdict, "option", side);
	char size[WR_UNIT_TEXT];

	if (!advice)
		return;
	snprintf(advice->key, sizeof advice->key, "%s", wr_knob_option(knob));
	snprintf(advice->value, sizeof advice->value, "unset");
	snprintf(advice->current, sizeof advice->current, "%llu", (unsigned long long)pinned_bytes);
	advice->proved = tuner->tuning->proof.holds;
	snprintf(advice->why, sizeof advice->why, "don't set %s to %s: unset, the kernel sizes it as the path needs",
		 wr_knob_option(knob), wr_size_text(size, (double)pinned_bytes));
	snprintf(advice->apply, sizeof advice->apply, "remove the setting of %s from the program or its configuration",
		 wr_knob_option(knob));
	snprintf(advice->undo, sizeof advice->undo, "set it to %llu again", (unsigned long long)pinned_bytes);
}

void wr_tune_advise_rate(struct wr_tuner *tuner, const struct wr_settings *after)
{
	const struct wr_plan *plan = &tuner->options->plan;
	const struct wr_knee *knee = &tuner->tuning->knee;
	uint64_t sndbuf = wr_plan_sndbuf(plan, tuner->sender_side == WR_SIDE_FAR);
	uint64_t rcvbuf = wr_plan_rcvbuf(plan, tuner->receiver_side == WR_SIDE_FAR);
	enum wr_side order[2] = {knee->side, knee->side == WR_SIDE_NEAR ? WR_SIDE_FAR : WR_SIDE_NEAR};

	if (sndbuf != WR_UNSET)
		advise_unset(tuner, tuner->sender_side, WR_KNOB_SNDBUF, sndbuf);
	if (rcvbuf != WR_UNSET)
		advise_unset(tuner, tuner->receiver_side, WR_KNOB_RCVBUF, rcvbuf);
	for (size_t i = 0; i < 2; i++)
		advise_sysctl(tuner, after, order[i], order[i] == tuner->sender_side);
	for (size_t i = 0; i < 2; i++)
		advise_instead(tuner, after, order[i], order[i] == tuner->sender_side ? WR_KNOB_SNDBUF : WR_KNOB_RCVBUF);
}

void wr_tune_advise_delay(struct wr_tuner *tuner)
{
	const struct wr_knee *knee = &tuner->tuning->knee;
	struct wr_advice *advice = advise_setsockopt(tuner, knee->side, knee->knob, knee->req_bytes, tuner->tuning->proof.holds);
	char delay[80], size[WR_UNIT_TEXT];

	if (!advice)
		return;
	delay_words(tuner, delay, sizeof delay);
	snprintf(advice->why, sizeof advice->why, "only if delay matters: %s is the smallest that keeps the rate; %s",
		 wr_size_text(size, (double)knee->req_bytes), delay);
	snprintf(advice->cost, sizeof advice->cost,
		 "autotuning is off for that socket: on a longer or faster path this size would be the limit");
}

/* Up to a quarter of the power of two below, a MiB at most, so that people can read the number. */
uint64_t wr_tune_round(uint64_t bytes)
{
	uint64_t step = 1024;

	while (step < 1U << 20 && step * 8 <= bytes)
		step *= 2;
	return (bytes + step - 1) / step * step;
}
