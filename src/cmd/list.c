/* SPDX-License-Identifier: MIT */
/*
 * weir list: the rows of weir's tables. A kind makes its rows as JSON, each with a name and a summary; text is printed
 * from the same objects, so that the two say the same.
 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/lab.h"
#include "cmd/measuring.h"
#include "explain/cause.h"
#include "lab/element.h"
#include "lab/spec.h"
#include "model/metric.h"
#include "os/sockopt.h"
#include "report/report.h"
#include "transport/transport.h"
#include "tune/tune.h"
#include "weir/version.h"
#include "workload/workload.h"

#define RANGE_TEXT (2 * WR_UNIT_TEXT + 4)

/* @rows: all of the kind, a new array */
struct kind {
	const char *name, *summary;
	json_t *(*rows)(void);
};

/* A key with a text that is there. */
static void set(json_t *object, const char *key, const char *text)
{
	if (text && text[0])
		json_object_set_new(object, key, json_string(text));
}

static json_t *row_new(json_t *rows, const char *name, const char *summary, const char *source)
{
	json_t *row = json_object();

	set(row, "name", name);
	set(row, "summary", summary);
	set(row, "source", source);
	json_array_append_new(rows, row);
	return row;
}

/* What an option takes: range and default beside its unit. */
static void set_bounds(json_t *object, const struct wr_option *option)
{
	char range[RANGE_TEXT];

	set(object, "unit", wr_option_unit(option->kind));
	set(object, "range", wr_option_range(range, option));
	set(object, "default", option->fallback);
}

static json_t *transports(void)
{
	json_t *rows = json_array();

	for (size_t i = 0; wr_transports[i]; i++) {
		json_t *row = row_new(rows, wr_transports[i]->name, wr_transports[i]->summary, wr_transports[i]->source);

		set(row, "target", wr_transports[i]->target);
		set(row, "needs", wr_transports[i]->needs);
	}
	return rows;
}

static json_t *workloads(void)
{
	json_t *rows = json_array();

	for (size_t i = 0; wr_workloads[i]; i++) {
		json_t *row = row_new(rows, wr_workloads[i]->name, wr_workloads[i]->summary, wr_workloads[i]->source);
		json_t *keys = json_array();

		set(row, "message", wr_workloads[i]->message);
		set(row, "example", wr_workloads[i]->example);
		for (const struct wr_option *option = wr_workloads[i]->keys; option && option->name; option++) {
			json_t *key = json_object();
			char form[64];

			snprintf(form, sizeof form, "%s%s%s", option->name, option->metavar ? "=" : "",
				 option->metavar ? option->metavar : "");
			set(key, "form", form);
			set_bounds(key, option);
			set(key, "meaning", option->help);
			json_array_append_new(keys, key);
		}
		json_object_set_new(row, "keys", keys);
	}
	return rows;
}

static json_t *elements(void)
{
	json_t *rows = json_array();

	for (size_t i = 0; wr_lab_elements[i]; i++) {
		const struct wr_lab_element *element = wr_lab_elements[i];
		json_t *row = row_new(rows, element->name, element->summary, element->source), *keys = json_array();

		for (size_t j = 0; j < element->n_keys; j++) {
			const struct wr_lab_spec *spec = &element->keys[j];
			json_t *key = json_object();
			char range[RANGE_TEXT];

			set(key, "form", spec->form);
			set(key, "unit", spec->unit);
			set(key, "range", wr_lab_spec_range(range, spec));
			set(key, "default", spec->fallback);
			set(key, "meaning", spec->help);
			json_array_append_new(keys, key);
		}
		json_object_set_new(row, "keys", keys);
	}
	return rows;
}

static json_t *causes(void)
{
	json_t *rows = json_array();

	for (size_t i = 0; wr_causes[i]; i++) {
		json_t *row = row_new(rows, wr_causes[i]->name, wr_causes[i]->summary, wr_causes[i]->source);

		json_object_set_new(row, "companion", json_boolean(wr_causes[i]->companion));
	}
	return rows;
}

static json_t *metrics(void)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < WR_N_METRICS; i++)
		row_new(rows, wr_metrics[i].key, wr_metrics[i].summary, wr_metrics[i].source);
	return rows;
}

static json_t *options(void)
{
	json_t *rows = json_array();

	for (const struct wr_option *option = wr_plan_options; option->name; option++) {
		json_t *row = row_new(rows, option->name, option->help, NULL);

		if (option->letter)
			set(row, "letter", (const char[]){option->letter, '\0'});
		set(row, "value", option->metavar);
		set_bounds(row, option);
	}
	return rows;
}

static json_t *sockopts(void)
{
	json_t *rows = json_array();
	char number[48];

	for (const struct wr_sockopt *option = wr_sockopts; option->name; option++) {
		json_t *row = row_new(rows, option->name, option->summary, NULL);

		snprintf(number, sizeof number, "%d:%d", option->level, option->number);
		set(row, "number", number);
		set(row, "when", option->late ? "connected" : "before connect and listen");
		if (option->peer_most < 0)
			continue;
		snprintf(number, sizeof number, "far: 0 to %lld", (long long)option->peer_most);
		set(row, "range", number);
	}
	return rows;
}

