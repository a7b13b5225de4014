/* SPDX-License-Identifier: MIT */
/* A checksum of a run's long texts: tells damaged bytes, not forged ones. */
#ifndef WR_STORE_CHECKSUM_H
#define WR_STORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * wr_store_checksum - FNV-1a, 64 bits, of @n_texts texts, each with its length; NULL is none
 * Source: Fowler, Noll and Vo, draft-eastlake-fnv-17.
 */
static inline int64_t wr_store_checksum(const char *const *texts, size_t n_texts)
{
	const uint64_t prime = 0x100000001b3;
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < n_texts; i++) {
		const char *c = texts[i];

		for (; c && *c; c++)
			sum = (sum ^ (unsigned char)*c) * prime;
		sum = (sum ^ (texts[i] ? 0x100u : 0x200u)) * prime; /* no byte's value: an end, or none */
	}
	return (int64_t)sum;
}

#endif
