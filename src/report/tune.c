/* SPDX-License-Identifier: MIT */
/* What `weir tune` prints and writes: only what was run. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

static const char *size_or_unset(char *out, uint64_t bytes)
{
	if (bytes == WR_UNSET) {
		snprintf(out, WR_UNIT_TEXT, "unset");
		return out;
	}
	return wr_size_short(out, bytes);
}

static json_t *whole(double value)
{
	return json_integer(isfinite(value) ? llround(value) : 0);
}

static json_t *rounded(double value)
{
	return json_real(round(value * 1e4) / 1e4);
}

static json_t *curve_json(const struct wr_tuning *tuning)
{
	json_t *curve = json_array();

	for (size_t i = 0; i < tuning->n_curve; i++) {
		const struct wr_curve_point *point = &tuning->curve[i];
		json_t *size = point->req_bytes == WR_UNSET ? json_string("unset") : json_integer((json_int_t)point->req_bytes);
		json_t *object = json_pack("{s:s,s:s,s:o,s:o}", "knob", wr_knob_name(point->knob), "side",
					   wr_side_name(point->side), "req_bytes", size, "throughput_bps",
					   whole(point->throughput_bps));

		if (point->eff_bytes != WR_UNSET)
			json_object_set_new(object, "eff_bytes", json_integer((json_int_t)point->eff_bytes));
		if (isfinite(point->rtt_loaded_us))
			json_object_set_new(object, "rtt_loaded_us", whole(point->rtt_loaded_us));
		json_array_append_new(curve, object);
	}
	return curve;
}

static json_t *knee_json(const struct wr_knee *knee)
{
	json_t *object = json_pack("{s:s,s:s,s:s,s:I,s:o,s:o}", "goal", knee->goal == WR_GOAL_RATE ? "rate" : "delay", "knob",
				   wr_knob_name(knee->knob), "side", wr_side_name(knee->side), "req_bytes",
				   (json_int_t)knee->req_bytes, "throughput_bps", whole(knee->throughput_bps),
				   "tolerance_ratio", rounded(knee->tolerance_ratio));

	json_object_set_new(object, "plateau_bps", whole(knee->plateau_bps));
	if (knee->eff_bytes != WR_UNSET && knee->eff_bytes)
		json_object_set_new(object, "eff_bytes", json_integer((json_int_t)knee->eff_bytes));
	if (knee->rtt_loaded_us > 0)
		json_object_set_new(object, "rtt_loaded_us", whole(knee->rtt_loaded_us));
	return object;
}

static json_t *runs_json(const double *runs_bps, size_t n)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(runs, whole(runs_bps[i]));
	return runs;
}

static json_t *proof_json(const struct wr_ab_proof *proof)
{
	json_t *before = json_object(), *after = json_object();
	json_t *object = json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:[o,o],s:o,s:o,s:o,s:b}", "pairs", (json_int_t)proof->pairs,
				   "before", before, "after", after, "before_bps", whole(proof->before_bps),
				   "after_bps", whole(proof->after_bps), "ratio", rounded(proof->ratio), "ci95_ratio",
				   rounded(proof->ci95_ratio[0]), rounded(proof->ci95_ratio[1]), "p", rounded(proof->p),
				   "before_rtt_us", whole(proof->before_rtt_us), "after_rtt_us", whole(proof->after_rtt_us),
				   "holds", proof->holds);

	for (size_t i = 0; i < proof->n_settings; i++) {
		json_object_set_new(before, proof->settings[i].key, json_string(proof->settings[i].before));
		json_object_set_new(after, proof->settings[i].key, json_string(proof->settings[i].after));
	}
	json_object_set_new(object, "min_effect_ratio", rounded(proof->mde_ratio));
	json_object_set_new(object, "before_runs_bps", runs_json(proof->before_runs_bps, proof->pairs));
	json_object_set_new(object, "after_runs_bps", runs_json(proof->after_runs_bps, proof->pairs));
	return object;
}

static json_t *baseline_json(const struct wr_tuning *tuning)
{
	json_t *object = json_pack("{s:o,s:o}", "throughput_bps", whole(tuning->baseline_bps), "runs_bps",
				   runs_json(tuning->runs_bps, tuning->n_runs));

	if (tuning->n_runs >= 2)
		json_object_set_new(object, "ci95_bps", json_pack("[o,o]", whole(tuning->baseline_ci95_bps[0]),
								  whole(tuning->baseline_ci95_bps[1])));
	if (tuning->baseline_rtt_us > 0)
		json_object_set_new(object, "rtt_loaded_us", whole(tuning->baseline_rtt_us));
	if (tuning->baseline_eff_bytes[WR_KNOB_SNDBUF] != WR_UNSET)
		json_object_set_new(object, "sndbuf_eff_bytes",
				    json_integer((json_int_t)tuning->baseline_eff_bytes[WR_KNOB_SNDBUF]));
	if (tuning->baseline_eff_bytes[WR_KNOB_RCVBUF] != WR_UNSET)
		json_object_set_new(object, "rcvbuf_eff_bytes",
				    json_integer((json_int_t)tuning->baseline_eff_bytes[WR_KNOB_RCVBUF]));
	return object;
}

json_t *wr_report_tune_json(const struct wr_report_head *head, const struct wr_tuning *tuning)
{
	json_t *object = wr_report_head_json(head, &tuning->plan), *left_out = json_array(), *path;

	path = json_pack("{s:o,s:o}", "rtt_min_us", whole(tuning->rtt_min_us), "mss_bytes", whole(tuning->mss_bytes));
	if (tuning->capacity_known) {
		json_object_set_new(path, "capacity_bps", whole(tuning->capacity_bps));
		json_object_set_new(path, "bdp_bytes", whole(tuning->bdp_bytes));
	}
	json_object_set_new(object, "path", path);
	json_object_set_new(object, "congestion", json_string(tuning->congestion));
	json_object_set_new(object, "baseline", baseline_json(tuning));
	json_object_set_new(object, "verdict", wr_verdict_to_json(&tuning->verdict));
	json_object_set_new(object, "curve", curve_json(tuning));
	if (tuning->knee.goal != WR_GOAL_NONE && tuning->knee.throughput_bps > 0)
		json_object_set_new(object, "knee", knee_json(&tuning->knee));
	if (tuning->proof.pairs > 0 && tuning->proof.ratio > 0)
		json_object_set_new(object, "proof", proof_json(&tuning->proof));
	for (size_t i = 0; i < tuning->n_left_out; i++)
		json_array_append_new(left_out, json_string(tuning->left_out[i]));
	json_object_set_new(object, "left_out", left_out);
	json_object_set_new(object, "cost", json_pack("{s:I,s:o,s:I,s:o}", "probes", (json_int_t)tuning->probes, "wall_s",
						      rounded(tuning->wall_s), "bytes", (json_int_t)tuning->bytes, "expected_s",
						      rounded(tuning->expected_s)));
	return object;
}

/* -- text -- */

