/* SPDX-License-Identifier: MIT */
/* The table of transports, and what is the same for all of them. */
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "transport/transport.h"

const struct wr_transport *const wr_transports[] = {
	&wr_transport_tcp,
	&wr_transport_unix,
	&wr_transport_unix_seqpacket,
	&wr_transport_unix_dgram,
	&wr_transport_vsock,
	&wr_transport_vsock_seqpacket,
	&wr_transport_mem,
	NULL,
};

const struct wr_transport *wr_transport_find(const char *name)
{
	for (size_t i = 0; wr_transports[i]; i++) {
		if (strcmp(wr_transports[i]->name, name ? name : wr_transport_tcp.name) == 0)
			return wr_transports[i];
	}
	return NULL;
}

const struct wr_transport *wr_transport_of_target(const char *target)
{
	for (size_t i = 0; wr_transports[i]; i++) {
		const char *prefix = wr_transports[i]->prefix;

		if (prefix[0] && strncmp(target, prefix, strlen(prefix)) == 0)
			return wr_transports[i];
	}
	return &wr_transport_tcp;
}

static int unknown(const char *name, struct weir_err *err)
{
	char list[sizeof err->hint] = "";

	for (size_t i = 0; wr_transports[i]; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", wr_transports[i]->name);
	}
	wr_err_set(err, WEIR_ERR_USAGE, "option", "--transport %.40s: there is no such transport", name);
	return wr_err_hint(err, "%s", list);
}

/* Options of a plan that only some transports have. */
static int check_plan(const struct wr_transport *transport, const struct wr_plan *plan, struct weir_err *err)
{
	const struct {
		bool asked, has;
		const char *option;
	} rows[] = {
		{plan->congestion, transport->tcp, "congestion"}, {plan->nodelay, transport->tcp, "nodelay"},
		{plan->v4, transport->tcp, "ipv4"},		  {plan->v6, transport->tcp, "ipv6"},
		{plan->cork, transport->tcp, "cork"},		  {plan->zerocopy, transport->tcp, "zerocopy"},
		{plan->msg_zerocopy, transport->tcp, "msg-zerocopy"},
		{plan->notsent_lowat_bytes != WR_UNSET, transport->tcp, "notsent-lowat"},
		{plan->mss_bytes != WR_UNSET, transport->tcp, "mss"},
		{plan->set[0], transport->tcp, "set"},		  {plan->far_set[0], transport->tcp, "far-set"},
		{plan->bind, transport->tcp, "bind"},		  {plan->port != WR_UNSET, transport->port && !transport->inside, "port"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].asked && !rows[i].has)
			return wr_err_set(err, WEIR_ERR_USAGE, "option", "--%s: %s has nothing of the kind", rows[i].option,
					  transport->name);
	}
	return 0;
}

int wr_transport_choose(const struct wr_transport **transport, const char **rest, const char *target,
			const struct wr_plan *plan, struct weir_err *err)
{
	const struct wr_transport *by_target = wr_transport_of_target(target), *row = by_target;

	if (plan->transport) {
		row = wr_transport_find(plan->transport);
		if (!row)
			return unknown(plan->transport, err);
	}
	if (strcmp(row->prefix, by_target->prefix) != 0) {
		wr_err_set(err, WEIR_ERR_USAGE, "target", "--transport %s does not lead to '%.100s'", row->name, target);
		return wr_err_hint(err, "its targets are written %s", row->target);
	}
	if (row->inside && target[strlen(row->prefix)]) {
		wr_err_set(err, WEIR_ERR_USAGE, "target", "'%.100s': nothing may follow %s", target, row->prefix);
		return wr_err_hint(err, "a host of that name is written [%.20s]:PORT", row->name);
	}
	if (rest)
		*rest = target + strlen(row->prefix);
	*transport = row;
	return check_plan(row, plan, err);
}

const char *wr_address_text(char *out, const struct wr_address *address)
{
	address->transport->text(out, address);
	return out;
}

void wr_socket_ends_text(const struct wr_transport *transport, int fd, char *local, char *peer)
{
	struct wr_address address = {.transport = transport, .length = sizeof address.storage};

	if (local) {
		local[0] = '\0';
		if (getsockname(fd, (struct sockaddr *)&address.storage, &address.length) == 0)
			transport->text(local, &address);
	}
	address.length = sizeof address.storage;
	if (peer) {
		peer[0] = '\0';
		if (getpeername(fd, (struct sockaddr *)&address.storage, &address.length) == 0)
			transport->text(peer, &address);
	}
}

bool wr_address_is_local(const struct wr_address *address)
{
	return !address->transport->is_local || address->transport->is_local(address);
}

uint32_t wr_address_port(const struct wr_address *address)
{
	return address->transport->port ? address->transport->port(address) : 0;
}

void wr_listener_close(struct wr_listener *listener)
{
	if (listener->fd < 0)
		return;
	if (listener->transport->unlisten)
		listener->transport->unlisten(listener);
	close(listener->fd);
	*listener = WR_LISTENER_NONE;
}
