/* SPDX-License-Identifier: MIT */
/* Errors are set once, where they happen; callers pass them up. A NULL err means that nobody wants the words. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_text(struct weir_err *err, int code, const char *operation, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

static void set_text(struct weir_err *err, int code, const char *operation, const char *format, va_list args)
{
	err->code = code;
	err->hint[0] = '\0';
	snprintf(err->operation, sizeof err->operation, "%s", operation);
	vsnprintf(err->text, sizeof err->text, format, args);
}

int wr_err_set(struct weir_err *err, int code, const char *operation, const char *format, ...)
{
	va_list args;

	if (!err)
		return -1;
	va_start(args, format);
	set_text(err, code, operation, format, args);
	va_end(args);
	return -1;
}

int wr_err_hint(struct weir_err *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return -1;
	va_start(args, format);
	vsnprintf(err->hint, sizeof err->hint, format, args);
	va_end(args);
	return -1;
}

int wr_err_errno(struct weir_err *err, int code, const char *operation, int saved_errno,
		 const char *format, ...)
{
	va_list args;
	size_t used;

	if (!err)
		return -1;
	va_start(args, format);
	set_text(err, code, operation, format, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved_errno));
	return -1;
}

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

static void clean(char *text)
{
	while (*text) {
		size_t n = character_length((const unsigned char *)text);

		if (n == 0)
			*text = '?';
		text += n ? n : 1;
	}
}

void wr_err_clean(struct weir_err *err)
{
	if (!err)
		return;
	clean(err->text);
	clean(err->hint);
}

int wr_err_memory(struct weir_err *err, const char *operation)
{
	return wr_err_set(err, WEIR_ERR_HOST, operation, "out of memory");
}
