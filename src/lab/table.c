/* SPDX-License-Identifier: MIT */
/* The link's elements in the order in which a packet meets them. Adding one: its file, its row here, its options. */
#include "lab/element.h"

#include <stddef.h>

const struct wr_lab_element *const wr_lab_elements[] = {
	&wr_lab_element_ack_policy,
	&wr_lab_element_txqueuelen,
	&wr_lab_element_outage,
	&wr_lab_element_wscale,
	&wr_lab_element_path_mtu,
	&wr_lab_element_loss,
	&wr_lab_element_police,
	&wr_lab_element_corrupt,
	&wr_lab_element_duplicate,
	&wr_lab_element_queue,
	&wr_lab_element_codel,
	&wr_lab_element_ecn,
	&wr_lab_element_rate,
	&wr_lab_element_delay,
	&wr_lab_element_jitter,
	&wr_lab_element_reorder,
	NULL,
};
