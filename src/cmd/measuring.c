/* SPDX-License-Identifier: MIT */
/* Options of the measuring commands. A lab hands its congestion control down through WEIR_CONGESTION. */
#include "cmd/measuring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/socket.h"
#include "report/report.h"
#include "transport/transport.h"
#include "workload/workload.h"

#define FIELD(field) offsetof(struct wr_measuring, field)

static const struct wr_option output_options[] = {
	{"json", 'J', WR_OPTION_FLAG, FIELD(json), NULL, NULL, 0, 0, NULL, "one JSON object on stdout", NULL},
	{"json-stream", 0, WR_OPTION_FLAG, FIELD(json_stream), NULL, NULL, 0, 0, "json",
	 "a JSON object a line as it happens", NULL},
	{"quiet", 'q', WR_OPTION_FLAG, FIELD(quiet), NULL, NULL, 0, 0, NULL, "no progress", NULL},
	{"confirm", 0, WR_OPTION_FLAG, FIELD(confirm), NULL, NULL, 0, 0, NULL,
	 "try to refute the verdict: change on another connection what it blames", NULL},
	{"evidence", 0, WR_OPTION_TEXT, FIELD(evidence), "FILE", NULL, 0, 0, NULL,
	 "also write every sample of both ends to FILE (JSON)", NULL},
	{"no-save", 0, WR_OPTION_FLAG, FIELD(archive.no_save), NULL, NULL, 0, 0, "db", "don't keep the result in the archive", NULL},
	{"db", 0, WR_OPTION_TEXT, FIELD(archive.db), "FILE", NULL, 0, 0, NULL,
	 "the archive (unset: ~/.local/share/weir/weir.db, or in XDG_DATA_HOME)", NULL},
	{0},
};

struct wr_option wr_measuring_options[WR_MAX_OPTIONS];

void wr_measuring_init(void)
{
	size_t n = 0;

	_Static_assert(offsetof(struct wr_measuring, plan) == 0, "the plan's rows hold offsets into the plan");
	for (const struct wr_option *row = wr_plan_options; row->name; row++)
		wr_measuring_options[n++] = *row;
	for (const struct wr_option *row = output_options; row->name; row++)
		wr_measuring_options[n++] = *row;
}

int wr_measuring_target(int argc, char **argv, int first, const char **target, struct weir_err *err)
{
	if (first == argc) {
		wr_err_set(err, WEIR_ERR_USAGE, "target", "which host? a TARGET is missing");
		return wr_err_hint(err, "weir %s HOST, with `weir serve` running there; to try it on this machine alone: "
					"weir lab --rate 100mbit --rtt 20ms -- weir %s far", argv[0], argv[0]);
	}
	if (first + 1 < argc)
		return wr_err_set(err, WEIR_ERR_USAGE, "target", "'%.100s': only one TARGET, please", argv[first + 1]);
	*target = argv[first];
	return 0;
}

const char *wr_measuring_congestion(const struct wr_command *command, const char *target)
{
	const char *name = wr_transport_of_target(target)->tcp ? getenv("WEIR_CONGESTION") : NULL;
	struct wr_socket_wish wish = {.sndbuf_bytes = WR_UNSET, .rcvbuf_bytes = WR_UNSET, .congestion = name};
	wr_auto_fd int fd = name ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

	if (fd < 0 || wr_socket_apply(fd, &wish, NULL) == 0)
		return name;
	fprintf(stderr, "weir %s: this user may not choose the lab's congestion control %s; the host's default is used\n",
		command->name, name);
	return NULL;
}

int wr_measuring_check(const struct wr_plan *plan, struct weir_err *err)
{
	struct wr_sockopt_list set;
	struct wr_work work;

	if (wr_work_parse(&work, plan, err) < 0 || wr_sockopt_parse(&set, plan->set, false, err) < 0)
		return -1;
	return wr_sockopt_parse(&set, plan->far_set, true, err);
}

int wr_measuring_parse(const struct wr_command *command, struct wr_measuring *chosen, int argc, char **argv,
		       const char **target)
{
	const struct wr_transport *transport;
	struct weir_err err = {0};
	int first, rc = wr_command_options(command, chosen, argc, argv, false, &first);

	if (rc)
		return rc;
	chosen->plan.texts = NULL;
	chosen->plan.force = chosen->plan.forget = false;
	if (wr_measuring_target(argc, argv, first, target, &err) < 0 || wr_plan_finish(&chosen->plan, &err) < 0 ||
	    wr_transport_choose(&transport, NULL, *target, &chosen->plan, &err) < 0)
		return wr_command_fail(command, &err, chosen->json || chosen->json_stream);
	chosen->plan.transport = transport->name;
	if (wr_measuring_check(&chosen->plan, &err) < 0)
		return wr_command_fail(command, &err, chosen->json || chosen->json_stream);
	if (!chosen->plan.congestion)
		chosen->plan.congestion = wr_measuring_congestion(command, *target);
	return 0;
}

void wr_measuring_deliver(const struct wr_command *command, const struct wr_measuring *chosen, json_t *result,
			  const char *text, json_t *evidence)
{
	int64_t id;

	if (chosen->json || chosen->json_stream) {
		/* Before it is printed: a script finds the number in it. */
		(void)wr_archive_save(command, &chosen->archive, result, evidence, text);
		if (chosen->json)
			wr_report_print(result, stdout);
		else
			wr_report_line(result, stdout);
	} else {
		fputs(text, stdout);
		fflush(stdout);
		id = wr_archive_save(command, &chosen->archive, result, evidence, text);
		if (id)
			printf("Saved     as run %lld; weir history show %lld prints it again\n", (long long)id, (long long)id);
		json_decref(result);
	}
	json_decref(evidence);
}

int wr_measuring_flush(const struct wr_command *command)
{
	struct weir_err err = {0};

	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	wr_err_errno(&err, WEIR_ERR_HOST, "write", errno, "the result could not be written to stdout");
	wr_command_fail(command, &err, false);
	return -1;
}
