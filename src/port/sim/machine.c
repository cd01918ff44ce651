/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time and surroundings, in the simulator. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t
med_port_clock_ns(void)
{
    sim.now_ns += sim.settings.clock_step_ns;
    return sim.now_ns;
}

uint64_t
med_port_clock_common_ns(void)
{
    return med_port_clock_ns();
}

void
med_port_delay_until_ns(uint64_t deadline_ns)
{
    while (sim.now_ns < deadline_ns) {
        sim.now_ns += (deadline_ns - sim.now_ns) / 2;
        sim_pass();
    }
}

void
med_port_delay_ns(uint64_t duration_ns)
{
    med_port_delay_until_ns(sim.now_ns + duration_ns);
}

void
med_port_yield(void)
{
    sim_pass();
}

/* As many as there are threads, or one for all of them. */
uint32_t
med_port_processor_here(void)
{
    return sim_choose(SIM_SPIN, 2, 1u << 14) ? 0 : sim.current->number;
}

void
sim_relax(void)
{
    sim_pass();
}

/* Many processors; one; the only one, in real time, where nobody spins. */
void
med_port_scheduling_get(med_port_scheduling *scheduling)
{
    uint32_t choice = sim_choose(SIM_SPIN, 3, 3u << 14);
    scheduling->processors = choice == 0 ? 8 : 1;
    scheduling->real_time = choice == 1;
    scheduling->alone = choice == 1;
}

medley_status_t
med_port_processors_discover(med_port_processors *processors)
{
    *processors = (med_port_processors){.online = 8, .allowed = 8};
    return MEDLEY_OK;
}

void
med_port_processors_allowed(med_processor_set *allowed)
{
    *allowed = (med_processor_set){{0xff}};
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
    (void)snprintf(name, size_bytes, "simulator");
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

const char *
med_port_environment(const char *name)
{
    const sim_variable *variable = sim.scenario->environment;
    while (variable && variable->name && strcmp(variable->name, name) != 0) {
        variable++;
    }
    return variable ? variable->value : NULL;
}

void
med_port_log(const char *line)
{
    if (sim.order->loud) {
        (void)fprintf(stderr, "[%u] %s\n", sim.current->number, line);
    }
}

medley_status_t
med_port_topology_read(const med_topology_sink *sink, char *why, size_t why_bytes)
{
    (void)sink;
    (void)why;
    (void)why_bytes;
    return MEDLEY_ERR_NOT_SUPPORTED;
}

/* No scenario wants this. */
_Noreturn void
med_port_program_end(int status)
{
    (void)status;
    abort();
}
