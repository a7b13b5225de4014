/* SPDX-License-Identifier: MIT */
/* Loss of datagrams in figures. */
#include "explain/udp.h"

#include <math.h>

#include "base/units.h"

#define HEADROOM 1.25

void wr_udp_prove(const struct wr_queue *queue, struct wr_finding *out)
{
	double dropped = queue->dropped > 0 ? queue->dropped : queue->dropped_ever;
	char buffer[WR_UNIT_TEXT];

	wr_finding_prove(out, "drops", dropped, "count",
			 "the socket dropped %.0f packets%s, its receive buffer holds %s", dropped,
			 queue->dropped > 0 ? queue->looks > 1 ? " between the snapshots" : "" : " earlier",
			 wr_size_text(buffer, queue->rcvbuf_bytes));
}

double wr_udp_needed_bytes(const struct wr_queue *queue)
{
	double dropped = queue->dropped > 0 ? queue->dropped : queue->dropped_ever;

	return HEADROOM * queue->rcvbuf_bytes / 2 * (queue->received + dropped) / queue->received;
}
