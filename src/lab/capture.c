/* SPDX-License-Identifier: MIT */
/*
 * A section header, an interface for each sender, an enhanced packet block for each segment; little-endian or as this
 * machine is, which the format allows. Checksums that were left to a device are completed, so that Wireshark finds
 * nothing to complain about. The link shows a packet when it arrives, the file has them in the order in which they left the
 * bottleneck. Source: draft-ietf-opsawg-pcapng; LINKTYPE_RAW is 101.
 */
#include "lab/capture.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/edit.h"
#include "lab/merge.h"
#include "os/clock.h"

#define BUFFER_BYTES (1u << 20)
#define LINKTYPE_RAW 101
#define BLOCK_SECTION 0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET 6u
#define OPTION_IF_NAME 2
#define OPTION_IF_TSRESOL 9
#define BITS_NS 8000000000ULL
/* Type, length, interface, two halves of the stamp, captured and original length; padding; length. */
#define PACKET_HEAD_BYTES 28
/* A direction's packets that wait for those of the other: 100 ms of a gigabit. More than it holds goes out unordered. */
#define WAITING_BYTES (16u << 20)
/* A packet is seen when it arrives, after its delay, and that much later still when the link was late. */
#define MARGIN_NS (50 * WR_NS_PER_MS)

struct wr_lab_capture {
	int fd;
	int64_t clock_offset_ns;
	uint64_t hold_ns;
	struct wr_lab_merge *waiting; /* blocks of packets, by when they left */
	size_t n;
	uint8_t segment[WR_LAB_MAX_PACKET_BYTES];
	uint8_t buffer[BUFFER_BYTES];
};

/* Each puts something at a place and moves it on. */
static void put(uint8_t **at, const void *bytes, size_t n)
{
	memcpy(*at, bytes, n);
	*at += n;
}

static void put32(uint8_t **at, uint32_t value)
{
	put(at, &value, sizeof value);
}

static void put16(uint8_t **at, uint32_t value)
{
	uint16_t narrow = (uint16_t)value;

	put(at, &narrow, sizeof narrow);
}

static void put_padded(uint8_t **at, const void *bytes, size_t n)
{
	put(at, bytes, n);
	put(at, "\0\0\0", -n % 4);
}

static void put_option(uint8_t **at, uint32_t code, const void *value, size_t n)
{
	put16(at, code);
	put16(at, (uint32_t)n);
	put_padded(at, value, n);
}

static void put_section(uint8_t **at)
{
	put32(at, BLOCK_SECTION);
	put32(at, 28);
	put32(at, 0x1a2b3c4d); /* tells the byte order */
	put16(at, 1);
	put16(at, 0);
	put32(at, UINT32_MAX); /* length of the section: not known */
	put32(at, UINT32_MAX);
	put32(at, 28);
}

static void put_interface(uint8_t **at, const char *name)
{
	size_t n_name = strlen(name);
	uint32_t n = (uint32_t)(20 + 4 + (n_name + 3) / 4 * 4 + 8 + 4);
	uint8_t nanoseconds = 9;

	put32(at, BLOCK_INTERFACE);
	put32(at, n);
	put16(at, LINKTYPE_RAW);
	put16(at, 0);
	put32(at, 0); /* packets are whole */
	put_option(at, OPTION_IF_NAME, name, n_name);
	put_option(at, OPTION_IF_TSRESOL, &nanoseconds, 1);
	put32(at, 0); /* end of the options */
	put32(at, n);
}

static void write_out(struct wr_lab_capture *capture)
{
	size_t at = 0;

	while (at < capture->n) {
		ssize_t n = write(capture->fd, capture->buffer + at, capture->n - at);

		if (n < 0 && errno != EINTR)
			break; /* a full disk ends the capture, not the link */
		at += n > 0 ? (size_t)n : 0;
	}
	capture->n = 0;
}

/* The earliest packet, unless it left after @until_ns, into the buffer. */
static bool hand_on_one(struct wr_lab_capture *capture, uint64_t until_ns)
{
	size_t n;
	const uint8_t *block = wr_lab_merge_take(capture->waiting, until_ns, &n);

	if (!block)
		return false;
	if (capture->n + n > BUFFER_BYTES)
		write_out(capture);
	memcpy(capture->buffer + capture->n, block, n);
	capture->n += n;
	return true;
}

