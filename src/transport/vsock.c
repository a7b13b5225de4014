/* SPDX-License-Identifier: MIT */
/*
 * Sockets between a virtual machine and its host, or within one machine by vsock_loopback. On virtio and loopback the
 * writer may have as many bytes under way as the reader's SO_VM_SOCKETS_BUFFER_SIZE says (its credit), set before
 * connect() and listen(); SO_SNDBUF and SO_RCVBUF do nothing. On Hyper-V they are the sizes of the rings, and the
 * other does nothing. So both are set, and which of them counts is said.
 *
 * The kernel takes CID 1, and a machine's own CID, for this machine only when it has a local transport. Without one the
 * connection goes out to the hypervisor (af_vsock.c vsock_assign_transport), so that is looked at before connect().
 */
#include "transport/vsock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "base/err.h"
#include "base/mem.h"
#include "transport/dial.h"

#define LEAST_CREDIT 128 /* VSOCK_DEFAULT_BUFFER_MIN_SIZE, net/vmw_vsock/af_vsock.c */
/* Its folder is there when Hyper-V's transport is loaded. */
#define HYPERV_MODULE "/sys/module/hv_sock"

int wr_vsock_check(struct weir_err *err)
{
	wr_auto_fd int sock = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (sock >= 0)
		return 0;
	wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "this kernel gives no AF_VSOCK sockets");
	return wr_err_hint(err, "modprobe vsock, and the transport of your hypervisor; vsock_loopback for vsock:1");
}

static struct sockaddr_vm *name_of(struct wr_address *address)
{
	return (struct sockaddr_vm *)&address->storage;
}

static struct wr_address address_of(const struct wr_transport *transport, uint32_t cid, uint32_t port)
{
	struct wr_address address = {.transport = transport, .length = sizeof(struct sockaddr_vm)};

	*name_of(&address) = (struct sockaddr_vm){.svm_family = AF_VSOCK, .svm_cid = cid, .svm_port = port};
	return address;
}

/* A whole number up to @most. Return: whether the text is one; @end: what follows. */
static bool number_parse(const char *text, uint32_t most, uint32_t *number, const char **end)
{
	uint64_t value = 0;

	*end = text;
	for (; **end >= '0' && **end <= '9' && value <= most; (*end)++)
		value = 10 * value + (uint64_t)(**end - '0');
	*number = (uint32_t)value;
	return *end > text && value <= most;
}

static int resolve(struct wr_address *addresses, size_t n_addresses, size_t *n_found, const char *text,
		   const struct wr_plan *plan, struct weir_err *err)
{
	uint32_t cid, port = plan->port == WR_UNSET ? WR_DEFAULT_PORT : (uint32_t)plan->port;
	const char *end;
	bool right = number_parse(text, VMADDR_CID_ANY - 1, &cid, &end) && cid != VMADDR_CID_HYPERVISOR;

	(void)n_addresses;
	if (right && *end == ':')
		right = number_parse(end + 1, VMADDR_PORT_ANY - 1, &port, &end);
	if (!right || *end) {
		wr_err_set(err, WEIR_ERR_USAGE, "target", "'vsock:%.60s' is not vsock:CID or vsock:CID:PORT", text);
		return wr_err_hint(err, "CID 1 is this machine, 2 the host of a virtual machine, others a machine's own number");
	}
	addresses[0] = address_of(&wr_transport_vsock, cid, port);
	*n_found = 1;
	return 0;
}

void wr_vsock_text(char *out, const struct wr_address *address)
{
	const struct sockaddr_vm *name = (const struct sockaddr_vm *)&address->storage;

	/* What the kernel bound by itself has no CID of its own. */
	if (name->svm_cid == VMADDR_CID_ANY)
		snprintf(out, WR_NAME_TEXT, "vsock:any:%u", name->svm_port);
	else
		snprintf(out, WR_NAME_TEXT, "vsock:%u:%u", name->svm_cid, name->svm_port);
}

uint32_t wr_vsock_port(const struct wr_address *address)
{
	return ((const struct sockaddr_vm *)&address->storage)->svm_port;
}

void wr_vsock_set_port(struct wr_address *address, uint32_t port)
{
	name_of(address)->svm_port = port;
}

/* -- where a connection may lead -- */

/* Only addresses of this machine can be bound (af_vsock.c vsock_find_cid). Return: 0, or the errno. */
static int bind_error(uint32_t cid)
{
	wr_auto_fd int sock = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct wr_address address = address_of(&wr_transport_vsock, cid, VMADDR_PORT_ANY);

	if (sock < 0)
		return errno;
	return bind(sock, (const struct sockaddr *)&address.storage, address.length) < 0 ? errno : 0;
}

