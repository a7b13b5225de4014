/* SPDX-License-Identifier: MIT */
/* Near and far differ only in which fields of the plan are theirs; everything else is one piece of code. */
#include "peer/end_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/zerocopy.h"

#define DEFAULT_IO_BYTES 131072

static int plan_cpu(const struct wr_plan *plan, bool far, size_t index)
{
	const char *text = plan->cpu;
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN), first;

	if (!text || strcmp(text, "none") == 0 || n_cpus < 1)
		return -1;
	if (far) {
		text = strchr(text, ',');
		if (!text)
			return -1;
		text++;
	}
	first = strtol(text, NULL, 10) % n_cpus;
	return (int)((first + 2 * (long)index) % n_cpus);
}

static uint64_t plan_pace(const struct wr_plan *plan, bool far, bool sender)
{
	if (sender)
		return plan->write_bps;
	return far ? plan->far_read_bps : plan->read_bps;
}

int wr_end_run_init(struct wr_end_run *run, const struct wr_transport *transport, const struct wr_plan *plan, bool far,
		    struct weir_err *err)
{
	struct wr_work work;

	memset(run, 0, sizeof *run);
	run->transport = transport;
	run->far = far;
	run->sender = far == plan->reverse;
	run->wish = (struct wr_socket_wish){
		.sndbuf_bytes = wr_plan_sndbuf(plan, far),
		.rcvbuf_bytes = wr_plan_rcvbuf(plan, far),
		.mss_bytes = plan->mss_bytes == WR_UNSET ? 0 : plan->mss_bytes,
		.notsent_lowat_bytes = plan->notsent_lowat_bytes == WR_UNSET ? 0 : plan->notsent_lowat_bytes,
		.force = plan->force,
		.nodelay = plan->nodelay,
		.cork = plan->cork,
		.reader = !run->sender,
		.congestion = plan->congestion,
	};
	if (wr_sockopt_parse(&run->wish.set, far ? plan->far_set : plan->set, far, err) < 0)
		return -1;
	if (wr_work_parse(&work, plan, err) < 0 || wr_end_init(&run->end, plan->streams, err) < 0 ||
	    wr_crew_init(&run->crew, plan->streams, err) < 0)
		return -1;
	run->crew.work = work;
	if (run->sender && plan->zerocopy)
		run->crew.sending = WR_SENDING_FILE;
	else if (run->sender && plan->msg_zerocopy)
		run->crew.sending = WR_SENDING_ZEROCOPY;
	wr_host_limits(&run->end);
	run->end.may_force = wr_socket_may_force();
	for (size_t i = 0; i < plan->streams; i++) {
		struct wr_stream *stream = &run->crew.streams[i];

		stream->sender = run->sender;
		stream->cpu = plan_cpu(plan, far, i);
		stream->pace_bps = plan_pace(plan, far, run->sender);
		if (plan->bytes != WR_UNSET)
			stream->limit_bytes = (plan->bytes + plan->streams - 1) / plan->streams;
	}
	return 0;
}

/*
 * Whole segments leave no sub-MSS tail, by which unaligned writes pass SO_SNDBUF by. A paced writer writes a little
 * often, so that its pace and not its chunk shows, unless the size was asked for.
 */
static uint64_t write_bytes(const struct wr_plan *plan, bool far, int64_t mss_bytes)
{
	uint64_t own = wr_plan_len(plan, far), asked = own == WR_UNSET ? DEFAULT_IO_BYTES : own;
	uint64_t mss = (uint64_t)mss_bytes, in_10_ms = plan->write_bps / 800;

	if (plan->write_bps != WR_UNSET && own == WR_UNSET && in_10_ms < asked)
		asked = in_10_ms > mss ? in_10_ms : mss > 0 ? mss : 1024;
	return plan->write_exact || mss == 0 || asked < mss ? asked : asked / mss * mss;
}

