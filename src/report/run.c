/* SPDX-License-Identifier: MIT */
/* What `weir run` prints and writes. The layout of the text is the one that `weir tune` continues. */
#include "report/report.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "weir/version.h"

void wr_report_time(char started[40])
{
	time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	strftime(started, 40, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

json_t *wr_report_head_json(const struct wr_report_head *head, const struct wr_plan *plan)
{
	json_t *object = json_pack("{s:s,s:s,s:s,s:f,s:b,s:s}", "schema", head->schema, "version", WEIR_VERSION,
				   "started", head->started, "duration_s", round(head->duration_s * 1e3) / 1e3, "complete",
				   head->complete, "command", head->command);

	if (head->target)
		json_object_set_new(object, "target", json_string(head->target));
	if (plan)
		json_object_set_new(object, "plan", wr_plan_to_json(plan));
	if (head->facts)
		json_object_set_new(object, "host", wr_facts_to_json(head->facts));
	return object;
}

void wr_report_print(json_t *object, FILE *out)
{
	json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
	fputc('\n', out);
	json_decref(object);
}

void wr_report_line(json_t *object, FILE *out)
{
	json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(8));
	fputc('\n', out);
	json_decref(object);
	fflush(out);
}

static void set_number(json_t *object, const char *key, double value)
{
	if (isfinite(value) && value >= 0)
		json_object_set_new(object, key, json_integer(llround(value)));
}

static void set_size(json_t *object, const char *key, uint64_t bytes)
{
	if (bytes != WR_UNSET)
		json_object_set_new(object, key, json_integer((json_int_t)bytes));
}

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text[0])
		json_object_set_new(object, key, json_string(text));
}

/* Effective sizes are those of the end of the run, after autotuning; a connection's own are of its start. */
static double last_value(const struct wr_connection *connection, enum wr_metric_id id)
{
	const struct wr_sample *last = wr_series_at(&connection->series, INT64_MAX);

	return last ? wr_sample_get(last, id, NAN) : NAN;
}

json_t *wr_report_end_json(const struct wr_end *end, double cpu_ratio)
{
	json_t *object = json_object();
	const struct wr_connection *first = end->n_connections ? &end->connections[0] : NULL;

	json_object_set_new(object, "host", json_string(end->host));
	json_object_set_new(object, "kernel", json_string(end->kernel));
	if (first) {
		set_size(object, "sndbuf_req_bytes", first->sndbuf_req_bytes);
		set_number(object, "sndbuf_eff_bytes", last_value(first, WR_M_SNDBUF_BYTES));
		set_size(object, "rcvbuf_req_bytes", first->rcvbuf_req_bytes);
		set_number(object, "rcvbuf_eff_bytes", last_value(first, WR_M_RCVBUF_BYTES));
		json_object_set_new(object, "autotuning", json_pack("{s:b,s:b}", "snd", first->snd_autotuning, "rcv",
								    first->rcv_autotuning));
		set_text(object, "congestion", first->congestion);
		set_text(object, "sndbuf_option", first->sndbuf_option);
		set_text(object, "rcvbuf_option", first->rcvbuf_option);
		json_object_set_new(object, "local", json_string(first->local));
		set_number(object, "ran_on_cpu", (double)first->ran_on_cpu);
	}
	if (cpu_ratio >= 0)
		json_object_set_new(object, "cpu_ratio", json_real(round(cpu_ratio * 1e4) / 1e4));
	if (end->other_cpu_ratio >= 0)
		json_object_set_new(object, "other_cpu_ratio", json_real(round(end->other_cpu_ratio * 1e4) / 1e4));
	if (end->zerocopy_writes != WR_UNSET)
		json_object_set_new(object, "zerocopy", json_pack("{s:I,s:I}", "writes", (json_int_t)end->zerocopy_writes, "copied",
								  (json_int_t)end->zerocopy_copied));
	if (end->n_settings)
		json_object_set_new(object, "settings", wr_settings_to_json(end));
	if (end->write_bytes > 0)
		set_number(object, "write_bytes", (double)end->write_bytes);
	set_size(object, "tcp_rmem_max_bytes", end->tcp_rmem_max_bytes);
	set_size(object, "tcp_wmem_max_bytes", end->tcp_wmem_max_bytes);
	set_size(object, "rmem_max_bytes", end->core_rmem_max_bytes);
	set_size(object, "wmem_max_bytes", end->core_wmem_max_bytes);
	return object;
}

