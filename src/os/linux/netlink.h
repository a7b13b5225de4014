/* SPDX-License-Identifier: MIT */
/* Setting up a network device of the caller's network namespace over rtnetlink. */
#ifndef WR_OS_LINUX_NETLINK_H
#define WR_OS_LINUX_NETLINK_H

#include <stdint.h>

#include "weir/err.h"

/*
 * wr_netlink_link_up - set a device's MTU and queue length and bring it up
 * @name: the device, "lo"
 * @mtu_bytes: 0 leaves it
 * @n_queue_packets: txqueuelen; 0 leaves it
 *
 * Return: 0; -1 with @err.
 */
int wr_netlink_link_up(const char *name, uint32_t mtu_bytes, uint32_t n_queue_packets, struct weir_err *err);

/*
 * wr_netlink_address_add - give a device an address; an IPv6 one is usable at once (no duplicate detection) and
 * second choice where a name has both
 * @family: AF_INET or AF_INET6
 * @address: as text
 */
int wr_netlink_address_add(const char *name, int family, const char *address, uint8_t n_prefix_bits,
			   struct weir_err *err);

/* wr_netlink_route_quickack - a route to one address, on which TCP acknowledges every segment at once */
int wr_netlink_route_quickack(const char *name, int family, const char *address, struct weir_err *err);

/* wr_netlink_no_qdisc - let packets reach the device at once, whatever net.core.default_qdisc says. */
int wr_netlink_no_qdisc(const char *name, struct weir_err *err);

#endif
