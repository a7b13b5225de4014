/* SPDX-License-Identifier: MIT */
/* Packets for tests: built as a stack would hand them over, and the checksum as RFC 1071 says it. */
#ifndef WR_LAB_PACKET_TESTING_H
#define WR_LAB_PACKET_TESTING_H

#include <linux/virtio_net.h>
#include <string.h>

#include "lab/packet.h"
#include "os/linux/tun.h"

#define FLAGS_ALL 0x99 /* CWR, ACK, PSH, FIN */

/* A super-packet to build: the IP header with @n_extension_bytes, TCP with timestamps or UDP, then the payload. */
struct recipe {
	bool ipv6, tcp;
	uint32_t n_extension_bytes, seg_bytes, payload_bytes;
};

static const struct recipe recipes[] = {
	{false, true, 0, 1448, 63712},	{false, true, 0, 1448, 1449},	{false, true, 8, 1448, 20000},
	{true, true, 0, 1428, 64260},	{true, true, 8, 1420, 30001},	{false, false, 0, 1472, 40000},
	{true, false, 0, 1452, 1453},	{false, true, 0, 48, 65000},	{true, true, 0, 8928, 62000},
};

static inline void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* The Internet checksum's sum, of an odd number of bytes too. */
static inline uint32_t ones_sum(const uint8_t *bytes, size_t n, uint32_t sum)
{
	for (size_t i = 0; i < n; i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static inline uint32_t pseudo(const uint8_t *ip, bool ipv6, uint32_t protocol, uint32_t n_l4)
{
	uint32_t sum = ipv6 ? ones_sum(ip + 8, 32, 0) : ones_sum(ip + 12, 8, 0);

	sum += n_l4 + protocol;
	return (sum & 0xffff) + (sum >> 16);
}

static inline uint32_t put_ip(uint8_t *ip, const struct recipe *recipe, uint32_t n_l4)
{
	uint32_t protocol = recipe->tcp ? 6 : 17, n = recipe->ipv6 ? 40 : 20;

	for (uint32_t i = 0; i < n + recipe->n_extension_bytes; i++)
		ip[i] = (uint8_t)(i * 7);
	n += recipe->n_extension_bytes;
	if (recipe->ipv6) {
		ip[0] = 0x60;
		put16(ip + 4, n_l4 + recipe->n_extension_bytes);
		ip[6] = (uint8_t)(recipe->n_extension_bytes ? 60 : protocol);
		ip[40] = (uint8_t)(recipe->n_extension_bytes ? protocol : ip[40]);
		ip[41] = recipe->n_extension_bytes ? 0 : ip[41];
		return n;
	}
	ip[0] = (uint8_t)(0x40 | n / 4);
	put16(ip + 2, n + n_l4);
	put16(ip + 4, 65530); /* the identification wraps on its way */
	put16(ip + 6, 0x4000);
	ip[9] = (uint8_t)protocol;
	put16(ip + 10, 0);
	put16(ip + 10, ~ones_sum(ip, n, 0) & 0xffff);
	return n;
}

static inline size_t build(uint8_t *data, const struct recipe *recipe)
{
	uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	uint32_t n_header = recipe->tcp ? 32 : 8, n_l4 = n_header + recipe->payload_bytes;
	uint32_t at = put_ip(ip, recipe, n_l4);
	uint8_t *l4 = ip + at;
	struct virtio_net_hdr header = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = recipe->tcp ? (recipe->ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4)
					: VIRTIO_NET_HDR_GSO_UDP_L4,
		.gso_size = (uint16_t)recipe->seg_bytes,
		.csum_start = (uint16_t)at,
		.csum_offset = recipe->tcp ? 16 : 6,
	};

	memcpy(data, &header, sizeof header);
	for (uint32_t i = 0; i < n_l4; i++)
		l4[i] = (uint8_t)(i * 31 + i / 251);
	if (recipe->tcp) {
		memcpy(l4 + 4, "\xff\xff\xf0\x00", 4); /* the sequence wraps too */
		l4[12] = 0x80;
		l4[13] = FLAGS_ALL;
	} else {
		put16(l4 + 4, n_l4);
	}
	put16(l4 + header.csum_offset, pseudo(ip, recipe->ipv6, recipe->tcp ? 6 : 17, n_l4));
	return WR_LAB_VIRTIO_BYTES + at + n_l4;
}

#endif
