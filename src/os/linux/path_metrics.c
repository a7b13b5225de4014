/* SPDX-License-Identifier: MIT */
/* As `ip tcp_metrics delete ADDRESS` does, by generic netlink. Source: net/ipv4/tcp_metrics.c, linux/tcp_metrics.h. */
#include "os/path_metrics.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/tcp_metrics.h>
#include <netinet/in.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "os/host.h"

#define REQUEST_BYTES 256
#define REPLY_BYTES 8192

struct talk {
	struct mnl_socket *socket;
	char reply[REPLY_BYTES];
};

static int id_attribute(const struct nlattr *attribute, void *data)
{
	uint16_t *id = data;

	if (mnl_attr_get_type(attribute) == CTRL_ATTR_FAMILY_ID && mnl_attr_validate(attribute, MNL_TYPE_U16) == 0)
		*id = mnl_attr_get_u16(attribute);
	return MNL_CB_OK;
}

static int id_message(const struct nlmsghdr *message, void *data)
{
	return mnl_attr_parse(message, sizeof(struct genlmsghdr), id_attribute, data);
}

static struct nlmsghdr *request_begin(char *buffer, uint16_t type, uint8_t command, uint8_t version)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(request, sizeof *generic);

	request->nlmsg_type = type;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	generic->cmd = command;
	generic->version = version;
	return request;
}

/* Return: 0, or an errno. */
static int exchange(struct talk *talk, struct nlmsghdr *request, mnl_cb_t each, void *data)
{
	int rc;

	if (mnl_socket_sendto(talk->socket, request, request->nlmsg_len) < 0)
		return errno;
	do {
		ssize_t n = mnl_socket_recvfrom(talk->socket, talk->reply, sizeof talk->reply);

		if (n < 0)
			return errno;
		rc = mnl_cb_run(talk->reply, (size_t)n, 0, 0, each, data);
	} while (rc > MNL_CB_STOP);
	return rc < 0 ? errno : 0;
}

static int family_id(struct talk *talk, uint16_t *id)
{
	char buffer[REQUEST_BYTES] = {0};
	struct nlmsghdr *request = request_begin(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);

	*id = 0;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, TCP_METRICS_GENL_NAME);
	return exchange(talk, request, id_message, id);
}

static int forget(struct talk *talk, uint16_t id, const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	char buffer[REQUEST_BYTES] = {0};
	struct nlmsghdr *request = request_begin(buffer, id, TCP_METRICS_CMD_DEL, TCP_METRICS_GENL_VERSION);

	if (address->sa_family == AF_INET)
		mnl_attr_put(request, TCP_METRICS_ATTR_ADDR_IPV4, 4, &((const struct sockaddr_in *)address)->sin_addr);
	else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		mnl_attr_put(request, TCP_METRICS_ATTR_ADDR_IPV4, 4, &v6->sin6_addr.s6_addr[12]);
	else
		mnl_attr_put(request, TCP_METRICS_ATTR_ADDR_IPV6, 16, &v6->sin6_addr);
	return exchange(talk, request, NULL, NULL);
}

bool wr_path_metrics_forget(const struct sockaddr *address)
{
	struct talk talk = {.socket = NULL};
	char saves_none[16];
	uint16_t id;
	int rc;

	if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
		return true;
	if (wr_sysctl_read("net.ipv4.tcp_no_metrics_save", saves_none, sizeof saves_none) == 0 && saves_none[0] == '1')
		return true;
	talk.socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!talk.socket)
		return false;
	rc = mnl_socket_bind(talk.socket, 0, MNL_SOCKET_AUTOPID) < 0 ? errno : family_id(&talk, &id);
	if (rc == 0)
		rc = forget(&talk, id, address);
	mnl_socket_close(talk.socket);
	return rc == 0 || rc == ESRCH || rc == ENOENT;
}
