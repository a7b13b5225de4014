/* SPDX-License-Identifier: MIT */
/*
 * What went wrong, for a person: the operation, a text with the values, and what to do about it. The
 * library fills a struct weir_err and never prints; the tool shows it and exits with its code.
 */
#ifndef WEIR_ERR_H
#define WEIR_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of failure; the values are the tool's exit codes. */
enum weir_err_code {
	WEIR_ERR_NONE = 0,
	WEIR_ERR_CHECK = 1, /* a check says no */
	WEIR_ERR_USAGE = 2, /* the request itself is wrong */
	WEIR_ERR_HOST = 3, /* this host can't: privilege, kernel, memory, disk */
	WEIR_ERR_PEER = 4, /* the other end can't, or can't be reached */
	WEIR_ERR_INTERRUPTED = 130, /* stopped by the user */
};

/*
 * Filled where the failure happens and passed up unchanged.
 *
 * @code: an enum weir_err_code
 * @operation: what was attempted, "setsockopt SO_SNDBUFFORCE"
 * @text: one sentence with host, socket and values
 * @hint: what to do next, or ""
 */
struct weir_err {
	int code;
	char operation[64];
	char text[512];
	char hint[320];
};

#ifdef __cplusplus
}
#endif
#endif
