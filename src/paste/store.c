/* SPDX-License-Identifier: MIT */
/*
 * Sockets and hosts that texts have shown. A socket is known by host, protocol and addresses, through a hash table, so
 * that thousands of rows cost no more than their reading.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "paste/reader.h"

#define FIRST_SOCKETS 64

void wr_paste_address_host(const char *address, char host[WR_NAME_TEXT])
{
	const char *end = strrchr(address, ':');
	size_t length = end ? (size_t)(end - address) : strlen(address);

	if (address[0] == '[') {
		address++;
		length = strcspn(address, "]");
	}
	snprintf(host, WR_NAME_TEXT, "%.*s", (int)(length < WR_NAME_TEXT ? length : WR_NAME_TEXT - 1), address);
}

const char *wr_paste_address_port(const char *address)
{
	const char *end = strrchr(address, ':');

	return end ? end + 1 : "";
}

void wr_paste_address_normalize(char *address)
{
	char *interface = strchr(address, '%'), *port = strrchr(address, ':'), *mapped;

	if (interface && port > interface)
		memmove(interface, port, strlen(port) + 1);
	mapped = address + (address[0] == '[');
	if (wr_begins(mapped, "::ffff:") && strchr(mapped, '.')) {
		char *bracket = strchr(mapped, ']');

		memmove(address, mapped + 7, strlen(mapped + 7) + 1);
		bracket = bracket ? strchr(address, ']') : NULL;
		if (bracket)
			memmove(bracket, bracket + 1, strlen(bracket));
	}
}

/* Addresses that say nothing about whose they are. */
static bool is_anybody(const char *host)
{
	return host[0] == '\0' || strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0 ||
	       wr_begins(host, "127.") || strcmp(host, "::1") == 0;
}

static size_t host_of_address(const struct wr_paste *paste, const char *address)
{
	for (size_t i = 0; i < paste->n_hosts; i++) {
		for (size_t j = 0; j < paste->hosts[i]->n_addresses; j++) {
			if (strcmp(paste->hosts[i]->addresses[j], address) == 0)
				return i;
		}
	}
	return WR_PASTE_MAX_HOSTS;
}

static void host_learn(struct wr_paste_host *host, const char *address)
{
	for (size_t i = 0; i < host->n_addresses; i++) {
		if (strcmp(host->addresses[i], address) == 0)
			return;
	}
	if (host->n_addresses < WR_PASTE_MAX_ADDRESSES)
		snprintf(host->addresses[host->n_addresses++], WR_NAME_TEXT, "%s", address);
}

static int host_new(struct wr_paste *paste, enum wr_paste_from from, size_t *index, struct weir_err *err)
{
	struct wr_paste_host *host;

	if (paste->n_hosts == WR_PASTE_MAX_HOSTS) {
		*index = WR_PASTE_MAX_HOSTS - 1;
		return 0;
	}
	host = calloc(1, sizeof *host);
	if (!host)
		return wr_err_memory(err, "host");
	host->from = from;
	*index = paste->n_hosts;
	paste->hosts[paste->n_hosts++] = host;
	return 0;
}

int wr_reader_settle(struct wr_reader *reader, const char *address, struct weir_err *err)
{
	struct wr_paste *paste = reader->paste;
	size_t index = WR_PASTE_MAX_HOSTS;

	if (reader->from != WR_PASTE_UNKNOWN) {
		for (index = 0; index < paste->n_hosts && paste->hosts[index]->from != reader->from; index++)
			;
	} else if (is_anybody(address)) {
		index = reader->host < paste->n_hosts ? reader->host : paste->n_hosts - 1;
	} else {
		index = host_of_address(paste, address);
		/*
		 * One output is of one host, with as many addresses as it likes; one that has shown none may be this
		 * one.
		 */
		if (index >= paste->n_hosts && reader->host < paste->n_hosts &&
		    (reader->settled_block == reader->block || paste->hosts[reader->host]->n_addresses == 0))
			index = reader->host;
	}
	if (index >= paste->n_hosts && host_new(paste, reader->from, &index, err) < 0)
		return -1;
	reader->host = index;
	reader->settled_block = reader->block;
	if (!is_anybody(address))
		host_learn(paste->hosts[index], address);
	wr_paste_facts_merge(&paste->hosts[index]->facts, &reader->pending);
	memset(&reader->pending, 0, sizeof reader->pending);
	return 0;
}

static uint32_t hash_text(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U; /* FNV-1a */
	return hash * 16777619U;
}

static uint32_t hash_of(size_t host, enum wr_protocol protocol, const char *local, const char *peer)
{
	return hash_text(hash_text(2166136261U ^ (uint32_t)(host * 8 + protocol), local), peer);
}

static bool is_that(const struct wr_paste_socket *socket, size_t host, enum wr_protocol protocol, const char *local,
		    const char *peer)
{
	return socket->host == host && socket->protocol == protocol && strcmp(socket->connection.local, local) == 0 &&
	       strcmp(socket->connection.peer, peer) == 0;
}

