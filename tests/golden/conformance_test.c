/* SPDX-License-Identifier: MIT */
/*
 * What every row of wr_causes must keep, on all recorded evidence: slots set, names unique, a page, a fixture on which
 * it is found; and what every verdict must keep when a metric is missing, as on older kernels.
 *   conformance_test PAGES ARTEFACTS FIXTURES NAME.json...     three folders, and the fixtures that are listed
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explain/cause.h"
#include "golden.h"
#include "paste/paste.h"

#define MOST_CAUSES 64
/* Shares are sums of parts of samples: that much may be lost in rounding. */
#define MOST_SHARES 1.001

static int n_failed;

#define CHECK(condition, ...)                       \
	do {                                        \
		if (!(condition)) {                 \
			n_failed++;                 \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr);        \
		}                                   \
	} while (0)

static void check_rows(const char *pages)
{
	for (size_t i = 0; wr_causes[i]; i++) {
		const struct wr_cause *cause = wr_causes[i];
		char page[1024];

		CHECK(cause->name && cause->name[0], "row %zu has no name", i);
		CHECK(cause->summary && cause->summary[0], "%s has no summary", cause->name);
		CHECK(cause->source && cause->source[0], "%s has no source", cause->name);
		CHECK(cause->eval || cause->eval_plain, "%s has no eval", cause->name);
		snprintf(page, sizeof page, "%s/%s.md", pages, cause->name);
		CHECK(access(page, R_OK) == 0, "%s has no page %s", cause->name, page);
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(cause->name, wr_causes[j]->name) != 0, "two rows are %s", cause->name);
	}
}

/* Every .json of the folder is tested. */
static void check_listed(const char *folder, int n_listed)
{
	char pattern[1024];
	glob_t found;

	snprintf(pattern, sizeof pattern, "%s/*.json", folder);
	if (glob(pattern, 0, NULL, &found) != 0)
		found.gl_pathc = 0;
	CHECK((int)found.gl_pathc == n_listed, "%d fixtures are listed in meson.build, %zu are in %s", n_listed,
	      found.gl_pathc, folder);
	globfree(&found);
}

static void check_verdict(const struct wr_verdict *verdict, const char *where, const char *missing)
{
	double sum = 0;
	json_t *json = wr_verdict_to_json(verdict);

	CHECK(verdict->n_causes > 0, "%s without %s: no cause", where, missing);
	CHECK(json && json_array_size(json_object_get(json, "causes")) == verdict->n_causes,
	      "%s without %s: a cause can't be written as JSON", where, missing);
	json_decref(json);
	for (size_t i = 0; i < verdict->n_causes; i++) {
		const struct wr_finding *finding = &verdict->causes[i];

		CHECK(finding->share_ratio >= 0 && finding->share_ratio <= 1, "%s without %s: share of %s is %g", where,
		      missing, finding->cause, finding->share_ratio);
		sum += finding->companion ? 0 : finding->share_ratio;
	}
	CHECK(sum <= MOST_SHARES, "%s without %s: shares sum up to %g", where, missing, sum);
}

/* Make a metric absent in @end, or have it again from @whole. */
static void end_set(struct wr_end *end, const struct wr_end *whole, int id)
{
	for (size_t i = 0; i < end->n_connections; i++) {
		const struct wr_series *from = whole ? &whole->connections[i].series : NULL;
		struct wr_series *series = &end->connections[i].series;

		for (size_t j = 0; j < series->n_samples; j++)
			series->samples[j].value[id] = from ? from->samples[j].value[id] : WR_ABSENT;
	}
}

static void explain(const struct wr_evidence *evidence, struct wr_verdict *verdict, const char *where,
		    const char *missing)
{
	if (wr_explain(evidence, verdict, NULL) < 0)
		abort();
	check_verdict(verdict, where, missing);
}

