/* SPDX-License-Identifier: MIT */
/*
 * The plan's rows. -w sets both buffers of both ends, as iperf3's does; the four separate options override it.
 * iperf3's letters keep their meaning.
 */
#include "model/plan.h"

#include <string.h>

#include "base/err.h"
#include "base/option_json.h"

#define FIELD(field) offsetof(struct wr_plan, field)

/* SO_SNDBUF and SO_RCVBUF are clipped to INT_MAX / 2 by the kernel (net/core/sock.c sk_setsockopt). */
#define MAX_BUFFER 1073741823.0

const struct wr_option wr_plan_options[] = {
	{"port", 'p', WR_OPTION_COUNT, FIELD(port), "PORT", NULL, 1, 65535, NULL,
	 "port of the far end when TARGET names none (5201)", NULL},
	{"reverse", 'R', WR_OPTION_FLAG, FIELD(reverse), NULL, NULL, 0, 0, NULL, "far sends, near receives", NULL},
	{"time", 't', WR_OPTION_TIME, FIELD(duration_ns), "TIME", NULL, 1e8, 86400e9, NULL,
	 "length of the transfer (5s)", NULL},
	{"bytes", 'n', WR_OPTION_SIZE, FIELD(bytes), "SIZE", NULL, 1, 0, "time",
	 "send SIZE bytes instead of for a time, shared by the streams", NULL},
	{"workload", 0, WR_OPTION_TEXT, FIELD(workload), "NAME[:KEYS]", "stream", 0, 0, NULL,
	 "what a connection carries, as records:size=20-100; weir list workloads", NULL},
	{"parallel", 'P', WR_OPTION_COUNT, FIELD(streams), "N", "1", 1, WR_MAX_STREAMS, NULL,
	 "connections at once, a thread each", NULL},
	{"length", 'l', WR_OPTION_SIZE, FIELD(len_bytes), "SIZE", NULL, 1, 16777216, NULL,
	 "bytes a write (128K, cut to whole segments; weir tune cuts any)", NULL},
	{"far-length", 0, WR_OPTION_SIZE, FIELD(far_len_bytes), "SIZE", NULL, 1, 16777216, NULL,
	 "bytes a write or a read of far; --length is of near alone then", NULL},
	{"window", 'w', WR_OPTION_SIZE, FIELD(window_bytes), "SIZE", NULL, 0, MAX_BUFFER, NULL,
	 "SO_SNDBUF and SO_RCVBUF of both ends", NULL},
	{"sndbuf", 0, WR_OPTION_SIZE, FIELD(sndbuf_bytes), "SIZE", NULL, 0, MAX_BUFFER, NULL,
	 "SO_SNDBUF on near; unset leaves autotuning on", NULL},
	{"rcvbuf", 0, WR_OPTION_SIZE, FIELD(rcvbuf_bytes), "SIZE", NULL, 0, MAX_BUFFER, NULL, "SO_RCVBUF on near",
	 NULL},
	{"far-sndbuf", 0, WR_OPTION_SIZE, FIELD(far_sndbuf_bytes), "SIZE", NULL, 0, MAX_BUFFER, NULL,
	 "SO_SNDBUF on far", NULL},
	{"far-rcvbuf", 0, WR_OPTION_SIZE, FIELD(far_rcvbuf_bytes), "SIZE", NULL, 0, MAX_BUFFER, NULL,
	 "SO_RCVBUF on far", NULL},
	{"congestion", 'C', WR_OPTION_TEXT, FIELD(congestion), "NAME", NULL, 0, 0, NULL,
	 "congestion control of the sender (the host's default)", NULL},
	{"nodelay", 'N', WR_OPTION_FLAG, FIELD(nodelay), NULL, NULL, 0, 0, NULL, "set TCP_NODELAY", NULL},
	{"cork", 0, WR_OPTION_FLAG, FIELD(cork), NULL, NULL, 0, 0, NULL, "set TCP_CORK: only full segments, or after 200 ms",
	 NULL},
	{"notsent-lowat", 0, WR_OPTION_SIZE, FIELD(notsent_lowat_bytes), "SIZE", NULL, 1, MAX_BUFFER, NULL,
	 "TCP_NOTSENT_LOWAT: unsent bytes above which writing waits", NULL},
	{"mss", 'M', WR_OPTION_SIZE, FIELD(mss_bytes), "SIZE", NULL, 88, 32767, NULL,
	 "TCP_MAXSEG of both ends: largest segment", NULL},
	{"zerocopy", 'Z', WR_OPTION_FLAG, FIELD(zerocopy), NULL, NULL, 0, 0, "msg-zerocopy",
	 "send by sendfile() from a file in memory", NULL},
	{"msg-zerocopy", 0, WR_OPTION_FLAG, FIELD(msg_zerocopy), NULL, NULL, 0, 0, "zerocopy",
	 "send with MSG_ZEROCOPY, and count how often the kernel copied", NULL},
	{"set", 0, WR_OPTION_LIST, FIELD(set), "OPT=V", NULL, 0, 0, NULL,
	 "a socket option of near; repeatable; weir list sockopts names them", NULL},
	{"far-set", 0, WR_OPTION_LIST, FIELD(far_set), "OPT=V", NULL, 0, 0, NULL, "a socket option of far; repeatable", NULL},
	{"bitrate", 'b', WR_OPTION_RATE, FIELD(write_bps), "RATE", NULL, 1000, 0, NULL,
	 "pace the writer to RATE a connection", NULL},
	{"read-rate", 0, WR_OPTION_RATE, FIELD(read_bps), "RATE", NULL, 1000, 0, NULL,
	 "near reads no faster than RATE a connection", NULL},
	{"far-read-rate", 0, WR_OPTION_RATE, FIELD(far_read_bps), "RATE", NULL, 1000, 0, NULL,
	 "far reads no faster than RATE a connection", NULL},
	{"ipv4", '4', WR_OPTION_FLAG, FIELD(v4), NULL, NULL, 0, 0, "ipv6", "IPv4 only", NULL},
	{"ipv6", '6', WR_OPTION_FLAG, FIELD(v6), NULL, NULL, 0, 0, "ipv4", "IPv6 only", NULL},
	{"bind", 'B', WR_OPTION_TEXT, FIELD(bind), "ADDRESS", NULL, 0, 0, NULL, "local address of near", NULL},
	{"connect-timeout", 0, WR_OPTION_TIME, FIELD(connect_timeout_ns), "TIME", "5s", 1e7, 60e9, NULL,
	 "longest wait for a connection", NULL},
	{"interval", 'i', WR_OPTION_TIME, FIELD(interval_ns), "TIME", "1s", 1e8, 3600e9, NULL,
	 "time between progress lines", NULL},
	{"cpu", 0, WR_OPTION_TEXT, FIELD(cpu), "NEAR[,FAR]", NULL, 0, 0, NULL,
	 "CPUs of the two ends' threads, or none (local and lab runs: 0,1)", NULL},
	{"write-exact", 0, WR_OPTION_FLAG, FIELD(write_exact), NULL, NULL, 0, 0, NULL,
	 "never cut --length to whole segments", NULL},
	{"transport", 0, WR_OPTION_TEXT, FIELD(transport), "NAME", NULL, 0, 0, NULL,
	 "what the data runs over (what TARGET says; weir list transports)", NULL},
	{0},
};

