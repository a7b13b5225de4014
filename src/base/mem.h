/* SPDX-License-Identifier: MIT */
/*
 * Ownership of locals: wr_auto(x_free) releases a pointer when it leaves its scope, wr_auto_fd closes a
 * descriptor, wr_steal hands a pointer on.
 */
#ifndef WR_BASE_MEM_H
#define WR_BASE_MEM_H

#include <stdlib.h>
#include <unistd.h>

#define WR_DEFINE_AUTO(type, free_function)                                       \
	static inline void free_function##_auto(type **pointer)                   \
	{                                                                         \
		if (*pointer)                                                     \
			free_function(*pointer);                                  \
	}

#define wr_auto(free_function) __attribute__((cleanup(free_function##_auto)))

#define wr_steal(pointer)                           \
	({                                          \
		__typeof__(pointer) stolen_ = (pointer); \
		(pointer) = NULL;                   \
		stolen_;                            \
	})

static inline void wr_free_auto(void *pointer)
{
	free(*(void **)pointer);
}
#define wr_auto_free __attribute__((cleanup(wr_free_auto)))

static inline void wr_fd_auto(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define wr_auto_fd __attribute__((cleanup(wr_fd_auto)))

static inline int wr_steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

#define WR_N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#endif