static json_t *strategies(void)
{
	json_t *rows = json_array();

	for (size_t i = 0; wr_strategies[i]; i++)
		row_new(rows, wr_strategies[i]->name, wr_strategies[i]->summary, NULL);
	return rows;
}

static void scenario_add(void *context, const char *name, const char *about)
{
	row_new(context, name, about, NULL);
}

static json_t *scenarios(void)
{
	json_t *rows = json_array();

	(void)wr_lab_each_scenario(scenario_add, rows);
	return rows;
}

static const struct kind kinds[] = {
	{"transports", "what data runs over, with --transport or the target's prefix", transports},
	{"workloads", "what a connection carries, with --workload", workloads},
	{"options", "what a transfer can be asked to be, in run and sweep", options},
	{"sockopts", "socket options for --set, and for --far-set within the range", sockopts},
	{"metrics", "what is sampled of each connection", metrics},
	{"causes", "what a verdict may name", causes},
	{"strategies", "how weir tune measures a curve, with --strategy", strategies},
	{"elements", "what the lab's link can do to packets", elements},
	{"scenarios", "labs with what must be found there, for weir lab run", scenarios},
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void print_key(const json_t *key)
{
	const char *range = text_of(key, "range"), *unit = text_of(key, "unit"), *fallback = text_of(key, "default");

	printf("    %-28s %s", text_of(key, "form"), text_of(key, "meaning"));
	if (range[0] || fallback[0])
		printf(" (%s%s%s%s%s%s)", range, range[0] && unit[0] ? ", " : "", range[0] ? unit : "",
		       range[0] && fallback[0] ? "; " : "", fallback[0] ? "unset: " : "", fallback);
	putchar('\n');
}

static int width(const json_t *rows)
{
	size_t i, most = 8;
	json_t *row;

	json_array_foreach((json_t *)rows, i, row) {
		size_t n = strlen(text_of(row, "name"));

		most = n > most ? n : most;
	}
	return (int)most;
}

static void print_rows(const json_t *rows)
{
	int n = width(rows);
	size_t i, j;
	json_t *row, *key;

	json_array_foreach((json_t *)rows, i, row) {
		printf("%-*s  %s", n, text_of(row, "name"), text_of(row, "summary"));
		if (text_of(row, "range")[0])
			printf(" (%s)", text_of(row, "range"));
		putchar('\n');
		json_array_foreach(json_object_get(row, "keys"), j, key)
			print_key(key);
	}
}

static json_t *kinds_rows(void)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < WR_N_ELEMENTS(kinds); i++)
		row_new(rows, kinds[i].name, kinds[i].summary, NULL);
	return rows;
}

struct choice {
	bool json;
};

static const struct wr_option list_options[] = {
	{"json", 'J', WR_OPTION_FLAG, offsetof(struct choice, json), NULL, NULL, 0, 0, NULL,
	 "one JSON object (schema weir.list/1), with all there is of each row", NULL},
	{0},
};

/* @name: NULL for the kinds themselves. Return: 0; -1. */
static int find(const char *name, struct kind *found, struct weir_err *err)
{
	char names[160] = "";
	size_t used = 0;

	*found = (struct kind){"kinds", NULL, kinds_rows};
	for (size_t i = 0; name && i < WR_N_ELEMENTS(kinds); i++) {
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", kinds[i].name);
		if (strcmp(kinds[i].name, name) != 0)
			continue;
		*found = kinds[i];
		return 0;
	}
	if (!name)
		return 0;
	wr_err_set(err, WEIR_ERR_USAGE, "list", "there is no table '%.40s'", name);
	return wr_err_hint(err, "%s", names);
}

static int run(int argc, char **argv)
{
	struct choice choice;
	struct weir_err err = {0};
	struct kind kind;
	json_t *rows;
	int first, rc = wr_command_options(&wr_command_list, &choice, argc, argv, false, &first);

	if (rc)
		return rc == 1 ? 0 : rc;
	if (first + 1 < argc)
		wr_err_set(&err, WEIR_ERR_USAGE, "list", "'%.40s': only one KIND, please", argv[first + 1]);
	if (first + 1 < argc || find(argv[first], &kind, &err) < 0)
		return wr_command_fail(&wr_command_list, &err, choice.json);
	rows = kind.rows();
	if (choice.json)
		wr_report_print(json_pack("{s:s,s:s,s:s,s:O}", "schema", "weir.list/1", "version", WEIR_VERSION, "kind",
					  kind.name, "rows", rows), stdout);
	else
		print_rows(rows);
	json_decref(rows);
	return wr_measuring_flush(&wr_command_list) < 0 ? WEIR_ERR_HOST : 0;
}

const struct wr_command wr_command_list = {
	.name = "list",
	.summary = "the rows of a table: workloads, transports, options, metrics, causes, elements, ...",
	.usage = "[KIND] [--json]",
	.about = "Prints the rows of one of weir's tables, each with what it is; without KIND the tables that there are. The\n"
		 "link's elements and the workloads come with what can be said to them: how it is written, unit, range and\n"
		 "what holds unless it is said.",
	.example = "  weir list workloads\n"
		   "      what a connection can carry, and its keys",
	.options = list_options,
	.run = run,
};
