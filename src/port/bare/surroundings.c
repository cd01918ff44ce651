/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread's pointer, delays, and how it is scheduled, without an operating system. */
#include "port/bare/bare.h"
#include "port/port.h"

static void (*exit_handler)(void *self);

medley_status_t
med_port_self_on_exit(void (*on_exit)(void *self))
{
    exit_handler = on_exit;
    return MEDLEY_OK;
}

void
med_port_self_set(void *self)
{
    *med_bare_self() = self;
}

void
med_bare_self_ends(void)
{
    void **self = med_bare_self();
    if (med_bare_member_ends) {
        med_bare_member_ends();
    }
    if (*self && exit_handler) {
        exit_handler(*self);
    }
    *self = NULL;
}

uint32_t
med_port_process_id(void)
{
    return 1;
}

uint32_t
med_port_thread_id(void)
{
    return med_bare_core() + 1;
}

void
med_port_thread_name(const char *name)
{
    (void)name;
}

uint64_t
med_port_clock_common_ns(void)
{
    return med_port_clock_ns();
}

void
med_port_delay_until_ns(uint64_t deadline_ns)
{
    while (med_port_clock_ns() < deadline_ns) {
        med_port_cpu_relax();
    }
}

void
med_port_delay_ns(uint64_t duration_ns)
{
    med_port_delay_until_ns(med_port_clock_ns() + duration_ns);
}

/* A core has one thread. */
void
med_port_yield(void)
{
    med_port_cpu_relax();
}

uint32_t
med_port_processor_here(void)
{
    return med_bare_core();
}

medley_status_t
med_port_processors_discover(med_port_processors *processors)
{
    processors->online = med_bare_core_count();
    processors->allowed = processors->online;
    return MEDLEY_OK;
}

/* Each thread has its core. */
void
med_port_processors_allowed(med_processor_set *allowed)
{
    *allowed = (med_processor_set){{0}};
    for (uint32_t i = 0; i < med_bare_core_count(); i++) {
        med_processor_set_put(allowed, i);
    }
}

const char *
med_port_program_name(void)
{
    return "";
}

uint32_t
med_port_threads_running(void)
{
    return 0;
}

void
med_port_host_name(char *name, size_t size_bytes)
{
    if (size_bytes > 0) {
        name[0] = '\0';
    }
}

bool
med_port_quota_get(uint32_t *permille)
{
    *permille = 0;
    return true;
}

void
med_port_grants_get(med_port_grants *grants)
{
    *grants = (med_port_grants){.processors_known = true, .memory_known = true};
}

/* Nobody else's turn comes while a thread runs: that is real time. */
void
med_port_scheduling_get(med_port_scheduling *scheduling)
{
    scheduling->processors = med_bare_core_count();
    scheduling->real_time = true;
    scheduling->alone = scheduling->processors == 1;
}

const char *
med_port_environment(const char *name)
{
    (void)name;
    return NULL;
}

/* Nothing is left that could run. */
_Noreturn void
med_port_program_end(int status)
{
    (void)status;
    __builtin_trap();
}
