/* SPDX-License-Identifier: MIT */
/*
 * records: messages of one direction, each of a size from a range. A record is done when the kernel has taken it, or
 * with wait=acked when the peer's kernel has acknowledged it: that is how a blocking send with SO_SNDBUF=0 behaves on
 * Windows. With batch=N a write holds N records behind a header of 4 bytes, their count. Both ends draw the same sizes
 * from the same seed, so the receiver counts whole records.
 *
 * No event tells that all is acknowledged, so the unacknowledged bytes are looked at: every 50 us at first, later after
 * a sixteenth of the time waited so far, at most every millisecond. A latency is too long by at most that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/socket.h"
#include "stat/random.h"
#include "workload/crew.h"

#define HEADER_BYTES 4
#define MAX_RECORD_BYTES 1048576.0
#define MAX_WRITE_BYTES (1U << 24)

#define LEAST_LOOK_NS 50000
#define MOST_LOOK_NS 1000000
#define LOOK_PART 16

/* @batch: WR_UNSET: a record a write, without a header */
struct keys {
	uint64_t least_bytes, most_bytes, count, batch;
	bool acked;
};
_Static_assert(sizeof(struct keys) <= WR_WORKLOAD_KEYS_BYTES, "the keys fit into a wr_work");

#define FIELD(field) offsetof(struct keys, field)

static int one_size(const char *text, size_t n, uint64_t *bytes, struct weir_err *err)
{
	char size[WR_UNIT_TEXT];

	if (n >= sizeof size)
		return wr_err_set(err, WEIR_ERR_USAGE, "size", "'%.40s' is no size", text);
	memcpy(size, text, n);
	size[n] = '\0';
	if (wr_size_parse(size, bytes, err) < 0)
		return -1;
	if (*bytes >= 1 && (double)*bytes <= MAX_RECORD_BYTES)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "size", "%s is outside 1 B to 1 MiB", size);
}

/* "60", "20-100" */
static int size_set(void *target, const char *text, struct weir_err *err)
{
	struct keys *keys = target;
	const char *dash = strchr(text, '-');

	if (one_size(text, dash ? (size_t)(dash - text) : strlen(text), &keys->least_bytes, err) < 0)
		return -1;
	keys->most_bytes = keys->least_bytes;
	if (dash && one_size(dash + 1, strlen(dash + 1), &keys->most_bytes, err) < 0)
		return -1;
	if (keys->least_bytes <= keys->most_bytes)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "size", "%.60s ends below its start", text);
}

static int wait_set(void *target, const char *text, struct weir_err *err)
{
	struct keys *keys = target;

	keys->acked = strcmp(text, "acked") == 0;
	if (keys->acked || strcmp(text, "sent") == 0)
		return 0;
	return wr_err_set(err, WEIR_ERR_USAGE, "wait", "'%.40s' is neither sent nor acked", text);
}

static const struct wr_option rows[] = {
	{"size", 0, WR_OPTION_TEXT, FIELD(least_bytes), "SIZE[-SIZE]", "100", 0, 0, NULL,
	 "bytes of a record, 1 to 1M, or a range to draw from", size_set},
	{"count", 0, WR_OPTION_COUNT, FIELD(count), "N", NULL, 1, 1e12, NULL,
	 "the transfer ends after so many records, shared by the streams", NULL},
	{"batch", 0, WR_OPTION_COUNT, FIELD(batch), "N", NULL, 2, 10000, NULL,
	 "records of one write, behind a header of 4 bytes with their count", NULL},
	{"wait", 0, WR_OPTION_TEXT, FIELD(acked), "sent|acked", "sent", 0, 0, NULL,
	 "what a write waits for: the kernel takes it, or far acknowledges it", wait_set},
	{0},
};

static uint64_t write_bytes(const void *target)
{
	const struct keys *keys = target;

	return keys->batch == WR_UNSET ? keys->most_bytes : HEADER_BYTES + keys->batch * keys->most_bytes;
}

