/* SPDX-License-Identifier: MIT */
/* Sizes, rates, times and shares: what is read is in bounds, and what is printed of it is read back as nearly the same. */
#include <math.h>

#include "base/units.h"
#include "fuzz.h"

/* Two printed digits, the second one rounded; a size below 100 K has one decimal. */
#define NEARLY 0.051

static int near(double value, double again, double grain)
{
	return fabs(value - again) <= NEARLY * fabs(value) + grain;
}

/* A printer puts a blank before the unit, which no parser takes. */
static const char *joined(char *text)
{
	char *blank = strchr(text, ' ');

	if (blank)
		memmove(blank, blank + 1, strlen(blank));
	return text;
}

static void check_size(const char *text)
{
	char printed[WR_UNIT_TEXT];
	uint64_t bytes, again = 0;

	if (wr_size_parse(text, &bytes, NULL) < 0)
		return;
	CHECK(bytes <= 1ULL << 62, "size %s is %llu", text, (unsigned long long)bytes);
	wr_size_text(printed, (double)bytes);
	CHECK(wr_size_parse(joined(printed), &again, NULL) == 0 && near((double)bytes, (double)again, 1),
	      "size %s is %llu, %s, %llu", text, (unsigned long long)bytes, printed, (unsigned long long)again);
	wr_size_short(printed, bytes);
	CHECK(wr_size_parse(printed, &again, NULL) == 0 && near((double)bytes, (double)again, 0), "size %s is %llu, %s, %llu",
	      text, (unsigned long long)bytes, printed, (unsigned long long)again);
}

static void check_rate(const char *text)
{
	char printed[WR_UNIT_TEXT];
	uint64_t bps, again = 0;

	if (wr_rate_parse(text, &bps, NULL) < 0)
		return;
	CHECK(bps <= 1ULL << 62, "rate %s is %llu", text, (unsigned long long)bps);
	wr_rate_text(printed, (double)bps);
	CHECK(wr_rate_parse(joined(printed), &again, NULL) == 0 && near((double)bps, (double)again, 1),
	      "rate %s is %llu, %s, %llu", text, (unsigned long long)bps, printed, (unsigned long long)again);
}

static void check_time(const char *text)
{
	char printed[WR_UNIT_TEXT];
	uint64_t ns, again = 0;

	if (wr_time_parse(text, &ns, NULL) < 0)
		return;
	CHECK(ns <= 1ULL << 62, "time %s is %llu", text, (unsigned long long)ns);
	wr_time_text(printed, (double)ns);
	CHECK(wr_time_parse(joined(printed), &again, NULL) == 0 && near((double)ns, (double)again, 500),
	      "time %s is %llu, %s, %llu", text, (unsigned long long)ns, printed, (unsigned long long)again);
}

static void check_share(const char *text)
{
	char printed[WR_UNIT_TEXT];
	double ratio, again = 0;

	if (wr_share_parse(text, &ratio, NULL) < 0)
		return;
	CHECK(ratio >= 0 && ratio <= 1, "share %s is %g", text, ratio);
	wr_share_text(printed, ratio);
	CHECK(wr_share_parse(joined(printed), &again, NULL) == 0 && near(ratio, again, 5e-4), "share %s is %g, %s, %g", text,
	      ratio, printed, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	check_size(text);
	check_rate(text);
	check_time(text);
	check_share(text);
	free(text);
	return 0;
}
