/* SPDX-License-Identifier: MIT */
/* Threads that leave signals to the program's main thread, which may be waiting for one. */
#ifndef WR_OS_THREAD_H
#define WR_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/*
 * wr_thread_create - start @run(@argument) with every signal blocked
 * @thread: out: to be joined, unless @detached
 *
 * Return: 0; else an errno.
 */
int wr_thread_create(pthread_t *thread, bool detached, void *(*run)(void *argument), void *argument);

#endif
