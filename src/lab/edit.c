/* SPDX-License-Identifier: MIT */
/*
 * Edits of packets. Lengths come from the buffer, never from the packet alone, so that a malformed one can't lead
 * outside. Source: RFC 3168 (ECN), RFC 7323 (window scale), RFC 1071 (checksums), virtio 1.2 section 5.1.6.
 */
#include "lab/edit.h"

#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <string.h>

#include "lab/element.h"

#define IPV4_HEADER_BYTES 20
#define IPV6_HEADER_BYTES 40
#define TCP_CHECKSUM_AT 16
#define TCP_OPTIONS_AT 20
#define TCP_FLAG_SYN 0x02
#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_WSCALE 3
#define ICMP_HEADER_BYTES 8
/* RFC 1812: as much of the packet as fits into 576 bytes; RFC 4443: into the least MTU. */
#define ICMPV4_MOST_BYTES 576
#define ICMPV6_MOST_BYTES 1280

static uint32_t load16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static void store16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* The Internet checksum's sum, folded, of an odd number of bytes too. */
static uint32_t sum16(const uint8_t *bytes, size_t n, uint32_t sum)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += load16(bytes + i);
	if (n % 2)
		sum += (uint32_t)bytes[n - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* IP version 4 or 6 when its fixed header is there; otherwise 0. */
static int version_of(const uint8_t *data, size_t n_bytes)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;

	if (n_bytes >= WR_LAB_VIRTIO_BYTES + IPV4_HEADER_BYTES && ip[0] >> 4 == 4)
		return 4;
	return n_bytes >= WR_LAB_VIRTIO_BYTES + IPV6_HEADER_BYTES && ip[0] >> 4 == 6 ? 6 : 0;
}

uint8_t wr_lab_edit_traits(const uint8_t *data, size_t n_bytes)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	int version = version_of(data, n_bytes);
	struct wr_lab_shape shape;
	uint8_t traits = 0, ecn;

	if (version == 0)
		return 0;
	ecn = version == 4 ? ip[1] & 3 : (ip[1] >> 4) & 3;
	if (ecn == 1 || ecn == 2)
		traits |= WR_LAB_TRAIT_ECT;
	if (version == 4 && !(ip[6] & 0x40))
		traits |= WR_LAB_TRAIT_FRAGMENTS;
	if (wr_lab_packet_find_l4(data, n_bytes, &shape) && shape.tcp && ip[shape.l4_offset_bytes + 13] & TCP_FLAG_SYN)
		traits |= WR_LAB_TRAIT_SYN;
	return traits;
}

static void fix_ipv4(uint8_t *ip, size_t n)
{
	size_t n_header = 4u * (ip[0] & 15);

	if (n_header < IPV4_HEADER_BYTES || n_header > n)
		return;
	store16(ip + 10, 0);
	store16(ip + 10, ~sum16(ip, n_header, 0));
}

static void mark_ce(uint8_t *data, size_t n_bytes)
{
	uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;

	switch (version_of(data, n_bytes)) {
	case 4:
		ip[1] |= 3;
		fix_ipv4(ip, n_bytes - WR_LAB_VIRTIO_BYTES);
		break;
	case 6:
		ip[1] |= 0x30;
		break;
	default:
		break;
	}
}

void wr_lab_edit_complete(uint8_t *data, size_t n_bytes)
{
	uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	size_t n = n_bytes - WR_LAB_VIRTIO_BYTES, at;
	struct virtio_net_hdr header;
	uint32_t sum;

	if (n_bytes < WR_LAB_VIRTIO_BYTES)
		return;
	memcpy(&header, data, sizeof header);
	at = (size_t)header.csum_start + header.csum_offset;
	if (header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && at + 2 <= n) {
		/* The field holds the pseudo-header's sum and is part of what is summed. */
		sum = ~sum16(ip + header.csum_start, n - header.csum_start, 0) & 0xffff;
		store16(ip + at, sum ? sum : 0xffff); /* 0 would say that a UDP packet has none */
	}
	header.flags = 0;
	header.csum_start = header.csum_offset = 0;
	memcpy(data, &header, sizeof header);
}