/* What only the control protocol carries, besides the rows above. */
static const struct wr_option internal_options[] = {
	{"force", 0, WR_OPTION_FLAG, FIELD(force), NULL, NULL, 0, 0, NULL, "use SO_*BUFFORCE", NULL},
	{"forget", 0, WR_OPTION_FLAG, FIELD(forget), NULL, NULL, 0, 0, NULL, "drop tcp_metrics of the path", NULL},
	{0},
};

/* A side that sends only never needs a receive buffer asked for by -w, but iperf3 sets both: so does this. */
static void default_to(uint64_t *field, uint64_t value)
{
	if (*field == WR_UNSET)
		*field = value;
}

/* "none", "3" or "0,1". */
static bool is_cpus(const char *text)
{
	size_t near = strspn(text, "0123456789"), far = text[near] == ',' ? strspn(text + near + 1, "0123456789") : 0;

	if (strcmp(text, "none") == 0)
		return true;
	return near > 0 && (text[near] == '\0' || (far > 0 && text[near + 1 + far] == '\0'));
}

/* What a server would have to hold for each stream of a peer. */
static int check_reads(const struct wr_plan *plan, struct weir_err *err)
{
	uint64_t bytes = wr_plan_len(plan, !plan->reverse);
	char text[WR_UNIT_TEXT];

	if (bytes == WR_UNSET || bytes <= WR_MAX_READ_BYTES)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "option", "--%slength %s: %s reads, and a read is of 1 MiB at most",
			  plan->reverse ? "" : "far-", wr_size_short(text, bytes), plan->reverse ? "near" : "far");
}

