/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many threads can run at once. Relaxed, all of it: numbers that order nothing; who reads an
 * old one does what was right a moment ago. */
#include "omp/quota.h"

#include "port/port.h"

atomic32 med_quota_now;
static atomic32 allowed; /* processors, at the start */
static atomic32 looked_ms;

/* Comes round after 49 days. */
static uint32_t
now_ms(void)
{
    return (uint32_t)(med_port_clock_ns() / 1000000);
}

static void
look(void)
{
    uint32_t permille;
    (void)med_port_quota_get(&permille);
    /* Relaxed: as above. */
    uint32_t threads = med_quota_of(atomic32_load_relaxed(&allowed), permille);
    if (threads != med_quota_threads()) {
        atomic32_store_relaxed(&med_quota_now, threads); /* relaxed: as above */
    }
}

uint32_t
med_quota_begin(void)
{
    med_port_processors processors = {.allowed = 1};
    (void)med_port_processors_discover(&processors);
    atomic32_store_relaxed(&allowed, processors.allowed); /* relaxed: as above */
    atomic32_store_relaxed(&looked_ms, now_ms());         /* relaxed: as above */
    look();
    return med_quota_threads();
}

/* One of those who come at once looks, and the others take what is there. */
void
med_quota_look(uint32_t age_ms)
{
    uint32_t now = now_ms();
    uint32_t last = atomic32_load_relaxed(&looked_ms); /* relaxed: as above */
    if (now - last >= age_ms &&
        atomic32_cas_relaxed(&looked_ms, &last, now)) { /* relaxed: as above */
        look();
    }
}

bool
med_quota_crowds(uint32_t members)
{
    return members <= atomic32_load_relaxed(&allowed); /* relaxed: as above */
}
