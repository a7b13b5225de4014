/* SPDX-License-Identifier: MIT */
/*
 * The steady interval is judged again slice by slice. A slice alone is short evidence: it counts only with a cause that is
 * known and not of low confidence, and a change must last two slices, so that a burst is no phase.
 */
#include "explain/phases.h"

#include <math.h>
#include <string.h>

#include "explain/explain.h"

#define LEAST_SLICE_NS 500000000LL
#define LEAST_SLICE_RTTS 12
#define MAX_SLICES 24
#define LEAST_SLICES 4
/* No ramp lasts so many slices: what was left out as warm-up is then believed sooner. */
#define LONG_WARM_UP 4

struct slice {
	const char *cause;
	enum wr_side side;
};

static bool same(const struct slice *a, const struct slice *b)
{
	return a->side == b->side && strcmp(a->cause, b->cause) == 0;
}

static double received_at(const struct wr_end *end, int64_t t_ns)
{
	double bytes = 0;

	for (size_t i = 0; i < end->n_connections; i++) {
		const struct wr_sample *sample = wr_series_at(&end->connections[i].series, t_ns);

		bytes += sample ? wr_sample_get(sample, WR_M_BYTES, 0) : 0;
	}
	return bytes;
}

/* The first cause of one stretch; @slice keeps what it holds where the stretch says less than @least. */
static int slice_judge(const struct wr_evidence *whole, int64_t from_ns, int64_t to_ns, enum wr_confidence least,
		       struct slice *slice, struct weir_err *err)
{
	const struct wr_end *receiver = wr_evidence_receiver(whole);
	struct wr_evidence part = *whole;
	struct wr_finding first;

	part.ramping = false;
	part.steady_from_ns = from_ns;
	part.steady_to_ns = to_ns;
	part.steady_bps = 8e9 * (received_at(receiver, to_ns) - received_at(receiver, from_ns)) / (double)(to_ns - from_ns);
	if (part.steady_bps <= 0)
		return 0;
	if (wr_explain_first(&part, &first, err) < 0)
		return -1;
	if (first.cause && first.confidence >= least && strcmp(first.cause, "unknown") != 0)
		*slice = (struct slice){first.cause, first.side};
	return 0;
}

/* One slice unlike both its neighbours is a burst. */
static void smooth(struct slice *slices, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool before = i > 0 && same(&slices[i], &slices[i - 1]), after = i + 1 < n && same(&slices[i], &slices[i + 1]);

		/* The ramp is first and short. */
		if (!before && !after && i > 0)
			slices[i] = slices[i - 1];
	}
}

static void append(struct wr_verdict *verdict, double from_s, double to_s, const struct slice *slice)
{
	struct wr_phase *last = verdict->n_phases ? &verdict->phases[verdict->n_phases - 1] : NULL;

	if (last && strcmp(last->cause, slice->cause) == 0 && last->side == slice->side)
		last->to_s = to_s;
	else if (verdict->n_phases < sizeof verdict->phases / sizeof verdict->phases[0])
		verdict->phases[verdict->n_phases++] = (struct wr_phase){from_s, to_s, slice->cause, slice->side};
	else
		last->to_s = to_s; /* more changes than there is room for: the last one stands for the rest */
}

static size_t slice_count(const struct wr_evidence *evidence)
{
	int64_t slice_ns = LEAST_SLICE_NS;

	if (evidence->path_rtt_ns > slice_ns / LEAST_SLICE_RTTS)
		slice_ns = LEAST_SLICE_RTTS * evidence->path_rtt_ns;
	if (evidence->steady_to_ns / slice_ns > MAX_SLICES)
		return MAX_SLICES;
	return evidence->steady_to_ns > 0 ? (size_t)(evidence->steady_to_ns / slice_ns) : 0;
}

/* Too short for slices: the ramp, and then what the whole is judged to be. */
static void two_phases(const struct wr_evidence *evidence, struct wr_verdict *verdict, const struct slice *whole)
{
	double from_s = evidence->ramping ? 0 : (double)evidence->steady_from_ns / 1e9;

	if (from_s > 0)
		append(verdict, 0, from_s, &(struct slice){"ramp-limited", WR_SIDE_PATH});
	append(verdict, from_s, (double)evidence->steady_to_ns / 1e9, whole);
}

/*
 * What was left out as warm-up may be another limit's time, not a ramp: there a slice counts if it is sure,
 * unless that time is long. In the steady
 * interval one that doubts takes what the whole has.
 */
int wr_explain_phases(const struct wr_evidence *evidence, struct wr_verdict *verdict, struct weir_err *err)
{
	const struct wr_finding *first = verdict->n_causes ? &verdict->causes[0] : NULL;
	struct slice slices[MAX_SLICES], whole;
	size_t n = slice_count(evidence);
	int64_t at_ns[MAX_SLICES + 1];

	verdict->n_phases = 0;
	if (!first)
		return 0;
	whole = (struct slice){first->cause, first->side};
	if (n < LEAST_SLICES) {
		two_phases(evidence, verdict, &whole);
		return 0;
	}
	for (size_t i = 0; i <= n; i++)
		at_ns[i] = evidence->steady_to_ns * (int64_t)i / (int64_t)n;
	for (size_t i = 0; i < n; i++) {
		bool sure = evidence->steady_from_ns < at_ns[LONG_WARM_UP > n ? n : LONG_WARM_UP];
		bool warm = at_ns[i] + (at_ns[1] - at_ns[0]) / 2 < evidence->steady_from_ns && !evidence->ramping;

		slices[i] = warm ? (struct slice){"ramp-limited", WR_SIDE_PATH} : whole;
		if (slice_judge(evidence, at_ns[i], at_ns[i + 1], warm && sure ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM,
				&slices[i], err) < 0)
			return -1;
	}
	smooth(slices, n);
	for (size_t i = 0; i < n; i++)
		append(verdict, (double)at_ns[i] / 1e9, (double)at_ns[i + 1] / 1e9, &slices[i]);
	return 0;
}
