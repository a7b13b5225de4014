/* SPDX-License-Identifier: MIT */
/*
 * A new thread inherits its creator's signal mask, so the mask is full for the moment of creation. A signal that
 * reached a worker would not interrupt what the main thread waits in, and its handler would race with that thread.
 */
#include "os/thread.h"

#include <signal.h>

int wr_thread_create(pthread_t *thread, bool detached, void *(*run)(void *argument), void *argument)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int failure;

	pthread_attr_init(&attributes);
	if (detached)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failure = pthread_create(thread, &attributes, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return failure;
}