json_t *wr_report_interval_json(const struct wr_interval *interval)
{
	json_t *object = json_pack("{s:f,s:f}", "start_s", round(interval->start_s * 1e3) / 1e3, "end_s",
				   round(interval->end_s * 1e3) / 1e3);

	set_number(object, "throughput_bps", interval->throughput_bps);
	if (interval->rtt_us > 0) {
		set_number(object, "rtt_us", interval->rtt_us);
		set_number(object, "cwnd_segs", interval->cwnd_segs);
		set_number(object, "retrans_segs", interval->retrans_segs);
	}
	return object;
}

static const struct {
	const char *key, *name;
} latencies[WR_N_LATENCIES] = {
	[WR_LATENCY_P50] = {"p50", "p50"},	[WR_LATENCY_P90] = {"p90", "p90"}, [WR_LATENCY_P99] = {"p99", "p99"},
	[WR_LATENCY_P999] = {"p999", "p99.9"}, [WR_LATENCY_MAX] = {"max", "max"},
};

static json_t *workload_json(const struct wr_evidence *evidence, const struct wr_result *result)
{
	json_t *object = json_object(), *latency = json_object();
	char name[WR_WORKLOAD_NAME_TEXT];

	json_object_set_new(object, "name", json_string(wr_plan_workload_name(name, &evidence->plan)));
	set_number(object, "messages", result->messages);
	if (isfinite(result->messages_per_s))
		json_object_set_new(object, "messages_per_s", json_real(round(result->messages_per_s * 1e3) / 1e3));
	set_number(object, "bytes_per_segment", result->bytes_per_segment);
	for (int i = 0; i < WR_N_LATENCIES; i++) {
		if (isfinite(result->latency_us[i]))
			json_object_set_new(latency, latencies[i].key, json_real(round(result->latency_us[i] * 1e3) / 1e3));
	}
	if (json_object_size(latency))
		json_object_set(object, "latency_us", latency);
	json_decref(latency);
	return object;
}

static double seconds(int64_t ns)
{
	return round((double)ns / 1e6) / 1e3;
}

json_t *wr_report_run_json(const struct wr_report_head *head, const struct wr_evidence *evidence,
			   const struct wr_result *result, const struct wr_verdict *verdict)
{
	json_t *object = wr_report_head_json(head, &evidence->plan);
	json_t *path = json_object(), *streams = json_array(), *intervals = json_array();

	set_number(path, "rtt_min_us", result->rtt_min_us);
	set_number(path, "rtt_loaded_us", result->rtt_loaded_us);
	set_number(path, "mss_bytes", result->mss_bytes);
	if (!wr_plan_is_tcp(&evidence->plan))
		json_object_set_new(path, "unmeasured", json_sprintf("%s has no tcp_info: no round trips, windows or losses",
								     evidence->plan.transport));
	for (size_t i = 0; i < result->n_streams; i++)
		json_array_append_new(streams, json_pack("{s:I,s:I,s:I}", "id", (json_int_t)i + 1, "bytes",
							 (json_int_t)result->stream_bytes[i], "throughput_bps",
							 (json_int_t)llround(result->stream_bps[i])));
	for (size_t i = 0; i < result->n_intervals; i++)
		json_array_append_new(intervals, wr_report_interval_json(&result->intervals[i]));
	json_object_set_new(object, "path", path);
	set_number(object, "throughput_bps", result->throughput_bps);
	json_object_set_new(object, "steady", json_pack("{s:f,s:f,s:b}", "from_s", seconds(evidence->steady_from_ns),
							"to_s", seconds(evidence->steady_to_ns), "ramping",
							evidence->ramping));
	json_object_set_new(object, "bytes", json_integer((json_int_t)result->bytes));
	json_object_set_new(object, "workload", workload_json(evidence, result));
	json_object_set_new(object, "streams", streams);
	json_object_set_new(object, "intervals", intervals);
	json_object_set_new(object, "near", wr_report_end_json(&evidence->near, result->cpu_ratio_near));
	json_object_set_new(object, "far", wr_report_end_json(&evidence->far, result->cpu_ratio_far));
	json_object_set_new(object, "verdict", wr_verdict_to_json(verdict));
	return object;
}

