/* SPDX-License-Identifier: MIT */
/*
 * Pasted text: whatever it is, it is read, matched, judged and written as JSON without a finding. The first byte says
 * whose it is; a zero byte begins a further text, of the other end.
 */
#include "explain/choose.h"
#include "explain/explain.h"
#include "fuzz.h"
#include "paste/paste.h"

#define MOST_CASES 64
#define MOST_SHARES 1.001

static void judge(struct wr_paste *paste, size_t index)
{
	static struct wr_verdict verdict;
	struct wr_paste_case judged;
	struct wr_weight weight = {0};
	double sum = 0;
	json_t *json;

	wr_paste_case_get(paste, index, &judged);
	CHECK(wr_explain(judged.evidence, &verdict, NULL) == 0, "not judged");
	CHECK(verdict.n_causes > 0, "no cause");
	for (size_t i = 0; i < verdict.n_causes; i++) {
		const struct wr_finding *finding = &verdict.causes[i];

		CHECK(finding->share_ratio >= 0 && finding->share_ratio <= 1, "share of %s is %g", finding->cause,
		      finding->share_ratio);
		sum += finding->companion ? 0 : finding->share_ratio;
	}
	CHECK(sum <= MOST_SHARES, "shares sum up to %g", sum);
	wr_weigh(&weight, judged.evidence, &verdict);
	CHECK(wr_choose(&weight, 1) == 0, "a case that isn't there");
	json = wr_verdict_to_json(&verdict);
	CHECK(json, "no JSON");
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	wr_auto(wr_paste_free) struct wr_paste *paste = NULL;
	struct wr_paste_summary summary;
	unsigned side = size ? data[0] % 3 : 0;
	size_t from = size ? 1 : 0;

	CHECK(wr_paste_new(&paste, NULL) == 0, "no memory");
	for (size_t i = from; i <= size; i++) {
		if (i < size && data[i])
			continue;
		CHECK(wr_paste_add(paste, (enum wr_paste_from)side, (const char *)data + from, i - from, NULL) == 0, "no memory");
		side = side == WR_PASTE_NEAR ? WR_PASTE_FAR : side == WR_PASTE_FAR ? WR_PASTE_NEAR : WR_PASTE_UNKNOWN;
		from = i + 1;
	}
	CHECK(wr_paste_finish(paste, 0, NULL) == 0, "no memory");
	wr_paste_summarize(paste, &summary);
	for (size_t i = 0; i < summary.n_cases && i < MOST_CASES; i++)
		judge(paste, i);
	return 0;
}
