/* SPDX-License-Identifier: MIT */
/*
 * Shapes and cuts of packets with a virtio-net header. A cut does what the kernel's GSO does for a run of
 * segments: FIN and PSH stay on the last segment, CWR on the first, the identification of IPv4 counts on, and the
 * TCP or UDP checksum field, which holds only the pseudo-header's sum, gets the new length.
 * Source: net/ipv4/tcp_offload.c and udp_offload.c, virtio 1.2 section 5.1.6, RFC 793, 8200.
 */
#include "lab/packet.h"

#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <string.h>

#include "os/linux/tun.h"

#define IPV4_HEADER_BYTES 20
#define IPV6_HEADER_BYTES 40
#define TCP_HEADER_BYTES 20
#define UDP_HEADER_BYTES 8
#define TCP_FLAG_FIN 0x01
#define TCP_FLAG_PSH 0x08
#define TCP_FLAG_CWR 0x80

_Static_assert(sizeof(struct virtio_net_hdr) == WR_LAB_VIRTIO_BYTES, "the short virtio header");

static uint32_t load16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static void store16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint32_t load32(const uint8_t *at)
{
	return load16(at) << 16 | load16(at + 2);
}

static void store32(uint8_t *at, uint32_t value)
{
	store16(at, value >> 16);
	store16(at + 2, value);
}

/* Skip IPv6's extension headers. Return: the protocol above; @offset moves to it, or past @n when malformed. */
static uint8_t skip_extensions(const uint8_t *ip, size_t n, uint8_t next, uint32_t *offset)
{
	while (next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS) {
		if (*offset + 8 > n)
			return IPPROTO_NONE;
		next = ip[*offset];
		*offset += 8u + 8u * ip[*offset + 1];
	}
	return next;
}

/* Where the protocol above IP begins, and which it is. */
static uint8_t parse_ip(const uint8_t *ip, size_t n, struct wr_lab_shape *shape)
{
	if (n >= IPV4_HEADER_BYTES && ip[0] >> 4 == 4) {
		shape->l4_offset_bytes = 4u * (ip[0] & 15);
		if (shape->l4_offset_bytes < IPV4_HEADER_BYTES || (load16(ip + 6) & 0x3fff) != 0)
			return IPPROTO_NONE;
		return ip[9];
	}
	if (n >= IPV6_HEADER_BYTES && ip[0] >> 4 == 6) {
		shape->ipv6 = true;
		shape->l4_offset_bytes = IPV6_HEADER_BYTES;
		return skip_extensions(ip, n, ip[6], &shape->l4_offset_bytes);
	}
	return IPPROTO_NONE;
}

static bool parse_l4(const uint8_t *ip, size_t n, uint8_t protocol, struct wr_lab_shape *shape)
{
	uint32_t at = shape->l4_offset_bytes;

	if (protocol == IPPROTO_TCP && at + TCP_HEADER_BYTES <= n) {
		shape->tcp = true;
		shape->header_bytes = at + 4u * (ip[at + 12] >> 4);
		return shape->header_bytes >= at + TCP_HEADER_BYTES && shape->header_bytes <= n;
	}
	shape->header_bytes = at + UDP_HEADER_BYTES;
	return protocol == IPPROTO_UDP && shape->header_bytes <= n;
}

void wr_lab_packet_parse(const uint8_t *data, size_t n_bytes, struct wr_lab_shape *shape)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	size_t n = n_bytes > WR_LAB_VIRTIO_BYTES ? n_bytes - WR_LAB_VIRTIO_BYTES : 0;
	struct virtio_net_hdr header;
	size_t n_segs;
	bool udp;

	*shape = (struct wr_lab_shape){.n_segs = 1, .ip_bytes = (uint32_t)n};
	if (n_bytes < WR_LAB_VIRTIO_BYTES)
		return;
	memcpy(&header, data, sizeof header);
	if (header.gso_type == VIRTIO_NET_HDR_GSO_NONE || header.gso_size == 0)
		return;
	udp = header.gso_type == VIRTIO_NET_HDR_GSO_UDP_L4;
	if (!(header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || header.gso_type == VIRTIO_NET_HDR_GSO_UDP)
		return;
	if (!parse_l4(ip, n, parse_ip(ip, n, shape), shape) || shape->tcp == udp ||
	    header.csum_start != shape->l4_offset_bytes || shape->header_bytes >= n ||
	    shape->header_bytes > WR_LAB_MAX_HEADER_BYTES)
		return;
	n_segs = (n - shape->header_bytes + header.gso_size - 1) / header.gso_size;
	if (n_segs < 2 || n_segs > WR_LAB_MAX_SEGS)
		return;
	shape->seg_payload_bytes = header.gso_size;
	shape->n_segs = (uint32_t)n_segs;
}

