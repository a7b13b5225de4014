/* SPDX-License-Identifier: MIT */
/* Option rows as JSON: keys are the names with '_' and the unit ("far_sndbuf_bytes"); what is unset is absent. */
#ifndef WR_BASE_OPTION_JSON_H
#define WR_BASE_OPTION_JSON_H

#include <jansson.h>

#include "base/option.h"

/* wr_option_json_key - the key of @option, of at most @n_key bytes. Return: @key. */
const char *wr_option_json_key(const struct wr_option *option, char *key, size_t n_key);

/* wr_options_to_json - add the set fields of @target to @object. */
void wr_options_to_json(const struct wr_option *options, const void *target, json_t *object);

/*
 * wr_options_from_json - the reverse: defaults, then what @object holds, with the rows' bounds checked
 * @target: texts point into @object
 *
 * Return: 0; -1 a key has the wrong type or is out of bounds.
 */
int wr_options_from_json(const struct wr_option *options, void *target, const json_t *object, struct weir_err *err);

#endif