static void print_curve(FILE *out, const struct wr_tuning *tuning, const char *heading)
{
	char size[WR_UNIT_TEXT];
	int column = 10;

	if (!tuning->n_curve)
		return;
	fprintf(out, "%-10s", heading);
	for (size_t i = 0; i < tuning->n_curve; i++) {
		/* "unset" first, then the sizes ascending: they were measured downwards. */
		const struct wr_curve_point *point = &tuning->curve[i == 0 ? 0 : tuning->n_curve - i];
		char cell[64];
		int n = snprintf(cell, sizeof cell, "%s %.*f%s", size_or_unset(size, point->req_bytes),
				 point->throughput_bps < 99.5e6 ? 1 : 0, point->throughput_bps / 1e6,
				 i + 1 < tuning->n_curve ? " | " : "");

		if (column + n > 100) {
			fputs("\n          ", out);
			column = 10;
		}
		fputs(cell, out);
		column += n;
	}
	fputs("  (Mbit/s)\n", out);
}

static void print_knee(FILE *out, const struct wr_tuning *tuning)
{
	const struct wr_knee *knee = &tuning->knee;
	char size[WR_UNIT_TEXT], eff[WR_UNIT_TEXT], rate[WR_UNIT_TEXT], plateau[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT];

	if (knee->goal == WR_GOAL_NONE || knee->throughput_bps <= 0) {
		print_curve(out, tuning, "Curve");
		return;
	}
	fprintf(out, "Knee      %s %s requested on %s (%s effective): %s\n"
		     "          the smallest size within %.0f %% of the plateau, %s",
		wr_knob_option(knee->knob), wr_size_text(size, (double)knee->req_bytes), wr_side_name(knee->side),
		wr_size_text(eff, (double)knee->eff_bytes), wr_rate_text(rate, knee->throughput_bps),
		100 * knee->tolerance_ratio, wr_rate_text(plateau, knee->plateau_bps));
	if (knee->goal == WR_GOAL_DELAY)
		fprintf(out, "; RTT %s under load", wr_time_text(rtt, knee->rtt_loaded_us * 1e3));
	fputc('\n', out);
	print_curve(out, tuning, "");
}

