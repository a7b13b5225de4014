/* SPDX-License-Identifier: MIT */
/*
 * Locked buffers. ss shows the effective size alone; that a program set it shows in the number. Autotuning makes
 * SO_SNDBUF 2 or (BBR) 3 times cwnd x a packet's memory, whose size is known (net/ipv4/tcp_input.c tcp_sndbuf_expand);
 * setsockopt makes it twice a number that a person chose. The receive buffer grows by odd steps while a program's
 * stays, and one that was set before listen or connect leaves a small window scale (tcp_select_initial_window).
 */
#include <math.h>

#include "paste/infer.h"

/*
 * Behind a packet's data its shared info, before it MAX_TCP_HEADER (256 or, built with tunnels, 320); struct sk_buff.
 * All 64-bit builds: with an MSS of 1460 that makes 2304 or 4352 bytes, so fresh sockets have 46080 or 87040.
 */
static const double headers_bytes[] = {256 + 320, 320 + 320};
#define SK_BUFF_BYTES 256
/* Options of a segment with timestamps, which mss does not count but mss_clamp does. */
#define OPTION_BYTES 12
#define INITIAL_WINDOW_SEGS 10

/* tcp_rmem[1] and tcp_wmem[1] where sysctl was not pasted: those of all kernels since 4.20, and before. */
static const double stock_rcvbuf_bytes[] = {131072, 87380, 65536};
#define STOCK_SNDBUF_BYTES 16384
#define STOCK_TCP_WMEM_MAX 4194304
#define STOCK_TCP_RMEM_MAX 6291456

static double at(const struct wr_paste_socket *socket, bool last, enum wr_metric_id id)
{
	const struct wr_series *series = &socket->connection.series;
	size_t first = socket->lifetime ? 1 : 0;

	if (series->n_samples <= first)
		return NAN;
	return wr_sample_get(&series->samples[last ? series->n_samples - 1 : first], id, NAN);
}

static double setting(const struct wr_paste *paste, const struct wr_paste_socket *socket, const char *name, int nth)
{
	const struct wr_paste_facts *facts = &paste->hosts[socket->host]->facts;

	return wr_pasted_number(facts->pasted, facts->n_pasted, name, nth);
}

static bool is_multiple(double sndbuf, double unit)
{
	double segs = sndbuf / unit;

	return segs >= INITIAL_WINDOW_SEGS && fabs(segs - round(segs)) < 1e-6;
}

static bool is_expanded(double sndbuf, double mss)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(headers_bytes); i++) {
		double packet = exp2(ceil(log2(fmax(mss, 536) + OPTION_BYTES + headers_bytes[i]))) + SK_BUFF_BYTES;

		if (is_multiple(sndbuf, 2 * packet) || is_multiple(sndbuf, 3 * packet))
			return true;
	}
	return false;
}

static bool sndbuf_is_locked(const struct wr_paste *paste, const struct wr_paste_socket *socket)
{
	double first = at(socket, false, WR_M_SNDBUF_BYTES), last = at(socket, true, WR_M_SNDBUF_BYTES);
	double stock = setting(paste, socket, "net.ipv4.tcp_wmem", 1),
	       most = setting(paste, socket, "net.ipv4.tcp_wmem", 2);

	if (!(last > 0) || last != first)
		return false;
	stock = isnan(stock) ? STOCK_SNDBUF_BYTES : stock;
	/* Nothing that is set by the kernel is larger than its ceiling; what is at it was grown to it. */
	if (last == (isnan(most) ? STOCK_TCP_WMEM_MAX : most))
		return false;
	if (most > 0 && last > most)
		return true;
	/* The start value is replaced when the connection is established. */
	if (last == stock && !(at(socket, true, WR_M_BYTES_ACKED) > 0))
		return false;
	return !is_expanded(last, (double)socket->connection.mss_bytes);
}

/* People choose multiples of 1000 or of 512. */
static bool is_round(double bytes)
{
	return fmod(bytes, 1000) == 0 || fmod(bytes, 512) == 0;
}

/* The scale that an unset buffer would have: of the largest that it could grow to. */
static double unlocked_wscale(const struct wr_paste *paste, const struct wr_paste_socket *socket)
{
	double grown = setting(paste, socket, "net.ipv4.tcp_rmem", 2),
	       asked = setting(paste, socket, "net.core.rmem_max", 0);

	if (isnan(grown))
		return NAN;
	return fmin(fmax(floor(log2(fmax(grown, isnan(asked) ? 0 : asked))) - 15, 0), 14);
}

static bool rcvbuf_is_locked(const struct wr_paste *paste, const struct wr_paste_socket *socket)
{
	double first = at(socket, false, WR_M_RCVBUF_BYTES), last = at(socket, true, WR_M_RCVBUF_BYTES);
	double stock = setting(paste, socket, "net.ipv4.tcp_rmem", 1),
	       most = setting(paste, socket, "net.ipv4.tcp_rmem", 2);

	if (!(last > 0) || last != first)
		return false;
	if (at(socket, true, WR_M_WSCALE_OK) == 1 && at(socket, true, WR_M_RCV_WSCALE) < unlocked_wscale(paste, socket))
		return true;
	if (last == (isnan(most) ? STOCK_TCP_RMEM_MAX : most))
		return false;
	if (most > 0 && last > most)
		return true;
	for (size_t i = 0; isnan(stock) && i < WR_N_ELEMENTS(stock_rcvbuf_bytes); i++)
		stock = last == stock_rcvbuf_bytes[i] ? last : stock;
	if (last == stock)
		return false;
	return last < (isnan(stock) ? stock_rcvbuf_bytes[2] : stock) || is_round(last / 2);
}

void wr_infer_locks(const struct wr_paste *paste, struct wr_paste_socket *socket)
{
	struct wr_connection *connection = &socket->connection;
	double snd = at(socket, true, WR_M_SNDBUF_BYTES), rcv = at(socket, true, WR_M_RCVBUF_BYTES);
	bool tcp = socket->protocol == WR_TCP;

	connection->sndbuf_eff_bytes = snd > 0 ? (uint64_t)snd : WR_UNSET;
	connection->rcvbuf_eff_bytes = rcv > 0 ? (uint64_t)rcv : WR_UNSET;
	connection->snd_autotuning = tcp && !sndbuf_is_locked(paste, socket);
	connection->rcv_autotuning = tcp && !rcvbuf_is_locked(paste, socket);
	if (tcp && !connection->snd_autotuning && connection->sndbuf_req_bytes == WR_UNSET)
		connection->sndbuf_req_bytes = (uint64_t)(snd / 2);
	if (tcp && !connection->rcv_autotuning && connection->rcvbuf_req_bytes == WR_UNSET)
		connection->rcvbuf_req_bytes = (uint64_t)(rcv / 2);
}