void wr_report_interval_text(FILE *out, const struct wr_interval *interval)
{
	char rate[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT];

	fprintf(out, "%6.1f - %5.1f s  %12s", interval->start_s, interval->end_s,
		wr_rate_text(rate, interval->throughput_bps));
	if (interval->rtt_us > 0)
		fprintf(out, "   RTT %8s   cwnd %6.0f segments   %5.0f sent again", wr_time_text(rtt, interval->rtt_us * 1e3),
			interval->cwnd_segs, interval->retrans_segs);
	fputc('\n', out);
}

void wr_report_settings_text(char *out, size_t n_out, const struct wr_connection *connection, bool sender)
{
	uint64_t asked = sender ? connection->sndbuf_req_bytes : connection->rcvbuf_req_bytes;
	double eff = last_value(connection, sender ? WR_M_SNDBUF_BYTES : WR_M_RCVBUF_BYTES);
	const char *name = sender ? connection->sndbuf_option : connection->rcvbuf_option;
	char asked_text[WR_UNIT_TEXT], eff_text[WR_UNIT_TEXT];

	if (!name[0])
		snprintf(out, n_out, "has no buffer of its own%s", asked == WR_UNSET ? "" : "; the one asked for has no effect");
	else if (asked == WR_UNSET && !(sender ? connection->snd_autotuning : connection->rcv_autotuning))
		snprintf(out, n_out, "%s unset, %s effective", name, wr_size_text(eff_text, eff));
	else if (asked == WR_UNSET)
		snprintf(out, n_out, "%s unset, autotuned to %s effective", name, wr_size_text(eff_text, eff));
	else
		snprintf(out, n_out, "%s %s requested, %s effective", name, wr_size_text(asked_text, (double)asked),
			 wr_size_text(eff_text, eff));
}

/* Only net.core's own option is cut by it. */
static void note_clamp(FILE *out, uint64_t asked, uint64_t eff, uint64_t cap, const char *what, const char *option,
		       const char *key, const char *side)
{
	char asked_text[WR_UNIT_TEXT], cap_text[WR_UNIT_TEXT];

	if (strcmp(what, option) != 0 || asked == WR_UNSET || cap == WR_UNSET || asked <= cap || eff >= 2 * asked)
		return;
	fprintf(out, "Clamped   %s of %s was cut to %s by %s on %s; raise that first\n", what,
		wr_size_text(asked_text, (double)asked), wr_size_text(cap_text, (double)cap), key, side);
}

static void print_clamps(FILE *out, const struct wr_end *end, const char *side)
{
	const struct wr_connection *first = &end->connections[0];

	note_clamp(out, first->sndbuf_req_bytes, first->sndbuf_eff_bytes, end->core_wmem_max_bytes, "SO_SNDBUF",
		   first->sndbuf_option, "net.core.wmem_max", side);
	note_clamp(out, first->rcvbuf_req_bytes, first->rcvbuf_eff_bytes, end->core_rmem_max_bytes, "SO_RCVBUF",
		   first->rcvbuf_option, "net.core.rmem_max", side);
}

static const char *side_words(enum wr_side side)
{
	return side == WR_SIDE_PATH ? "" : side == WR_SIDE_NEAR ? " on near" : " on far";
}

/* When the limit changed, beyond the ramp. */
static void put_phases(FILE *out, const struct wr_verdict *verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < verdict->n_phases; i++)
		n += strcmp(verdict->phases[i].cause, "ramp-limited") != 0;
	for (size_t i = 0; i < verdict->n_phases && n > 1; i++) {
		const struct wr_phase *phase = &verdict->phases[i];

		fprintf(out, "%s%.1f to %.1f s %s%s%s", i ? ", " : "Phases    ", phase->from_s, phase->to_s, phase->cause,
			side_words(phase->side), i + 1 == verdict->n_phases ? "\n" : "");
	}
}

