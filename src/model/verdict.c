/* SPDX-License-Identifier: MIT */
/* Verdicts are plain data with fixed room, so rules can't fail for memory; JSON as scripts rely on it. */
#include "model/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *wr_side_name(enum wr_side side)
{
	static const char *const names[] = {"near", "far", "path"};

	return names[side];
}

void wr_finding_prove(struct wr_finding *finding, const char *metric, double value, const char *unit,
		      const char *format, ...)
{
	struct wr_proof_line *proof;
	va_list args;

	if (finding->n_proofs == WR_MAX_PROOFS || !isfinite(value))
		return;
	proof = &finding->proofs[finding->n_proofs++];
	proof->metric = metric;
	proof->value = value;
	proof->unit = unit;
	va_start(args, format);
	vsnprintf(proof->says, sizeof proof->says, format, args);
	va_end(args);
}

void wr_verdict_refuse(struct wr_verdict *verdict, const char *knob, const char *format, ...)
{
	struct wr_refusal *refusal;
	va_list args;

	for (size_t i = 0; i < verdict->n_refused; i++) {
		if (strcmp(verdict->refused[i].knob, knob) == 0)
			return;
	}
	if (verdict->n_refused == WR_MAX_REFUSALS)
		return;
	refusal = &verdict->refused[verdict->n_refused++];
	snprintf(refusal->knob, sizeof refusal->knob, "%s", knob);
	va_start(args, format);
	vsnprintf(refusal->why, sizeof refusal->why, format, args);
	va_end(args);
}

struct wr_advice *wr_verdict_advise(struct wr_verdict *verdict, const char *action, enum wr_side side)
{
	struct wr_advice *advice;

	if (verdict->n_advice == WR_MAX_ADVICE)
		return NULL;
	advice = &verdict->advice[verdict->n_advice++];
	memset(advice, 0, sizeof *advice);
	advice->action = action;
	advice->side = side;
	return advice;
}

bool wr_verdict_is(const struct wr_verdict *verdict, const char *cause)
{
	return verdict->n_causes > 0 && strcmp(verdict->causes[0].cause, cause) == 0;
}

/* Figures keep four decimals: shares and ratios need no more, and the output stays readable. */
static json_t *real_json(double value)
{
	return isfinite(value) ? json_real(round(value * 1e4) / 1e4) : json_null();
}

static json_t *finding_to_json(const struct wr_finding *finding)
{
	static const char *const confidences[] = {"low", "medium", "high"};
	json_t *evidence = json_array();
	json_t *object = json_pack("{s:s,s:s,s:o,s:b,s:s}", "cause", finding->cause, "side",
				   wr_side_name(finding->side), "share_ratio", real_json(finding->share_ratio),
				   "companion", finding->companion, "confidence", confidences[finding->confidence]);

	if (finding->ceiling_bps > 0 && isfinite(finding->ceiling_bps))
		json_object_set_new(object, "ceiling_bps", json_integer(llround(finding->ceiling_bps)));
	for (size_t i = 0; i < finding->n_proofs; i++) {
		const struct wr_proof_line *proof = &finding->proofs[i];

		json_array_append_new(evidence, json_pack("{s:s,s:o,s:s,s:s}", "metric", proof->metric, "value",
							  real_json(proof->value), "unit", proof->unit, "says",
							  proof->says));
	}
	json_object_set_new(object, "evidence", evidence);
	return object;
}

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text[0])
		json_object_set_new(object, key, json_string(text));
}

static json_t *advice_to_json(const struct wr_advice *advice)
{
	json_t *object = json_pack("{s:s,s:s,s:b}", "action", advice->action, "side", wr_side_name(advice->side),
				   "proved", advice->proved);

	if (advice->alternative)
		json_object_set_new(object, "alternative", json_true());
	set_text(object, "key", advice->key);
	set_text(object, "value", advice->value);
	set_text(object, "current", advice->current);
	set_text(object, "why", advice->why);
	set_text(object, "apply", advice->apply);
	set_text(object, "persist", advice->persist);
	set_text(object, "undo", advice->undo);
	set_text(object, "cost", advice->cost);
	if (advice->value_bytes)
		json_object_set_new(object, "value_bytes", json_integer((json_int_t)advice->value_bytes));
	return object;
}

json_t *wr_verdict_to_json(const struct wr_verdict *verdict)
{
	json_t *causes = json_array(), *refused = json_array(), *advice = json_array(), *phases = json_array();

	for (size_t i = 0; i < verdict->n_causes; i++)
		json_array_append_new(causes, finding_to_json(&verdict->causes[i]));
	for (size_t i = 0; i < verdict->n_phases; i++) {
		const struct wr_phase *phase = &verdict->phases[i];

		json_array_append_new(phases, json_pack("{s:o,s:o,s:s,s:s}", "from_s", real_json(phase->from_s), "to_s",
							real_json(phase->to_s), "cause", phase->cause, "side",
							wr_side_name(phase->side)));
	}
	for (size_t i = 0; i < verdict->n_refused; i++)
		json_array_append_new(refused, json_pack("{s:s,s:s}", "knob", verdict->refused[i].knob, "why",
							 verdict->refused[i].why));
	for (size_t i = 0; i < verdict->n_advice; i++)
		json_array_append_new(advice, advice_to_json(&verdict->advice[i]));
	return json_pack("{s:o,s:o,s:s,s:o,s:o}", "causes", causes, "phases", phases, "summary", verdict->summary,
			 "refused", refused, "advice", advice);
}
