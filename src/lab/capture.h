/* SPDX-License-Identifier: MIT */
/*
 * Packets as they leave the bottleneck, in a pcapng file with nanosecond stamps: segment by segment, as a tap on the
 * wire behind it would see them, whatever the ends hand over. The interfaces are named after their senders.
 */
#ifndef WR_LAB_CAPTURE_H
#define WR_LAB_CAPTURE_H

#include "lab/config.h"
#include "lab/packet.h"

struct wr_lab_capture;

/*
 * wr_lab_capture_new - begin a file
 * @path: is made or overwritten
 * @clock_offset_ns: from the link's clock to the time of day
 * @transit_ns: the most that lies between leaving the bottleneck and arriving
 *
 * Return: 0; -1 with @err when it can't be written.
 */
int wr_lab_capture_new(struct wr_lab_capture **out, const char *path, int64_t clock_offset_ns, uint64_t transit_ns,
		       struct weir_err *err);

/* wr_lab_capture_free - write what is left and end the file. */
struct wr_lab_capture *wr_lab_capture_free(struct wr_lab_capture *capture);

/*
 * wr_lab_capture_packet - a packet that @end has sent
 * @left_ns: when its last segment left the bottleneck; those before left earlier by what @rate_bps takes (0: at once)
 */
void wr_lab_capture_packet(struct wr_lab_capture *capture, enum wr_lab_end end, const uint8_t *data, size_t n_bytes,
			   uint64_t left_ns, uint64_t rate_bps);

/* wr_lab_capture_flush - write what no earlier packet can come for any more; before a sleep. */
void wr_lab_capture_flush(struct wr_lab_capture *capture);

#endif
