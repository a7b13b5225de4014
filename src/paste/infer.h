/* SPDX-License-Identifier: MIT */
/* What a socket's text doesn't say but implies: a window of 0, the time between snapshots, locked buffers. */
#ifndef WR_PASTE_INFER_H
#define WR_PASTE_INFER_H

#include "paste/reader.h"

/*
 * wr_infer_delta - change of a metric between the first and the last snapshot, from 0 where there is only one; NAN
 * absent.
 */
double wr_infer_delta(const struct wr_paste_socket *socket, enum wr_metric_id id);

/* wr_infer_window - a peer's window of 0 isn't printed: put it where other signs show it. */
void wr_infer_window(const struct wr_paste *paste, struct wr_paste_socket *socket);

/*
 * wr_infer_times - t_ns of all samples: @interval_ns apart, or as far as the sockets' clocks have moved
 * Return: 0; -1 out of memory.
 */
int wr_infer_times(struct wr_paste *paste, uint64_t interval_ns, struct weir_err *err);

/* wr_infer_locks - whether the kernel or a program sized the buffers, and what was asked for then. */
void wr_infer_locks(const struct wr_paste *paste, struct wr_paste_socket *socket);

/* wr_infer_span - the judged interval of a case, and the rate in it. */
void wr_infer_span(struct wr_evidence *evidence, struct wr_paste_socket *near, struct wr_paste_socket *far);

#endif
