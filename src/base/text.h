/* SPDX-License-Identifier: MIT */
/* Texts that came from elsewhere, made safe to print. */
#ifndef WR_BASE_TEXT_H
#define WR_BASE_TEXT_H

#include <stdbool.h>

/*
 * wr_text_clean - make @text valid UTF-8 without control characters: each byte that is neither becomes '?'
 * @lines: it may have several, so '\n' stays
 *
 * Source: RFC 3629.
 */
void wr_text_clean(char *text, bool lines);

#endif