static void print_proof(FILE *out, const struct wr_ab_proof *proof)
{
	char before[WR_UNIT_TEXT], after[WR_UNIT_TEXT], rtt_before[WR_UNIT_TEXT], rtt_after[WR_UNIT_TEXT];

	if (proof->pairs == 0 || proof->ratio <= 0)
		return;
	fprintf(out, "Proof     %s -> %s, x%.2f (95 %% CI %.2f-%.2f, p %.3f, %zu interleaved pairs)%s\n",
		wr_rate_text(before, proof->before_bps), wr_rate_text(after, proof->after_bps), proof->ratio,
		proof->ci95_ratio[0], proof->ci95_ratio[1], proof->p, proof->pairs, proof->holds ? "" : ": not proved");
	fprintf(out, "          RTT under load %s -> %s\n", wr_time_text(rtt_before, proof->before_rtt_us * 1e3),
		wr_time_text(rtt_after, proof->after_rtt_us * 1e3));
	for (size_t i = 0; i < proof->n_settings; i++)
		fprintf(out, "          %s %s %s instead of %s\n", i ? "and " : "with", proof->settings[i].key,
			proof->settings[i].after, proof->settings[i].before);
}

static void print_setting(FILE *out, const struct wr_advice *advice, const char *lead)
{
	fprintf(out, "%-10son %s: %s\n", lead, wr_side_name(advice->side), advice->why);
	fprintf(out, "            %s\n", advice->apply);
	if (advice->persist[0])
		fprintf(out, "            keep it: %s\n", advice->persist);
	if (advice->undo[0])
		fprintf(out, "            undo:    %s\n", advice->undo);
	if (advice->cost[0])
		fprintf(out, "            costs    %s\n", advice->cost);
}

/* The other way, short: its undo and its cost are in the JSON. */
static void print_alternatives(FILE *out, const struct wr_verdict *verdict)
{
	const char *lead = "  or";

	for (size_t i = 0; i < verdict->n_advice; i++) {
		const struct wr_advice *advice = &verdict->advice[i];

		if (!advice->alternative)
			continue;
		if (lead[0])
			fprintf(out, "%-10sinstead, in the programs, before connect() and listen() (switches autotuning off):\n", lead);
		lead = "";
		fprintf(out, "            on %s: %s\n", wr_side_name(advice->side), advice->apply);
	}
}