static int check(const void *target, const struct wr_plan *plan, struct weir_err *err)
{
	const struct keys *keys = target;
	char bytes[WR_UNIT_TEXT], most[WR_UNIT_TEXT];

	if (wr_plan_len(plan, plan->reverse) != WR_UNSET) {
		wr_err_set(err, WEIR_ERR_USAGE, "workload", "it contradicts --length: a write is a record, or a batch");
		return wr_err_hint(err, "size= and batch= say what a write is: records:size=20-100,batch=80");
	}
	if (plan->bytes != WR_UNSET) {
		wr_err_set(err, WEIR_ERR_USAGE, "workload", "it contradicts --bytes, which may end within a record");
		return wr_err_hint(err, "count= ends it after so many records");
	}
	if (plan->zerocopy || plan->msg_zerocopy)
		return wr_err_set(err, WEIR_ERR_USAGE, "workload", "it contradicts --%szerocopy, which is of streams",
				  plan->zerocopy ? "" : "msg-");
	if (keys->acked && !wr_plan_is_tcp(plan))
		return wr_err_set(err, WEIR_ERR_USAGE, "workload", "wait=acked is of TCP, %s acknowledges nothing", plan->transport);
	if (write_bytes(keys) > MAX_WRITE_BYTES)
		return wr_err_set(err, WEIR_ERR_USAGE, "workload", "batch %llu makes writes of %s, more than %s",
				  (unsigned long long)keys->batch, wr_size_text(bytes, (double)write_bytes(keys)),
				  wr_size_text(most, MAX_WRITE_BYTES));
	return 0;
}

static bool ends(const void *target)
{
	return ((const struct keys *)target)->count != WR_UNSET;
}

/* The sizes of a stream's records, the same at both ends. @left: records to come */
struct sizes {
	struct wr_stat_random random;
	uint64_t least_bytes, n_sizes, left;
};

static void sizes_init(struct sizes *sizes, const struct wr_stream *stream, const struct keys *keys)
{
	size_t index = (size_t)(stream - stream->crew->streams), n = stream->crew->n_streams;

	wr_stat_random_init(&sizes->random, index);
	sizes->least_bytes = keys->least_bytes;
	sizes->n_sizes = keys->most_bytes - keys->least_bytes + 1;
	sizes->left = keys->count == WR_UNSET ? UINT64_MAX : keys->count / n + (index < keys->count % n);
}

static uint64_t sizes_next(struct sizes *sizes)
{
	sizes->left--;
	return sizes->least_bytes + (sizes->n_sizes > 1 ? wr_stat_random_below(&sizes->random, sizes->n_sizes) : 0);
}

/* The next write: @n_records of them, header included where there is one. Return: its bytes. */
static uint64_t batch_next(struct sizes *sizes, const struct keys *keys, uint64_t *n_records)
{
	uint64_t most = keys->batch == WR_UNSET ? 1 : keys->batch, bytes = keys->batch == WR_UNSET ? 0 : HEADER_BYTES;

	*n_records = most < sizes->left ? most : sizes->left;
	for (uint64_t i = 0; i < *n_records; i++)
		bytes += sizes_next(sizes);
	return bytes;
}

/* Return: 0; -1 with errno. */
static int write_batch(struct wr_stream *stream, bool has_header, uint32_t n_records, size_t bytes)
{
	uint32_t header = htonl(n_records);
	struct iovec parts[2] = {{&header, sizeof header}, {stream->buffer, bytes - sizeof header}};

	if (has_header)
		return wr_stream_write(stream, parts, 2);
	parts[0] = (struct iovec){stream->buffer, bytes};
	return wr_stream_write(stream, parts, 1);
}

static int64_t look_ns(int64_t waited_ns)
{
	int64_t ns = waited_ns / LOOK_PART;

	return ns < LEAST_LOOK_NS ? LEAST_LOOK_NS : ns > MOST_LOOK_NS ? MOST_LOOK_NS : ns;
}

/* Return: 0; 1 told to stop; -1 the connection broke, with errno. */
static int wait_acked(struct wr_stream *stream, int64_t since_ns)
{
	while (wr_socket_unacked_bytes(stream->channel.fd) > 0) {
		struct timespec look = {.tv_nsec = look_ns(wr_clock_ns() - since_ns)};
		struct pollfd broken = {.fd = stream->channel.fd};

		if (wr_stream_stopped(stream))
			return 1;
		if (ppoll(&broken, 1, &look, NULL) > 0) {
			errno = wr_socket_error(stream->channel.fd);
			return -1;
		}
	}
	return 0;
}

