/* SPDX-License-Identifier: MIT */
/* What the parsers of pasted text share: the reader of one text, and where they put what they find. */
#ifndef WR_PASTE_READER_H
#define WR_PASTE_READER_H

#include "paste/paste.h"

/* Longest line that is read whole, and longest row of ss with all its continuation lines. */
#define WR_PASTE_LINE 16384
#define WR_PASTE_MAX_HOSTS 8
#define WR_PASTE_MAX_SNAPSHOTS 64
#define WR_PASTE_MAX_ADDRESSES 16

/* A counter as it was first and last read. */
struct wr_reading {
	char name[32];
	int64_t first, last;
	size_t n;
};

/* The facts that one host's texts hold. */
struct wr_paste_facts {
	struct wr_reading counters[WR_MAX_COUNTERS];
	size_t n_counters;
	struct wr_pasted pasted[WR_MAX_PASTED];
	size_t n_pasted;
	struct wr_remark remarks[WR_MAX_REMARKS];
	size_t n_remarks;
};

/*
 * @addresses: those that its sockets have as local ones
 * @n_glimpses, @n_held: lines with nothing but a send queue, as a loop over ss and grep leaves them
 * @shows_windows: its ss prints snd_wnd, so a row without one has a window of 0
 */
struct wr_paste_host {
	enum wr_paste_from from;
	struct wr_paste_facts facts;
	char addresses[WR_PASTE_MAX_ADDRESSES][WR_NAME_TEXT];
	size_t n_addresses, n_glimpses, n_held;
	bool shows_windows;
};

enum wr_socket_state { WR_SOCKET_OPEN, WR_SOCKET_LISTENS, WR_SOCKET_OTHER };

/*
 * One socket. @block: the output in which it was last seen, so that a second row there is no second snapshot
 * @pair: index of its other end, or itself
 * @span_s: from its first snapshot to its last, NAN unknown; @bounded: it is at least that;
 *	@lifetime: there is one, and the first is its birth
 */
struct wr_paste_socket {
	enum wr_protocol protocol;
	enum wr_socket_state state;
	size_t host, block, pair;
	int64_t pid;
	double span_s;
	bool lifetime, bounded;
	struct wr_connection connection;
};

struct wr_paste {
	struct wr_paste_host *hosts[WR_PASTE_MAX_HOSTS];
	size_t n_hosts;
	struct wr_paste_socket *sockets;
	size_t n_sockets, capacity;
	uint32_t *slots;
	size_t n_slots;
	size_t n_lines, n_skipped, n_blocks;
	bool kinds[64];
	size_t *cases;
	size_t n_cases;
	struct wr_evidence evidence, *stored;
	size_t n_stored;
	double interval_s;
	bool bounded;
};

/*
 * The reader of one text.
 *
 * @host: index, or WR_PASTE_MAX_HOSTS while unknown; @pending: what was found until then
 * @current: the kind that took the line before, which gets the next one first
 * @line, @text, @end: where the present line begins, what follows it, where the text ends
 * @gathered: @n_gathered bytes of a row of ss that may go on in the next line; @is_udp: its output has unconnected
 * sockets
 * @n_attempts: to read JSON, in a row, that failed
 * @names: the names of a pair of lines ("Tcp: A B C"), while its numbers are awaited
 * @section: heading under which the lines stand, as each kind uses it
 */
struct wr_reader {
	struct wr_paste *paste;
	enum wr_paste_from from;
	size_t host, block, settled_block;
	struct wr_paste_facts pending;
	const struct wr_paste_kind *current;
	const char *line, *text, *end;
	char gathered[WR_PASTE_LINE], names[WR_PASTE_LINE], section[48];
	size_t n_gathered, n_attempts;
	bool gathering, is_udp;
};

/*
 * A kind of text: one row of wr_paste_kinds, one file.
 *
 * @line: Return: 1 the line was this kind's and is used up; 0 it is another's; -1 out of memory.
 * @finish: the text ends, or another kind takes over; or NULL. Return: 0; -1 out of memory.
 */
