/* SPDX-License-Identifier: MIT */
/* What the causes of lost datagrams share. */
#ifndef WR_EXPLAIN_UDP_H
#define WR_EXPLAIN_UDP_H

#include "explain/features.h"

/* A queue that drops reads this much of its buffer at least, since freed memory is given back in quarters of it. */
#define WR_UDP_FULL_RATIO 0.7

/* wr_udp_prove - how much the socket has dropped. */
void wr_udp_prove(const struct wr_queue *queue, struct wr_finding *out);

/*
 * wr_udp_needed_bytes - SO_RCVBUF to ask for, so that bursts like those seen fit: each time the buffer was filled
 * once, (read + dropped) / read as much came. With headroom; NAN when nobody counted.
 */
double wr_udp_needed_bytes(const struct wr_queue *queue);

#endif
