/* SPDX-License-Identifier: MIT */
/*
 * Evidence as JSON and back. Far's half arrives from a peer and stored runs from a file, so every count is
 * bounded and every type checked; the scalar fields of an end and of a connection are rows of two tables.
 */
#include "model/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* No figure of a run is larger; differences of a file's figures then can't overflow. */
#define MAX_VALUE (1LL << 60)

enum field_kind { FIELD_UNSIGNED, FIELD_SIGNED, FIELD_REAL, FIELD_BOOL, FIELD_TEXT };

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset, size;
};

#define ROW(type, kind, member) {#member, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member)}

static const struct field connection_fields[] = {
	ROW(wr_connection, FIELD_UNSIGNED, sndbuf_req_bytes),
	ROW(wr_connection, FIELD_UNSIGNED, sndbuf_eff_bytes),
	ROW(wr_connection, FIELD_UNSIGNED, rcvbuf_req_bytes),
	ROW(wr_connection, FIELD_UNSIGNED, rcvbuf_eff_bytes),
	ROW(wr_connection, FIELD_BOOL, snd_autotuning),
	ROW(wr_connection, FIELD_BOOL, rcv_autotuning),
	ROW(wr_connection, FIELD_BOOL, nodelay),
	ROW(wr_connection, FIELD_SIGNED, mss_bytes),
	ROW(wr_connection, FIELD_SIGNED, ran_on_cpu),
	ROW(wr_connection, FIELD_TEXT, congestion),
	ROW(wr_connection, FIELD_TEXT, local),
	ROW(wr_connection, FIELD_TEXT, peer),
	ROW(wr_connection, FIELD_TEXT, sndbuf_option),
	ROW(wr_connection, FIELD_TEXT, rcvbuf_option),
	{NULL, 0, 0, 0},
};

static const struct field end_fields[] = {
	ROW(wr_end, FIELD_TEXT, host),
	ROW(wr_end, FIELD_TEXT, kernel),
	ROW(wr_end, FIELD_TEXT, tcp_rmem),
	ROW(wr_end, FIELD_TEXT, tcp_wmem),
	ROW(wr_end, FIELD_UNSIGNED, tcp_rmem_max_bytes),
	ROW(wr_end, FIELD_UNSIGNED, tcp_wmem_max_bytes),
	ROW(wr_end, FIELD_UNSIGNED, core_rmem_max_bytes),
	ROW(wr_end, FIELD_UNSIGNED, core_wmem_max_bytes),
	ROW(wr_end, FIELD_UNSIGNED, unix_max_dgram_qlen),
	ROW(wr_end, FIELD_SIGNED, n_cpus),
	ROW(wr_end, FIELD_SIGNED, write_bytes),
	ROW(wr_end, FIELD_SIGNED, duration_ns),
	ROW(wr_end, FIELD_UNSIGNED, zerocopy_writes),
	ROW(wr_end, FIELD_UNSIGNED, zerocopy_copied),
	ROW(wr_end, FIELD_UNSIGNED, latency_p50_ns),
	ROW(wr_end, FIELD_UNSIGNED, latency_p90_ns),
	ROW(wr_end, FIELD_UNSIGNED, latency_p99_ns),
	ROW(wr_end, FIELD_UNSIGNED, latency_p999_ns),
	ROW(wr_end, FIELD_UNSIGNED, latency_max_ns),
	ROW(wr_end, FIELD_UNSIGNED, link_late_p99_ns),
	ROW(wr_end, FIELD_REAL, other_cpu_ratio),
	ROW(wr_end, FIELD_BOOL, may_force),
	{NULL, 0, 0, 0},
};

static const struct field evidence_fields[] = {
	ROW(wr_evidence, FIELD_SIGNED, steady_from_ns),
	ROW(wr_evidence, FIELD_SIGNED, steady_to_ns),
	ROW(wr_evidence, FIELD_SIGNED, path_rtt_ns),
	ROW(wr_evidence, FIELD_REAL, steady_bps),
	ROW(wr_evidence, FIELD_BOOL, ramping),
	ROW(wr_evidence, FIELD_BOOL, complete),
	{NULL, 0, 0, 0},
};

static json_t *field_to_json(const struct field *field, const void *value)
{
	switch (field->kind) {
	case FIELD_UNSIGNED:
		return *(const uint64_t *)value == WR_UNSET ? NULL : json_integer((json_int_t)*(const uint64_t *)value);
	case FIELD_SIGNED:
		return json_integer(*(const int64_t *)value);
	case FIELD_REAL:
		return json_real(*(const double *)value);
	case FIELD_BOOL:
		return json_boolean(*(const bool *)value);
	case FIELD_TEXT:
		return json_string(value);
	}
	return NULL;
}

static json_t *fields_to_json(const struct field *fields, const void *from)
{
	json_t *object = json_object();

	for (; fields->key; fields++) {
		json_t *value = field_to_json(fields, (const char *)from + fields->offset);

		if (value)
			json_object_set_new(object, fields->key, value);
	}
	return object;
}

