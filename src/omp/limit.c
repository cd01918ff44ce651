/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Limits of threads. Relaxed, all of it: a number that orders nothing. */
#include "omp/limit.h"

static uint32_t
smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t
med_limit_reserve(med_team *root, uint32_t limit, uint32_t wanted)
{
    uint32_t threads = atomic32_load_relaxed(&root->threads); /* relaxed: as above */
    uint32_t got;
    do {
        uint32_t there = threads + 1; /* and the initial one */
        got = there < limit ? smaller(wanted, limit - there) : 0;
    } while (
        !atomic32_cas_relaxed(&root->threads, &threads, threads + got)); /* relaxed: as above */
    return got;
}

void
med_limit_give_back(med_team *root, uint32_t threads)
{
    (void)atomic32_fetch_add_relaxed(&root->threads, -threads); /* relaxed: as above */
}
