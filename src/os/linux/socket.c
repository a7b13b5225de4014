/* SPDX-License-Identifier: MIT */
/*
 * Sockets on Linux. struct tcp_info grows with every release: the layout of 6.18 stands in uapi/tcp_info.h
 * with the release of each field, and the length that getsockopt returns decides which fields are valid.
 * Sources: net/ipv4/tcp.c tcp_get_info, net/core/sock.c sk_get_meminfo.
 */
#include "os/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/linux/uapi/tcp_info.h"

#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72 /* 5.15, asm-generic/socket.h */
#endif
#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
#define WR_IPPROTO_TCP 6
#define WR_TCP_NODELAY 1
#define WR_TCP_MAXSEG 2
#define WR_TCP_CORK 3
#define WR_TCP_WINDOW_CLAMP 10
#define WR_TCP_INFO 11
#define WR_TCP_CONGESTION 13
#define WR_TCP_NOTSENT_LOWAT 25
#define OPT_WSCALE 4 /* TCPI_OPT_WSCALE */
#define BUF_LOCK_SEND 1
#define BUF_LOCK_RECEIVE 2

/* Words of SO_MEMINFO, include/uapi/linux/sock_diag.h. */
enum { MEM_RMEM_ALLOC, MEM_RCVBUF, MEM_WMEM_ALLOC, MEM_SNDBUF, MEM_FWD_ALLOC, MEM_WMEM_QUEUED, MEM_OPTMEM,
       MEM_BACKLOG, MEM_DROPS, MEM_N };

static int buffer_set(int fd, bool receive, uint64_t bytes, bool force, struct weir_err *err)
{
	int value = bytes > INT_MAX / 2 ? INT_MAX / 2 : (int)bytes;

	if (force && setsockopt(fd, SOL_SOCKET, receive ? SO_RCVBUFFORCE : SO_SNDBUFFORCE, &value, sizeof value) == 0)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, receive ? SO_RCVBUF : SO_SNDBUF, &value, sizeof value) == 0)
		return 0;
	return wr_err_errno(err, WEIR_ERR_HOST, "setsockopt", errno, "setting %s to %d bytes",
			    receive ? "SO_RCVBUF" : "SO_SNDBUF", value);
}

static int congestion_set(int fd, const char *name, struct weir_err *err)
{
	if (setsockopt(fd, WR_IPPROTO_TCP, WR_TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0)
		return 0;
	wr_err_errno(err, WEIR_ERR_HOST, "setsockopt TCP_CONGESTION", errno, "congestion control '%s'", name);
	return wr_err_hint(err, "%s", errno == EPERM
					      ? "run as root, or add it to net.ipv4.tcp_allowed_congestion_control"
					      : "sysctl net.ipv4.tcp_available_congestion_control lists what there is");
}

static int tcp_set(int fd, int option, const char *name, uint64_t wanted, struct weir_err *err)
{
	int value = (int)wanted;

	if (setsockopt(fd, WR_IPPROTO_TCP, option, &value, sizeof value) == 0)
		return 0;
	return wr_err_errno(err, WEIR_ERR_HOST, "setsockopt", errno, "setting %s to %d", name, value);
}

int wr_socket_apply(int fd, const struct wr_socket_wish *wish, struct weir_err *err)
{
	if (wish->sndbuf_bytes != WR_UNSET && buffer_set(fd, false, wish->sndbuf_bytes, wish->force, err) < 0)
		return -1;
	if (wish->rcvbuf_bytes != WR_UNSET && buffer_set(fd, true, wish->rcvbuf_bytes, wish->force, err) < 0)
		return -1;
	if (wish->nodelay && tcp_set(fd, WR_TCP_NODELAY, "TCP_NODELAY", 1, err) < 0)
		return -1;
	if (wish->mss_bytes && tcp_set(fd, WR_TCP_MAXSEG, "TCP_MAXSEG", wish->mss_bytes, err) < 0)
		return -1;
	if (wish->notsent_lowat_bytes &&
	    tcp_set(fd, WR_TCP_NOTSENT_LOWAT, "TCP_NOTSENT_LOWAT", wish->notsent_lowat_bytes, err) < 0)
		return -1;
	if (wr_sockopt_apply(fd, &wish->set, false, err) < 0)
		return -1;
	return wish->congestion ? congestion_set(fd, wish->congestion, err) : 0;
}

int wr_socket_settle(int fd, const struct wr_socket_wish *wish, struct weir_err *err)
{
	if (wish->cork && tcp_set(fd, WR_TCP_CORK, "TCP_CORK", 1, err) < 0)
		return -1;
	return wr_sockopt_apply(fd, &wish->set, true, err);
}

int wr_socket_resize(int fd, bool receive, uint64_t bytes, bool force, struct weir_err *err)
{
	int clamp = INT_MAX;

	if (buffer_set(fd, receive, bytes, force, err) < 0)
		return -1;
	if (receive && setsockopt(fd, WR_IPPROTO_TCP, WR_TCP_WINDOW_CLAMP, &clamp, sizeof clamp) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "setsockopt", errno, "lifting TCP_WINDOW_CLAMP");
	return 0;
}

int wr_socket_pace(int fd, uint64_t bps, struct weir_err *err)
{
	unsigned long long bytes_per_s = bps / 8;

	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof bytes_per_s) == 0)
		return 0;
	return wr_err_errno(err, WEIR_ERR_HOST, "setsockopt", errno, "SO_MAX_PACING_RATE %llu bytes/s", bytes_per_s);
}

