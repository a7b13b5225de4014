/* SPDX-License-Identifier: MIT */
/*
 * rtnetlink requests, one socket and one acknowledged message each: a lab makes about ten of them, so there is
 * nothing to share. The caller's network namespace is the one that is changed. Source: rtnetlink(7), libmnl.
 */
#include "os/linux/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "base/err.h"
#include "base/mem.h"

/* Every request here is a header and a few short attributes. */
#define REQUEST_BYTES 512
/* What libmnl takes for any answer: a page of 8 KiB (its own MNL_SOCKET_BUFFER_SIZE is not a constant). */
#define REPLY_BYTES 8192

static void mnl_close_auto(struct mnl_socket **socket)
{
	if (*socket)
		mnl_socket_close(*socket);
}

/* Send one request and wait for its acknowledgement. Return: 0 or an errno. */
static int talk(struct nlmsghdr *request)
{
	__attribute__((cleanup(mnl_close_auto))) struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char reply[REPLY_BYTES];
	ssize_t n;

	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return errno;
	request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	request->nlmsg_seq = 1;
	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return errno;
	do {
		n = mnl_socket_recvfrom(socket, reply, sizeof reply);
		if (n < 0)
			return errno;
		n = mnl_cb_run(reply, (size_t)n, 1, mnl_socket_get_portid(socket), NULL, NULL);
	} while (n > MNL_CB_STOP);
	return n < 0 ? errno : 0;
}

static int device_index(const char *name, int *index, struct weir_err *err)
{
	*index = (int)if_nametoindex(name);
	if (*index == 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "if_nametoindex", errno, "there is no network device %s", name);
	return 0;
}

int wr_netlink_link_up(const char *name, uint32_t mtu_bytes, uint32_t n_queue_packets, struct weir_err *err)
{
	char buffer[REQUEST_BYTES] = {0};
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof *info);
	int rc;

	request->nlmsg_type = RTM_NEWLINK;
	info->ifi_family = AF_UNSPEC;
	info->ifi_flags = IFF_UP;
	info->ifi_change = IFF_UP;
	if (device_index(name, &info->ifi_index, err) < 0)
		return -1;
	if (mtu_bytes)
		mnl_attr_put_u32(request, IFLA_MTU, mtu_bytes);
	if (n_queue_packets)
		mnl_attr_put_u32(request, IFLA_TXQLEN, n_queue_packets);
	rc = talk(request);
	if (rc)
		return wr_err_errno(err, WEIR_ERR_HOST, "RTM_NEWLINK", rc, "can't bring up %s with MTU %u", name, mtu_bytes);
	return 0;
}

int wr_netlink_address_add(const char *name, int family, const char *address, uint8_t n_prefix_bits,
			   struct weir_err *err)
{
	char buffer[REQUEST_BYTES] = {0};
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifaddrmsg *info = mnl_nlmsg_put_extra_header(request, sizeof *info);
	size_t n = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	/* Preferred for no time, so that getaddrinfo offers IPv4 first (RFC 6724, rule 3); valid for ever. */
	struct ifa_cacheinfo lifetime = {.ifa_prefered = 0, .ifa_valid = UINT32_MAX};
	unsigned char bytes[sizeof(struct in6_addr)];
	int index, rc;

	request->nlmsg_type = RTM_NEWADDR;
	request->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	info->ifa_family = (uint8_t)family;
	info->ifa_prefixlen = n_prefix_bits;
	info->ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0;
	if (device_index(name, &index, err) < 0)
		return -1;
	info->ifa_index = (uint32_t)index;
	if (inet_pton(family, address, bytes) != 1)
		return wr_err_set(err, WEIR_ERR_USAGE, "inet_pton", "'%s' is not an address", address);
	mnl_attr_put(request, IFA_LOCAL, n, bytes);
	mnl_attr_put(request, IFA_ADDRESS, n, bytes);
	if (family == AF_INET6)
		mnl_attr_put(request, IFA_CACHEINFO, sizeof lifetime, &lifetime);
	rc = talk(request);
	if (rc)
		return wr_err_errno(err, WEIR_ERR_HOST, "RTM_NEWADDR", rc, "can't give %s the address %s", name, address);
	return 0;
}

int wr_netlink_no_qdisc(const char *name, struct weir_err *err)
{
	char buffer[REQUEST_BYTES] = {0};
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct tcmsg *info = mnl_nlmsg_put_extra_header(request, sizeof *info);
	int rc;

	request->nlmsg_type = RTM_NEWQDISC;
	request->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
	info->tcm_family = AF_UNSPEC;
	info->tcm_parent = TC_H_ROOT;
	if (device_index(name, &info->tcm_ifindex, err) < 0)
		return -1;
	mnl_attr_put_strz(request, TCA_KIND, "noqueue");
	rc = talk(request);
	if (rc)
		return wr_err_errno(err, WEIR_ERR_HOST, "RTM_NEWQDISC", rc, "can't give %s the qdisc noqueue", name);
	return 0;
}

int wr_netlink_route_quickack(const char *name, int family, const char *address, struct weir_err *err)
{
	char buffer[REQUEST_BYTES] = {0};
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct rtmsg *route = mnl_nlmsg_put_extra_header(request, sizeof *route);
	size_t n = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	unsigned char bytes[sizeof(struct in6_addr)];
	struct nlattr *metrics;
	int index, rc;

	request->nlmsg_type = RTM_NEWROUTE;
	request->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	route->rtm_family = (uint8_t)family;
	route->rtm_dst_len = (uint8_t)(8 * n);
	route->rtm_table = RT_TABLE_MAIN;
	route->rtm_protocol = RTPROT_STATIC;
	route->rtm_scope = family == AF_INET ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
	route->rtm_type = RTN_UNICAST;
	if (device_index(name, &index, err) < 0)
		return -1;
	if (inet_pton(family, address, bytes) != 1)
		return wr_err_set(err, WEIR_ERR_USAGE, "inet_pton", "'%s' is not an address", address);
	mnl_attr_put(request, RTA_DST, n, bytes);
	mnl_attr_put_u32(request, RTA_OIF, (uint32_t)index);
	metrics = mnl_attr_nest_start(request, RTA_METRICS);
	mnl_attr_put_u32(request, RTAX_QUICKACK, 1);
	mnl_attr_nest_end(request, metrics);
	rc = talk(request);
	if (rc)
		return wr_err_errno(err, WEIR_ERR_HOST, "RTM_NEWROUTE", rc, "can't make a route to %s", address);
	return 0;
}
