/* SPDX-License-Identifier: MIT */
/*
 * The far end. One port takes control and data connections of many sessions at once; each connection has a thread
 * and deadlines, so a silent or hostile peer costs itself alone. The server reads no file, runs no command and
 * changes no sysctl for a peer, except inside a lab's own namespace.
 */
#ifndef WR_PEER_SERVER_H
#define WR_PEER_SERVER_H

#include <pthread.h>
#include <signal.h>

#include "peer/control.h"
#include "peer/end_run.h"
#include "transport/transport.h"

#define WR_MAX_SESSIONS 256
#define WR_MAX_LISTENERS 4

/*
 * Caps on what a peer may ask.
 *
 * @max_buffer_bytes: of one SO_SNDBUF or SO_RCVBUF request
 * @max_duration_ns: of one run, with the time that its end may take
 * @max_rate_bps, @max_bytes: of one run, WR_UNSET none; streams are paced to their part, a run over its bytes ends
 */
struct wr_server_limits {
	uint64_t max_sessions, max_streams, max_buffer_bytes, max_duration_ns, max_rate_bps, max_bytes;
};

/* One client's control connection, which came over @transport by the listener at @port, and the run that it drives. */
struct wr_session {
	struct wr_server *server;
	const struct wr_transport *transport;
	uint32_t port;
	struct wr_control control;
	char token[WR_TOKEN_TEXT];
	pthread_cond_t arrived;
	struct wr_channel *data;
	size_t n_expected, n_arrived, n_streams;
	struct wr_plan plan;
	struct wr_end_run run;
	bool running, run_ends, said_done;
	char saved_rmem[96], saved_wmem[96];
};

/*
 * @sessions: the open ones, NULL where free; with n_connections, n_sessions, arrivals, stopping and what sessions say
 *	arrived under @lock
 * @arrivals: connections whose kind is not known yet
 * @inside: clients are threads of this process
 * @log: where a line a session goes, or NULL
 */
struct wr_server {
	struct wr_server_limits limits;
	pthread_mutex_t lock;
	struct wr_session *sessions[WR_MAX_SESSIONS];
	size_t n_sessions, n_connections, n_streams;
	struct wr_arrival *arrivals;
	bool stopping;
	struct wr_listener listeners[WR_MAX_LISTENERS];
	size_t n_listeners;
	bool lab, inside;
	FILE *log;
};

/* wr_server_init - @log may be NULL. */
void wr_server_init(struct wr_server *server, const struct wr_server_limits *limits, FILE *log);

/*
 * wr_server_listen - take connections of @transport too; at most WR_MAX_LISTENERS times, before wr_server_serve
 * @path, @port: as the transport's listen has them
 * Return: 0; -1 (WEIR_ERR_HOST) the port is taken, or the transport doesn't work here.
 */
int wr_server_listen(struct wr_server *server, const struct wr_transport *transport, const char *path, uint32_t port,
		     struct weir_err *err);

/* wr_server_serve - until *@stop; returns within a second of it. Return: 0; -1. */
int wr_server_serve(struct wr_server *server, const volatile sig_atomic_t *stop, struct weir_err *err);

/*
 * wr_server_deinit - end every session and wait for their threads, 2 s at most; @server must live as long as they
 * Return: whether all have ended.
 */
bool wr_server_deinit(struct wr_server *server);

/*
 * For sessions: wr_server_admit accepts who waits at @listener and gives the connection a thread (or closes it, at the
 * cap), and returns 0, or -1 with errno; wr_server_log writes a line with the peer's name.
 */
int wr_server_admit(struct wr_server *server, const struct wr_listener *listener);
void wr_server_log(struct wr_server *server, const char *peer, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* wr_session_serve - the life of a session, until its control connection ends or misses a deadline. */
void wr_session_serve(struct wr_session *session);

#endif
