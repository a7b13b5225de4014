/* SPDX-License-Identifier: MIT */
/* Words and numbers of pasted lines. A number ends where its digits end; nothing here depends on the locale. */
#include <ctype.h>
#include <string.h>

#include "paste/reader.h"

/* No figure of a text is larger: differences and sums then can't overflow. */
#define MOST (1LL << 60)

bool wr_begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *wr_word_next(const char *text, char *word, size_t n_word)
{
	size_t length;

	text += strspn(text, " \t");
	length = strcspn(text, " \t");
	memcpy(word, text, length < n_word ? length : n_word - 1);
	word[length < n_word ? length : n_word - 1] = '\0';
	return text + length;
}

bool wr_int_parse(const char *text, int64_t *value)
{
	bool negative = *text == '-';
	int64_t sum = 0;

	text += negative;
	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++)
		sum = sum >= MOST / 10 ? MOST : sum * 10 + (*text - '0');
	*value = negative ? -sum : sum;
	return true;
}

bool wr_real_parse(const char *text, double *value, const char **rest)
{
	double sum = 0, place = 0.1;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++)
		sum = sum * 10 + (*text - '0');
	if (*text == '.' && isdigit((unsigned char)text[1])) {
		for (text++; isdigit((unsigned char)*text); text++, place /= 10)
			sum += place * (*text - '0');
	}
	*value = sum < (double)MOST ? sum : (double)MOST;
	if (rest)
		*rest = text;
	return true;
}

bool wr_scaled_parse(const char *text, double step, double *value, const char **rest)
{
	static const char letters[] = "kmgt";
	const char *unit, *letter;

	if (!wr_real_parse(text, value, &unit))
		return false;
	unit += *unit == ' ';
	letter = *unit ? strchr(letters, tolower((unsigned char)*unit)) : NULL;
	for (const char *at = letters; letter && at <= letter; at++)
		*value *= step;
	if (*value > (double)MOST)
		*value = (double)MOST;
	if (rest)
		*rest = unit;
	return true;
}
