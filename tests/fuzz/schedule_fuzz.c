/* SPDX-License-Identifier: MIT */
/*
 * A rate schedule: refused with its line, or steps in order that a server follows, never backwards, never sending more
 * than the highest rate, and within a time that the file can't choose.
 */
#include "fuzz.h"
#include "lab/schedule.h"

#define N_SEGMENTS 20
#define SEGMENT_BYTES 1538
#define WORK_PER_BYTE 8e9

static void check_steps(const struct wr_lab_rate_schedule *schedule)
{
	CHECK(schedule->n_steps >= 1 && schedule->n_steps <= WR_LAB_MAX_RATE_STEPS, "%zu steps", schedule->n_steps);
	CHECK(schedule->steps[0].from_ns == 0, "the first step is not at 0");
	for (size_t i = 1; i < schedule->n_steps; i++)
		CHECK(schedule->steps[i].from_ns > schedule->steps[i - 1].from_ns, "step %zu goes back", i);
	CHECK(wr_lab_schedule_most_bps(schedule) > 0, "nothing is ever sent");
}

static void check_served(const struct wr_lab_rate_schedule *schedule)
{
	double most_bps = (double)wr_lab_schedule_most_bps(schedule);
	struct wr_lab_server server = {.rate_bps = (uint64_t)most_bps, .schedule = schedule};
	uint64_t at_ns = 0, before_ns = 0;

	for (int i = 0; i < N_SEGMENTS; i++) {
		uint64_t backlog = wr_lab_server_backlog_bytes(&server, at_ns);

		wr_lab_server_serve(&server, at_ns, SEGMENT_BYTES);
		CHECK(server.busy_until_ns >= before_ns && server.busy_until_ns >= at_ns, "the server goes back");
		CHECK((double)(server.busy_until_ns - at_ns) >= SEGMENT_BYTES * WORK_PER_BYTE / most_bps - 1,
		      "a segment is sent faster than the highest rate");
		CHECK(wr_lab_server_backlog_bytes(&server, at_ns) >= backlog, "the backlog shrinks by what comes");
		before_ns = server.busy_until_ns;
		at_ns += i % 3 ? 1000000 : (server.busy_until_ns - at_ns) / 2;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct wr_lab_rate_schedule schedule;
	struct weir_err err = {0};

	if (wr_lab_schedule_parse("file", text, &schedule, &err) < 0) {
		CHECK(err.code == WEIR_ERR_USAGE && strncmp(err.text, "file:", 5) == 0, "refused with code %d and '%s'", err.code,
		      err.text);
		CHECK(!schedule.steps, "a schedule that was refused is left behind");
	} else {
		check_steps(&schedule);
		check_served(&schedule);
		wr_lab_schedule_deinit(&schedule);
	}
	free(text);
	return 0;
}
