/* SPDX-License-Identifier: MIT */
/* Host facts as JSON. Texts come from /proc and drivers: what is no UTF-8 is left out, as jansson refuses it. */
#include "model/facts.h"

#include "base/units.h"

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text[0])
		json_object_set_new(object, key, json_string(text));
}

static void set_positive(json_t *object, const char *key, int64_t value)
{
	if (value > 0)
		json_object_set_new(object, key, json_integer(value));
}

static void set_size(json_t *object, const char *key, uint64_t bytes)
{
	if (bytes != WR_UNSET)
		json_object_set_new(object, key, json_integer((json_int_t)bytes));
}

static json_t *nics_to_json(const struct wr_facts *facts)
{
	json_t *nics = json_array();

	for (size_t i = 0; i < facts->n_nics; i++) {
		const struct wr_nic *nic = &facts->nics[i];
		json_t *object = json_object();

		set_text(object, "name", nic->name);
		set_text(object, "driver", nic->driver);
		set_positive(object, "mtu_bytes", nic->mtu_bytes);
		set_positive(object, "speed_bps", nic->speed_bps);
		json_array_append_new(nics, object);
	}
	return nics;
}

json_t *wr_facts_to_json(const struct wr_facts *facts)
{
	json_t *object = json_object();

	set_text(object, "kernel", facts->kernel);
	set_text(object, "machine", facts->machine);
	set_text(object, "cpu_model", facts->cpu_model);
	set_positive(object, "n_cpus", facts->n_cpus);
	set_positive(object, "memory_bytes", facts->memory_bytes);
	set_text(object, "virtualisation", facts->virtualisation);
	set_text(object, "container", facts->container);
	json_object_set_new(object, "lab", json_boolean(facts->lab));
	set_text(object, "tcp_rmem", facts->tcp_rmem);
	set_text(object, "tcp_wmem", facts->tcp_wmem);
	set_size(object, "rmem_max_bytes", facts->core_rmem_max_bytes);
	set_size(object, "wmem_max_bytes", facts->core_wmem_max_bytes);
	set_text(object, "congestion", facts->congestion);
	json_object_set_new(object, "nics", nics_to_json(facts));
	set_positive(object, "nics_left_out", (int64_t)facts->n_nics_left_out);
	return object;
}
