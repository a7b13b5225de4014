/* SPDX-License-Identifier: MIT */
/* Samples as plain arrays; JSON by columns, so that a run of thousands of samples stays a fraction of a megabyte. */
#include "model/metric.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* What one end may hand over of one stream: an hour of samples every 200 ms. */
#define MAX_SAMPLES 20000
/* No figure of a transfer is larger; sums and differences of a peer's figures then can't overflow. */
#define MAX_VALUE (1LL << 60)

const struct wr_metric wr_metrics[WR_N_METRICS] = {
#define X(id, key, summary, source) {key, summary, source},
	WR_METRICS(X)
#undef X
};

void wr_series_deinit(struct wr_series *series)
{
	free(series->samples);
	*series = (struct wr_series){0};
}

int wr_series_reserve(struct wr_series *series, size_t capacity, struct weir_err *err)
{
	struct wr_sample *samples = realloc(series->samples, capacity * sizeof *samples);

	if (!samples)
		return wr_err_memory(err, "samples");
	series->samples = samples;
	series->capacity = capacity;
	return 0;
}

void wr_series_push(struct wr_series *series, const struct wr_sample *sample)
{
	if (series->stride == 0)
		series->stride = 1;
	if (series->n_pushed++ % series->stride != 0)
		return;
	if (series->n_samples == series->capacity) {
		series->stride *= 2;
		series->n_samples = series->capacity / 2;
		for (size_t i = 0; i < series->n_samples; i++)
			series->samples[i] = series->samples[2 * i];
	}
	series->samples[series->n_samples++] = *sample;
}

void wr_series_push_last(struct wr_series *series, const struct wr_sample *sample)
{
	if (series->n_samples == series->capacity)
		series->n_samples--;
	series->samples[series->n_samples++] = *sample;
}

const struct wr_sample *wr_series_at(const struct wr_series *series, int64_t t_ns)
{
	size_t low = 0, high = series->n_samples;

	if (high == 0)
		return NULL;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (series->samples[middle].value[WR_M_T_NS] <= t_ns)
			low = middle;
		else
			high = middle;
	}
	return &series->samples[low];
}

static bool metric_present(const struct wr_series *series, int id)
{
	for (size_t i = 0; i < series->n_samples; i++) {
		if (series->samples[i].value[id] != WR_ABSENT)
			return true;
	}
	return false;
}

static json_t *row_to_json(const struct wr_sample *sample, const int *ids, int n_ids)
{
	json_t *row = json_array();

	for (int j = 0; j < n_ids; j++) {
		int64_t value = sample->value[ids[j]];

		json_array_append_new(row, value == WR_ABSENT ? json_null() : json_integer(value));
	}
	return row;
}

json_t *wr_series_to_json_every(const struct wr_series *series, size_t every)
{
	json_t *keys = json_array(), *rows = json_array();
	int ids[WR_N_METRICS], n_ids = 0;

	for (int id = 0; id < WR_N_METRICS; id++) {
		if (!metric_present(series, id))
			continue;
		ids[n_ids++] = id;
		json_array_append_new(keys, json_string(wr_metrics[id].key));
	}
	for (size_t i = 0; i < series->n_samples; i++) {
		if (i % every == 0 || i + 1 == series->n_samples)
			json_array_append_new(rows, row_to_json(&series->samples[i], ids, n_ids));
	}
	return json_pack("{s:o,s:o}", "metrics", keys, "rows", rows);
}

json_t *wr_series_to_json(const struct wr_series *series)
{
	return wr_series_to_json_every(series, 1);
}

static int metric_find(const char *key)
{
	for (int id = 0; id < WR_N_METRICS; id++) {
		if (strcmp(wr_metrics[id].key, key) == 0)
			return id;
	}
	return -1;
}

int wr_series_from_json(struct wr_series *series, const json_t *object, struct weir_err *err)
{
	const json_t *keys = json_object_get(object, "metrics"), *rows = json_object_get(object, "rows");
	size_t n_keys = json_array_size(keys), n_rows = json_array_size(rows);
	int ids[2 * WR_N_METRICS];

	if (!json_is_array(keys) || !json_is_array(rows) || n_keys > 2 * WR_N_METRICS || n_rows > MAX_SAMPLES)
		return wr_err_set(err, WEIR_ERR_PEER, "samples", "samples are not metrics and rows, or too many");
	for (size_t j = 0; j < n_keys; j++) {
		const char *key = json_string_value(json_array_get(keys, j));

		ids[j] = key ? metric_find(key) : -1;
	}
	if (wr_series_reserve(series, n_rows ? n_rows : 1, err) < 0)
		return -1;
	series->n_samples = 0;
	for (size_t i = 0; i < n_rows; i++) {
		const json_t *row = json_array_get(rows, i);
		struct wr_sample *sample = &series->samples[series->n_samples++];

		for (int id = 0; id < WR_N_METRICS; id++)
			sample->value[id] = WR_ABSENT;
		for (size_t j = 0; j < n_keys; j++) {
			const json_t *value = json_array_get(row, j);

			if (ids[j] >= 0 && json_is_integer(value) && llabs(json_integer_value(value)) <= MAX_VALUE)
				sample->value[ids[j]] = json_integer_value(value);
		}
		if (sample->value[WR_M_T_NS] == WR_ABSENT)
			return wr_err_set(err, WEIR_ERR_PEER, "samples", "a sample has no time");
	}
	return 0;
}
