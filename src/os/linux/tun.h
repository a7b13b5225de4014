/* SPDX-License-Identifier: MIT */
/*
 * A TUN device that hands over packets as the stack built them: each read or write is a virtio-net header and one
 * IP packet, which may be a super-packet of up to 64 KiB that no one has segmented or checksummed yet.
 */
#ifndef WR_OS_LINUX_TUN_H
#define WR_OS_LINUX_TUN_H

#include <stdbool.h>

#include "weir/err.h"

/* Newer than Debian 12's build headers: UDP segmentation offload, Linux 6.2. */
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/*
 * wr_tun_open - make a device in the caller's network namespace; it vanishes with the namespace
 * @name: of the device, shorter than IFNAMSIZ
 * @offload: let the stack pass super-packets and partial checksums; without, packets of the MTU with full ones
 * @fd: out: non-blocking, close-on-exec
 *
 * The descriptor belongs to the namespace in which it was opened: enter it first.
 *
 * Return: 0; -1 with @err and a hint that says which node or privilege is missing.
 */
int wr_tun_open(const char *name, bool offload, int *fd, struct weir_err *err);

#endif
