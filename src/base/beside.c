/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who computes beside the process. Relaxed, all of it: numbers that order nothing; who reads an old
 * one sleeps, or loses a slice, once more. */
#include "base/beside.h"

#include "port/port.h"

/* A try costs a slice, 3 to 4 ms: 3 % of what lies between two in the end. And so long is slept for
 * nothing when they are gone; by what comes once in a while, one millisecond. */
#define FIRST_MS 1u
#define MOST_MS 128u
#define STAY_MS 32u /* found six times, and gone seldom */
#define TRY_MS 32u  /* whoever tries is not heard of again: then another does */

atomic32 med_beside_until_ms; /* 0: nobody is known */
static atomic32 lasts_ms;     /* so long, when they are found */

/* Comes round after 49 days. */
static uint32_t
now_ms(void)
{
    return (uint32_t)(med_port_clock_ns() / 1000000);
}

/* In so many; 0 says something else. */
static uint32_t
in_ms(uint32_t more)
{
    uint32_t then = now_ms() + more;
    return then ? then : 1;
}

static bool
is_past(uint32_t until_ms)
{
    return (int32_t)(now_ms() - until_ms) >= 0;
}

med_beside
med_beside_look(void)
{
    uint32_t until_ms = atomic32_load_relaxed(&med_beside_until_ms); /* relaxed: as above */
    if (until_ms == 0) {
        return MED_BESIDE_NOBODY;
    }
    /* Relaxed: one of those who come at once tries. */
    bool tries =
        is_past(until_ms) && atomic32_cas_relaxed(&med_beside_until_ms, &until_ms, in_ms(TRY_MS));
    return tries ? MED_BESIDE_TRY : MED_BESIDE_OTHERS;
}

bool
med_beside_stay(void)
{
    return atomic32_load_relaxed(&lasts_ms) >= STAY_MS; /* relaxed: as above */
}

void
med_beside_found(bool tried)
{
    uint32_t until_ms = atomic32_load_relaxed(&med_beside_until_ms); /* relaxed: as above */
    if (until_ms != 0 && !tried) {
        return; /* another one has found them just now */
    }
    uint32_t last_ms = atomic32_load_relaxed(&lasts_ms); /* relaxed: as above */
    uint32_t next_ms = last_ms == 0 ? FIRST_MS : last_ms < MOST_MS ? 2 * last_ms : MOST_MS;
    /* Relaxed: as above. */
    if (atomic32_cas_relaxed(&med_beside_until_ms, &until_ms, in_ms(next_ms))) {
        atomic32_store_relaxed(&lasts_ms, next_ms); /* relaxed: as above */
    }
}

void
med_beside_gone(void)
{
    uint32_t last_ms = atomic32_load_relaxed(&lasts_ms); /* relaxed: as above */
    atomic32_store_relaxed(&lasts_ms, last_ms / 2);      /* relaxed: as above */
    atomic32_store_relaxed(&med_beside_until_ms, 0);     /* relaxed: as above */
}

void
med_beside_untold(void)
{
    atomic32_store_relaxed(&med_beside_until_ms, in_ms(0)); /* relaxed: as above */
}
