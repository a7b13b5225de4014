/* SPDX-License-Identifier: MIT */
/*
 * Recorded evidence to verdict: NAME.json is explained and compared with NAME.ok.
 *   golden_test [--update] NAME.json...
 * --update writes the NAME.ok instead; tests/golden/update does that for all.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

#define MOST_TEXT 4096

static int verdict_text(char text[MOST_TEXT], const char *path)
{
	struct wr_evidence evidence;
	struct wr_verdict verdict;
	FILE *out;

	if (golden_load(&evidence, path) < 0)
		return -1;
	memset(text, 0, MOST_TEXT);
	out = fmemopen(text, MOST_TEXT - 1, "w");
	if (!out || wr_explain(&evidence, &verdict, NULL) < 0)
		abort();
	golden_print(out, &verdict);
	fclose(out);
	wr_evidence_deinit(&evidence);
	return 0;
}

static int update(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	bool written = file && fputs(text, file) >= 0;

	if (!file || fclose(file) != 0 || !written) {
		perror(path);
		return -1;
	}
	return 0;
}

static int compare(const char *path, const char *text)
{
	char wanted[MOST_TEXT] = "";
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		return -1;
	}
	wanted[fread(wanted, 1, sizeof wanted - 1, file)] = '\0';
	fclose(file);
	if (strcmp(wanted, text) == 0)
		return 0;
	printf("%s says:\n%sbut the verdict is:\n%s", path, wanted, text);
	return -1;
}

int main(int argc, char **argv)
{
	bool updating = argc > 1 && strcmp(argv[1], "--update") == 0;
	int status = argc > 1 + updating ? 0 : 2;

	for (int i = 1 + updating; i < argc; i++) {
		char text[MOST_TEXT], ok[1024];
		const char *ending = strstr(argv[i], ".json");

		if (!ending)
			return 2;
		snprintf(ok, sizeof ok, "%.*s.ok", (int)(ending - argv[i]), argv[i]);
		if (verdict_text(text, argv[i]) < 0 || (updating ? update(ok, text) : compare(ok, text)) < 0)
			status = 1;
	}
	return status;
}
