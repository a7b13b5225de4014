/* SPDX-License-Identifier: MIT */
/*
 * What the link does to the bytes of a packet besides cutting it: ECN marks, flipped bits, options taken out of a SYN,
 * and the ICMP answer to a packet that is too large. Pure: bytes in, bytes out; checksums are kept as they should be.
 */
#ifndef WR_LAB_EDIT_H
#define WR_LAB_EDIT_H

#include "lab/packet.h"

/* wr_lab_edit_traits - Return: the enum wr_lab_trait of a packet with its virtio header. */
uint8_t wr_lab_edit_traits(const uint8_t *data, size_t n_bytes);

/*
 * wr_lab_edit_apply - do to a packet what a run's marks say
 * @marks: of enum wr_lab_mark, COPY is ignored
 * @chance: picks the bit for WR_LAB_MARK_CORRUPT
 *
 * A flipped bit lies behind the IP header. The packet's checksum is completed before, because a receiver takes one
 * that is only the pseudo-header's sum for good without looking.
 */
void wr_lab_edit_apply(uint8_t *data, size_t n_bytes, uint8_t marks, uint64_t chance);

/* wr_lab_edit_complete - fill in a checksum that the sender left to its device, as on a wire. */
void wr_lab_edit_complete(uint8_t *data, size_t n_bytes);

#define WR_LAB_TOO_BIG_BYTES (WR_LAB_VIRTIO_BYTES + 1280)

/*
 * wr_lab_edit_too_big - the answer of a router whose next link takes only @mtu_bytes: ICMP fragmentation needed, or
 * ICMPv6 packet too big, from the address that the packet was sent to
 * @out: WR_LAB_TOO_BIG_BYTES
 *
 * Return: the bytes written; 0 when the packet deserves none (not IP, or ICMP itself).
 * Source: RFC 792, RFC 1191 section 4, RFC 1812 section 4.3.2, RFC 4443 section 3.2.
 */
size_t wr_lab_edit_too_big(const uint8_t *data, size_t n_bytes, uint32_t mtu_bytes, uint8_t *out);

#endif
