/* SPDX-License-Identifier: MIT */
/* Filling a struct weir_err where a failure happens, and adding context on its way up. */
#ifndef WR_BASE_ERR_H
#define WR_BASE_ERR_H

#include "weir/err.h"

/*
 * wr_err_set - say what went wrong
 * @err: may be NULL
 * @code: an enum weir_err_code
 * @operation: the call or step that failed
 * @format: one sentence with the values
 *
 * Return: always -1, so that a function can `return wr_err_set(...)`.
 */
int wr_err_set(struct weir_err *err, int code, const char *operation, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* wr_err_hint - add what to do about it. Return: always -1. */
int wr_err_hint(struct weir_err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* wr_err_errno - the same for a failed system call: appends strerror(@saved_errno). Return: always -1. */
int wr_err_errno(struct weir_err *err, int code, const char *operation, int saved_errno,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * wr_err_clean - make text and hint one line of valid UTF-8 each, as they may quote a user or a peer; what is
 * neither becomes '?'.
 */
void wr_err_clean(struct weir_err *err);

/* wr_err_memory - an allocation failed. Return: always -1. */
int wr_err_memory(struct weir_err *err, const char *operation);

#endif