static bool field_from_json(const struct field *field, void *to, const json_t *value)
{
	switch (field->kind) {
	case FIELD_UNSIGNED:
		*(uint64_t *)to = json_is_integer(value) && json_integer_value(value) >= 0
					  ? (uint64_t)json_integer_value(value)
					  : WR_UNSET;
		return !value || json_is_integer(value);
	case FIELD_SIGNED:
		*(int64_t *)to = json_integer_value(value);
		return !value || (json_is_integer(value) && *(int64_t *)to >= -MAX_VALUE && *(int64_t *)to <= MAX_VALUE);
	case FIELD_REAL:
		*(double *)to = json_number_value(value);
		return !value || json_is_number(value);
	case FIELD_BOOL:
		*(bool *)to = json_is_true(value);
		return !value || json_is_boolean(value);
	case FIELD_TEXT:
		memset(to, 0, field->size);
		if (json_is_string(value))
			strncpy(to, json_string_value(value), field->size - 1);
		return !value || json_is_string(value);
	}
	return false;
}

static int fields_from_json(const struct field *fields, void *to, const json_t *object, struct weir_err *err)
{
	for (; fields->key; fields++) {
		if (!field_from_json(fields, (char *)to + fields->offset, json_object_get(object, fields->key)))
			return wr_err_set(err, WEIR_ERR_PEER, "evidence", "%s has the wrong type or is out of bounds", fields->key);
	}
	return 0;
}

double wr_end_counter(const struct wr_end *end, const char *name)
{
	for (size_t i = 0; i < end->n_counters; i++) {
		if (strcmp(end->counters[i].name, name) == 0)
			return (double)end->counters[i].delta;
	}
	return NAN;
}

const char *wr_end_pasted(const struct wr_end *end, const char *name)
{
	for (size_t i = 0; i < end->n_pasted; i++) {
		if (strcmp(end->pasted[i].name, name) == 0)
			return end->pasted[i].value;
	}
	return NULL;
}

double wr_pasted_number(const struct wr_pasted *pasted, size_t n, const char *name, int nth)
{
	const char *text = NULL;
	char *rest;

	for (size_t i = 0; i < n && !text; i++) {
		if (strcmp(pasted[i].name, name) == 0)
			text = pasted[i].value;
	}
	for (; text; text = rest) {
		double value = strtod(text, &rest);

		if (rest == text)
			return NAN;
		if (nth-- == 0)
			return value;
	}
	return NAN;
}

double wr_end_devices(const struct wr_end *end, const char *what, char worst[32])
{
	double sum = NAN, most = 0;
	size_t length = strlen(what);

	worst[0] = '\0';
	for (size_t i = 0; i < end->n_counters; i++) {
		const struct wr_counter *counter = &end->counters[i];

		if (strncmp(counter->name, what, length) != 0 || counter->name[length] != '@')
			continue;
		sum = (isnan(sum) ? 0 : sum) + (double)counter->delta;
		if ((double)counter->delta > most) {
			most = (double)counter->delta;
			strncpy(worst, counter->name + length + 1, 31);
			worst[31] = '\0';
		}
	}
	return sum;
}

void wr_end_deinit(struct wr_end *end)
{
	for (size_t i = 0; i < end->n_connections; i++)
		wr_series_deinit(&end->connections[i].series);
	free(end->connections);
	end->connections = NULL;
	end->n_connections = 0;
}

void wr_end_blank(struct wr_end *end)
{
	memset(end, 0, sizeof *end);
	end->tcp_rmem_max_bytes = end->tcp_wmem_max_bytes = WR_UNSET;
	end->core_rmem_max_bytes = end->core_wmem_max_bytes = end->unix_max_dgram_qlen = WR_UNSET;
	end->latency_p50_ns = end->latency_p90_ns = end->latency_p99_ns = WR_UNSET;
	end->latency_p999_ns = end->latency_max_ns = WR_UNSET;
	end->link_late_p99_ns = WR_UNSET;
	end->zerocopy_writes = end->zerocopy_copied = WR_UNSET;
	end->other_cpu_ratio = -1;
}

int wr_end_init(struct wr_end *end, size_t n_connections, struct weir_err *err)
{
	wr_end_blank(end);
	end->connections = calloc(n_connections ? n_connections : 1, sizeof *end->connections);
	if (!end->connections)
		return wr_err_memory(err, "connections");
	end->n_connections = n_connections;
	return 0;
}