bool wr_vsock_is_local(const struct wr_address *address)
{
	uint32_t cid = ((const struct sockaddr_vm *)&address->storage)->svm_cid;

	return cid == VMADDR_CID_LOCAL || bind_error(cid) == 0;
}

/* Return: 0; -1 (WEIR_ERR_HOST) it would leave the machine though this machine is meant. */
static int check_leads_home(const struct wr_address *address, struct weir_err *err)
{
	char name[WR_NAME_TEXT];
	int error;

	if (!wr_vsock_is_local(address))
		return 0;
	error = bind_error(VMADDR_CID_LOCAL);
	if (error == 0)
		return 0;
	wr_err_errno(err, WEIR_ERR_HOST, "bind", error,
		     "%s is this machine, which has no local vsock transport, so it would be sought outside: bind(CID_LOCAL) failed",
		     wr_address_text(name, address));
	return wr_err_hint(err, "modprobe vsock_loopback (kernel 5.6, CONFIG_VSOCKETS_LOOPBACK)");
}

/* -- sockets -- */

static int vm_option(int fd, int option, const char *name, uint64_t bytes, struct weir_err *err)
{
	if (setsockopt(fd, AF_VSOCK, option, &bytes, sizeof bytes) == 0)
		return 0;
	return wr_err_errno(err, WEIR_ERR_HOST, "setsockopt", errno, "setting %s to %llu bytes", name,
			    (unsigned long long)bytes);
}

/* The size is kept within two bounds, the upper of which is 256 KiB unless it is moved first; the lower is 128 bytes. */
static int credit_set(int fd, uint64_t bytes, struct weir_err *err)
{
	if (vm_option(fd, SO_VM_SOCKETS_BUFFER_MAX_SIZE, "SO_VM_SOCKETS_BUFFER_MAX_SIZE",
		      bytes > LEAST_CREDIT ? bytes : LEAST_CREDIT, err) < 0)
		return -1;
	return vm_option(fd, SO_VM_SOCKETS_BUFFER_SIZE, "SO_VM_SOCKETS_BUFFER_SIZE", bytes, err);
}

static uint64_t credit_get(int fd)
{
	uint64_t bytes = 0;
	socklen_t length = sizeof bytes;

	return getsockopt(fd, AF_VSOCK, SO_VM_SOCKETS_BUFFER_SIZE, &bytes, &length) < 0 ? WR_UNSET : bytes;
}

int wr_vsock_apply(const struct wr_channel *channel, const struct wr_socket_wish *wish, struct weir_err *err)
{
	if (wish->rcvbuf_bytes != WR_UNSET && credit_set(channel->fd, wish->rcvbuf_bytes, err) < 0)
		return -1;
	return wr_socket_apply(channel->fd, wish, err);
}

static bool is_hyperv(void)
{
	return access(HYPERV_MODULE, F_OK) == 0;
}

/* The peer hears of more credit at once (virtio_transport_notify_buffer_size); Hyper-V's rings are fixed. */
int wr_vsock_resize(const struct wr_channel *channel, bool receive, uint64_t bytes, bool force, struct weir_err *err)
{
	(void)force;
	if (!receive || is_hyperv())
		return wr_err_set(err, WEIR_ERR_USAGE, "set", "only the credit of a vsock reader can be changed while data move");
	return credit_set(channel->fd, bytes, err);
}

static int connect_failed(const struct wr_address *address, int error, int64_t timeout_ns, struct weir_err *err)
{
	char name[WR_NAME_TEXT];

	wr_address_text(name, address);
	if (error == EINTR)
		return wr_err_set(err, WEIR_ERR_INTERRUPTED, "connect", "stopped while connecting to %s", name);
	if (error == ETIMEDOUT)
		wr_err_set(err, WEIR_ERR_PEER, "connect", "%s did not answer within %.1f s", name, (double)timeout_ns / 1e9);
	else
		wr_err_errno(err, WEIR_ERR_PEER, "connect", error, "connecting to %s", name);
	if (error == ENODEV)
		return wr_err_hint(err, "no vsock transport leads to that CID: is its module loaded, is the machine up?");
	return wr_err_hint(err, "run `weir serve --vsock` there, or name its port");
}

