/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What other ports have inline are calls of the simulator here. Included by port.h only. */
#ifndef MEDLEY_PORT_SIM_PORT_INLINE_H
#define MEDLEY_PORT_SIM_PORT_INLINE_H

#include "port/port.h"

void *sim_self_get(void);
void *sim_member_get(void);
void sim_relax(void);
void sim_barrier_light(med_port_scope scope);
bool sim_barrier_is_free(void);

static inline void *
med_port_self_get(void)
{
    return sim_self_get();
}

static inline void *
med_port_member_get(void)
{
    return sim_member_get();
}

static inline void
med_port_cpu_relax(void)
{
    sim_relax();
}

/* Threads of a scenario have the same time, which goes on as the seed says. */
static inline uint64_t
med_port_cpu_ticks(void)
{
    return med_port_clock_ns();
}

/* All compute alike. */
static inline uint64_t
med_port_float_control(void)
{
    return 0;
}

static inline void
med_port_float_control_set(uint64_t control)
{
    (void)control;
}

static inline void
med_port_barrier_light(med_port_scope scope)
{
    sim_barrier_light(scope);
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
    return true; /* the scenario's */
}

static inline bool
med_port_has_cache_drop(void)
{
    return false;
}

static inline bool
med_port_is_small(void)
{
    return false;
}

/* From the begin of a run to its end, or never in it: as the seed says. */
static inline bool
med_port_barrier_is_free(med_port_scope scope)
{
    (void)scope;
    return sim_barrier_is_free();
}

static inline void
med_port_barrier_free(void)
{
}

#endif