void wr_report_verdict_text(FILE *out, const struct wr_verdict *verdict)
{
	static const char *const confidences[] = {", low confidence", ", medium confidence", ""};
	const struct wr_finding *first = &verdict->causes[0];

	fprintf(out, "Why       %s%s, %.0f %% of the time%s\n", first->cause, side_words(first->side),
		100 * first->share_ratio, confidences[first->confidence]);
	for (size_t i = 0; i < first->n_proofs; i++)
		fprintf(out, "            %s\n", first->proofs[i].says);
	if (strstr(verdict->summary, ": "))
		fprintf(out, "            %s\n", strstr(verdict->summary, ": ") + 2);
	for (size_t i = 1; i < verdict->n_causes; i++) {
		const struct wr_finding *other = &verdict->causes[i];

		fprintf(out, "%s%s%s", other->companion ? "          with " : "          also ", other->cause,
			side_words(other->side));
		if (!other->companion)
			fprintf(out, ", %.0f %% of the time", 100 * other->share_ratio);
		fprintf(out, "%s%s\n", other->n_proofs ? ": " : "", other->n_proofs ? other->proofs[0].says : "");
	}
	put_phases(out, verdict);
	if (verdict->n_refused && strchr("sr", verdict->refused[0].knob[0]))
		fprintf(out, "Not this  a larger buffer: %s\n", verdict->refused[0].why);
	for (size_t i = 0; i < verdict->n_advice; i++) {
		if (!verdict->advice[i].apply[0])
			fprintf(out, "Helps     %s\n", verdict->advice[i].why);
	}
}

/* Bytes in flight above what SO_SNDBUF could ever hold: the Nagle tail of unaligned writes passed it by. */
static void note_leak(FILE *out, const struct wr_plan *plan, const struct wr_end *sender)
{
	const struct wr_connection *first = &sender->connections[0];
	char queued[WR_UNIT_TEXT], asked[WR_UNIT_TEXT];
	double most = 0;

	if (first->sndbuf_req_bytes == WR_UNSET || first->nodelay || !wr_plan_is_stream(plan))
		return;
	for (size_t i = 0; i < first->series.n_samples; i++)
		most = fmax(most, wr_sample_get(&first->series.samples[i], WR_M_WMEM_QUEUED_BYTES, 0));
	if (most > 2 * (double)first->sndbuf_eff_bytes + 262144)
		fprintf(out, "Note      writes passed SO_SNDBUF of %s by: up to %s were queued, because they are no multiple of the\n"
			     "          segment size and Nagle's algorithm holds their tails back; weir tune cuts them to segments\n",
			wr_size_text(asked, (double)first->sndbuf_req_bytes), wr_size_text(queued, most));
}

static void print_head(FILE *out, const struct wr_evidence *evidence, const struct wr_result *result, const char *target)
{
	const struct wr_connection *first = &wr_evidence_sender(evidence)->connections[0];
	const char *from = evidence->plan.reverse ? "far" : "near", *to = evidence->plan.reverse ? "near" : "far";
	bool tcp = wr_plan_is_tcp(&evidence->plan);
	char idle[WR_UNIT_TEXT], loaded[WR_UNIT_TEXT];

	fprintf(out, "weir run %-40s %s %s -> %s, %zu stream%s%s%s\n", target, tcp ? "TCP" : evidence->plan.transport, from, to,
		result->n_streams, result->n_streams == 1 ? "" : "s", first->congestion[0] ? ", " : "", first->congestion);
	if (tcp)
		fprintf(out, "Path      RTT %s idle, %s under load; segments of %.0f B\n",
			wr_time_text(idle, result->rtt_min_us * 1e3), wr_time_text(loaded, result->rtt_loaded_us * 1e3),
			result->mss_bytes);
	else
		fprintf(out, "Path      %s: the kernel tells no round trips, windows or losses\n", evidence->plan.transport);
}

