/* SPDX-License-Identifier: MIT */
/*
 * Packets as a device hands them over, well-formed or not, through a whole link on a virtual clock as lab/link.c does it:
 * parsed, through the chain, cut, edited, captured. No segment may be lost or invented, a cut must be what a sender
 * would have made, checksums that were right stay right, and nothing is read or written outside.
 *
 * The input: one byte for each element (which of its values below), one for the seed, then packets: two bytes of gap in
 * units of 10 us, two of the whole length, two of how many bytes follow; the rest of the packet is a pattern.
 */
#include <linux/virtio_net.h>
#include <netinet/in.h>

#include "fuzz_link.h"
#include "lab/acks.h"
#include "lab/capture.h"
#include "lab/edit.h"

#define MOST_VALUES 6
#define MOST_PACKETS 64
#define GAP_NS 10000
#define MOST_CUT_BYTES (4u << 20) /* of a packet's pieces together: more is only slow */
#define ACK_TIMER_NS 40000000

static const struct {
	const char *name, *values[MOST_VALUES];
} elements[] = {
	{"rate", {NULL, "1gbit", "100mbit", "1mbit", "1kbit", "1000gbit"}},
	{"queue", {NULL, "3p", "15380", "10ms", "0", "512M"}},
	{"codel", {NULL, "5ms", "1ms,interval=2ms,ecn", "1us,interval=1us"}},
	{"loss", {NULL, "10%", "ge:p=5%,r=30%,h=10%,k=99%", "every:3", "gso:50%", "100%"}},
	{"duplicate", {NULL, "10%", "100%"}},
	{"police", {NULL, "10mbit,burst=1600", "1kbit", "1000gbit,burst=1G"}},
	{"outage", {NULL, "0,for=1ms,every=3ms", "5ms,for=1s", "1ms,for=1ms,every=4ms,hold", "0,for=86400s,hold"}},
	{"jitter", {NULL, "5ms", "5ms,normal", "5ms,reorder", "5ms,normal,reorder"}},
	{"reorder", {NULL, "10%,by=3", "50%,late=1ms", "100%,by=10000"}},
	{"corrupt", {NULL, "10%", "100%"}},
	{"ecn", {NULL, "1", "20K", "1ms"}},
	{"path-mtu", {NULL, "1499", "576,blackhole", "1400"}},
	{"strip-wscale", {NULL, ""}},
	{"txqueuelen", {NULL, "3"}},
	{"delay", {NULL, "20ms", "60s"}},
};

#define N_ELEMENTS (sizeof elements / sizeof elements[0])

/* A packet in memory of exactly its size, and what is known of it. */
struct passage {
	uint8_t *data;
	size_t n_bytes;
	struct wr_lab_shape shape;
	uint64_t at_ns;
	uint32_t next_seg;    /* that must leave or be dropped next, of those that are no copies */
	uint64_t n_out, n_cut_bytes;
};

static struct wr_lab_capture *capture;

/* -- checksums, by their definition -- */

