/* SPDX-License-Identifier: MIT */
/*
 * A plan: everything that one transfer is asked to be. Its fields are option rows, so the command line, the
 * control protocol and stored runs write the same things in the same words.
 */
#ifndef WR_MODEL_PLAN_H
#define WR_MODEL_PLAN_H

#include <jansson.h>

#include "base/option.h"
#include "base/units.h"

#define WR_DEFAULT_PORT 5201
#define WR_MAX_STREAMS 128
#define WR_MAX_READ_BYTES (1U << 20)

/*
 * Sizes in bytes, rates in bit/s, times in ns; WR_UNSET where nobody asked. The texts belong to whoever filled
 * the plan (argv, or the JSON object that wr_plan_from_json keeps in @texts).
 *
 * @len_bytes: size of the sender's writes; WR_UNSET: 128 KiB, cut to whole segments
 * @far_len_bytes: of far's writes or reads; if it is set @len_bytes is of near's writes or reads
 * @set, @far_set: socket options of either end, as os/sockopt.h reads them
 * @write_exact: keep @len_bytes even if it is not a multiple of the MSS
 * @transport: what the data runs over, a row of wr_transports; NULL is that of the target, and tcp in old evidence
 * @workload: NAME[:key=value,...]; what it means is the table's in workload/; NULL is "stream"
 * @force: use SO_*BUFFORCE where privileged (only weir tune asks for that)
 * @forget: drop what the sender's kernel remembers of the path before each connection
 */
struct wr_plan {
	bool reverse, nodelay, cork, zerocopy, msg_zerocopy, v4, v6, write_exact, force, forget;
	uint64_t port, streams, len_bytes, bytes, duration_ns, interval_ns, connect_timeout_ns;
	uint64_t sndbuf_bytes, rcvbuf_bytes, far_sndbuf_bytes, far_rcvbuf_bytes, window_bytes;
	uint64_t write_bps, read_bps, far_read_bps, far_len_bytes, notsent_lowat_bytes, mss_bytes;
	char set[WR_OPTION_LIST_TEXT], far_set[WR_OPTION_LIST_TEXT];
	const char *congestion, *bind, *cpu, *transport, *workload;
	json_t *texts;
};

/* The rows of a plan, for every command that measures. */
extern const struct wr_option wr_plan_options[];

/* wr_plan_finish - after parsing: -w into the four buffers, contradictions refused. Return: 0; -1 usage. */
int wr_plan_finish(struct wr_plan *plan, struct weir_err *err);

void wr_plan_deinit(struct wr_plan *plan);

/* wr_plan_is_tcp - whether the data runs over TCP, so that there is tcp_info to judge it by. */
bool wr_plan_is_tcp(const struct wr_plan *plan);

/* wr_plan_len - bytes of one write, or of one read, of an end; WR_UNSET: as the end likes. */
uint64_t wr_plan_len(const struct wr_plan *plan, bool far);

/* Requested buffers of an end, by role: @far picks the side. */
uint64_t wr_plan_sndbuf(const struct wr_plan *plan, bool far);
uint64_t wr_plan_rcvbuf(const struct wr_plan *plan, bool far);

/* wr_plan_is_stream - whether connections carry a plain byte stream, as fast as they can. */
bool wr_plan_is_stream(const struct wr_plan *plan);

/* wr_plan_workload_name - the workload's name without its keys. Return: @name. */
#define WR_WORKLOAD_NAME_TEXT 32
const char *wr_plan_workload_name(char name[WR_WORKLOAD_NAME_TEXT], const struct wr_plan *plan);

json_t *wr_plan_to_json(const struct wr_plan *plan);
int wr_plan_from_json(struct wr_plan *plan, const json_t *object, struct weir_err *err);

#endif