/* One metric after the other, then all but the time, then every sample. */
static void check_missing(struct wr_evidence *evidence, const struct wr_evidence *whole, const char *path)
{
	struct wr_verdict verdict;

	for (int id = 0; id < WR_N_METRICS; id++) {
		end_set(&evidence->near, NULL, id);
		end_set(&evidence->far, NULL, id);
		explain(evidence, &verdict, path, wr_metrics[id].key);
		end_set(&evidence->near, &whole->near, id);
		end_set(&evidence->far, &whole->far, id);
	}
	for (int id = 0; id < WR_N_METRICS; id++) {
		if (id == WR_M_T_NS)
			continue;
		end_set(&evidence->near, NULL, id);
		end_set(&evidence->far, NULL, id);
	}
	explain(evidence, &verdict, path, "any metric");
	for (size_t i = 0; i < evidence->near.n_connections; i++)
		evidence->near.connections[i].series.n_samples = 0;
	for (size_t i = 0; i < evidence->far.n_connections; i++)
		evidence->far.connections[i].series.n_samples = 0;
	explain(evidence, &verdict, path, "any sample");
}

/* First, or a companion of what is: both are what the verdict says. */
static void note_seen(const struct wr_verdict *verdict, bool seen[MOST_CAUSES])
{
	for (size_t j = 0; wr_causes[j] && j < MOST_CAUSES; j++) {
		const struct wr_finding *finding = wr_finding_find(verdict, wr_causes[j]->name);

		seen[j] |= finding && (finding == verdict->causes || finding->companion);
	}
}

static void text_add(struct wr_paste *paste, enum wr_paste_from from, const char *path)
{
	static char text[1 << 18];
	FILE *file = fopen(path, "r");

	if (!file || wr_paste_add(paste, from, text, fread(text, 1, sizeof text, file), NULL) < 0)
		abort();
	fclose(file);
}

/* The texts of a folder, and every verdict on them. */
static void check_texts(const char *folder, bool seen[MOST_CAUSES])
{
	wr_auto(wr_paste_free) struct wr_paste *paste = NULL;
	struct wr_paste_summary summary;
	static struct wr_verdict verdict;

	if (wr_paste_new(&paste, NULL) < 0)
		abort();
	for (int far = 0; far < 2; far++) {
		char pattern[1024];
		glob_t found;

		snprintf(pattern, sizeof pattern, "%s/%s.*", folder, far ? "far" : "near");
		if (glob(pattern, 0, NULL, &found) != 0)
			found.gl_pathc = 0;
		for (size_t i = 0; i < found.gl_pathc; i++)
			text_add(paste, far ? WR_PASTE_FAR : WR_PASTE_NEAR, found.gl_pathv[i]);
		globfree(&found);
	}
	if (wr_paste_finish(paste, 0, NULL) < 0)
		abort();
	wr_paste_summarize(paste, &summary);
	for (size_t i = 0; i < summary.n_cases; i++) {
		struct wr_paste_case judged;

		wr_paste_case_get(paste, i, &judged);
		explain(judged.evidence, &verdict, folder, "nothing");
		note_seen(&verdict, seen);
	}
}

static void check_artefacts(const char *folder, bool seen[MOST_CAUSES])
{
	char pattern[1024];
	glob_t found;

	snprintf(pattern, sizeof pattern, "%s/*/truth.json", folder);
	CHECK(glob(pattern, 0, NULL, &found) == 0, "there are no artefacts in %s", folder);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		*strrchr(found.gl_pathv[i], '/') = '\0';
		check_texts(found.gl_pathv[i], seen);
	}
	globfree(&found);
}

static void check_fixture(const char *path, bool seen[MOST_CAUSES])
{
	struct wr_evidence evidence, whole;
	struct wr_verdict verdict;

	if (golden_load(&evidence, path) < 0 || golden_load(&whole, path) < 0)
		exit(1);
	explain(&evidence, &verdict, path, "nothing");
	note_seen(&verdict, seen);
	check_missing(&evidence, &whole, path);
	wr_evidence_deinit(&evidence);
	wr_evidence_deinit(&whole);
}

int main(int argc, char **argv)
{
	bool seen[MOST_CAUSES] = {false};

	if (argc < 5)
		return 2;
	check_rows(argv[1]);
	check_artefacts(argv[2], seen);
	check_listed(argv[3], argc - 4);
	for (int i = 4; i < argc; i++)
		check_fixture(argv[i], seen);
	for (size_t j = 0; wr_causes[j] && j < MOST_CAUSES; j++)
		CHECK(seen[j] || strcmp(wr_causes[j]->name, "unknown") == 0, "no fixture shows %s", wr_causes[j]->name);
	return n_failed ? 1 : 0;
}
