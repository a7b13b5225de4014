/* SPDX-License-Identifier: MIT */
/*
 * protocol-window: the application's own protocol grants so many bytes and then waits for a message that grants more
 * (SSH channels, HTTP/2 streams, multiplexed databases, request and response one at a time). TCP has room everywhere,
 * and small messages come back, at least one a window.
 */
#include <math.h>

#include "base/units.h"
#include "explain/cause.h"

#define BUSY_RATIO 0.85
/* A grant is a small message: a header and a number or two. */
#define GRANT_BYTES 512
#define LEAST_WINDOW_MSS 2
/* Payload sent for each message that came, over the most that was in flight. */
#define WINDOWS_PER_GRANT 1.6

/* The most payload that a snapshot has seen queued or in flight: the window, if it is one. */
static double most_outstanding(const struct wr_case *judged)
{
	const struct wr_series *series = &judged->out->series;
	double most = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		double queue = wr_sample_get(&series->samples[i], WR_M_SEND_Q_BYTES, NAN);

		most = fmax(most, isnan(queue) ? wr_in_flight_bytes(&series->samples[i]) : queue);
	}
	return most;
}

static const char *constant_name(double bytes)
{
	static const struct {
		double bytes;
		const char *name;
	} known[] = {{65535, ", HTTP/2's default"}, {65536, ", 64 KiB"},  {32768, ", 32 KiB"}, {131072, ", 128 KiB"},
		     {262144, ", 256 KiB"},         {1048576, ", 1 MiB"}, {2097152, ", 2 MiB"}};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (bytes == known[i].bytes)
			return known[i].name;
	}
	return "";
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	double window;
	char size[WR_UNIT_TEXT], rtt[WR_UNIT_TEXT], cwnd[WR_UNIT_TEXT], grant[WR_UNIT_TEXT];

	if (!judged->evidence->outside || !judged->out || f->stop_ratio[WR_STOP_WRITER] < 0.5 ||
	    !(f->busy_ratio >= BUSY_RATIO) || wr_finding_find(found, "nagle-delack") || wr_finding_find(found, "cork"))
		return 0;
	/*
	 * Where only the time that it was busy is known, it seems busy all the time: then no look may have found it
	 * idle.
	 */
	if (judged->evidence->bounded && f->n_idle)
		return 0;
	window = most_outstanding(judged);
	if (!(f->reply_bytes <= GRANT_BYTES) || window < LEAST_WINDOW_MSS * f->mss_bytes ||
	    !(f->bytes_per_reply <= WINDOWS_PER_GRANT * window))
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = f->stop_ratio[WR_STOP_WRITER];
	out->ceiling_bps = 8e6 * f->in_flight_bytes / f->rtt_us;
	wr_finding_prove(out, "in_flight_bytes", window, "bytes",
			 "no more than %s (%.0f B%s) is ever under way, and then nothing is left to send",
			 wr_size_text(size, window), window, constant_name(window));
	wr_finding_prove(out, "reply_bytes", f->reply_bytes, "bytes",
			 "a message of %.0f B comes back for every %s sent: it grants what may be sent next",
			 f->reply_bytes, wr_size_text(grant, f->bytes_per_reply));
	wr_finding_prove(out, "cwnd_bytes", f->cwnd_bytes, "bytes",
			 "congestion window %s and peer window %s both had room", wr_size_text(cwnd, f->cwnd_bytes),
			 wr_size_text(size, f->window_bytes));
	wr_finding_prove(out, "rtt_us", f->rtt_us, "us", "RTT %s: no buffer of TCP is full, no queue stands",
			 wr_time_text(rtt, f->rtt_us * 1e3));
	out->confidence = f->doubt || f->path_full || judged->evidence->lifetime              ? WR_CONFIDENCE_LOW
			  : f->stop_ratio[WR_STOP_WRITER] > 0.9 && !judged->evidence->bounded ? WR_CONFIDENCE_HIGH
											      : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_protocol_window = {
	.name = "protocol-window",
	.summary = "The application's own protocol grants less than the path could carry in flight.",
	.source = "RFC 4254 5.2 (SSH), RFC 9113 5.2 (HTTP/2); Little's law on tcpi_unacked",
	.eval = eval,
};
