/* SPDX-License-Identifier: MIT */
/* A terminal obeys what it is sent, and JSON takes UTF-8 only; so bytes of files and peers are looked at one by one. */
#include "base/text.h"

#include <stddef.h>

/* Length of the UTF-8 character at @text, RFC 3629; 0 when it is none, or a control character. */
static size_t character_length(const unsigned char *text)
{
	size_t n = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3
		 : text[0] >= 0xf0 && text[0] < 0xf5				  ? 4
										  : 0;

	if (n == 1 && (text[0] < 0x20 || text[0] == 0x7f))
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than needed, a surrogate, beyond U+10FFFF. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return n;
}

void wr_text_clean(char *text, bool lines)
{
	while (*text) {
		size_t n = character_length((const unsigned char *)text);

		if (n == 0 && !(lines && *text == '\n'))
			*text = '?';
		text += n ? n : 1;
	}
}