int wr_plan_finish(struct wr_plan *plan, struct weir_err *err)
{
	if (plan->window_bytes != WR_UNSET) {
		default_to(&plan->sndbuf_bytes, plan->window_bytes);
		default_to(&plan->rcvbuf_bytes, plan->window_bytes);
		default_to(&plan->far_sndbuf_bytes, plan->window_bytes);
		default_to(&plan->far_rcvbuf_bytes, plan->window_bytes);
	}
	if (plan->read_bps != WR_UNSET && !plan->reverse) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "--read-rate: near does not read in this direction");
		return wr_err_hint(err, "--far-read-rate slows the far reader; -R makes near the reader");
	}
	if (plan->far_read_bps != WR_UNSET && plan->reverse) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "--far-read-rate: far does not read with -R");
		return wr_err_hint(err, "--read-rate slows the near reader");
	}
	if (plan->far_len_bytes != WR_UNSET && check_reads(plan, err) < 0)
		return -1;
	if (plan->zerocopy && plan->msg_zerocopy)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "--zerocopy and --msg-zerocopy contradict each other");
	if (plan->congestion && strlen(plan->congestion) > 15)
		return wr_err_set(err, WEIR_ERR_USAGE, "option", "--congestion %.40s is no name of a congestion control",
				  plan->congestion);
	if (plan->cpu && !is_cpus(plan->cpu)) {
		wr_err_set(err, WEIR_ERR_USAGE, "option", "--cpu %.40s is neither none nor NEAR[,FAR]", plan->cpu);
		return wr_err_hint(err, "write it like --cpu 0,1");
	}
	return 0;
}

bool wr_plan_is_tcp(const struct wr_plan *plan)
{
	return !plan->transport || strcmp(plan->transport, "tcp") == 0;
}

void wr_plan_deinit(struct wr_plan *plan)
{
	json_decref(plan->texts);
	plan->texts = NULL;
}

uint64_t wr_plan_len(const struct wr_plan *plan, bool far)
{
	bool writes = far == plan->reverse;

	if (plan->far_len_bytes == WR_UNSET)
		return writes ? plan->len_bytes : WR_UNSET;
	return far ? plan->far_len_bytes : plan->len_bytes;
}

uint64_t wr_plan_sndbuf(const struct wr_plan *plan, bool far)
{
	return far ? plan->far_sndbuf_bytes : plan->sndbuf_bytes;
}

uint64_t wr_plan_rcvbuf(const struct wr_plan *plan, bool far)
{
	return far ? plan->far_rcvbuf_bytes : plan->rcvbuf_bytes;
}

bool wr_plan_is_stream(const struct wr_plan *plan)
{
	return !plan->workload || strcmp(plan->workload, "stream") == 0;
}

const char *wr_plan_workload_name(char name[WR_WORKLOAD_NAME_TEXT], const struct wr_plan *plan)
{
	const char *text = plan->workload ? plan->workload : "stream";

	snprintf(name, WR_WORKLOAD_NAME_TEXT, "%.*s", (int)strcspn(text, ":"), text);
	return name;
}

json_t *wr_plan_to_json(const struct wr_plan *plan)
{
	json_t *object = json_object();

	wr_options_to_json(wr_plan_options, plan, object);
	wr_options_to_json(internal_options, plan, object);
	return object;
}

int wr_plan_from_json(struct wr_plan *plan, const json_t *object, struct weir_err *err)
{
	memset(plan, 0, sizeof *plan);
	if (!json_is_object(object))
		return wr_err_set(err, WEIR_ERR_PEER, "plan", "the plan is not a JSON object");
	if (wr_options_from_json(wr_plan_options, plan, object, err) < 0 ||
	    wr_options_from_json(internal_options, plan, object, err) < 0 || wr_plan_finish(plan, err) < 0)
		return -1;
	plan->texts = json_incref((json_t *)object);
	return 0;
}
