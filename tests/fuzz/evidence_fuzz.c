/* SPDX-License-Identifier: MIT */
/*
 * Evidence as a peer or a file gives it: refused, or explained with shares that are shares; and once more the same
 * after a turn through JSON.
 */
#include "explain/explain.h"
#include "fuzz.h"

/* Shares are sums of parts of samples: that much may be lost in rounding. */
#define MOST_SHARES 1.001

static json_t *explained(const struct wr_evidence *evidence)
{
	static struct wr_verdict verdict;
	double sum = 0;

	CHECK(wr_explain(evidence, &verdict, NULL) == 0, "no memory");
	for (size_t i = 0; i < verdict.n_causes; i++) {
		const struct wr_finding *finding = &verdict.causes[i];

		CHECK(finding->share_ratio >= 0 && finding->share_ratio <= 1, "share of %s is %g", finding->cause,
		      finding->share_ratio);
		sum += finding->companion ? 0 : finding->share_ratio;
	}
	CHECK(sum <= MOST_SHARES, "shares sum up to %g", sum);
	return wr_verdict_to_json(&verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *object = json_loadb((const char *)data, size, 0, NULL), *first, *second;
	struct wr_evidence evidence, again;
	struct weir_err err = {0};

	if (!object)
		return 0;
	if (wr_evidence_from_json(&evidence, object, &err) < 0) {
		CHECK(err.text[0], "evidence is refused without a word");
		json_decref(object);
		return 0;
	}
	json_decref(object);
	first = explained(&evidence);
	object = wr_evidence_to_json(&evidence);
	CHECK(wr_evidence_from_json(&again, object, &err) == 0, "evidence can't be read back: %s", err.text);
	second = explained(&again);
	CHECK(json_equal(first, second) || !first, "stored evidence gets another verdict");
	json_decref(object);
	json_decref(first);
	json_decref(second);
	wr_evidence_deinit(&again);
	wr_evidence_deinit(&evidence);
	return 0;
}
