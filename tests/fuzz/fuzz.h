/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share: the entry that libFuzzer calls, and a check that ends the program with words. */
#ifndef WR_TESTS_FUZZ_H
#define WR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition, ...)                         \
	do {                                          \
		if (!(condition)) {                   \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr);          \
			abort();                      \
		}                                     \
	} while (0)

/* fuzz_text - the input as a string, to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	CHECK(text, "no memory");
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