static void corrupt(uint8_t *data, size_t n_bytes, uint64_t chance)
{
	int version = version_of(data, n_bytes);
	size_t at = WR_LAB_VIRTIO_BYTES + (version == 6 ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES), bit;
	struct wr_lab_shape shape;

	wr_lab_edit_complete(data, n_bytes);
	if (version && wr_lab_packet_find_l4(data, n_bytes, &shape)) {
		at = WR_LAB_VIRTIO_BYTES + shape.l4_offset_bytes;
		if (!shape.tcp && n_bytes - at > 8)
			at += 8; /* UDP's own checksum must not become 0, which is none */
	}
	if (at >= n_bytes)
		return;
	bit = (size_t)(chance % (8 * (n_bytes - at)));
	data[at + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* Sum of the pseudo-header (RFC 793, RFC 8200 section 8.1). */
static uint32_t pseudo_sum(const uint8_t *ip, int version, uint32_t protocol, uint32_t n_l4)
{
	uint32_t sum = n_l4 + protocol;

	return version == 6 ? sum16(ip + 8, 32, sum) : sum16(ip + 12, 8, sum);
}

static void strip_wscale(uint8_t *data, size_t n_bytes)
{
	uint8_t *ip = data + WR_LAB_VIRTIO_BYTES, *l4, *end;
	size_t n = n_bytes - WR_LAB_VIRTIO_BYTES;
	struct wr_lab_shape shape;

	if (!version_of(data, n_bytes) || !wr_lab_packet_find_l4(data, n_bytes, &shape) || !shape.tcp)
		return;
	l4 = ip + shape.l4_offset_bytes;
	end = ip + shape.header_bytes;
	for (uint8_t *at = l4 + TCP_OPTIONS_AT; at < end && *at != OPTION_END;) {
		if (*at == OPTION_NOP) {
			at++;
			continue;
		}
		if (at + 1 >= end || at[1] < 2 || at + at[1] > end)
			break;
		if (at[0] == OPTION_WSCALE)
			memset(at, OPTION_NOP, at[1]);
		else
			at += at[1];
	}
	if (data[0] & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		return;
	store16(l4 + TCP_CHECKSUM_AT, 0);
	store16(l4 + TCP_CHECKSUM_AT, ~sum16(l4, n - shape.l4_offset_bytes,
					     pseudo_sum(ip, shape.ipv6 ? 6 : 4, IPPROTO_TCP, (uint32_t)(n - shape.l4_offset_bytes))));
}

void wr_lab_edit_apply(uint8_t *data, size_t n_bytes, uint8_t marks, uint64_t chance)
{
	if (marks & WR_LAB_MARK_CE)
		mark_ce(data, n_bytes);
	if (marks & WR_LAB_MARK_NO_WSCALE)
		strip_wscale(data, n_bytes);
	if (marks & WR_LAB_MARK_CORRUPT)
		corrupt(data, n_bytes, chance);
}

static size_t too_big_v4(const uint8_t *ip, size_t n, uint32_t mtu_bytes, uint8_t *out)
{
	size_t n_quoted = n < ICMPV4_MOST_BYTES - IPV4_HEADER_BYTES - ICMP_HEADER_BYTES
				  ? n : ICMPV4_MOST_BYTES - IPV4_HEADER_BYTES - ICMP_HEADER_BYTES;
	size_t n_out = IPV4_HEADER_BYTES + ICMP_HEADER_BYTES + n_quoted;
	uint8_t *icmp = out + IPV4_HEADER_BYTES;

	if (ip[9] == IPPROTO_ICMP)
		return 0;
	out[0] = 0x45;
	store16(out + 2, (uint32_t)n_out);
	out[8] = 64;
	out[9] = IPPROTO_ICMP;
	memcpy(out + 12, ip + 16, 4);
	memcpy(out + 16, ip + 12, 4);
	fix_ipv4(out, IPV4_HEADER_BYTES);
	icmp[0] = 3; /* destination unreachable */
	icmp[1] = 4; /* fragmentation needed */
	store16(icmp + 6, mtu_bytes);
	memcpy(icmp + ICMP_HEADER_BYTES, ip, n_quoted);
	store16(icmp + 2, ~sum16(icmp, ICMP_HEADER_BYTES + n_quoted, 0));
	return n_out;
}

static size_t too_big_v6(const uint8_t *ip, size_t n, uint32_t mtu_bytes, uint8_t *out)
{
	size_t n_quoted = n < ICMPV6_MOST_BYTES - IPV6_HEADER_BYTES - ICMP_HEADER_BYTES
				  ? n : ICMPV6_MOST_BYTES - IPV6_HEADER_BYTES - ICMP_HEADER_BYTES;
	uint32_t n_l4 = (uint32_t)(ICMP_HEADER_BYTES + n_quoted);
	uint8_t *icmp = out + IPV6_HEADER_BYTES;

	if (ip[6] == IPPROTO_ICMPV6)
		return 0;
	out[0] = 0x60;
	store16(out + 4, n_l4);
	out[6] = IPPROTO_ICMPV6;
	out[7] = 64;
	memcpy(out + 8, ip + 24, 16);
	memcpy(out + 24, ip + 8, 16);
	icmp[0] = 2; /* packet too big */
	store16(icmp + 6, mtu_bytes);
	memcpy(icmp + ICMP_HEADER_BYTES, ip, n_quoted);
	store16(icmp + 2, ~sum16(icmp, n_l4, pseudo_sum(out, 6, IPPROTO_ICMPV6, n_l4)));
	return IPV6_HEADER_BYTES + n_l4;
}

size_t wr_lab_edit_too_big(const uint8_t *data, size_t n_bytes, uint32_t mtu_bytes, uint8_t *out)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	int version = version_of(data, n_bytes);
	size_t n = 0;

	memset(out, 0, WR_LAB_TOO_BIG_BYTES);
	if (version == 4)
		n = too_big_v4(ip, n_bytes - WR_LAB_VIRTIO_BYTES, mtu_bytes, out + WR_LAB_VIRTIO_BYTES);
	else if (version == 6)
		n = too_big_v6(ip, n_bytes - WR_LAB_VIRTIO_BYTES, mtu_bytes, out + WR_LAB_VIRTIO_BYTES);
	return n ? WR_LAB_VIRTIO_BYTES + n : 0;
}
