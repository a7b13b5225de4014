/* SPDX-License-Identifier: MIT */
/* Names and notes of a tuning; its figures are filled by tune and read by report. */
#include "model/tuning.h"

#include <stdarg.h>
#include <stdio.h>

const char *wr_knob_name(enum wr_knob knob)
{
	return knob == WR_KNOB_SNDBUF ? "sndbuf" : "rcvbuf";
}

const char *wr_knob_option(enum wr_knob knob)
{
	return knob == WR_KNOB_SNDBUF ? "SO_SNDBUF" : "SO_RCVBUF";
}

void wr_tuning_leave_out(struct wr_tuning *tuning, const char *format, ...)
{
	va_list args;

	if (tuning->n_left_out == WR_MAX_LEFT_OUT)
		return;
	va_start(args, format);
	vsnprintf(tuning->left_out[tuning->n_left_out++], WR_SENTENCE, format, args);
	va_end(args);
}

void wr_proof_setting_add(struct wr_ab_proof *proof, enum wr_side side, const char *name, const char *before,
			  const char *after)
{
	struct wr_proof_setting *setting;

	if (proof->n_settings == WR_MAX_PROOF_SETTINGS)
		return;
	setting = &proof->settings[proof->n_settings++];
	snprintf(setting->key, sizeof setting->key, "%s %s", wr_side_name(side), name);
	snprintf(setting->before, sizeof setting->before, "%s", before);
	snprintf(setting->after, sizeof setting->after, "%s", after);
}