/* @every: of the samples every so many-th; 0 none of them */
static json_t *end_to_json(const struct wr_end *end, size_t every)
{
	json_t *object = fields_to_json(end_fields, end);
	json_t *connections = json_array(), *counters = json_object();

	for (size_t i = 0; i < end->n_connections; i++) {
		json_t *connection = fields_to_json(connection_fields, &end->connections[i]);

		if (every)
			json_object_set_new(connection, "samples",
					    wr_series_to_json_every(&end->connections[i].series, every));
		json_array_append_new(connections, connection);
	}
	for (size_t i = 0; i < end->n_counters; i++)
		json_object_set_new(counters, end->counters[i].name, json_integer(end->counters[i].delta));
	json_object_set_new(object, "connections", connections);
	json_object_set_new(object, "counters", counters);
	if (end->n_settings)
		json_object_set_new(object, "settings", wr_settings_to_json(end));
	return object;
}

json_t *wr_settings_to_json(const struct wr_end *end)
{
	json_t *settings = json_array();

	for (size_t i = 0; i < end->n_settings; i++) {
		json_t *setting = json_pack("{s:s,s:I}", "name", end->settings[i].name, "requested",
					    (json_int_t)end->settings[i].requested);

		if (end->settings[i].effective != WR_ABSENT)
			json_object_set_new(setting, "effective", json_integer(end->settings[i].effective));
		json_array_append_new(settings, setting);
	}
	return settings;
}

json_t *wr_end_to_json(const struct wr_end *end, bool with_samples)
{
	return end_to_json(end, with_samples ? 1 : 0);
}

static void counters_from_json(struct wr_end *end, json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		struct wr_counter *counter = &end->counters[end->n_counters];

		if (end->n_counters == WR_MAX_COUNTERS)
			return;
		strncpy(counter->name, name, sizeof counter->name - 1);
		counter->delta = json_integer_value(value);
		end->n_counters++;
	}
}

static void settings_from_json(struct wr_end *end, const json_t *array)
{
	json_t *object;
	size_t i;

	json_array_foreach((json_t *)array, i, object) {
		const json_t *effective = json_object_get(object, "effective");
		const char *name = json_string_value(json_object_get(object, "name"));
		struct wr_setting *setting = &end->settings[end->n_settings];

		if (end->n_settings == WR_MAX_SETTINGS || !name)
			return;
		snprintf(setting->name, sizeof setting->name, "%s", name);
		setting->requested = json_integer_value(json_object_get(object, "requested"));
		setting->effective = json_is_integer(effective) ? json_integer_value(effective) : WR_ABSENT;
		end->n_settings++;
	}
}

int wr_end_from_json(struct wr_end *end, const json_t *object, struct weir_err *err)
{
	const json_t *connections = json_object_get(object, "connections");
	size_t n = json_array_size(connections);

	if (!json_is_array(connections) || n > WR_MAX_STREAMS)
		return wr_err_set(err, WEIR_ERR_PEER, "evidence", "an end has no connections, or too many");
	if (wr_end_init(end, n, err) < 0 || fields_from_json(end_fields, end, object, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const json_t *connection = json_array_get(connections, i);
		const json_t *samples = json_object_get(connection, "samples");

		if (fields_from_json(connection_fields, &end->connections[i], connection, err) < 0)
			return -1;
		if (samples && wr_series_from_json(&end->connections[i].series, samples, err) < 0)
			return -1;
	}
	counters_from_json(end, json_object_get(object, "counters"));
	settings_from_json(end, json_object_get(object, "settings"));
	return 0;
}

void wr_evidence_deinit(struct wr_evidence *evidence)
{
	wr_end_deinit(&evidence->near);
	wr_end_deinit(&evidence->far);
	wr_plan_deinit(&evidence->plan);
}

static size_t end_values(const struct wr_end *end)
{
	size_t n = 0;

	for (size_t i = 0; i < end->n_connections; i++)
		n += end->connections[i].series.n_samples * WR_N_METRICS;
	return n;
}

json_t *wr_evidence_to_json_within(const struct wr_evidence *evidence, size_t most_values)
{
	size_t every = 1 + (end_values(&evidence->near) + end_values(&evidence->far)) / (most_values + 1);
	json_t *object = fields_to_json(evidence_fields, evidence);

	json_object_set_new(object, "schema", json_string("weir.evidence/1"));
	json_object_set_new(object, "plan", wr_plan_to_json(&evidence->plan));
	json_object_set_new(object, "near", end_to_json(&evidence->near, every));
	json_object_set_new(object, "far", end_to_json(&evidence->far, every));
	return object;
}

json_t *wr_evidence_to_json(const struct wr_evidence *evidence)
{
	return wr_evidence_to_json_within(evidence, SIZE_MAX - 1);
}

int wr_evidence_from_json(struct wr_evidence *evidence, const json_t *object, struct weir_err *err)
{
	memset(evidence, 0, sizeof *evidence);
	if (fields_from_json(evidence_fields, evidence, object, err) < 0 ||
	    wr_plan_from_json(&evidence->plan, json_object_get(object, "plan"), err) < 0 ||
	    wr_end_from_json(&evidence->near, json_object_get(object, "near"), err) < 0 ||
	    wr_end_from_json(&evidence->far, json_object_get(object, "far"), err) < 0) {
		wr_evidence_deinit(evidence);
		return -1;
	}
	return 0;
}
