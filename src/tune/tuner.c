/* SPDX-License-Identifier: MIT */
/* What every stage of a tuning uses: single runs, counted and bounded, and words about what is going on. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "os/clock.h"
#include "stat/interval.h"
#include "stat/paired.h"
#include "tune/tune.h"

void wr_tuner_say(const struct wr_tuner *tuner, const char *format, ...)
{
	char text[160];
	va_list args;

	if (!tuner->options->say)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	tuner->options->say(tuner->options->context, text);
}

double wr_tuner_elapsed_s(const struct wr_tuner *tuner)
{
	return (double)(wr_clock_ns() - tuner->began_ns) / 1e9;
}

bool wr_tuner_affords(const struct wr_tuner *tuner, double seconds)
{
	const struct wr_tune_options *options = tuner->options;

	if (options->budget_ns != WR_UNSET && wr_tuner_elapsed_s(tuner) + seconds > (double)options->budget_ns / 1e9)
		return false;
	return options->max_bytes == WR_UNSET ||
	       (double)tuner->tuning->bytes + seconds * tuner->rate_bps / 8 <= (double)options->max_bytes;
}

void wr_tuner_account(struct wr_tuner *tuner, uint64_t bytes)
{
	tuner->tuning->bytes += bytes;
	tuner->tuning->probes++;
}

bool wr_tuner_within(struct wr_tuner *tuner, uint64_t bytes)
{
	const struct wr_tune_options *options = tuner->options;
	const char *bound = NULL;

	if (options->budget_ns != WR_UNSET && wr_tuner_elapsed_s(tuner) > (double)options->budget_ns / 1e9)
		bound = "--budget";
	else if (options->max_bytes != WR_UNSET && tuner->tuning->bytes + bytes >= options->max_bytes)
		bound = "--max-bytes";
	if (bound && !tuner->tuning->cut) {
		tuner->tuning->cut = true;
		wr_tuning_leave_out(tuner->tuning, "everything after %s was reached, %.0f s into the run", bound,
				    wr_tuner_elapsed_s(tuner));
	}
	return !bound;
}

/* The bounds hold inside a run too, to an interval. */
static bool within_bounds(void *context, const struct wr_interval *interval, uint64_t bytes)
{
	(void)interval;
	return wr_tuner_within(context, bytes);
}

static uint64_t whole_size(double bytes)
{
	return bytes > 0 ? (uint64_t)bytes : WR_UNSET;
}

static double end_size(const struct wr_end *end, enum wr_metric_id id)
{
	const struct wr_sample *last = end->n_connections ? wr_series_at(&end->connections[0].series, INT64_MAX) : NULL;

	return last ? wr_sample_get(last, id, 0) : 0;
}

int wr_tuner_try(struct wr_tuner *tuner, const struct wr_plan *plan, double seconds, struct wr_trial *trial,
		 struct wr_evidence *evidence, struct weir_err *err)
{
	struct wr_evidence local, *kept = evidence ? evidence : &local;
	/* A run that ends in its ramp says nothing about the rate that it would reach. */
	struct wr_measure_watch watch = {.progress = within_bounds, .context = tuner, .extend_ns = (int64_t)(1e9 * seconds)};
	struct wr_plan timed = *plan;
	struct wr_result result;
	int rc;

	timed.bytes = WR_UNSET;
	timed.duration_ns = (uint64_t)(seconds * 1e9);
	timed.forget = true;
	timed.interval_ns = 250000000;
	if (wr_measure_run(tuner->peer, &timed, &watch, kept, err) < 0)
		return -1;
	rc = wr_measure_result(kept, &result, err);
	if (rc == 0) {
		wr_tuner_account(tuner, result.bytes);
		trial->bps = result.throughput_bps;
		trial->rtt_us = result.rtt_loaded_us;
		trial->sndbuf_eff_bytes = whole_size(end_size(wr_evidence_sender(kept), WR_M_SNDBUF_BYTES));
		trial->rcvbuf_eff_bytes = whole_size(end_size(wr_evidence_receiver(kept), WR_M_RCVBUF_BYTES));
		tuner->stopped |= !kept->complete;
	}
	if (rc < 0 || !evidence)
		wr_evidence_deinit(kept);
	return rc < 0 ? -1 : tuner->stopped;
}

void wr_tuner_knob(struct wr_plan *plan, enum wr_knob knob, enum wr_side side, uint64_t bytes)
{
	if (knob == WR_KNOB_SNDBUF)
		*(side == WR_SIDE_FAR ? &plan->far_sndbuf_bytes : &plan->sndbuf_bytes) = bytes;
	else
		*(side == WR_SIDE_FAR ? &plan->far_rcvbuf_bytes : &plan->rcvbuf_bytes) = bytes;
	plan->force = true;
}

double wr_tuner_overhead_s(const struct wr_tuner *tuner)
{
	return 6 * tuner->rtt_s + 0.02;
}

double wr_tuner_per_stream(const struct wr_tuner *tuner, double bytes)
{
	return bytes / (double)tuner->options->plan.streams;
}

void wr_tuner_baseline(struct wr_tuner *tuner, const double *runs_bps, size_t n)
{
	struct wr_tuning *tuning = tuner->tuning;
	struct wr_stat_interval interval;
	double scratch[WR_MAX_PAIRS];

	memmove(tuning->runs_bps, runs_bps, n * sizeof *runs_bps);
	tuning->n_runs = n;
	tuning->baseline_bps = wr_stat_median(runs_bps, n, scratch);
	/* From six runs on the median has an interval of its own; fewer have at best the t interval of the mean. */
	if (n >= WR_STAT_PAIRED_PROOF_MIN)
		(void)wr_stat_median_interval(&interval, runs_bps, n, 0.95, scratch);
	else
		(void)wr_stat_mean_interval(&interval, runs_bps, n, 0.95);
	tuning->baseline_ci95_bps[0] = fmax(fmin(interval.low, tuning->baseline_bps), 0);
	tuning->baseline_ci95_bps[1] = fmax(interval.high, tuning->baseline_bps);
}

double wr_tuner_window_ratio(const struct wr_evidence *evidence)
{
	double window = end_size(wr_evidence_sender(evidence), WR_M_SND_WND_BYTES);
	double eff = end_size(wr_evidence_receiver(evidence), WR_M_RCVBUF_BYTES);

	/* Half is what an adv_win_scale of 1 or a truesize not yet measured gives. */
	return window > 0 && eff > 0 ? fmin(fmax(window / eff, 0.5), 1) : 0.5;
}
