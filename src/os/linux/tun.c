/* SPDX-License-Identifier: MIT */
/*
 * TUN with IFF_VNET_HDR and the offloads that virtual machines use. UDP segmentation came with Linux 6.2: asked
 * for first, given up when the kernel refuses. Source: Documentation/networking/tuntap.rst, drivers/net/tun.c.
 */
#include "os/linux/tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"

#define TUN_NODE "/dev/net/tun"

static int explain_open(int saved, struct weir_err *err)
{
	struct stat node;

	wr_err_errno(err, WEIR_ERR_HOST, "open " TUN_NODE, saved, "can't open " TUN_NODE);
	if (saved == ENOENT)
		return wr_err_hint(err, "load the module (modprobe tun); in a container add --device " TUN_NODE);
	if (saved == EACCES) {
		if (stat(TUN_NODE, &node) == 0)
			wr_err_set(err, WEIR_ERR_HOST, "open " TUN_NODE, "the mode of " TUN_NODE " is %04o: an ordinary user can't open it",
				   (unsigned)(node.st_mode & 07777));
		return wr_err_hint(err, "let root open it to users (chmod 666 " TUN_NODE "), or run it as root (sudo)");
	}
	if (saved == EPERM)
		return wr_err_hint(err, "the container's device rules forbid it: start it with --device " TUN_NODE);
	return wr_err_hint(err, "this kernel has no TUN driver (CONFIG_TUN)");
}

static int attach(int fd, const char *name, struct weir_err *err)
{
	struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};

	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
	if (ioctl(fd, TUNSETIFF, &request) == 0)
		return 0;
	wr_err_errno(err, WEIR_ERR_HOST, "ioctl TUNSETIFF", errno, "can't make the TUN device %s", name);
	return wr_err_hint(err, "it needs CAP_NET_ADMIN in the network namespace in which " TUN_NODE " was opened");
}

static int set_offload(int fd, bool offload, struct weir_err *err)
{
	unsigned long tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;

	if (!offload)
		tcp = 0;
	else if (ioctl(fd, TUNSETOFFLOAD, tcp | TUN_F_USO4 | TUN_F_USO6) == 0)
		return 0;
	if (ioctl(fd, TUNSETOFFLOAD, tcp) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "ioctl TUNSETOFFLOAD", errno, "can't set the TUN device's offloads");
	return 0;
}

int wr_tun_open(const char *name, bool offload, int *fd, struct weir_err *err)
{
	wr_auto_fd int opened = open(TUN_NODE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int header_bytes = sizeof(struct virtio_net_hdr);

	if (opened < 0)
		return explain_open(errno, err);
	if (attach(opened, name, err) < 0)
		return -1;
	if (ioctl(opened, TUNSETVNETHDRSZ, &header_bytes) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "ioctl TUNSETVNETHDRSZ", errno, "can't set the virtio header's size");
	if (set_offload(opened, offload, err) < 0)
		return -1;
	/* A device that its namespace takes along costs whoever closes it nothing; otherwise 20 ms of RCU's grace periods. */
	if (ioctl(opened, TUNSETPERSIST, 1UL) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "ioctl TUNSETPERSIST", errno, "can't leave the TUN device to its namespace");
	*fd = wr_steal_fd(&opened);
	return 0;
}
