/* SPDX-License-Identifier: MIT */
/*
 * Two objects are walked side by side. What is measured differs anyway, so only what was asked for and what was there
 * beforehand is looked at.
 */
#include "compare/differ.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "compare/samples.h"

#define MAX_DEPTH 4

/* Of an end only what was there before the transfer; near's host is told by host{}. */
static const char *const near_keys[] = {"host", "congestion", "sndbuf_req_bytes", "rcvbuf_req_bytes", "autotuning", NULL};
static const char *const far_keys[] = {
	"host", "kernel", "congestion", "sndbuf_req_bytes", "rcvbuf_req_bytes", "autotuning", "tcp_rmem_max_bytes",
	"tcp_wmem_max_bytes", "rmem_max_bytes", "wmem_max_bytes", NULL,
};

static void note(struct wr_comparison *out, const char *where, const char *key, json_t *a, json_t *b)
{
	struct wr_difference *difference = &out->differences[out->n_differences];

	if (out->n_differences == WR_MAX_DIFFERENCES) {
		out->n_differences_left_out++;
		return;
	}
	*difference = (struct wr_difference){.where = where, .values = {json_incref(a), json_incref(b)}};
	snprintf(difference->key, sizeof difference->key, "%s", key);
	wr_text_clean(difference->key, false);
	out->n_differences++;
}

static void differ(struct wr_comparison *out, const char *where, const char *key, json_t *a, json_t *b, int depth);

static void join(char path[128], const char *key, const char *inner)
{
	snprintf(path, 128, "%.60s%s%.60s", key, key[0] ? "." : "", inner);
}

static void differ_objects(struct wr_comparison *out, const char *where, const char *key, json_t *a, json_t *b, int depth)
{
	const char *inner;
	char path[128];
	json_t *value;

	json_object_foreach(a, inner, value) {
		join(path, key, inner);
		differ(out, where, path, value, json_object_get(b, inner), depth + 1);
	}
	json_object_foreach(b, inner, value) {
		if (json_object_get(a, inner))
			continue;
		join(path, key, inner);
		differ(out, where, path, NULL, value, depth + 1);
	}
}

/* The element of @array that has that "name"; NULL. */
static json_t *named(const json_t *array, const char *name)
{
	json_t *element;
	size_t i;

	json_array_foreach(array, i, element) {
		const char *own = json_string_value(json_object_get(element, "name"));

		if (own && strcmp(own, name) == 0)
			return element;
	}
	return NULL;
}

/* Devices by name: another order is no difference. Arrays of anything else differ as a whole. */
static void differ_arrays(struct wr_comparison *out, const char *where, const char *key, json_t *a, json_t *b, int depth)
{
	const char *name;
	json_t *element;
	size_t i;

	json_array_foreach(a, i, element) {
		name = json_string_value(json_object_get(element, "name"));
		if (!name) {
			note(out, where, key, a, b);
			return;
		}
		if (named(b, name))
			differ(out, where, name, element, named(b, name), depth + 1);
		else
			note(out, where, name, element, NULL);
	}
	json_array_foreach(b, i, element) {
		name = json_string_value(json_object_get(element, "name"));
		if (!name && json_array_size(a) == 0) {
			note(out, where, key, a, b);
			return;
		}
		if (name && !named(a, name))
			note(out, where, name, NULL, element);
	}
}

static void differ(struct wr_comparison *out, const char *where, const char *key, json_t *a, json_t *b, int depth)
{
	/* A flag that a version did not have yet was off. */
	if (a == b || json_equal(a, b) || (!a && json_is_false(b)) || (!b && json_is_false(a)))
		return;
	if (depth < MAX_DEPTH && (json_is_object(a) || !a) && (json_is_object(b) || !b))
		differ_objects(out, where, key, a, b, depth);
	else if (depth < MAX_DEPTH && json_is_array(a) && json_is_array(b))
		differ_arrays(out, where, key, a, b, depth);
	else
		note(out, where, key, a, b);
}

static void differ_end(struct wr_comparison *out, const char *end, const char *const *keys, const json_t *a, const json_t *b)
{
	const json_t *ends[] = {json_object_get(a, end), json_object_get(b, end)};

	for (; *keys; keys++)
		differ(out, end, *keys, json_object_get(ends[0], *keys), json_object_get(ends[1], *keys), 1);
}

static json_t *first_cause(const json_t *result, const char *key)
{
	const json_t *causes = wr_json_at(result, "verdict.causes");

	return json_object_get(json_array_get(causes, 0), key);
}

void wr_differ(struct wr_comparison *out, const json_t *a, const json_t *b)
{
	static const char *const heads[] = {"target", "version", "complete"};
	static const char *const wholes[] = {"plan", "host"};

	differ(out, "verdict", "cause", first_cause(a, "cause"), first_cause(b, "cause"), 1);
	differ(out, "verdict", "side", first_cause(a, "side"), first_cause(b, "side"), 1);
	for (size_t i = 0; i < WR_N_ELEMENTS(heads); i++)
		differ(out, "result", heads[i], json_object_get(a, heads[i]), json_object_get(b, heads[i]), 1);
	for (size_t i = 0; i < WR_N_ELEMENTS(wholes); i++)
		differ(out, wholes[i], "", json_object_get(a, wholes[i]), json_object_get(b, wholes[i]), 0);
	differ_end(out, "near", near_keys, a, b);
	differ_end(out, "far", far_keys, a, b);
}