struct wr_paste_kind {
	const char *name, *summary;
	int (*line)(struct wr_reader *reader, const char *line, struct weir_err *err);
	int (*finish)(struct wr_reader *reader, struct weir_err *err);
};

/* -- words and numbers -- */

/* wr_word_next - the next word of @text (blanks end it) into @word; "" at the end. Return: what follows it. */
const char *wr_word_next(const char *text, char *word, size_t n_word);

/* wr_int_parse - a whole decimal number that may be followed by something. Return: whether @text begins with one. */
bool wr_int_parse(const char *text, int64_t *value);

/* wr_real_parse - the same for a decimal fraction; @rest: what follows it, or NULL. */
bool wr_real_parse(const char *text, double *value, const char **rest);

/* wr_scaled_parse - "4.3Mbps", "512K", "416kiB": a number and a unit of 1000 or (@binary) 1024 a step. */
bool wr_scaled_parse(const char *text, double step, double *value, const char **rest);

bool wr_begins(const char *text, const char *prefix);

/* -- facts -- */

struct wr_paste_facts *wr_reader_facts(struct wr_reader *reader);

/*
 * wr_fact_counter - a reading of a counter, by its name as in nstat but without "TcpExt" or "IpExt"; others are
 * dropped.
 */
void wr_fact_counter(struct wr_reader *reader, const char *name, int64_t value);

/* wr_fact_device - a counter of a device: "tx_dropped@eth0". */
void wr_fact_device(struct wr_reader *reader, const char *what, const char *device, int64_t value);

/* wr_fact_setting - the later text replaces the earlier. */
void wr_fact_setting(struct wr_reader *reader, const char *name, const char *value);

/* wr_paste_facts_merge - what was found before the host was known. */
void wr_paste_facts_merge(struct wr_paste_facts *into, const struct wr_paste_facts *from);

/* wr_paste_facts_to_end - counters as differences, settings, and the limits that are fields of their own. */
void wr_paste_facts_to_end(const struct wr_paste_facts *facts, struct wr_end *end);

/* -- sockets -- */

/*
 * One row as a parser read it; metrics that it doesn't show are WR_ABSENT.
 * @asked_bytes: what its program asked of setsockopt for both buffers, 0 unknown
 * @has_info: there were words of tcp_info, so that a count that is not shown is 0; @has_rto: one of them was rto
 */
struct wr_row {
	enum wr_protocol protocol;
	enum wr_socket_state state;
	char local[WR_NAME_TEXT], peer[WR_NAME_TEXT], program[32], congestion[16];
	int64_t pid, mss_bytes;
	uint64_t asked_bytes;
	struct wr_sample sample;
	bool has_info, has_rto;
};

void wr_row_init(struct wr_row *row, enum wr_protocol protocol);

/* wr_reader_settle - whose text this is, by a local @address in it ("" tells nothing). Return: 0; -1 out of memory. */
int wr_reader_settle(struct wr_reader *reader, const char *address, struct weir_err *err);

struct wr_paste_socket *wr_paste_find(const struct wr_paste *paste, size_t host, enum wr_protocol protocol,
				      const char *local, const char *peer);

/* wr_row_accumulate - counts of an interval become counts since the start, by those of the socket's last row. */
void wr_row_accumulate(const struct wr_reader *reader, struct wr_row *row);

/* wr_reader_row - one row of one snapshot. Return: 0, also when there are too many; -1 out of memory. */
int wr_reader_row(struct wr_reader *reader, const struct wr_row *row, struct weir_err *err);

/* wr_paste_address_normalize - in place: no interface, no "::ffff:", no host of "*:80". */
void wr_paste_address_normalize(char *address);

/* wr_paste_address_host - @host without its port. */
void wr_paste_address_host(const char *address, char host[WR_NAME_TEXT]);
const char *wr_paste_address_port(const char *address);

#endif
