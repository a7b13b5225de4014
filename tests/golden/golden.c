/* SPDX-License-Identifier: MIT */
/* Shares are rounded to a tenth: a rule that is tuned finely moves them, and only what it decides is held here. */
#include "golden.h"

#include <jansson.h>

int golden_load(struct wr_evidence *evidence, const char *path)
{
	json_error_t problem;
	struct weir_err err = {0};
	json_t *object = json_load_file(path, 0, &problem);
	int rc = -1;

	if (!object)
		fprintf(stderr, "%s:%d: %s\n", path, problem.line, problem.text);
	else if (wr_evidence_from_json(evidence, object, &err) < 0)
		fprintf(stderr, "%s: %s\n", path, err.text);
	else
		rc = 0;
	json_decref(object);
	return rc;
}

void golden_print(FILE *out, const struct wr_verdict *verdict)
{
	static const char *const confidences[] = {"low", "medium", "high"};

	for (size_t i = 0; i < verdict->n_causes; i++) {
		const struct wr_finding *finding = &verdict->causes[i];

		fprintf(out, "%s on %s, share %.1f, confidence %s%s\n", finding->cause, wr_side_name(finding->side),
			finding->share_ratio, confidences[finding->confidence], finding->companion ? ", companion" : "");
	}
	for (size_t i = 0; i < verdict->n_refused; i++)
		fprintf(out, "refused %s\n", verdict->refused[i].knob);
	for (size_t i = 0; i < verdict->n_advice; i++)
		fprintf(out, "advice %s on %s\n", verdict->advice[i].action, wr_side_name(verdict->advice[i].side));
}
