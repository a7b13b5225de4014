/* SPDX-License-Identifier: MIT */
/* The table of workloads, and reading NAME[:key=value,...] by its rows. */
#include "workload/workload.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"

const struct wr_workload *const wr_workloads[] = {
	&wr_workload_stream,
	&wr_workload_records,
	NULL,
};

/* A parser's sentence names its option with dashes; here it is a key of a workload. */
static int name_error(const struct wr_workload *row, struct weir_err *err)
{
	char sentence[sizeof err->text];

	if (!err)
		return -1;
	memcpy(sentence, err->text, sizeof sentence);
	snprintf(err->text, sizeof err->text, "--workload %s: %.440s", row->name,
		 strncmp(sentence, "--", 2) == 0 ? sentence + 2 : sentence);
	if (!err->hint[0])
		(void)wr_err_hint(err, "write it like %s; weir list workloads explains the keys", row->example);
	return -1;
}

static int unknown_name(const char *name, struct weir_err *err)
{
	char names[160] = "";
	size_t n = 0;

	for (size_t i = 0; wr_workloads[i] && n < sizeof names; i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", wr_workloads[i]->name);
	wr_err_set(err, WEIR_ERR_USAGE, "workload", "--workload: there is no workload '%.40s'", name);
	return wr_err_hint(err, "%s; weir list workloads explains them", names);
}

static int unknown_key(const struct wr_workload *row, const char *key, struct weir_err *err)
{
	char names[160] = "";
	size_t n = 0;

	for (const struct wr_option *known = row->keys; known && known->name && n < sizeof names; known++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", known->name);
	wr_err_set(err, WEIR_ERR_USAGE, "workload", "--workload %s: there is no key '%.40s'", row->name, key);
	return wr_err_hint(err, "%s has %s%s; weir list workloads explains them", row->name, n ? "the keys " : "no keys", names);
}

/* One "key=value", or "key" of a flag. @seen: a bit a row. */
static int key_set(struct wr_work *work, char *part, uint32_t *seen, struct weir_err *err)
{
	char *equals = strchr(part, '=');
	const struct wr_option *key = work->row->keys;

	if (equals)
		*equals = '\0';
	while (key && key->name && strcmp(key->name, part) != 0)
		key++;
	if (!key || !key->name)
		return unknown_key(work->row, part, err);
	if ((key->kind == WR_OPTION_FLAG) != !equals)
		wr_err_set(err, WEIR_ERR_USAGE, "workload", equals ? "%s takes no value" : "%s needs a value", key->name);
	else if (*seen & 1U << (key - work->row->keys))
		wr_err_set(err, WEIR_ERR_USAGE, "workload", "%s stands there twice", key->name);
	else if (wr_option_set(work->row->keys, work->keys, key->name, equals ? equals + 1 : "", err) == 0) {
		*seen |= 1U << (key - work->row->keys);
		return 0;
	}
	return name_error(work->row, err);
}

static int keys_set(struct wr_work *work, char *list, struct weir_err *err)
{
	uint32_t seen = 0;

	for (char *part = list, *next; part; part = next) {
		next = strchr(part, ',');
		if (next)
			*next++ = '\0';
		if (key_set(work, part, &seen, err) < 0)
			return -1;
	}
	return 0;
}

int wr_work_parse(struct wr_work *work, const struct wr_plan *plan, struct weir_err *err)
{
	char text[WR_WORKLOAD_MAX_TEXT], *keys;

	*work = (struct wr_work){.row = &wr_workload_stream};
	if (wr_plan_is_stream(plan))
		return 0;
	if (snprintf(text, sizeof text, "%s", plan->workload) >= (int)sizeof text)
		return wr_err_set(err, WEIR_ERR_USAGE, "workload", "--workload: more than %d characters", WR_WORKLOAD_MAX_TEXT - 1);
	keys = strchr(text, ':');
	if (keys)
		*keys++ = '\0';
	for (size_t i = 0; (work->row = wr_workloads[i]) && strcmp(work->row->name, text) != 0; i++)
		;
	if (!work->row)
		return unknown_name(text, err);
	if (work->row->keys)
		wr_option_defaults(work->row->keys, work->keys);
	if (keys && keys_set(work, keys, err) < 0)
		return -1;
	if (!work->row->check || work->row->check(work->keys, plan, err) == 0)
		return 0;
	return name_error(work->row, err);
}

bool wr_work_ends(const struct wr_plan *plan)
{
	struct wr_work work;

	if (plan->bytes != WR_UNSET)
		return true;
	return wr_work_parse(&work, plan, NULL) == 0 && work.row->ends && work.row->ends(work.keys);
}