bool wr_lab_packet_find_l4(const uint8_t *data, size_t n_bytes, struct wr_lab_shape *shape)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	size_t n = n_bytes > WR_LAB_VIRTIO_BYTES ? n_bytes - WR_LAB_VIRTIO_BYTES : 0;

	*shape = (struct wr_lab_shape){.n_segs = 1, .ip_bytes = (uint32_t)n};
	return parse_l4(ip, n, parse_ip(ip, n, shape), shape);
}

/* Payload of some consecutive segments. */
static uint32_t payload_bytes(const struct wr_lab_shape *shape, uint32_t first_seg, uint32_t n_segs)
{
	uint32_t all = shape->ip_bytes - shape->header_bytes;

	if (first_seg + n_segs < shape->n_segs)
		return n_segs * shape->seg_payload_bytes;
	return all - first_seg * shape->seg_payload_bytes;
}

uint64_t wr_lab_packet_wire_bytes(const struct wr_lab_shape *shape, uint32_t first_seg, uint32_t n_segs)
{
	if (shape->n_segs == 1)
		return shape->ip_bytes + WR_LAB_FRAMING_BYTES;
	return (uint64_t)n_segs * (shape->header_bytes + WR_LAB_FRAMING_BYTES) + payload_bytes(shape, first_seg, n_segs);
}

size_t wr_lab_packet_cut_bytes(const struct wr_lab_shape *shape, uint32_t first_seg, uint32_t n_segs)
{
	if (shape->n_segs == 1)
		return WR_LAB_VIRTIO_BYTES + shape->ip_bytes;
	return WR_LAB_VIRTIO_BYTES + shape->header_bytes + payload_bytes(shape, first_seg, n_segs);
}

static uint32_t sum16(const uint8_t *bytes, size_t n, uint32_t sum)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += load16(bytes + i);
	return sum;
}

static uint32_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static void fix_ip(uint8_t *ip, const struct wr_lab_shape *shape, uint32_t n_bytes, uint32_t first_seg)
{
	if (shape->ipv6) {
		store16(ip + 4, n_bytes - IPV6_HEADER_BYTES);
		return;
	}
	store16(ip + 2, n_bytes);
	store16(ip + 4, load16(ip + 4) + first_seg);
	store16(ip + 10, 0);
	store16(ip + 10, ~fold(sum16(ip, shape->l4_offset_bytes, 0)));
}

/* The pseudo-header's sum, which the receiving stack or card completes. */
static uint32_t pseudo_sum(const uint8_t *ip, const struct wr_lab_shape *shape, uint32_t n_l4_bytes)
{
	uint32_t sum = n_l4_bytes + (shape->tcp ? IPPROTO_TCP : IPPROTO_UDP);

	return fold(shape->ipv6 ? sum16(ip + 8, 32, sum) : sum16(ip + 12, 8, sum));
}

static void fix_l4(uint8_t *ip, const struct wr_lab_shape *shape, uint32_t n_bytes, uint32_t first_seg, bool last)
{
	uint8_t *l4 = ip + shape->l4_offset_bytes;
	uint32_t n_l4_bytes = n_bytes - shape->l4_offset_bytes;

	if (!shape->tcp) {
		store16(l4 + 4, n_l4_bytes);
		store16(l4 + 6, pseudo_sum(ip, shape, n_l4_bytes));
		return;
	}
	store32(l4 + 4, load32(l4 + 4) + first_seg * shape->seg_payload_bytes);
	if (!last)
		l4[13] &= (uint8_t)~(TCP_FLAG_FIN | TCP_FLAG_PSH);
	if (first_seg > 0)
		l4[13] &= (uint8_t)~TCP_FLAG_CWR;
	store16(l4 + 16, pseudo_sum(ip, shape, n_l4_bytes));
}

size_t wr_lab_packet_cut(const uint8_t *data, const struct wr_lab_shape *shape, uint32_t first_seg, uint32_t n_segs,
			 uint8_t *out)
{
	size_t n_out = wr_lab_packet_cut_bytes(shape, first_seg, n_segs);
	uint32_t n_ip = (uint32_t)(n_out - WR_LAB_VIRTIO_BYTES);
	const uint8_t *payload = data + WR_LAB_VIRTIO_BYTES + shape->header_bytes;
	uint8_t *ip = out + WR_LAB_VIRTIO_BYTES;
	struct virtio_net_hdr header;

	if (shape->n_segs == 1) {
		memcpy(out, data, n_out);
		return n_out;
	}
	memcpy(out, data, WR_LAB_VIRTIO_BYTES + shape->header_bytes);
	memcpy(ip + shape->header_bytes, payload + (size_t)first_seg * shape->seg_payload_bytes, n_ip - shape->header_bytes);
	memcpy(&header, data, sizeof header);
	if (n_segs == 1) {
		header.gso_type = VIRTIO_NET_HDR_GSO_NONE;
		header.gso_size = 0;
	}
	memcpy(out, &header, sizeof header);
	fix_ip(ip, shape, n_ip, first_seg);
	fix_l4(ip, shape, n_ip, first_seg, first_seg + n_segs == shape->n_segs);
	return n_out;
}
