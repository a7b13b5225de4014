/* SPDX-License-Identifier: MIT */
/*
 * A section header, an interface for each sender, an enhanced packet block for each segment; little-endian or as this
 * machine is, which the format allows. Checksums that were left to a device are completed, so that Wireshark finds
 * nothing to complain about. Source: draft-ietf-opsawg-pcapng; LINKTYPE_RAW is 101.
 */
#include "lab/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/edit.h"

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
#define MAX_BLOCK_BYTES (PACKET_HEAD_BYTES + WR_LAB_MAX_PACKET_BYTES + 8)

struct wr_lab_capture {
	int fd;
	int64_t clock_offset_ns;
	size_t n;
	uint8_t segment[WR_LAB_MAX_PACKET_BYTES];
	uint8_t buffer[BUFFER_BYTES];
};

static void put(struct wr_lab_capture *capture, const void *bytes, size_t n)
{
	memcpy(capture->buffer + capture->n, bytes, n);
	capture->n += n;
}

static void put32(struct wr_lab_capture *capture, uint32_t value)
{
	put(capture, &value, sizeof value);
}

static void put16(struct wr_lab_capture *capture, uint32_t value)
{
	uint16_t narrow = (uint16_t)value;

	put(capture, &narrow, sizeof narrow);
}

static void put_padded(struct wr_lab_capture *capture, const void *bytes, size_t n)
{
	put(capture, bytes, n);
	put(capture, "\0\0\0", -n % 4);
}

static void put_option(struct wr_lab_capture *capture, uint32_t code, const void *value, size_t n)
{
	put16(capture, code);
	put16(capture, (uint32_t)n);
	put_padded(capture, value, n);
}

static void put_section(struct wr_lab_capture *capture)
{
	put32(capture, BLOCK_SECTION);
	put32(capture, 28);
	put32(capture, 0x1a2b3c4d); /* tells the byte order */
	put16(capture, 1);
	put16(capture, 0);
	put32(capture, UINT32_MAX); /* length of the section: not known */
	put32(capture, UINT32_MAX);
	put32(capture, 28);
}

static void put_interface(struct wr_lab_capture *capture, const char *name)
{
	size_t n_name = strlen(name);
	uint32_t n = (uint32_t)(20 + 4 + (n_name + 3) / 4 * 4 + 8 + 4);
	uint8_t nanoseconds = 9;

	put32(capture, BLOCK_INTERFACE);
	put32(capture, n);
	put16(capture, LINKTYPE_RAW);
	put16(capture, 0);
	put32(capture, 0); /* packets are whole */
	put_option(capture, OPTION_IF_NAME, name, n_name);
	put_option(capture, OPTION_IF_TSRESOL, &nanoseconds, 1);
	put32(capture, 0); /* end of the options */
	put32(capture, n);
}

int wr_lab_capture_new(struct wr_lab_capture **out, const char *path, int64_t clock_offset_ns, struct weir_err *err)
{
	struct wr_lab_capture *capture = malloc(sizeof *capture);

	if (!capture)
		return wr_err_memory(err, "capture");
	capture->n = 0;
	capture->clock_offset_ns = clock_offset_ns;
	capture->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (capture->fd < 0) {
		wr_err_errno(err, WEIR_ERR_USAGE, "open", errno, "can't write packets to %s", path);
		free(capture);
		return -1;
	}
	put_section(capture);
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		put_interface(capture, wr_lab_end_names[end]);
	wr_lab_capture_flush(capture);
	*out = capture;
	return 0;
}

struct wr_lab_capture *wr_lab_capture_free(struct wr_lab_capture *capture)
{
	if (!capture)
		return NULL;
	wr_lab_capture_flush(capture);
	close(capture->fd);
	free(capture);
	return NULL;
}

void wr_lab_capture_flush(struct wr_lab_capture *capture)
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

static void put_packet(struct wr_lab_capture *capture, enum wr_lab_end end, uint64_t at_ns, const uint8_t *ip, size_t n_ip)
{
	uint64_t stamp = at_ns + (uint64_t)capture->clock_offset_ns;
	uint32_t n = (uint32_t)(PACKET_HEAD_BYTES + (n_ip + 3) / 4 * 4 + 4);

	if (capture->n + MAX_BLOCK_BYTES > BUFFER_BYTES)
		wr_lab_capture_flush(capture);
	put32(capture, BLOCK_PACKET);
	put32(capture, n);
	put32(capture, (uint32_t)end);
	put32(capture, (uint32_t)(stamp >> 32));
	put32(capture, (uint32_t)stamp);
	put32(capture, (uint32_t)n_ip);
	put32(capture, (uint32_t)n_ip);
	put_padded(capture, ip, n_ip);
	put32(capture, n);
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