__attribute__((no_sanitize("coverage"))) static uint32_t sum_of(const uint8_t *bytes, size_t n, uint32_t sum)
{
	for (size_t i = 0; i < n; i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

enum validity {
	NO_CHECKSUM, /* not TCP or UDP as a whole, or UDP without one */
	VALID,
	INVALID,
};

/* Whether a receiver takes the transport's checksum for right, a part that is left to a device included. */
static enum validity l4_validity(const uint8_t *data, size_t n_bytes)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES, *l4;
	struct virtio_net_hdr header;
	struct wr_lab_shape shape;
	uint32_t n_l4, sum, at;

	if (!wr_lab_packet_find_l4(data, n_bytes, &shape))
		return NO_CHECKSUM;
	memcpy(&header, data, sizeof header);
	l4 = ip + shape.l4_offset_bytes;
	at = shape.tcp ? 16 : 6;
	n_l4 = shape.ip_bytes - shape.l4_offset_bytes;
	sum = sum_of(ip + (shape.ipv6 ? 8 : 12), shape.ipv6 ? 32 : 8, 0) + n_l4 + (shape.tcp ? IPPROTO_TCP : IPPROTO_UDP);
	if (header.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
		if (header.csum_start != shape.l4_offset_bytes || header.csum_offset != at)
			return NO_CHECKSUM;
		return sum_of(l4 + at, 2, 0) % 0xffff == sum_of(NULL, 0, sum) % 0xffff ? VALID : INVALID;
	}
	if (!shape.tcp && l4[6] == 0 && l4[7] == 0)
		return NO_CHECKSUM;
	return sum_of(l4, n_l4, sum) == 0xffff ? VALID : INVALID;
}

/* Of the IPv4 header; NO_CHECKSUM for anything else. */
static enum validity ip_validity(const uint8_t *data, size_t n_bytes)
{
	const uint8_t *ip = data + WR_LAB_VIRTIO_BYTES;
	size_t n_header;

	if (n_bytes < WR_LAB_VIRTIO_BYTES + 20 || ip[0] >> 4 != 4)
		return NO_CHECKSUM;
	n_header = 4u * (ip[0] & 15);
	if (n_header < 20 || WR_LAB_VIRTIO_BYTES + n_header > n_bytes)
		return NO_CHECKSUM;
	return sum_of(ip, n_header, 0) == 0xffff ? VALID : INVALID;
}

/* -- one packet -- */

static void check_shape(const struct passage *passage)
{
	const struct wr_lab_shape *shape = &passage->shape;
	uint64_t payload = shape->ip_bytes - shape->header_bytes;

	CHECK(shape->n_segs >= 1 && shape->n_segs <= WR_LAB_MAX_SEGS, "%u segments", shape->n_segs);
	CHECK(shape->ip_bytes == passage->n_bytes - WR_LAB_VIRTIO_BYTES, "%u bytes of IP", shape->ip_bytes);
	if (shape->n_segs == 1) {
		CHECK(shape->seg_payload_bytes == 0, "a segment alone has others of %u bytes", shape->seg_payload_bytes);
		return;
	}
	CHECK(shape->l4_offset_bytes < shape->header_bytes && shape->header_bytes < shape->ip_bytes, "headers of %u bytes",
	      shape->header_bytes);
	CHECK((uint64_t)(shape->n_segs - 1) * shape->seg_payload_bytes < payload &&
	      payload <= (uint64_t)shape->n_segs * shape->seg_payload_bytes, "%llu bytes in %u segments of %u",
	      (unsigned long long)payload, shape->n_segs, shape->seg_payload_bytes);
}

/* A piece is a packet like the whole, of the payload that belongs to it. */
static void check_piece(const struct passage *passage, const uint8_t *piece, size_t n_bytes, const struct wr_lab_run *run)
{
	const struct wr_lab_shape *whole = &passage->shape;
	size_t n_headers = WR_LAB_VIRTIO_BYTES + whole->header_bytes;
	struct wr_lab_shape shape;

	wr_lab_packet_parse(piece, n_bytes, &shape);
	CHECK(shape.n_segs == run->n_segs, "a piece of %u segments has %u", run->n_segs, shape.n_segs);
	if (whole->n_segs == 1) {
		CHECK(n_bytes == passage->n_bytes && memcmp(piece, passage->data, n_bytes) == 0, "a copy differs");
		return;
	}
	CHECK(memcmp(piece + n_headers, passage->data + n_headers + (size_t)run->first_seg * whole->seg_payload_bytes,
		     n_bytes - n_headers) == 0, "a piece has other bytes");
	if (ip_validity(passage->data, passage->n_bytes) != NO_CHECKSUM)
		CHECK(ip_validity(piece, n_bytes) == VALID, "the IP checksum of a piece is wrong");
	CHECK(l4_validity(piece, n_bytes) != INVALID, "the checksum of a piece is wrong");
}

static void check_edit(uint8_t *data, size_t n_bytes, const struct wr_lab_run *run)
{
	enum validity ip = ip_validity(data, n_bytes), l4 = l4_validity(data, n_bytes);

	wr_lab_edit_apply(data, n_bytes, run->marks & (WR_LAB_MARK_CE | WR_LAB_MARK_NO_WSCALE), 0);
	if (ip == VALID)
		CHECK(ip_validity(data, n_bytes) == VALID, "an edit breaks the IP checksum");
	if (l4 == VALID)
		CHECK(l4_validity(data, n_bytes) == VALID, "an edit breaks the transport's checksum");
	if (!(run->marks & WR_LAB_MARK_CORRUPT))
		return;
	wr_lab_edit_apply(data, n_bytes, WR_LAB_MARK_CORRUPT, run->chance);
	CHECK(n_bytes < WR_LAB_VIRTIO_BYTES || !(data[0] & VIRTIO_NET_HDR_F_NEEDS_CSUM), "what is corrupt is taken unseen");
	/* The bit may have been one by which TCP or UDP is recognised. */
	CHECK(l4 != VALID || l4_validity(data, n_bytes) != VALID, "a flipped bit goes unseen");
}

static void check_run(const struct passage *passage, const struct wr_lab_run *run)
{
	CHECK(run->n_segs > 0 && run->first_seg + run->n_segs <= passage->shape.n_segs, "segments %u + %u of %u", run->first_seg,
	      run->n_segs, passage->shape.n_segs);
	CHECK(wr_lab_run_wire_bytes(run) == wr_lab_packet_wire_bytes(&passage->shape, run->first_seg, run->n_segs),
	      "%u segments from %u on are %llu bytes on the wire", run->n_segs, run->first_seg,
	      (unsigned long long)wr_lab_run_wire_bytes(run));
}

static void emit(void *context, const struct wr_lab_run *run)
{
	struct passage *passage = context;
	size_t n = wr_lab_packet_cut_bytes(&passage->shape, run->first_seg, run->n_segs);
	uint8_t *piece;

	check_run(passage, run);
	CHECK(run->first_seg >= passage->next_seg, "segment %u after %u", run->first_seg, passage->next_seg);
	CHECK(run->at_ns >= passage->at_ns, "a segment leaves before it came");
	passage->next_seg = run->first_seg + (run->marks & WR_LAB_MARK_COPY ? 0 : run->n_segs);
	passage->n_out += run->n_segs;
	passage->n_cut_bytes += n;
	if (passage->n_cut_bytes > MOST_CUT_BYTES)
		return;
	piece = malloc(n);
	CHECK(piece && n <= WR_LAB_MAX_PACKET_BYTES, "a piece of %zu bytes", n);
	CHECK(wr_lab_packet_cut(passage->data, &passage->shape, run->first_seg, run->n_segs, piece) == n, "a piece of another size");
	check_piece(passage, piece, n, run);
	check_edit(piece, n, run);
	wr_lab_capture_packet(capture, WR_LAB_NEAR, piece, n, run->left_ns, 1000);
	free(piece);
}

static void refuse(void *context, const struct wr_lab_run *run)
{
	const struct passage *passage = context;
	uint8_t *answer = malloc(WR_LAB_TOO_BIG_BYTES);
	size_t n;

	check_run(passage, run);
	CHECK(answer, "no memory");
	n = wr_lab_edit_too_big(passage->data, passage->n_bytes, 1400, answer);
	CHECK(n <= WR_LAB_TOO_BIG_BYTES, "an answer of %zu bytes", n);
	if (n) {
		const uint8_t *ip = answer + WR_LAB_VIRTIO_BYTES;
		bool ipv6 = ip[0] >> 4 == 6;
		size_t n_ip = n - WR_LAB_VIRTIO_BYTES, n_header = ipv6 ? 40 : 20;
		uint32_t sum = ipv6 ? sum_of(ip + 8, 32, 0) + (uint32_t)(n_ip - n_header) + IPPROTO_ICMPV6 : 0;

		CHECK(ip_validity(answer, n) != INVALID, "the IP checksum of an answer is wrong");
		CHECK(sum_of(ip + n_header, n_ip - n_header, sum) == 0xffff, "the checksum of an answer is wrong");
	}
	free(answer);
}

/* -- acknowledgements that wait -- */

/* Packets are numbers from 1 on: each that was taken leaves once, replaced or expired. */
struct holding {
	struct wr_lab_acks *acks;
	bool held[MOST_PACKETS + 1];
};

static void let_go(struct holding *holding, void *packet)
{
	size_t number = (size_t)(uintptr_t)packet;

	if (!packet)
		return;
	CHECK(number <= MOST_PACKETS && holding->held[number], "an ACK leaves that wasn't held");
	holding->held[number] = false;
}

static void hold(struct holding *holding, const struct passage *passage, size_t number)
{
	void *replaced, *expired;

	while ((expired = wr_lab_acks_expire(holding->acks, passage->at_ns)))
		let_go(holding, expired);
	CHECK(wr_lab_acks_due_ns(holding->acks) > passage->at_ns, "an ACK that is due stays");
	if (number % 2) {
		wr_lab_acks_data(holding->acks, passage->data, passage->n_bytes, passage->shape.n_segs, passage->at_ns);
		return;
	}
	holding->held[number] = wr_lab_acks_take(holding->acks, passage->data, passage->n_bytes, (void *)(uintptr_t)number,
						 &replaced);
	let_go(holding, replaced);
}

static void let_all_go(struct holding *holding)
{
	void *expired;

	while ((expired = wr_lab_acks_expire(holding->acks, WR_UNSET - 1)))
		let_go(holding, expired);
	for (size_t i = 0; i <= MOST_PACKETS; i++)
		CHECK(!holding->held[i], "ACK %zu is never let go", i);
	holding->acks = wr_lab_acks_free(holding->acks);
}

/* -- the link -- */

/* Return: 0; -1 the elements contradict each other. */
static int read_config(struct wr_lab_config *config, const uint8_t *choices)
{
	struct weir_err err = {0};
	struct wr_lab_wish wish;

	memset(&wish, 0, sizeof wish);
	wr_option_defaults(link_rows, &wish);
	for (size_t i = 0; i < N_ELEMENTS; i++) {
		const char *value = elements[i].values[choices[i] % MOST_VALUES];

		if (value)
			CHECK(wr_option_set(link_rows, &wish, elements[i].name, value, &err) == 0, "%s", err.text);
	}
	wish.seed = choices[N_ELEMENTS];
	if (wr_lab_config_resolve(&wish, config, &err) == 0)
		return 0;
	CHECK(err.text[0], "a link is refused without a word");
	return -1;
}

static uint64_t copies(const struct wr_lab_drops *drops)
{
	for (uint32_t row = 0; wr_lab_elements[row]; row++) {
		if (wr_lab_elements[row] == &wr_lab_element_duplicate)
			return drops[row].n_touched;
	}
	return 0;
}

static void pass(struct wr_lab_chain *chain, struct passage *passage)
{
	struct wr_lab_drops drops[WR_LAB_MAX_ELEMENTS] = {0};
	struct wr_lab_run run;
	uint64_t n_dropped = 0;

	wr_lab_packet_parse(passage->data, passage->n_bytes, &passage->shape);
	check_shape(passage);
	run = wr_lab_run_of(&passage->shape, passage->at_ns);
	run.traits = wr_lab_edit_traits(passage->data, passage->n_bytes);
	wr_lab_chain_pass(chain, &run, drops, &(struct wr_lab_sink){emit, refuse, passage});
	for (uint32_t row = 0; row < WR_LAB_MAX_ELEMENTS; row++)
		n_dropped += drops[row].n_segs;
	CHECK(passage->shape.n_segs + copies(drops) == passage->n_out + n_dropped,
	      "%u segments and %llu copies in, %llu out, %llu dropped", passage->shape.n_segs, (unsigned long long)copies(drops),
	      (unsigned long long)passage->n_out, (unsigned long long)n_dropped);
}

static size_t load16(const uint8_t *at)
{
	return (size_t)at[0] << 8 | at[1];
}

/* Take one packet off the input. Return: false at its end. */
static bool read_packet(struct passage *passage, const uint8_t **data, size_t *size)
{
	size_t n_given, n;

	if (*size < 6)
		return false;
	passage->at_ns += load16(*data) * GAP_NS;
	n = load16(*data + 2) + (load16(*data + 2) > UINT16_MAX - 50 ? 50 : 0); /* past 65535, as IPv6 can be */
	n_given = load16(*data + 4);
	*data += 6;
	*size -= 6;
	n_given = n_given < *size ? n_given : *size;
	n = n > n_given ? n : n_given;
	n = n < WR_LAB_MAX_PACKET_BYTES ? n : WR_LAB_MAX_PACKET_BYTES;
	n = n > WR_LAB_VIRTIO_BYTES ? n : WR_LAB_VIRTIO_BYTES;
	n_given = n_given < n ? n_given : n;
	passage->n_bytes = n;
	passage->data = malloc(n);
	CHECK(passage->data, "no memory");
	memcpy(passage->data, *data, n_given);
	for (size_t i = n_given; i < n; i++)
		passage->data[i] = (uint8_t)(i * 31 + i / 251);
	*data += n_given;
	*size -= n_given;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct wr_lab_chain chain;
	struct passage passage = {.at_ns = 1000000000};
	struct holding holding = {NULL, {false}};
	struct wr_lab_config config;

	if (size < N_ELEMENTS + 1 || read_config(&config, data) < 0)
		return 0;
	data += N_ELEMENTS + 1;
	size -= N_ELEMENTS + 1;
	if (!capture)
		CHECK(wr_lab_capture_new(&capture, "/dev/null", 0, 0, NULL) == 0, "no capture");
	CHECK(wr_lab_chain_init(&chain, &config.ways[WR_LAB_NEAR], config.seed, passage.at_ns, NULL) == 0, "no memory");
	CHECK(wr_lab_acks_new(&holding.acks, ACK_TIMER_NS, 2, NULL) == 0, "no memory");
	for (size_t number = 1; number <= MOST_PACKETS && read_packet(&passage, &data, &size); number++) {
		passage.next_seg = 0;
		passage.n_out = passage.n_cut_bytes = 0;
		pass(&chain, &passage);
		hold(&holding, &passage, number);
		free(passage.data);
	}
	let_all_go(&holding);
	wr_lab_chain_deinit(&chain);
	wr_lab_config_deinit(&config);
	return 0;
}
