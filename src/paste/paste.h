/* SPDX-License-Identifier: MIT */
/*
 * What people paste into tickets, read: the texts of ss, nstat, sysctl, ip, ethtool, iperf3 and the like, each found by
 * its content, and from them one case of evidence a socket. Pure: text in, evidence out. Nothing in a text is fatal:
 * what no kind knows is skipped and counted, and sizes, counts and nesting are bounded.
 */
#ifndef WR_PASTE_PASTE_H
#define WR_PASTE_PASTE_H

#include "base/mem.h"
#include "model/evidence.h"

/* Whose output a text is; unknown lets the addresses in it decide. */
enum wr_paste_from { WR_PASTE_UNKNOWN, WR_PASTE_NEAR, WR_PASTE_FAR };

/* A text is cut off beyond this, and no more sockets than that are told apart. */
#define WR_PASTE_MAX_BYTES (64UL << 20)
#define WR_PASTE_MAX_SOCKETS 50000

struct wr_paste;

int wr_paste_new(struct wr_paste **out, struct weir_err *err);
struct wr_paste *wr_paste_free(struct wr_paste *paste);
WR_DEFINE_AUTO(struct wr_paste, wr_paste_free)

/*
 * wr_paste_add - read one text; a socket that an earlier text has shown gets a further snapshot
 * @text: @n bytes of anything; copied where needed
 *
 * Return: 0; -1 out of memory.
 */
int wr_paste_add(struct wr_paste *paste, enum wr_paste_from from, const char *text, size_t n, struct weir_err *err);

/*
 * wr_paste_finish - after the last text: match the two ends of sockets, put snapshots in time
 * @interval_ns: between two snapshots, 0 unknown: then it is bounded by what the sockets' own clocks say
 *
 * Return: 0; -1 out of memory.
 */
int wr_paste_finish(struct wr_paste *paste, uint64_t interval_ns, struct weir_err *err);

/*
 * What was read. @kinds: "ss, nstat, sysctl", in the order of the table; @interval_s: NAN unknown, @bounded: at least
 * that.
 */
struct wr_paste_summary {
	size_t n_lines, n_skipped, n_sockets, n_cases;
	char kinds[200];
	double interval_s;
	bool bounded;
};
void wr_paste_summarize(const struct wr_paste *paste, struct wr_paste_summary *summary);

/*
 * A case: one socket, or both ends of one, or (local is "") what counters of hosts alone say.
 *
 * @evidence: valid until the next call, its connections until wr_paste_free
 * @local, @peer, @program: of the end that was seen, the sending one where both were
 * @far: it is a socket of far
 * @writer_host, @reader_host: numbers of the hosts that send and receive, SIZE_MAX unseen; @writer_pid ...: of their
 * programs, 0 unknown
 */
struct wr_paste_case {
	struct wr_evidence *evidence;
	const char *local, *peer, *program;
	bool far;
	size_t writer_host, reader_host;
	int64_t writer_pid, reader_pid;
};

/* wr_paste_case_get - the case @index < n_cases; the last one is that of the hosts. */
void wr_paste_case_get(struct wr_paste *paste, size_t index, struct wr_paste_case *out);

/* The kinds of text that are understood, in the order of the table; NULL-ended. */
struct wr_paste_kind;
extern const struct wr_paste_kind *const wr_paste_kinds[];

#endif
