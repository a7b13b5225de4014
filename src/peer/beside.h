/* SPDX-License-Identifier: MIT */
/*
 * A far end beside near, for targets that name no server: in a child process, or for connections inside one process in
 * a thread. It takes this user's connections alone and ends with near, whatever ends that.
 */
#ifndef WR_PEER_BESIDE_H
#define WR_PEER_BESIDE_H

#include <pthread.h>
#include <sys/types.h>

#include "transport/transport.h"

/* @child: 0 without; @server: of the thread, NULL without */
struct wr_beside {
	pid_t child;
	struct wr_server *server;
	pthread_t thread;
};

/*
 * wr_beside_start - a server for connections of @transport, its @address without a file or port
 * Return: 0; -1 (WEIR_ERR_HOST).
 */
int wr_beside_start(struct wr_beside *beside, const struct wr_transport *transport, struct wr_address *address,
		    struct weir_err *err);

/* wr_beside_end - stop it and wait for its end; nothing is to do where none was started. */
void wr_beside_end(struct wr_beside *beside);

#endif