int wr_socket_nodelay(int fd, bool on, struct weir_err *err)
{
	return tcp_set(fd, WR_TCP_NODELAY, "TCP_NODELAY", on, err);
}

static int tcp_get(int fd, int option)
{
	int value = 0;
	socklen_t length = sizeof value;

	return getsockopt(fd, WR_IPPROTO_TCP, option, &value, &length) == 0 ? value : 0;
}

static uint64_t int_option(int fd, int option)
{
	int value;
	socklen_t length = sizeof value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? (uint64_t)value : WR_UNSET;
}

static void address_text(char *out, int fd,
			 int (*get)(int, struct sockaddr *restrict, socklen_t *restrict))
{
	struct sockaddr_storage address;
	socklen_t length = sizeof address;
	char host[INET6_ADDRSTRLEN + 1], port[8];

	out[0] = '\0';
	if (get(fd, (struct sockaddr *)&address, &length) < 0 ||
	    getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	/* An IPv4 peer of a socket that listens for both. */
	if (strncmp(host, "::ffff:", 7) == 0 && strchr(host, '.'))
		memmove(host, host + 7, strlen(host + 7) + 1);
	snprintf(out, WR_NAME_TEXT, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

void wr_socket_describe(int fd, const struct wr_socket_wish *wish, struct wr_connection *connection)
{
	socklen_t length = sizeof connection->congestion - 1;
	struct wr_sample sample;
	uint64_t locks = int_option(fd, SO_BUF_LOCK);

	connection->sndbuf_req_bytes = wish->sndbuf_bytes;
	connection->rcvbuf_req_bytes = wish->rcvbuf_bytes;
	connection->sndbuf_eff_bytes = int_option(fd, SO_SNDBUF);
	connection->rcvbuf_eff_bytes = int_option(fd, SO_RCVBUF);
	connection->snd_autotuning = locks == WR_UNSET ? wish->sndbuf_bytes == WR_UNSET : !(locks & BUF_LOCK_SEND);
	connection->rcv_autotuning = locks == WR_UNSET ? wish->rcvbuf_bytes == WR_UNSET : !(locks & BUF_LOCK_RECEIVE);
	connection->nodelay = tcp_get(fd, WR_TCP_NODELAY) == 1;
	connection->ran_on_cpu = -1;
	memset(connection->congestion, 0, sizeof connection->congestion);
	(void)getsockopt(fd, WR_IPPROTO_TCP, WR_TCP_CONGESTION, connection->congestion, &length);
	address_text(connection->local, fd, getsockname);
	address_text(connection->peer, fd, getpeername);
	wr_socket_sample(fd, &sample);
	connection->mss_bytes = sample.value[WR_M_SND_MSS_BYTES] == WR_ABSENT ? 0 : sample.value[WR_M_SND_MSS_BYTES];
}

void wr_socket_describe_plain(int fd, const struct wr_socket_wish *wish, struct wr_connection *connection)
{
	connection->sndbuf_req_bytes = wish->sndbuf_bytes;
	connection->rcvbuf_req_bytes = wish->rcvbuf_bytes;
	connection->sndbuf_eff_bytes = int_option(fd, SO_SNDBUF);
	connection->rcvbuf_eff_bytes = int_option(fd, SO_RCVBUF);
	connection->ran_on_cpu = -1;
}

/* A field is valid when the kernel copied it whole. */
#define TAKE(id, field, scale)                                                                                   \
	(sample->value[WR_M_##id] =                                                                              \
		 offsetof(struct wr_tcp_info, field) + sizeof info.field <= length ? (int64_t)info.field * (scale) \
										   : WR_ABSENT)

static void tcp_sample(int fd, struct wr_sample *sample)
{
	struct wr_tcp_info info;
	socklen_t length = sizeof info;

	memset(&info, 0, sizeof info);
	if (getsockopt(fd, WR_IPPROTO_TCP, WR_TCP_INFO, &info, &length) < 0)
		return;
	sample->value[WR_M_CA_STATE] = info.ca_state;
	sample->value[WR_M_SND_WSCALE] = info.snd_wscale;
	sample->value[WR_M_RCV_WSCALE] = info.rcv_wscale;
	sample->value[WR_M_WSCALE_OK] = (info.options & OPT_WSCALE) != 0;
	TAKE(SND_MSS_BYTES, snd_mss, 1);
	TAKE(UNACKED_SEGS, unacked, 1);
	TAKE(SACKED_SEGS, sacked, 1);
	TAKE(LOST_SEGS, lost, 1);
	TAKE(RETRANS_SEGS, retrans, 1);
	TAKE(RTT_US, rtt, 1);
	TAKE(CWND_SEGS, snd_cwnd, 1);
	TAKE(SSTHRESH_SEGS, snd_ssthresh, 1);
	TAKE(TOTAL_RETRANS_SEGS, total_retrans, 1);
	TAKE(PACING_BPS, pacing_rate, 8);
	TAKE(BYTES_ACKED, bytes_acked, 1);
	TAKE(BYTES_RECEIVED, bytes_received, 1);
	TAKE(NOTSENT_BYTES, notsent_bytes, 1);
	TAKE(MIN_RTT_US, min_rtt, 1);
	TAKE(DATA_SEGS_OUT, data_segs_out, 1);
	TAKE(DELIVERY_BPS, delivery_rate, 8);
	TAKE(BUSY_US, busy_time, 1);
	TAKE(RWND_US, rwnd_limited, 1);
	TAKE(SNDBUF_US, sndbuf_limited, 1);
	TAKE(BYTES_SENT, bytes_sent, 1);
	TAKE(BYTES_RETRANS, bytes_retrans, 1);
	TAKE(SND_WND_BYTES, snd_wnd, 1);
	TAKE(RCV_WND_BYTES, rcv_wnd, 1);
	TAKE(RCV_SSTHRESH_BYTES, rcv_ssthresh, 1);
	TAKE(TOTAL_RTO, total_rto, 1);
}

/* Return: the words' number, 0 where the kernel has no SO_MEMINFO. */
static int memory_read(int fd, uint32_t words[MEM_N])
{
	socklen_t length = MEM_N * sizeof *words;

	memset(words, 0, length);
	return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, words, &length) < 0 || length < MEM_N * sizeof *words ? 0 : MEM_N;
}

static void sample_clear(struct wr_sample *sample)
{
	for (int id = WR_M_CA_STATE; id < WR_N_METRICS; id++)
		sample->value[id] = WR_ABSENT;
}

void wr_socket_sample(int fd, struct wr_sample *sample)
{
	uint32_t words[MEM_N];

	sample_clear(sample);
	tcp_sample(fd, sample);
	if (!memory_read(fd, words))
		return;
	sample->value[WR_M_RMEM_BYTES] = words[MEM_RMEM_ALLOC];
	sample->value[WR_M_RCVBUF_BYTES] = words[MEM_RCVBUF];
	sample->value[WR_M_WMEM_QUEUED_BYTES] = words[MEM_WMEM_QUEUED];
	sample->value[WR_M_SNDBUF_BYTES] = words[MEM_SNDBUF];
	sample->value[WR_M_DROPS] = words[MEM_DROPS];
}

void wr_socket_sample_plain(int fd, bool one_message, struct wr_sample *sample)
{
	uint32_t words[MEM_N];
	int unread;

	sample_clear(sample);
	if (!one_message && ioctl(fd, SIOCINQ, &unread) == 0)
		sample->value[WR_M_UNREAD_BYTES] = unread;
	if (!memory_read(fd, words))
		return;
	sample->value[WR_M_WMEM_BYTES] = words[MEM_WMEM_ALLOC];
	sample->value[WR_M_SNDBUF_BYTES] = words[MEM_SNDBUF];
}

int64_t wr_socket_rtt_ns(int fd)
{
	struct wr_sample sample;

	wr_socket_sample(fd, &sample);
	return sample.value[WR_M_MIN_RTT_US] == WR_ABSENT || sample.value[WR_M_MIN_RTT_US] > 1000000000
		       ? 0
		       : sample.value[WR_M_MIN_RTT_US] * 1000;
}

uint64_t wr_socket_unacked_bytes(int fd)
{
	int bytes = 0;

	return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

int wr_socket_error(int fd)
{
	int error = 0;
	socklen_t length = sizeof error;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error ? error : EPIPE;
}

bool wr_socket_may_force(void)
{
	wr_auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int value = 65536;

	return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &value, sizeof value) == 0;
}
