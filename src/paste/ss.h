/* SPDX-License-Identifier: MIT */
/* Rows of ss and netstat, as the parser of rows and the parser of the words after them share them. */
#ifndef WR_PASTE_SS_H
#define WR_PASTE_SS_H

#include "paste/reader.h"

/* wr_ss_is_word - whether ss prints such a word behind a socket ("cwnd:10", "cubic"). */
bool wr_ss_is_word(const char *word);

/* wr_ss_info - the words of @text into @row. Return: how many were known. */
size_t wr_ss_info(struct wr_row *row, const char *text);

/* wr_ss_complete - counts that such a row leaves out when they are 0 become 0. */
void wr_ss_complete(struct wr_row *row);

#endif
