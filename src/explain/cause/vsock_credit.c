/* SPDX-License-Identifier: MIT */
/*
 * vsock-credit: the writer has as many bytes under way as the reader's buffer allows. On virtio and loopback that
 * buffer alone bounds a connection; a writer that waits while the reader is neither used up nor told to be slow waits
 * for credit. From outside the diagnostics of vsock show no queue, so it takes a program's own words about ENOBUFS or
 * credit beside a vsock socket.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "explain/cause.h"

static bool speaks_of_it(const char *line)
{
	char lowered[sizeof((struct wr_remark *)0)->line];
	size_t i = 0;

	for (; line[i] && i < sizeof lowered - 1; i++)
		lowered[i] = (char)tolower((unsigned char)line[i]);
	lowered[i] = '\0';
	return strstr(lowered, "enobufs") || strstr(lowered, "no buffer space") || strstr(lowered, "credit");
}

static int eval(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	(void)found;
	for (int far = 0; far < 2; far++) {
		const struct wr_end *end = far ? &judged->evidence->far : &judged->evidence->near;

		for (size_t i = 0; i < end->n_remarks; i++) {
			if (!speaks_of_it(end->remarks[i].line))
				continue;
			out->side = far ? WR_SIDE_FAR : WR_SIDE_NEAR;
			out->share_ratio = 1;
			wr_finding_prove(out, "log", 1, "count", "a program on %s says: %s", wr_side_name(out->side),
					 end->remarks[i].line);
			out->confidence = WR_CONFIDENCE_LOW;
			return 1;
		}
	}
	return 0;
}

static int eval_plain(const struct wr_case *judged, const struct wr_verdict *found, struct wr_finding *out)
{
	const struct wr_features *f = &judged->features;
	const struct wr_connection *reader = &judged->receiver->connections[0];
	char size[WR_UNIT_TEXT], message[WR_UNIT_TEXT];

	if (judged->sender->connections[0].sndbuf_option[0] || !reader->rcvbuf_option[0] || f->waited_ratio < 0.05 ||
	    wr_finding_find(found, "reader-limited") || wr_case_reader_is_busy(judged))
		return 0;
	out->side = judged->receiver_side;
	out->share_ratio = fmin(f->waited_ratio, 1);
	wr_finding_prove(out, "rcvbuf_eff_bytes", f->rcvbuf_eff_bytes, "bytes", "%s %s at %s on %s", reader->rcvbuf_option,
			 reader->rcvbuf_req_bytes == WR_UNSET ? "stands" : "was set and stands",
			 wr_size_text(size, f->rcvbuf_eff_bytes), wr_side_name(out->side));
	wr_finding_prove(out, "waited_ratio", f->waited_ratio, "ratio",
			 "the writer waited for credit for %.0f %% of the time, with writes of %s", 100 * f->waited_ratio,
			 wr_size_text(message, (double)judged->sender->write_bytes));
	wr_finding_prove(out, "receiver_cpu_ratio", f->receiver_cpu_ratio, "ratio", "the reading thread ran for %.0f %% of it",
			 100 * f->receiver_cpu_ratio);
	out->confidence = out->share_ratio >= 0.5 ? WR_CONFIDENCE_HIGH : WR_CONFIDENCE_MEDIUM;
	return 1;
}

const struct wr_cause wr_cause_vsock_credit = {
	.name = "vsock-credit",
	.summary = "The reader's buffer gives the writer less credit than it could use.",
	.source = "net/vmw_vsock/virtio_transport_common.c virtio_transport_get_credit, virtio_transport_inc_rx_pkt",
	.protocols = 1U << WR_VSOCK,
	.eval = eval,
	.eval_plain = eval_plain,
};
