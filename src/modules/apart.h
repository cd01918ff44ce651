/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a machine in a process apart, and hands its parts on: for descriptions that somebody else
 * wrote. hwloc crashes on some that are well-formed and no machine; then the child dies of it, or
 * of taking too long, and the reading fails.
 */
#ifndef MEDLEY_MODULES_APART_H
#define MEDLEY_MODULES_APART_H

#include "port/topology.h"

/* `read` runs in a child of fork, for so many seconds at most: MEDLEY_TIMEOUT, they have passed. */
medley_status_t apart_read(med_topology_read read,
                           unsigned patience_s,
                           const med_topology_sink *sink,
                           char *why,
                           size_t why_bytes);

/* What is to be said should the child die from here on. Elsewhere than in a child, nothing. */
void apart_fear(const char *why);

#endif
