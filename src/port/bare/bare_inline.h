/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What all bare-metal ports have inline. Included by their port_inline.h only. */
#ifndef MEDLEY_PORT_BARE_BARE_INLINE_H
#define MEDLEY_PORT_BARE_BARE_INLINE_H

#include "port/cpu.h"

#define MED_PORT_OPTIONAL __attribute__((weak))

void *med_bare_member(void);

static inline void *
med_port_member_get(void)
{
    return med_bare_member();
}

static inline bool
med_port_has_processes(void)
{
    return false;
}

static inline bool
med_port_has_pi(void)
{
    return false;
}

static inline bool
med_port_has_environment(void)
{
    return false;
}

static inline bool
med_port_has_cache_drop(void)
{
    return false;
}

static inline bool
med_port_is_small(void)
{
#ifdef __OPTIMIZE_SIZE__
    return true;
#else
    return false;
#endif
}

/* Nobody stops another core here, so both halves are fences. */
static inline void
med_port_barrier_light(med_port_scope scope)
{
    (void)scope;
    /* B4 what is published, then who sleeps <-> B3 (heavy, wait.c) */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* It never is. */
static inline bool
med_port_barrier_is_free(med_port_scope scope)
{
    (void)scope;
    return false;
}

static inline void
med_port_barrier_free(void)
{
}

#endif
