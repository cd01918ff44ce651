/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of the Linux port that stands on hot paths. Included by port.h only. */
#ifndef MEDLEY_PORT_LINUX_PORT_INLINE_H
#define MEDLEY_PORT_LINUX_PORT_INLINE_H

#include "port/cpu.h"

extern MED_INNER _Thread_local void *med_port_self_pointer
    __attribute__((tls_model("initial-exec")));

static inline void *
med_port_self_get(void)
{
    return med_port_self_pointer;
}

extern MED_INNER _Thread_local void *med_port_member_pointer
    __attribute__((tls_model("initial-exec")));

static inline void *
med_port_member_get(void)
{
    return med_port_member_pointer;
}

/* Indexed by scope; goes from 0 to 1 once, when the machine stops this process for heavy barriers.
 */
extern MED_INNER uint32_t med_port_barrier_ready[2];
MED_INNER void med_port_barrier_light_unready(med_port_scope scope);

static inline void
med_port_barrier_light(med_port_scope scope)
{
    /* A2 ready <- R1 (barrier.c): who sleeps is looked for behind it, so whoever found it unready
     * before is found. */
    if (__builtin_expect(__atomic_load_n(&med_port_barrier_ready[scope], __ATOMIC_ACQUIRE) != 0,
                         1)) {
        /* B1 what is published, then who sleeps <-> B2 (heavy, barrier.c) */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } else {
        med_port_barrier_light_unready(scope);
    }
}

static inline bool
med_port_barrier_is_free(med_port_scope scope)
{
    /* Relaxed: what the machine does between the registration and this (barrier.c). */
    return __atomic_load_n(&med_port_barrier_ready[scope], __ATOMIC_RELAXED) != 0;
}

static inline void
med_port_barrier_free(void)
{
    /* B1 what is published, then who sleeps <-> B2 (heavy, barrier.c) */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#define MED_PORT_OPTIONAL

static inline bool
med_port_has_processes(void)
{
    return true;
}

static inline bool
med_port_has_threads(void)
{
    return true;
}

static inline bool
med_port_has_pi(void)
{
    return true;
}

static inline bool
med_port_has_environment(void)
{
    return true;
}

static inline bool
med_port_has_cache_drop(void)
{
    return true;
}

static inline bool
med_port_is_small(void)
{
    return false;
}

#endif
