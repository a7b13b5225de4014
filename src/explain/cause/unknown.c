/* SPDX-License-Identifier: MIT */
/* unknown: what no other cause accounts for. Saying so is a verdict. */
#include "explain/cause.h"

#define FEW_SAMPLES 20

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	double explained = 0;

	for (size_t i = 0; i < found->n_causes; i++)
		explained += found->causes[i].companion ? 0 : found->causes[i].share_ratio;
	if (explained >= 0.5)
		return 0;
	out->side = WR_SIDE_PATH;
	out->share_ratio = 1 - explained;
	out->confidence = WR_CONFIDENCE_LOW;
	if (judged->evidence->outside)
		wr_finding_prove(out, "explained_ratio", explained, "ratio", "what was pasted accounts for %.0f %% of it", 100 * explained);
	else if (judged->features.n_samples < FEW_SAMPLES)
		wr_finding_prove(out, "samples", (double)judged->features.n_samples, "count",
				 "only %zu samples: measure longer (-t)", judged->features.n_samples);
	else
		wr_finding_prove(out, "explained_ratio", explained, "ratio",
				 "the known causes account for %.0f %% of the time", 100 * explained);
	return 1;
}

const struct wr_cause wr_cause_unknown = {
	.name = "unknown",
	.summary = "The evidence does not say what limits the transfer.",
	.source = "the rest of the shares",
	.protocols = ~0U,
	.eval = eval,
	.eval_plain = eval,
};
