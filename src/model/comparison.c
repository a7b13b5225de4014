/* SPDX-License-Identifier: MIT */
/* Comparisons as JSON. */
#include "model/comparison.h"

#include <math.h>
#include <stdlib.h>

const char *const wr_outcome_names[WR_N_OUTCOMES] = {"single", "undecided", "lower", "higher"};

void wr_comparison_deinit(struct wr_comparison *comparison)
{
	for (int side = 0; side < 2; side++) {
		json_decref(comparison->sources[side]);
		json_decref(comparison->only[side]);
	}
	for (size_t i = 0; i < comparison->n_compared; i++)
		json_decref(comparison->compared[i].cell);
	free(comparison->compared);
	for (size_t i = 0; i < comparison->n_differences; i++) {
		json_decref(comparison->differences[i].values[0]);
		json_decref(comparison->differences[i].values[1]);
	}
	*comparison = (struct wr_comparison){0};
}

bool wr_compared_is_worse(const struct wr_compared *compared, double margin_ratio)
{
	if (!compared->judged || !(compared->ratio < 1 - margin_ratio))
		return false;
	return compared->outcome == WR_OUTCOME_LOWER || compared->outcome == WR_OUTCOME_SINGLE;
}

static void set_ratio(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(object, key, json_real(round(value * 1e6) / 1e6));
}

/* Rates and sizes are whole numbers, ratios and small times are not. */
#define WHOLE_FROM 1000

static json_t *figure_value(double value)
{
	return fabs(value) >= WHOLE_FROM && fabs(value) < 1e18 ? json_integer(llround(value)) : json_real(value);
}

static json_t *compared_to_json(const struct wr_compared *compared)
{
	json_t *object = json_object();

	if (compared->figure)
		json_object_set_new(object, "figure", json_string(compared->figure));
	if (compared->cell)
		json_object_set(object, "cell", compared->cell);
	json_object_set_new(object, "n", json_pack("[I,I]", (json_int_t)compared->n[0], (json_int_t)compared->n[1]));
	if (isfinite(compared->median[0]) && isfinite(compared->median[1])) {
		json_object_set_new(object, "a", figure_value(compared->median[0]));
		json_object_set_new(object, "b", figure_value(compared->median[1]));
	}
	set_ratio(object, "ratio", compared->ratio);
	if (isfinite(compared->ci95_ratio[0])) {
		json_object_set_new(object, "ci95_ratio", json_pack("[f,f]", round(compared->ci95_ratio[0] * 1e6) / 1e6,
								    round(compared->ci95_ratio[1] * 1e6) / 1e6));
		json_object_set_new(object, "paired", json_boolean(compared->paired));
	}
	set_ratio(object, "p", compared->p);
	set_ratio(object, "rank_p", compared->rank_p);
	set_ratio(object, "min_effect_ratio", compared->min_effect_ratio);
	json_object_set_new(object, "outcome", json_string(wr_outcome_names[compared->outcome]));
	return object;
}

static json_t *difference_to_json(const struct wr_difference *difference)
{
	json_t *object = json_pack("{s:s,s:s}", "where", difference->where, "key", difference->key);

	if (difference->values[0])
		json_object_set(object, "a", difference->values[0]);
	if (difference->values[1])
		json_object_set(object, "b", difference->values[1]);
	return object;
}

json_t *wr_comparison_to_json(const struct wr_comparison *comparison)
{
	json_t *object = json_object(), *figures = json_array(), *differences = json_array();

	for (size_t i = 0; i < comparison->n_compared; i++)
		json_array_append_new(figures, compared_to_json(&comparison->compared[i]));
	for (size_t i = 0; i < comparison->n_differences; i++)
		json_array_append_new(differences, difference_to_json(&comparison->differences[i]));
	json_object_set_new(object, "compares", json_string(comparison->schema));
	json_object_set(object, "a", comparison->sources[0]);
	json_object_set(object, "b", comparison->sources[1]);
	json_object_set_new(object, "figures", figures);
	if (isfinite(comparison->overall.ratio))
		json_object_set_new(object, "overall", compared_to_json(&comparison->overall));
	json_object_set(object, "only_a", comparison->only[0]);
	json_object_set(object, "only_b", comparison->only[1]);
	json_object_set_new(object, "differences", differences);
	return object;
}
