/* SPDX-License-Identifier: MIT */
/* The version of weir, in the form MAJOR.MINOR.PATCH. */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#define WEIR_VERSION "0.1.0"

#endif
