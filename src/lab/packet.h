/* SPDX-License-Identifier: MIT */
/*
 * One packet as TUN hands it over: a virtio-net header and an IP packet that may stand for many segments of the
 * MTU. Parsing says how many and how long they are; cutting makes a packet of some of them. Pure: bytes in, bytes out.
 */
#ifndef WR_LAB_PACKET_H
#define WR_LAB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a segment occupies on an Ethernet besides its IP packet: preamble and start 8, addresses and type 14,
 * check sequence 4, gap 12. 1 Gbit/s at MTU 1500 thus carries 941 Mbit/s of TCP payload (with timestamps).
 */
#define WR_LAB_FRAMING_BYTES 38

/* sizeof(struct virtio_net_hdr), which stands before each IP packet. */
#define WR_LAB_VIRTIO_BYTES 10

/* The largest packet: an IPv6 header beside a payload length of 65535. */
#define WR_LAB_MAX_PACKET_BYTES (WR_LAB_VIRTIO_BYTES + 40 + 65535)

/*
 * The most segments that a packet is taken for, and the longest headers that each of them repeats: 64 KiB in segments of
 * 48 bytes (TCP_MIN_GSO_SIZE in include/net/tcp.h), and far more than any stack writes. So a packet can't ask for more
 * buffers than the link keeps back.
 */
#define WR_LAB_MAX_SEGS 1400
#define WR_LAB_MAX_HEADER_BYTES 512

/*
 * The shape of a packet.
 * @n_segs: 1 to WR_LAB_MAX_SEGS
 * @ip_bytes: of the IP packet, header and all
 * @l4_offset_bytes: from the IP header to the TCP or UDP header
 * @header_bytes: what each segment repeats (IP and TCP or UDP headers)
 * @seg_payload_bytes: of every segment but the last; 0 when there is one only
 */
struct wr_lab_shape {
	uint32_t n_segs, ip_bytes, l4_offset_bytes, header_bytes, seg_payload_bytes;
	bool ipv6, tcp;
};

/*
 * wr_lab_packet_parse - find the shape of a packet
 * @data: virtio header and packet
 * @n_bytes: of both
 *
 * The lengths come from the packet's own headers, for the virtio header's hdr_len is only a hint. A packet that
 * claims to be many segments but can't be cut, or to be too many, is one segment of its whole length.
 */
void wr_lab_packet_parse(const uint8_t *data, size_t n_bytes, struct wr_lab_shape *shape);

/*
 * wr_lab_packet_find_l4 - where TCP or UDP begins and its payload, whatever the virtio header says
 *
 * Return: whether a whole header of either is there; then ipv6, tcp, l4_offset_bytes and header_bytes of @shape are set.
 */
bool wr_lab_packet_find_l4(const uint8_t *data, size_t n_bytes, struct wr_lab_shape *shape);

/* wr_lab_packet_wire_bytes - what @n_segs segments from @first_seg on occupy on the wire. */
uint64_t wr_lab_packet_wire_bytes(const struct wr_lab_shape *shape, uint32_t first_seg, uint32_t n_segs);

/* wr_lab_packet_cut_bytes - the size of the packet that wr_lab_packet_cut writes. */
size_t wr_lab_packet_cut_bytes(const struct wr_lab_shape *shape, uint32_t first_seg, uint32_t n_segs);

/*
 * wr_lab_packet_cut - the packet of some segments of another, as a sender would have made it
 * @data, @shape: the whole one, from wr_lab_packet_parse
 * @first_seg, @n_segs: which; must lie inside
 * @out: room for wr_lab_packet_cut_bytes
 *
 * Lengths, IP identification and checksum, TCP sequence and flags and the pseudo-header's sum are made to match.
 * Return: the bytes written.
 */
size_t wr_lab_packet_cut(const uint8_t *data, const struct wr_lab_shape *shape, uint32_t first_seg, uint32_t n_segs,
			 uint8_t *out);

#endif
