/* SPDX-License-Identifier: MIT */
/* Sending without copying: from a file in memory, and from the program's own pages. */
#ifndef WR_OS_ZEROCOPY_H
#define WR_OS_ZEROCOPY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "weir/err.h"

/* wr_memory_file - a file that is nowhere but in memory and holds @n @bytes. Return: its fd; -1 (WEIR_ERR_HOST). */
int wr_memory_file(const void *bytes, size_t n, struct weir_err *err);

/* wr_file_send - sendfile(2): up to @n bytes from @offset of @file; a non-blocking socket takes what fits. */
ssize_t wr_file_send(int fd, int file, uint64_t offset, size_t n);

/* wr_zerocopy_enable - let @fd take writes of MSG_ZEROCOPY. Return: 0; -1 (WEIR_ERR_HOST). */
int wr_zerocopy_enable(int fd, struct weir_err *err);

/*
 * wr_zerocopy_send - send(2) with MSG_ZEROCOPY, without waiting
 * Return: as send(2); -1 with ENOBUFS: too many notifications or locked pages are open, collect first.
 */
ssize_t wr_zerocopy_send(int fd, const void *bytes, size_t n);

/*
 * wr_zerocopy_collect - read the notifications that have come, without waiting
 * @writes, @copied: how many writes the kernel is done with, and of those how many it copied after all; added to
 *
 * Source: Documentation/networking/msg_zerocopy.rst
 */
void wr_zerocopy_collect(int fd, uint64_t *writes, uint64_t *copied);

#endif
