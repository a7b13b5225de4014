/* SPDX-License-Identifier: MIT */
/* The commands of the two ends: how they become themselves, and when far is ready for near. */
#ifndef WR_LAB_ENDS_H
#define WR_LAB_ENDS_H

#include "lab/init.h"

/* wr_lab_far_run, wr_lab_near_run - the child of init that becomes the end's command, in its namespace and environment */
_Noreturn void wr_lab_far_run(const struct wr_lab_init *init);
_Noreturn void wr_lab_near_run(const struct wr_lab_init *init);

/* wr_lab_far_name - how words call what runs on far */
const char *wr_lab_far_name(const struct wr_lab_init *init);

/*
 * wr_lab_far_wait - until far listens on a TCP port, has left without an error, or is given up after 2 s
 * Return: 0; -1 with @err when it failed first.
 */
int wr_lab_far_wait(struct wr_lab_init *init, struct weir_err *err);

#endif