static void hand_on(struct wr_lab_capture *capture, uint64_t until_ns)
{
	while (hand_on_one(capture, until_ns))
		;
}

/* No packet that left before it can still come. */
static uint64_t settled_ns(const struct wr_lab_capture *capture)
{
	uint64_t now_ns = (uint64_t)wr_clock_ns();

	return now_ns > capture->hold_ns ? now_ns - capture->hold_ns : 0;
}

int wr_lab_capture_new(struct wr_lab_capture **out, const char *path, int64_t clock_offset_ns, uint64_t transit_ns,
		       struct weir_err *err)
{
	struct wr_lab_capture *capture = calloc(1, sizeof *capture);
	uint8_t *at;

	if (!capture || wr_lab_merge_new(&capture->waiting, WAITING_BYTES, err) < 0) {
		free(capture);
		return wr_err_memory(err, "capture");
	}
	capture->clock_offset_ns = clock_offset_ns;
	capture->hold_ns = transit_ns + MARGIN_NS;
	capture->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (capture->fd < 0) {
		wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "can't write packets to %s", path);
		wr_lab_merge_free(capture->waiting);
		free(capture);
		return -1;
	}
	at = capture->buffer;
	put_section(&at);
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		put_interface(&at, wr_lab_end_names[end]);
	capture->n = (size_t)(at - capture->buffer);
	write_out(capture);
	*out = capture;
	return 0;
}

struct wr_lab_capture *wr_lab_capture_free(struct wr_lab_capture *capture)
{
	if (!capture)
		return NULL;
	hand_on(capture, UINT64_MAX);
	write_out(capture);
	close(capture->fd);
	wr_lab_merge_free(capture->waiting);
	free(capture);
	return NULL;
}

void wr_lab_capture_flush(struct wr_lab_capture *capture)
{
	hand_on(capture, settled_ns(capture));
	write_out(capture);
}

/* Room for a block of @n bytes; when there is none the earliest must go, even if an earlier one might still come. */
static uint8_t *room(struct wr_lab_capture *capture, enum wr_lab_end end, size_t n)
{
	uint8_t *at = wr_lab_merge_room(capture->waiting, end, n);

	if (!at)
		hand_on(capture, settled_ns(capture));
	while (!at && !(at = wr_lab_merge_room(capture->waiting, end, n)) && hand_on_one(capture, UINT64_MAX))
		;
	assert(at); /* an empty ring has room for any packet */
	return at;
}

static void put_packet(struct wr_lab_capture *capture, enum wr_lab_end end, uint64_t at_ns, const uint8_t *ip, size_t n_ip)
{
	uint64_t stamp = at_ns + (uint64_t)capture->clock_offset_ns;
	uint32_t n = (uint32_t)(PACKET_HEAD_BYTES + (n_ip + 3) / 4 * 4 + 4);
	uint8_t *at = room(capture, end, n);

	put32(&at, BLOCK_PACKET);
	put32(&at, n);
	put32(&at, (uint32_t)end);
	put32(&at, (uint32_t)(stamp >> 32));
	put32(&at, (uint32_t)stamp);
	put32(&at, (uint32_t)n_ip);
	put32(&at, (uint32_t)n_ip);
	put_padded(&at, ip, n_ip);
	put32(&at, n);
	wr_lab_merge_add(capture->waiting, end, at_ns, n);
}

void wr_lab_capture_packet(struct wr_lab_capture *capture, enum wr_lab_end end, const uint8_t *data, size_t n_bytes,
			   uint64_t left_ns, uint64_t rate_bps)
{
	struct wr_lab_shape shape;

	wr_lab_packet_parse(data, n_bytes, &shape);
	if (n_bytes <= WR_LAB_VIRTIO_BYTES)
		return;
	for (uint32_t i = 0; i < shape.n_segs; i++) {
		size_t n = wr_lab_packet_cut(data, &shape, i, 1, capture->segment);
		uint64_t behind = i + 1 < shape.n_segs ? wr_lab_packet_wire_bytes(&shape, i + 1, shape.n_segs - i - 1) : 0;

		wr_lab_edit_complete(capture->segment, n);
		put_packet(capture, end, left_ns - (rate_bps ? behind * BITS_NS / rate_bps : 0),
			   capture->segment + WR_LAB_VIRTIO_BYTES, n - WR_LAB_VIRTIO_BYTES);
	}
}