struct wr_paste_socket *wr_paste_find(const struct wr_paste *paste, size_t host, enum wr_protocol protocol,
				      const char *local, const char *peer)
{
	uint32_t slot = hash_of(host, protocol, local, peer);

	if (paste->n_slots == 0)
		return NULL;
	for (slot %= (uint32_t)paste->n_slots; paste->slots[slot]; slot = (slot + 1) % (uint32_t)paste->n_slots) {
		if (is_that(&paste->sockets[paste->slots[slot] - 1], host, protocol, local, peer))
			return &paste->sockets[paste->slots[slot] - 1];
	}
	return NULL;
}

static void slot_take(struct wr_paste *paste, size_t index)
{
	const struct wr_paste_socket *socket = &paste->sockets[index];
	uint32_t slot = hash_of(socket->host, socket->protocol, socket->connection.local, socket->connection.peer);

	for (slot %= (uint32_t)paste->n_slots; paste->slots[slot]; slot = (slot + 1) % (uint32_t)paste->n_slots)
		;
	paste->slots[slot] = (uint32_t)index + 1;
}

/* Sockets double, and slots stay at least twice as many. */
static int grow(struct wr_paste *paste, struct weir_err *err)
{
	size_t capacity = paste->capacity ? 2 * paste->capacity : FIRST_SOCKETS;
	struct wr_paste_socket *sockets = realloc(paste->sockets, capacity * sizeof *sockets);
	uint32_t *slots;

	if (!sockets)
		return wr_err_memory(err, "sockets");
	paste->sockets = sockets;
	slots = calloc(2 * capacity, sizeof *slots);
	if (!slots)
		return wr_err_memory(err, "sockets");
	free(paste->slots);
	paste->slots = slots;
	paste->n_slots = 2 * capacity;
	paste->capacity = capacity;
	for (size_t i = 0; i < paste->n_sockets; i++)
		slot_take(paste, i);
	return 0;
}

static int socket_add(struct wr_reader *reader, const struct wr_row *row, struct wr_paste_socket **out,
		      struct weir_err *err)
{
	struct wr_paste *paste = reader->paste;
	struct wr_paste_socket *socket;

	if (paste->n_sockets == paste->capacity && grow(paste, err) < 0)
		return -1;
	socket = &paste->sockets[paste->n_sockets];
	*socket = (struct wr_paste_socket){.protocol = row->protocol, .host = reader->host, .pair = paste->n_sockets};
	snprintf(socket->connection.local, sizeof socket->connection.local, "%s", row->local);
	snprintf(socket->connection.peer, sizeof socket->connection.peer, "%s", row->peer);
	socket->connection.sndbuf_req_bytes = socket->connection.rcvbuf_req_bytes = WR_UNSET;
	socket->connection.sndbuf_eff_bytes = socket->connection.rcvbuf_eff_bytes = WR_UNSET;
	slot_take(paste, paste->n_sockets++);
	*out = socket;
	return 0;
}

/* A snapshot more. @same_output: another row of the same output, a copy unless it differs. */
static int sample_add(struct wr_paste_socket *socket, const struct wr_sample *sample, bool same_output,
		      struct weir_err *err)
{
	struct wr_series *series = &socket->connection.series;

	if (same_output && series->n_samples &&
	    memcmp(&series->samples[series->n_samples - 1], sample, sizeof *sample) == 0)
		return 0;
	if (series->n_samples == series->capacity && series->capacity < WR_PASTE_MAX_SNAPSHOTS &&
	    wr_series_reserve(series, series->capacity ? 2 * series->capacity : 2, err) < 0)
		return -1;
	wr_series_push_last(series, sample);
	return 0;
}

void wr_row_init(struct wr_row *row, enum wr_protocol protocol)
{
	memset(row, 0, sizeof *row);
	row->protocol = protocol;
	for (int id = 0; id < WR_N_METRICS; id++)
		row->sample.value[id] = WR_ABSENT;
}

int wr_reader_row(struct wr_reader *reader, const struct wr_row *row, struct weir_err *err)
{
	struct wr_paste *paste = reader->paste;
	struct wr_paste_socket *socket;
	char address[WR_NAME_TEXT] = "";

	if (row->protocol == WR_TCP || row->protocol == WR_UDP)
		wr_paste_address_host(row->local, address);
	if (wr_reader_settle(reader, address, err) < 0)
		return -1;
	socket = wr_paste_find(paste, reader->host, row->protocol, row->local, row->peer);
	if (!socket) {
		if (paste->n_sockets == WR_PASTE_MAX_SOCKETS)
			return 0;
		if (socket_add(reader, row, &socket, err) < 0)
			return -1;
	}
	if (sample_add(socket, &row->sample, socket->block == reader->block, err) < 0)
		return -1;
	socket->block = reader->block;
	socket->state = row->state;
	if (row->program[0])
		snprintf(socket->connection.program, sizeof socket->connection.program, "%s", row->program);
	if (row->congestion[0])
		snprintf(socket->connection.congestion, sizeof socket->connection.congestion, "%s", row->congestion);
	socket->pid = row->pid ? row->pid : socket->pid;
	if (row->asked_bytes)
		socket->connection.sndbuf_req_bytes = socket->connection.rcvbuf_req_bytes = row->asked_bytes;
	if (row->mss_bytes)
		socket->connection.mss_bytes = row->mss_bytes;
	if (row->sample.value[WR_M_SND_WND_BYTES] != WR_ABSENT)
		paste->hosts[reader->host]->shows_windows = true;
	return 0;
}
