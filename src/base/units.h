/* SPDX-License-Identifier: MIT */
/*
 * Sizes, rates, times and shares as people write them: "64K" is 65536 bytes (K, M, G are 1024), "100mbit"
 * 10^8 bit/s (1000), "100ms", "1%". A bare number is bytes, bit/s, seconds, a ratio.
 */
#ifndef WR_BASE_UNITS_H
#define WR_BASE_UNITS_H

#include <stdint.h>

#include "weir/err.h"

#define WR_NS_PER_US 1000ULL
#define WR_NS_PER_MS 1000000ULL
#define WR_NS_PER_S 1000000000ULL

/* An option or figure of these types that nobody set. */
#define WR_UNSET UINT64_MAX

/*
 * The parsers: @text whole, without spaces; the result in bytes, bit/s, ns, ratio (0..1).
 * Return: 0; -1 with @err saying which value is wrong and what is expected (code WEIR_ERR_USAGE).
 */
int wr_size_parse(const char *text, uint64_t *bytes, struct weir_err *err);
int wr_rate_parse(const char *text, uint64_t *bps, struct weir_err *err);
int wr_time_parse(const char *text, uint64_t *ns, struct weir_err *err);
int wr_share_parse(const char *text, double *ratio, struct weir_err *err);

/* Room for any text below. */
#define WR_UNIT_TEXT 32

/*
 * The printers: three significant digits and a unit ("9.6 MiB", "941 Mbit/s", "100.1 ms"), "unknown" for what is not
 * finite; each returns @out, which holds WR_UNIT_TEXT bytes. wr_size_short writes what wr_size_parse reads back ("64K", "9.6M").
 */
const char *wr_size_text(char *out, double bytes);
const char *wr_size_short(char *out, uint64_t bytes);
const char *wr_rate_text(char *out, double bps);
const char *wr_time_text(char *out, double ns);
const char *wr_share_text(char *out, double ratio);

/* wr_unit_trim - a text of the printers for a bound rather than a figure: "1.00 kbit/s" becomes "1 kbit/s". Return: @text. */
const char *wr_unit_trim(char *text);

#endif