int wr_vsock_connect(struct wr_channel *channel, int type, const struct wr_address *address,
		     const struct wr_opening *opening, struct weir_err *err)
{
	wr_auto_fd int sock = socket(AF_VSOCK, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct wr_channel made = {.fd = sock};
	int error;

	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a vsock socket");
	if (check_leads_home(address, err) < 0 || (opening->wish && wr_vsock_apply(&made, opening->wish, err) < 0))
		return -1;
	error = wr_dial(sock, address, opening);
	if (error)
		return connect_failed(address, error, opening->timeout_ns, err);
	channel->fd = wr_steal_fd(&sock);
	return 0;
}

int wr_vsock_listen(struct wr_listener *listener, const struct wr_transport *transport, int type, uint32_t port,
		    const struct wr_socket_wish *wish, struct weir_err *err)
{
	wr_auto_fd int sock = socket(AF_VSOCK, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct wr_address address = address_of(transport, VMADDR_CID_ANY, port ? port : VMADDR_PORT_ANY);
	struct wr_channel made = {.fd = sock};

	if (sock < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socket", errno, "making a vsock socket");
	/* What is accepted has the listener's sizes. */
	if (wish && wr_vsock_apply(&made, wish, err) < 0)
		return -1;
	if (bind(sock, (const struct sockaddr *)&address.storage, address.length) < 0 || listen(sock, WR_BACKLOG) < 0) {
		wr_err_errno(err, WEIR_ERR_HOST, "listen", errno, "listening on vsock port %u", port);
		return wr_err_hint(err, "another program may have the port; --vsock=PORT chooses another, below 1024 only as root");
	}
	(void)getsockname(sock, (struct sockaddr *)&address.storage, &address.length);
	*listener = (struct wr_listener){.transport = transport, .fd = wr_steal_fd(&sock), .address = address};
	return 0;
}

/* -- the open connection -- */

void wr_vsock_describe(const struct wr_channel *channel, const struct wr_socket_wish *wish,
		       struct wr_connection *connection)
{
	wr_socket_describe_plain(channel->fd, wish, connection);
	wr_socket_ends_text(&wr_transport_vsock, channel->fd, connection->local, connection->peer);
	if (is_hyperv()) {
		snprintf(connection->sndbuf_option, sizeof connection->sndbuf_option, "SO_SNDBUF");
		snprintf(connection->rcvbuf_option, sizeof connection->rcvbuf_option, "SO_RCVBUF");
	} else {
		connection->sndbuf_eff_bytes = WR_UNSET;
		connection->rcvbuf_eff_bytes = credit_get(channel->fd);
	}
}

void wr_vsock_sample(const struct wr_channel *channel, struct wr_sample *sample)
{
	uint64_t credit = credit_get(channel->fd);

	wr_socket_sample_plain(channel->fd, false, sample);
	sample->value[WR_M_WMEM_BYTES] = WR_ABSENT;
	if (is_hyperv())
		return;
	sample->value[WR_M_SNDBUF_BYTES] = WR_ABSENT;
	sample->value[WR_M_RCVBUF_BYTES] = credit == WR_UNSET ? WR_ABSENT : (int64_t)credit;
}

static int stream_connect(struct wr_channel *channel, const struct wr_address *address, const struct wr_opening *opening,
			  struct weir_err *err)
{
	return wr_vsock_connect(channel, SOCK_STREAM, address, opening, err);
}

static int stream_listen(struct wr_listener *listener, const char *path, uint32_t port, const struct wr_socket_wish *wish,
			 struct weir_err *err)
{
	(void)path;
	return wr_vsock_listen(listener, &wr_transport_vsock, SOCK_STREAM, port, wish, err);
}

const struct wr_transport wr_transport_vsock = {
	.name = "vsock",
	.prefix = "vsock:",
	.target = "vsock:CID[:PORT]",
	.summary = "stream sockets between a virtual machine and its host",
	.needs = WR_VSOCK_NEEDS,
	.source = "vsock(7), net/vmw_vsock/af_vsock.c, hyperv_transport.c",
	.rcvbuf = "SO_VM_SOCKETS_BUFFER_SIZE",
	.control = &wr_transport_vsock,
	.early = true,
	.shares = true,
	.check = wr_vsock_check,
	.resolve = resolve,
	.connect = stream_connect,
	.listen = stream_listen,
	.accept = wr_dial_accept,
	.greet = wr_dial_greet,
	.apply = wr_vsock_apply,
	.resize = wr_vsock_resize,
	.describe = wr_vsock_describe,
	.sample = wr_vsock_sample,
	.text = wr_vsock_text,
	.port = wr_vsock_port,
	.set_port = wr_vsock_set_port,
	.is_local = wr_vsock_is_local,
};