/* A slow reader reads a little often, so that its pace and not its chunk shows. What doesn't fit of a message is lost. */
static uint64_t read_bytes(const struct wr_plan *plan, bool far, const struct wr_work *work, uint64_t pace_bps, bool messages)
{
	uint64_t own = wr_plan_len(plan, far), theirs = wr_plan_len(plan, !far);
	uint64_t written = work->row->write_bytes ? work->row->write_bytes(work->keys) : DEFAULT_IO_BYTES;
	uint64_t room = theirs != WR_UNSET && theirs > DEFAULT_IO_BYTES ? theirs : DEFAULT_IO_BYTES;
	uint64_t in_10_ms = pace_bps / 800;

	if (messages)
		return room > written ? room : written;
	if (own != WR_UNSET)
		return own;
	room = room > WR_MAX_READ_BYTES ? WR_MAX_READ_BYTES : room;
	if (pace_bps == WR_UNSET || in_10_ms > room)
		return room;
	return in_10_ms > 1024 ? in_10_ms : 1024;
}

/* Messages as large as the transport takes, unless a size was asked for: that one, or not at all. */
static int check_message(const struct wr_end_run *run, const struct wr_plan *plan, struct wr_stream *stream,
			 struct weir_err *err)
{
	uint64_t most = run->transport->largest(&stream->channel, wr_plan_rcvbuf(plan, !run->far));
	char asked[WR_UNIT_TEXT];

	if (stream->io_bytes <= most)
		return 0;
	if (wr_plan_len(plan, run->far) == WR_UNSET && wr_plan_is_stream(plan)) {
		stream->io_bytes = most;
		return 0;
	}
	wr_err_set(err, WEIR_ERR_USAGE, WR_MISFIT, "%s takes messages of up to %llu bytes with these buffers, %s asks for %s",
		   run->transport->name, (unsigned long long)most, wr_plan_is_stream(plan) ? "a write" : plan->workload,
		   wr_size_text(asked, (double)stream->io_bytes));
	return wr_err_hint(err, "smaller ones, or larger buffers");
}

/* What is set on the connected socket, and what became of what was asked for by name. */
static int settle(struct wr_end_run *run, size_t index, struct weir_err *err)
{
	int fd = run->crew.streams[index].channel.fd;

	if (wr_socket_settle(fd, &run->wish, err) < 0 ||
	    (run->crew.sending == WR_SENDING_ZEROCOPY && wr_zerocopy_enable(fd, err) < 0))
		return -1;
	if (index == 0)
		run->end.n_settings = wr_sockopt_read(fd, &run->wish.set, run->end.settings);
	return 0;
}

int wr_end_run_adopt(struct wr_end_run *run, const struct wr_plan *plan, size_t index, struct wr_channel channel,
		     struct weir_err *err)
{
	struct wr_stream *stream = &run->crew.streams[index];
	struct wr_connection *connection = &run->end.connections[index];
	const struct wr_transport *transport = run->transport;
	const struct wr_work *work = &run->crew.work;

	stream->channel = channel;
	if (transport->tcp && settle(run, index, err) < 0)
		return -1;
	snprintf(connection->sndbuf_option, sizeof connection->sndbuf_option, "%s", transport->sndbuf ? transport->sndbuf : "");
	snprintf(connection->rcvbuf_option, sizeof connection->rcvbuf_option, "%s", transport->rcvbuf ? transport->rcvbuf : "");
	transport->describe(&stream->channel, &run->wish, connection);
	if (!run->sender) {
		stream->io_bytes = read_bytes(plan, run->far, work, stream->pace_bps, transport->messages);
		return 0;
	}
	stream->io_bytes = work->row->write_bytes ? work->row->write_bytes(work->keys)
						  : write_bytes(plan, run->far, connection->mss_bytes);
	if (transport->largest && check_message(run, plan, stream, err) < 0)
		return -1;
	run->end.write_bytes = (int64_t)stream->io_bytes;
	return 0;
}

int wr_end_run_spawn(struct wr_end_run *run, struct weir_err *err)
{
	return wr_crew_spawn(&run->crew, err);
}

int wr_end_run_go(struct wr_end_run *run, struct weir_err *err)
{
	wr_host_read(&run->before);
	wr_crew_go(&run->crew);
	return wr_sampler_start(&run->sampler, run->transport, &run->crew, &run->end, err);
}

