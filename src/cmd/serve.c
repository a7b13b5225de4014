/* SPDX-License-Identifier: MIT */
/* weir serve: the far end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/stop.h"
#include "model/plan.h"
#include "peer/server.h"

struct serve_options {
	struct wr_server_limits limits;
	uint64_t port, vsock_port;
	const char *unix_path;
	bool quiet;
};

#define MOST_VSOCK_PORT 4294967294U /* VMADDR_PORT_ANY is one more */
#define FIELD(field) offsetof(struct serve_options, field)

static int vsock_parse(void *target, const char *text, struct weir_err *err)
{
	struct serve_options *chosen = target;
	char *end;

	if (!text[0]) {
		chosen->vsock_port = WR_DEFAULT_PORT;
		return 0;
	}
	chosen->vsock_port = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && chosen->vsock_port >= 1 && chosen->vsock_port <= MOST_VSOCK_PORT)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "option", "'%.40s' is no port from 1 to %u", text, MOST_VSOCK_PORT);
}

static const struct wr_option options[] = {
	{"port", 'p', WR_OPTION_COUNT, FIELD(port), "PORT", NULL, 1, 65535, NULL,
	 "TCP port to listen on (5201, unless only something else is asked for)", NULL},
	{"unix", 0, WR_OPTION_TEXT, FIELD(unix_path), "PATH", NULL, 0, 0, NULL,
	 "listen on a unix socket that this user alone may use", NULL},
	{"vsock", 0, WR_OPTION_TEXT, FIELD(vsock_port), "[=PORT]", NULL, 0, 0, NULL,
	 "listen for virtual machines, or their host (port 5201)", vsock_parse},
	{"max-sessions", 0, WR_OPTION_COUNT, FIELD(limits.max_sessions), "N", "64", 1, WR_MAX_SESSIONS, NULL,
	 "clients at once", NULL},
	{"max-streams", 0, WR_OPTION_COUNT, FIELD(limits.max_streams), "N", "128", 1, WR_MAX_STREAMS, NULL,
	 "connections of one client", NULL},
	{"max-buffer", 0, WR_OPTION_SIZE, FIELD(limits.max_buffer_bytes), "SIZE", "64M", 4096, 1073741823, NULL,
	 "largest socket buffer that a client may ask for", NULL},
	{"max-time", 0, WR_OPTION_TIME, FIELD(limits.max_duration_ns), "TIME", "3600s", 1e9, 864000e9, NULL,
	 "longest run", NULL},
	{"max-rate", 0, WR_OPTION_RATE, FIELD(limits.max_rate_bps), "RATE", NULL, 1000, 0, NULL,
	 "fastest run of a client; unset: no limit", NULL},
	{"max-bytes", 0, WR_OPTION_SIZE, FIELD(limits.max_bytes), "SIZE", NULL, 1, 0, NULL,
	 "most bytes of one run; unset: no limit", NULL},
	{"quiet", 'q', WR_OPTION_FLAG, FIELD(quiet), NULL, NULL, 0, 0, NULL, "no line for each session", NULL},
	{0},
};

/* TCP alone, unless something else is asked for; then TCP too only by --port. */
static int listen_all(struct wr_server *server, const struct serve_options *chosen, struct weir_err *err)
{
	bool alone = chosen->unix_path || chosen->vsock_port != WR_UNSET;
	uint64_t port = chosen->port == WR_UNSET && !alone ? WR_DEFAULT_PORT : chosen->port;
	FILE *words = server->log;

	if ((port != WR_UNSET && wr_server_listen(server, &wr_transport_tcp, NULL, (uint32_t)port, err) < 0) ||
	    (chosen->unix_path && wr_server_listen(server, &wr_transport_unix, chosen->unix_path, 0, err) < 0) ||
	    (chosen->vsock_port != WR_UNSET &&
	     wr_server_listen(server, &wr_transport_vsock, NULL, (uint32_t)chosen->vsock_port, err) < 0))
		return -1;
	if (words && port != WR_UNSET)
		fprintf(words, "weir serve: listening on port %llu; on the other host: weir tune THIS_HOST\n",
			(unsigned long long)port);
	if (words && chosen->unix_path)
		fprintf(words, "weir serve: listening on unix:%s; on this host: weir run unix:%s\n", chosen->unix_path,
			chosen->unix_path);
	if (words && chosen->vsock_port != WR_UNSET)
		fprintf(words, "weir serve: listening on vsock port %llu; in a guest of this host: weir run vsock:2:%llu\n",
			(unsigned long long)chosen->vsock_port, (unsigned long long)chosen->vsock_port);
	return 0;
}

static int run(int argc, char **argv)
{
	static struct wr_server server; /* a thread that does not end in time may still look at it */
	struct serve_options chosen = {.vsock_port = WR_UNSET};
	struct weir_err err = {0};
	int first, rc = wr_command_options(&wr_command_serve, &chosen, argc, argv, false, &first);

	if (rc)
		return rc == 1 ? 0 : rc;
	if (first < argc) {
		err.code = WEIR_ERR_USAGE;
		snprintf(err.text, sizeof err.text, "'%.100s': serve takes no operand", argv[first]);
		return wr_command_fail(&wr_command_serve, &err, false);
	}
	wr_stop_catch();
	wr_server_init(&server, &chosen.limits, chosen.quiet ? NULL : stderr);
	rc = listen_all(&server, &chosen, &err);
	if (rc == 0)
		rc = wr_server_serve(&server, &wr_stop_signal, &err);
	wr_server_deinit(&server);
	return rc < 0 ? wr_command_fail(&wr_command_serve, &err, false) : wr_stop_status();
}

const struct wr_command wr_command_serve = {
	.name = "serve",
	.summary = "the far end of a measurement",
	.usage = "[OPTIONS]",
	.about = "Waits for weir clients and moves data with them, many at once. It reads no file, runs no command and\n"
		 "changes no setting of this host for a client. Ctrl-C ends it.",
	.example = "  weir serve --port 5201\n"
		   "      then on the other host: weir run HOST, or weir tune HOST",
	.options = options,
	.run = run,
};
