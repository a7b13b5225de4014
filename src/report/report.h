/* SPDX-License-Identifier: MIT */
/* Writers of finished results: text for people, JSON for scripts. They see plain data, never a run in progress. */
#ifndef WR_REPORT_REPORT_H
#define WR_REPORT_REPORT_H

#include <stdio.h>

#include "model/facts.h"
#include "model/result.h"
#include "model/tuning.h"
#include "model/verdict.h"

/* What every JSON object opens with. @started: RFC 3339, as wr_report_time made it; @facts: of this host, or NULL. */
struct wr_report_head {
	const char *schema, *command, *target;
	const struct wr_facts *facts;
	char started[40];
	double duration_s;
	bool complete;
};

/* wr_report_time - the present, in RFC 3339, UTC. */
void wr_report_time(char started[40]);

/* wr_report_head_json - schema, version, started, duration_s, complete, command; target, plan and host where there are such. */
json_t *wr_report_head_json(const struct wr_report_head *head, const struct wr_plan *plan);

/* wr_report_print - one JSON object on @out, then drop the reference. */
void wr_report_print(json_t *object, FILE *out);

/* wr_report_line - the same on one line, flushed: an object of a stream. */
void wr_report_line(json_t *object, FILE *out);

/* -- weir run -- */

json_t *wr_report_run_json(const struct wr_report_head *head, const struct wr_evidence *evidence,
			   const struct wr_result *result, const struct wr_verdict *verdict);
void wr_report_run_text(FILE *out, const struct wr_evidence *evidence, const struct wr_result *result,
			const struct wr_verdict *verdict, const char *target);

/* One interval of a running transfer, one line. */
void wr_report_interval_text(FILE *out, const struct wr_interval *interval);
json_t *wr_report_interval_json(const struct wr_interval *interval);

/* wr_report_verdict_text - "Why": the first cause with its evidence, the others in a line each. */
void wr_report_verdict_text(FILE *out, const struct wr_verdict *verdict);

/* wr_report_end_json - near{...} or far{...} of a result. */
json_t *wr_report_end_json(const struct wr_end *end, double cpu_ratio);

/* wr_report_settings_text - buffers of one end in words: "SO_SNDBUF autotuned, 4.00 MiB effective". */
void wr_report_settings_text(char *out, size_t n_out, const struct wr_connection *connection, bool sender);

/* -- weir tune -- */

json_t *wr_report_tune_json(const struct wr_report_head *head, const struct wr_tuning *tuning);
void wr_report_tune_text(FILE *out, const struct wr_tuning *tuning, const char *target);

/* -- weir explain -- */

/* One socket of many. @verdict: owned; @cause ...: the first cause, NULL none. */
struct wr_report_socket {
	char local[64], peer[64], program[32];
	const char *cause;
	enum wr_side side, cause_side;
	double share_ratio;
	enum wr_confidence confidence;
	json_t *verdict;
};

/* @chosen: which socket @verdict is of; @interval_s: NAN unknown, @bounded: at least that. */
struct wr_report_explained {
	struct wr_report_head head;
	const struct wr_verdict *verdict;
	const struct wr_report_socket *sockets;
	size_t n_sockets, chosen, n_files, n_lines, n_skipped;
	const char *kinds;
	double interval_s;
	bool bounded;
};

void wr_report_socket_take(struct wr_report_socket *line, const char *local, const char *peer, const char *program, bool far,
			   const struct wr_verdict *verdict);
void wr_report_socket_drop(struct wr_report_socket *line);

json_t *wr_report_explained_json(const struct wr_report_explained *report);
void wr_report_explained_text(FILE *out, const struct wr_report_explained *report);

#endif
