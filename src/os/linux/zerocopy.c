/* SPDX-License-Identifier: MIT */
/* sendfile(2) and MSG_ZEROCOPY; the numbers are those of the kernel, as headers may be older. */
#include "os/zerocopy.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY 60
#endif
#ifndef MSG_ZEROCOPY
#define MSG_ZEROCOPY 0x4000000
#endif
#ifndef SO_EE_ORIGIN_ZEROCOPY
#define SO_EE_ORIGIN_ZEROCOPY 5
#endif
#ifndef SO_EE_CODE_ZEROCOPY_COPIED
#define SO_EE_CODE_ZEROCOPY_COPIED 1
#endif

int wr_memory_file(const void *bytes, size_t n, struct weir_err *err)
{
	wr_auto_fd int file = memfd_create("weir", MFD_CLOEXEC);
	size_t written = 0;

	while (file >= 0 && written < n) {
		ssize_t rc = write(file, (const char *)bytes + written, n - written);

		if (rc <= 0)
			break;
		written += (size_t)rc;
	}
	if (file < 0 || written < n)
		return wr_err_errno(err, WEIR_ERR_HOST, "memfd_create", errno, "a file of %zu bytes in memory", n);
	return wr_steal_fd(&file);
}

ssize_t wr_file_send(int fd, int file, uint64_t offset, size_t n)
{
	off_t from = (off_t)offset;

	return sendfile(fd, file, &from, n);
}

int wr_zerocopy_enable(int fd, struct weir_err *err)
{
	int one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) == 0)
		return 0;
	wr_err_errno(err, WEIR_ERR_HOST, "setsockopt", errno, "setting SO_ZEROCOPY for --msg-zerocopy");
	return wr_err_hint(err, "it needs Linux 4.14; --zerocopy sends by sendfile() instead");
}

ssize_t wr_zerocopy_send(int fd, const void *bytes, size_t n)
{
	return send(fd, bytes, n, MSG_ZEROCOPY | MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The range of writes that a message of the error queue tells of; none where it tells of something else. */
static void take(struct msghdr *message, uint64_t *writes, uint64_t *copied)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		const struct sock_extended_err *told = (const void *)CMSG_DATA(part);
		uint64_t n;

		if (!(part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR) &&
		    !(part->cmsg_level == SOL_IPV6 && part->cmsg_type == IPV6_RECVERR))
			continue;
		if (told->ee_errno != 0 || told->ee_origin != SO_EE_ORIGIN_ZEROCOPY)
			continue;
		n = (uint64_t)(uint32_t)(told->ee_data - told->ee_info) + 1;
		*writes += n;
		if (told->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
			*copied += n;
	}
}

void wr_zerocopy_collect(int fd, uint64_t *writes, uint64_t *copied)
{
	_Alignas(struct cmsghdr) char control[128];

	for (;;) {
		struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};

		if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		take(&message, writes, copied);
	}
}
