/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A system small enough that a scribble hits something. */
#ifndef MEDLEY_FUZZ_SMALL_H
#define MEDLEY_FUZZ_SMALL_H

#include <stdlib.h>

#define SMALL_PROCESSES 4u

static inline void
small_limits_set(void)
{
    (void)setenv("MEDLEY_LOG", "quiet", 1);
    (void)setenv("MEDLEY_MAX_NODES", "8", 1);
    (void)setenv("MEDLEY_MAX_MUTEXES", "8", 1);
    (void)setenv("MEDLEY_MAX_SEMAPHORES", "4", 1);
    (void)setenv("MEDLEY_MAX_RWLOCKS", "4", 1);
    (void)setenv("MEDLEY_MAX_SHARERS", "4", 1);
    (void)setenv("MEDLEY_MAX_SHMEMS", "4", 1);
    (void)setenv("MEDLEY_MAX_PROCESSES", "4", 1);
    (void)setenv("MEDLEY_MAX_RMEMS", "4", 1);
    (void)setenv("MEDLEY_MAX_RMEM_ATTACHMENTS", "4", 1);
    (void)setenv("MEDLEY_MAX_DOMAINS", "4", 1);
    (void)setenv("MEDLEY_MAX_ENDPOINTS", "4", 1);
    (void)setenv("MEDLEY_MAX_LANES", "4", 1);
    (void)setenv("MEDLEY_MAX_REQUESTS", "4", 1);
}

#endif
