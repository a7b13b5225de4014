/* SPDX-License-Identifier: MIT */
/*
 * The listener is made before the child is, so that near can connect at once. Its name is no file, and the kernel kills
 * the child with near, so nothing can be left behind. A child is a process of its own as a server is: the two ends share
 * no page tables, and a switch between them costs what it costs between programs.
 */
#include "peer/beside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "os/thread.h"
#include "peer/server.h"

static const struct wr_server_limits limits = {
	.max_sessions = 4,
	.max_streams = WR_MAX_STREAMS,
	.max_buffer_bytes = INT64_MAX,
	.max_duration_ns = INT64_MAX / 4,
	.max_rate_bps = WR_UNSET,
	.max_bytes = WR_UNSET,
};

/* A far end beside near ends with its process or with its listener. */
static const volatile sig_atomic_t never;

/* Signals are near's, which ends the child when it has what it wants. */
static _Noreturn void child_serve(struct wr_server *server, pid_t near)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0UL, 0UL, 0UL) < 0 || getppid() != near)
		_exit(1);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	(void)wr_server_serve(server, &never, NULL);
	_exit(0);
}

static int child_start(struct wr_beside *beside, struct wr_server *server, struct weir_err *err)
{
	pid_t near = getpid();

	beside->child = fork();
	if (beside->child == 0)
		child_serve(server, near);
	if (beside->child < 0) {
		beside->child = 0;
		return wr_err_errno(err, WEIR_ERR_HOST, "fork", errno, "starting the far end");
	}
	/* Its listener is its own now. */
	wr_server_deinit(server);
	free(server);
	return 0;
}

static void *thread_serve(void *argument)
{
	(void)wr_server_serve(argument, &never, NULL);
	return NULL;
}

static int thread_start(struct wr_beside *beside, struct wr_server *server, struct weir_err *err)
{
	int failure;

	server->inside = true;
	beside->server = server;
	failure = wr_thread_create(&beside->thread, false, thread_serve, server);
	if (failure == 0)
		return 0;
	beside->server = NULL;
	return wr_err_errno(err, WEIR_ERR_HOST, "pthread_create", failure, "starting the far end");
}

int wr_beside_start(struct wr_beside *beside, const struct wr_transport *transport, struct wr_address *address,
		    struct weir_err *err)
{
	struct wr_server *server = malloc(sizeof *server);

	if (!server)
		return wr_err_memory(err, "server");
	wr_server_init(server, &limits, NULL);
	if (wr_server_listen(server, transport->control, NULL, 0, err) == 0) {
		*address = server->listeners[0].address;
		if ((transport->inside ? thread_start(beside, server, err) : child_start(beside, server, err)) == 0)
			return 0;
	}
	wr_server_deinit(server);
	free(server);
	return -1;
}

void wr_beside_end(struct wr_beside *beside)
{
	if (beside->child > 0) {
		kill(beside->child, SIGKILL);
		while (waitpid(beside->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (beside->server) {
		/* It waits for this listener alone, which breaks then. */
		shutdown(beside->server->listeners[0].fd, SHUT_RDWR);
		pthread_join(beside->thread, NULL);
		/* What threads that don't end look at must stay. */
		if (wr_server_deinit(beside->server))
			free(beside->server);
	}
	beside->child = 0;
	beside->server = NULL;
}
