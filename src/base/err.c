/* SPDX-License-Identifier: MIT */
/* Errors are set once, where they happen; callers pass them up. A NULL err means that nobody wants the words. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

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

void wr_err_clean(struct weir_err *err)
{
	if (!err)
		return;
	wr_text_clean(err->text, false);
	wr_text_clean(err->hint, false);
}

int wr_err_memory(struct weir_err *err, const char *operation)
{
	return wr_err_set(err, WEIR_ERR_HOST, operation, "out of memory");
}
