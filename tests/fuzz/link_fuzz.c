/* SPDX-License-Identifier: MIT */
/*
 * A link as it is said, "name value" a line: refused with words, or a configuration in bounds whose chains take packets
 * on a virtual clock and lose or invent none.
 */
#include "fuzz_link.h"

#define N_PACKETS 40
#define SEG_BYTES 1538
#define SECOND_NS 1000000000ULL

static uint64_t n_out;

static void emit(void *context, const struct wr_lab_run *run)
{
	CHECK(run->n_segs > 0, "an empty run");
	CHECK(run->at_ns >= *(const uint64_t *)context, "a segment leaves before it came");
	n_out += run->n_segs;
}

static uint64_t touched_by(const struct wr_lab_drops *drops, const struct wr_lab_element *element)
{
	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		if (wr_lab_elements[row] == element)
			return drops[row].n_touched;
	}
	return 0;
}

static void check_chain(const struct wr_lab_config *config, int end)
{
	static struct wr_lab_chain chain;
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	uint64_t at_ns = SECOND_NS, n_in = 0, n_dropped = 0;

	CHECK(wr_lab_chain_init(&chain, &config->ways[end], config->seed, at_ns, NULL) == 0, "no memory");
	n_out = 0;
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		uint32_t n = 1 + i * 7 % 44;
		struct wr_lab_run run = {.n_segs = n, .packet_segs = n, .seg_wire_bytes = SEG_BYTES,
					 .last_wire_bytes = i % 2 ? 78 : SEG_BYTES, .traits = (uint8_t)(i % 8), .at_ns = at_ns};

		wr_lab_chain_pass(&chain, &run, drops, &(struct wr_lab_sink){.emit = emit, .context = &at_ns});
		n_in += n;
		at_ns += i % 5 ? 100000 : SECOND_NS;
	}
	for (uint32_t row = 0; row < WR_LAB_MAX_ELEMENTS; row++)
		n_dropped += drops[row].n_segs;
	CHECK(n_in + touched_by(drops, &wr_lab_element_duplicate) == n_out + n_dropped,
	      "%llu segments and %llu copies in, %llu out, %llu dropped", (unsigned long long)n_in,
	      (unsigned long long)touched_by(drops, &wr_lab_element_duplicate), (unsigned long long)n_out,
	      (unsigned long long)n_dropped);
	wr_lab_chain_deinit(&chain);
}

/* Return: 0; -1 one of the lines is refused. */
static int read_wish(struct wr_lab_wish *wish, char *rest, struct weir_err *err)
{
	char *line;

	while ((line = strsep(&rest, "\n"))) {
		char *value = line, *name = strsep(&value, " ");

		if (!value || link_names_a_file(name))
			continue;
		if (wr_option_set(link_rows, wish, name, value, err) < 0)
			return -1;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct wr_lab_config config;
	struct wr_lab_wish wish;
	struct weir_err err = {0};

	memset(&wish, 0, sizeof wish);
	wr_option_defaults(link_rows, &wish);
	if (read_wish(&wish, text, &err) < 0 || wr_lab_config_resolve(&wish, &config, &err) < 0) {
		CHECK(err.code == WEIR_ERR_USAGE && err.text[0], "refused with code %d and '%s'", err.code, err.text);
	} else {
		link_check_config(&config);
		for (int end = 0; end < WR_LAB_N_ENDS; end++)
			check_chain(&config, end);
		wr_lab_config_deinit(&config);
	}
	free(text);
	return 0;
}