static void send_loop(struct wr_stream *stream)
{
	const struct keys *keys = (const struct keys *)stream->crew->work.keys;
	bool has_header = keys->batch != WR_UNSET;
	uint64_t bytes = 0, records = 0;
	struct sizes sizes;

	sizes_init(&sizes, stream, keys);
	/* What opened the connection was written here too; the first record doesn't wait for it. */
	if (keys->acked)
		(void)wait_acked(stream, wr_clock_ns());
	while (!wr_stream_stopped(stream) && sizes.left > 0) {
		uint64_t n_records, length = batch_next(&sizes, keys, &n_records);
		int64_t began_ns;
		int rc;

		if (!wr_stream_pace(stream, bytes))
			return;
		began_ns = wr_clock_ns();
		rc = write_batch(stream, has_header, (uint32_t)n_records, length);
		if (rc == 0 && keys->acked)
			rc = wait_acked(stream, began_ns);
		if (rc < 0)
			atomic_store(&stream->error, errno);
		if (rc != 0)
			return;
		bytes += length;
		records += n_records;
		wr_stat_histogram_record(stream->latency, (uint64_t)(wr_clock_ns() - began_ns), n_records);
		atomic_store_explicit(&stream->bytes, bytes, memory_order_relaxed);
		atomic_store_explicit(&stream->messages, records, memory_order_relaxed);
	}
	if (sizes.left == 0)
		wr_channel_finish(&stream->channel);
}

/*
 * What the receiver is in the middle of. @left_bytes: of the record or header that is being read; @in_batch: records
 * to come before the next header
 */
struct reading {
	struct sizes sizes;
	uint64_t left_bytes, in_batch, records;
	bool in_record;
};

static void reading_next(struct reading *reading, const struct keys *keys)
{
	bool header = keys->batch != WR_UNSET && reading->in_batch == 0;

	reading->in_record = !header;
	if (header)
		reading->in_batch = keys->batch;
	else if (keys->batch != WR_UNSET)
		reading->in_batch--;
	reading->left_bytes = header ? HEADER_BYTES : sizes_next(&reading->sizes);
}

static void reading_take(struct reading *reading, const struct keys *keys, uint64_t n)
{
	while (n >= reading->left_bytes) {
		n -= reading->left_bytes;
		reading->records += reading->in_record;
		reading_next(reading, keys);
	}
	reading->left_bytes -= n;
}

static void receive_loop(struct wr_stream *stream)
{
	const struct keys *keys = (const struct keys *)stream->crew->work.keys;
	struct reading reading = {0};
	uint64_t bytes = 0, count;

	sizes_init(&reading.sizes, stream, keys);
	count = reading.sizes.left;
	reading_next(&reading, keys);
	/* Datagrams have no end that the reader could see: it counts. */
	while (reading.records < count && !wr_stream_stopped(stream)) {
		ssize_t n;

		if (!wr_stream_pace(stream, bytes))
			return;
		n = wr_channel_receive(&stream->channel, stream->buffer, stream->io_bytes, 0);
		if (n <= 0) {
			atomic_store(&stream->error, n < 0 ? errno : 0);
			return;
		}
		bytes += (uint64_t)n;
		reading_take(&reading, keys, (uint64_t)n);
		atomic_store_explicit(&stream->bytes, bytes, memory_order_relaxed);
		atomic_store_explicit(&stream->messages, reading.records, memory_order_relaxed);
	}
}

const struct wr_workload wr_workload_records = {
	.name = "records",
	.summary = "small messages one way, one or several a write, sent or waited for",
	.example = "records:size=20-100,batch=80,wait=acked",
	.source = "Microsoft, \"Design issues - Sending small data segments over TCP with Winsock\" (KB 214397), case 1",
	.message = "record",
	.keys = rows,
	.check = check,
	.write_bytes = write_bytes,
	.ends = ends,
	.send = send_loop,
	.receive = receive_loop,
};
