/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many threads can run at once. Relaxed, all of it: numbers that order nothing; who reads an
 * old one does what was right a moment ago. */
#include "omp/quota.h"

#include "port/port.h"

atomic32 med_quota_now;
static atomic32 allowed;  /* processors, at the start */
static atomic32 permille; /* of a processor, that the group was granted at the start; 0: no quota */
static atomic32 looked_ms;

/* Comes round after 49 days. */
static uint32_t
now_ms(void)
{
    return (uint32_t)(med_port_clock_ns() / 1000000);
}

static uint32_t
granted(void)
{
    uint32_t now;
    (void)med_port_quota_get(&now);
    return now;
}

static void
take(uint32_t granted_permille)
{
    /* Relaxed: as above. */
    uint32_t threads = med_quota_of(atomic32_load_relaxed(&allowed), granted_permille);
    if (threads != med_quota_threads()) {
        atomic32_store_relaxed(&med_quota_now, threads); /* relaxed: as above */
    }
}

/* That the thread may use. To be told which are online, besides, doubles what a start reads: that
 * is asked only where the set has no room for all. */
static uint32_t
processors_here(void)
{
    med_processor_set here;
    med_port_processors_allowed(&here);
    med_port_processors all = {.allowed = med_processor_set_count(&here)};
    if (all.allowed == 0) {
        (void)med_port_processors_discover(&all);
    }
    return all.allowed ? all.allowed : 1;
}

uint32_t
med_quota_begin(void)
{
    uint32_t first = granted();
    atomic32_store_relaxed(&allowed, processors_here()); /* relaxed: as above */
    atomic32_store_relaxed(&permille, first);            /* relaxed: as above */
    atomic32_store_relaxed(&looked_ms, now_ms());        /* relaxed: as above */
    take(first);
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
        take(granted());
    }
}

uint32_t
med_quota_processors(void)
{
    return med_quota_of(processors_here(),
                        atomic32_load_relaxed(&permille)); /* relaxed: as above */
}

bool
med_quota_crowds(uint32_t members)
{
    return members <= atomic32_load_relaxed(&allowed); /* relaxed: as above */
}