static void print_workload(FILE *out, const struct wr_evidence *evidence, const struct wr_result *result)
{
	char text[WR_UNIT_TEXT];

	if (wr_plan_is_stream(&evidence->plan))
		return;
	fprintf(out, "Workload  %s: ", evidence->plan.workload);
	if (isfinite(result->messages_per_s))
		fprintf(out, result->messages_per_s < 1000 ? "%.1f messages/s, " : "%.0f messages/s, ", result->messages_per_s);
	if (isfinite(result->messages))
		fprintf(out, "%.0f read, ", result->messages);
	if (isfinite(result->bytes_per_segment))
		fprintf(out, "%.0f B a segment", result->bytes_per_segment);
	fputs("\n", out);
	if (!isfinite(result->latency_us[WR_LATENCY_P50]))
		return;
	fputs("Latency  ", out);
	for (int i = 0; i < WR_N_LATENCIES; i++)
		fprintf(out, "%s %s %s", i ? "," : "", latencies[i].name, wr_time_text(text, 1e3 * result->latency_us[i]));
	fputs(" until a message was done\n", out);
}

/* Socket options that were asked for by name, and what the kernel makes of them. */
static void print_settings(FILE *out, const struct wr_end *end, const char *side)
{
	for (size_t i = 0; i < end->n_settings; i++) {
		const struct wr_setting *setting = &end->settings[i];

		fprintf(out, "%s%s=%lld", i ? ", " : "Set       ", setting->name, (long long)setting->requested);
		if (setting->effective == WR_ABSENT)
			fputs(" (can't be read)", out);
		else if (setting->effective != setting->requested)
			fprintf(out, " (reads %lld)", (long long)setting->effective);
	}
	if (end->n_settings)
		fprintf(out, ", on %s\n", side);
}

static void print_zerocopy(FILE *out, const struct wr_plan *plan, const struct wr_end *sender, const char *side)
{
	if (plan->zerocopy)
		fprintf(out, "Zero copy sendfile() from a file in memory, on %s\n", side);
	if (sender->zerocopy_writes != WR_UNSET)
		fprintf(out, "Zero copy the kernel copied %llu of %llu writes with MSG_ZEROCOPY%s, on %s\n",
			(unsigned long long)sender->zerocopy_copied, (unsigned long long)sender->zerocopy_writes,
			sender->zerocopy_copied == 0	       ? ""
			: sender->zerocopy_copied == sender->zerocopy_writes ? ": it saves nothing here"
							       : " anyway", side);
}

void wr_report_run_text(FILE *out, const struct wr_evidence *evidence, const struct wr_result *result,
			const struct wr_verdict *verdict, const char *target)
{
	const struct wr_end *sender = wr_evidence_sender(evidence), *receiver = wr_evidence_receiver(evidence);
	const char *from = evidence->plan.reverse ? "far" : "near", *to = evidence->plan.reverse ? "near" : "far";
	char text[2][WR_UNIT_TEXT], settings[160];

	print_head(out, evidence, result, target);
	wr_report_settings_text(settings, sizeof settings, &sender->connections[0], true);
	fprintf(out, "Sender    %s, on %s; writes of %s%s\n", settings, from,
		wr_plan_is_stream(&evidence->plan) ? "" : "up to ", wr_size_text(text[0], (double)sender->write_bytes));
	wr_report_settings_text(settings, sizeof settings, &receiver->connections[0], false);
	fprintf(out, "Receiver  %s, on %s\n", settings, to);
	print_zerocopy(out, &evidence->plan, sender, from);
	print_settings(out, &evidence->near, "near");
	print_settings(out, &evidence->far, "far");
	print_workload(out, evidence, result);
	print_clamps(out, &evidence->near, "near");
	print_clamps(out, &evidence->far, "far");
	note_leak(out, &evidence->plan, sender);
	fprintf(out, "Result    %s read by the receiver from %.1f to %.1f s%s; %s in all%s\n",
		wr_rate_text(text[0], result->throughput_bps), (double)evidence->steady_from_ns / 1e9,
		(double)evidence->steady_to_ns / 1e9, evidence->ramping		   ? " (still ramping)"
		: evidence->steady_from_ns > 50000000 ? " (warm-up left out)"
							  : "",
		wr_size_text(text[1], (double)result->bytes), evidence->complete ? "" : "; stopped early");
	wr_report_verdict_text(out, verdict);
	fprintf(out, "Next      %s tests the other direction", evidence->plan.reverse ? "without -R it" : "-R");
	if (wr_plan_is_stream(&evidence->plan))
		fputs(wr_plan_is_tcp(&evidence->plan) ? "; weir tune finds and proves settings" : "; weir sweep measures sizes", out);
	fputs("\n", out);
}