static int set_sndbuf(struct wr_end_run *run, struct wr_stream *stream, uint64_t value, struct weir_err *err)
{
	return run->transport->resize(&stream->channel, false, value, run->wish.force, err);
}

static int set_rcvbuf(struct wr_end_run *run, struct wr_stream *stream, uint64_t value, struct weir_err *err)
{
	return run->transport->resize(&stream->channel, true, value, run->wish.force, err);
}

static int set_pace(struct wr_end_run *run, struct wr_stream *stream, uint64_t value, struct weir_err *err)
{
	(void)run;
	return wr_socket_pace(stream->channel.fd, value, err);
}

static int set_speed(struct wr_end_run *run, struct wr_stream *stream, uint64_t value, struct weir_err *err)
{
	(void)run;
	(void)err;
	atomic_store_explicit(&stream->pace_bps, value ? value : WR_UNSET, memory_order_relaxed);
	return 0;
}

static int set_nodelay(struct wr_end_run *run, struct wr_stream *stream, uint64_t value, struct weir_err *err)
{
	(void)run;
	return wr_socket_nodelay(stream->channel.fd, value != 0, err);
}

enum owner { BUFFER, TCP, PROGRAM };

/* What can be changed while data move. @owner: where the transport must have the like */
static const struct knob {
	const char *name;
	enum owner owner;
	int (*set)(struct wr_end_run *run, struct wr_stream *stream, uint64_t value, struct weir_err *err);
} knobs[] = {
	{"sndbuf", BUFFER, set_sndbuf}, {"rcvbuf", BUFFER, set_rcvbuf}, {"pace", TCP, set_pace},
	{"speed", PROGRAM, set_speed},	{"nodelay", TCP, set_nodelay},
};

static const struct knob *knob_find(const char *name)
{
	for (size_t i = 0; i < WR_N_ELEMENTS(knobs); i++) {
		if (strcmp(knobs[i].name, name) == 0)
			return &knobs[i];
	}
	return NULL;
}

int wr_end_run_set(struct wr_end_run *run, const char *knob, uint64_t value, uint64_t *effective, struct weir_err *err)
{
	const struct knob *row = knob_find(knob);
	struct wr_connection now = {0};

	if (!row)
		return wr_err_set(err, WEIR_ERR_PEER, "set", "there is no knob '%.20s'", knob);
	if ((row->owner == TCP && !run->transport->tcp) || (row->owner == BUFFER && !run->transport->resize))
		return wr_err_set(err, WEIR_ERR_USAGE, "set", "%s can't be changed while data move over %s", knob, run->transport->name);
	*effective = value;
	for (size_t i = 0; i < run->crew.n_streams; i++) {
		if (row->set(run, &run->crew.streams[i], value, err) < 0)
			return -1;
		if (row->set == set_sndbuf || row->set == set_rcvbuf) {
			run->transport->describe(&run->crew.streams[i].channel, &run->wish, &now);
			*effective = row->set == set_rcvbuf ? now.rcvbuf_eff_bytes : now.sndbuf_eff_bytes;
		}
	}
	return 0;
}

void wr_end_run_stop(struct wr_end_run *run)
{
	if (!run->crew.streams)
		return;
	if (run->crew.open) {
		wr_sampler_stop(&run->sampler);
		run->end.duration_ns = wr_clock_ns() - run->crew.start_ns;
		wr_host_delta(&run->before, &run->end);
	}
	wr_crew_stop(&run->crew);
	wr_crew_tell(&run->crew, &run->end);
	for (size_t i = 0; i < run->crew.n_streams; i++)
		run->end.connections[i].ran_on_cpu = atomic_load(&run->crew.streams[i].ran_on_cpu);
}

uint64_t wr_end_run_bytes(const struct wr_end_run *run, size_t index)
{
	return atomic_load_explicit(&run->crew.streams[index].bytes, memory_order_relaxed);
}

void wr_end_run_deinit(struct wr_end_run *run)
{
	wr_end_run_stop(run);
	wr_crew_deinit(&run->crew);
	wr_end_deinit(&run->end);
}