/* What helps beyond settings stands with the verdict already. */
static void print_advice(FILE *out, const struct wr_tuning *tuning)
{
	const char *lead = "Do this";

	if (tuning->knee.goal == WR_GOAL_DELAY) {
		fputs("Do this   change no buffer for the rate\n", out);
		lead = "Or this";
	}
	for (size_t i = 0; i < tuning->verdict.n_advice; i++) {
		if (!tuning->verdict.advice[i].apply[0] || tuning->verdict.advice[i].alternative)
			continue;
		print_setting(out, &tuning->verdict.advice[i], lead);
		lead = "  and";
	}
	print_alternatives(out, &tuning->verdict);
	if (strcmp(lead, "Do this") != 0)
		return;
	if (tuning->verdict.n_refused == 0 && (tuning->cut || !tuning->complete))
		fputs("Do this   nothing is proved yet: let it run to its end, with room enough (--budget, --max-bytes)\n", out);
	else
		fputs("Do this   change no buffer\n", out);
}

/* The largest size above the knee, if its delay says what more of it costs. */
static void print_not_this(FILE *out, const struct wr_tuning *tuning)
{
	const struct wr_knee *knee = &tuning->knee;
	char size[WR_UNIT_TEXT], knee_size[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], rate[WR_UNIT_TEXT];

	for (size_t i = 0; i < tuning->n_curve && knee->goal == WR_GOAL_RATE && knee->throughput_bps > 0; i++) {
		const struct wr_curve_point *point = &tuning->curve[i];

		if (point->req_bytes == WR_UNSET || (double)point->req_bytes < 1.25 * (double)knee->req_bytes ||
		    point->rtt_loaded_us < 1.1 * knee->rtt_loaded_us)
			continue;
		fprintf(out, "Not this  a larger %s than %s adds only delay: %s gives %s, RTT %s\n", wr_knob_option(knee->knob),
			wr_size_text(knee_size, (double)knee->req_bytes), wr_size_text(size, (double)point->req_bytes),
			wr_rate_text(rate, point->throughput_bps), wr_time_text(rtt, point->rtt_loaded_us * 1e3));
		return;
	}
}

void wr_report_tune_text(FILE *out, const struct wr_tuning *tuning, const char *target)
{
	const char *from = tuning->plan.reverse ? "far" : "near", *to = tuning->plan.reverse ? "near" : "far";
	char text[4][WR_UNIT_TEXT];

	fprintf(out, "weir tune %-39s TCP %s -> %s, %llu stream%s, %s\n", target, from, to,
		(unsigned long long)tuning->plan.streams, tuning->plan.streams == 1 ? "" : "s", tuning->congestion);
	fprintf(out, "Path      RTT %s", wr_time_text(text[0], tuning->rtt_min_us * 1e3));
	if (tuning->capacity_known)
		fprintf(out, ", %s carried, so %s must be in flight (BDP)\n", wr_rate_text(text[1], tuning->capacity_bps),
			wr_size_text(text[2], tuning->bdp_bytes));
	else
		fprintf(out, "; segments of %.0f B; what it could carry was not seen\n", tuning->mss_bytes);
	fprintf(out, "Baseline  %s", wr_rate_text(text[0], tuning->baseline_bps));
	if (tuning->n_runs >= 2)
		fprintf(out, " (%zu runs, 95 %% CI %s to %s)", tuning->n_runs, wr_rate_text(text[1], tuning->baseline_ci95_bps[0]),
			wr_rate_text(text[2], tuning->baseline_ci95_bps[1]));
	if (tuning->baseline_rtt_us > 0)
		fprintf(out, ", RTT %s under load", wr_time_text(text[3], tuning->baseline_rtt_us * 1e3));
	fputc('\n', out);
	wr_report_verdict_text(out, &tuning->verdict);
	print_knee(out, tuning);
	print_proof(out, &tuning->proof);
	print_advice(out, tuning);
	print_not_this(out, tuning);
	for (size_t i = 0; i < tuning->n_left_out; i++)
		fprintf(out, "Left out  %s\n", tuning->left_out[i]);
	fprintf(out, "Took      %s, %zu connections, %s moved%s\n", wr_time_text(text[0], tuning->wall_s * 1e9), tuning->probes,
		wr_size_text(text[1], (double)tuning->bytes), tuning->complete ? "" : "; stopped early");
}
