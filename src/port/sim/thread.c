/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads, processes and private memory, in the simulator. */
#include "engine.h"

#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))

/* ---- Private memory -------------------------------------------------------------------------- */

#define ALIGNMENT 4096u

static void *
private_take(size_t size_bytes, size_t alignment)
{
    sim_process *process = &sim.processes[sim.current->process];
    size_t at = (process->private_used + alignment - 1) & ~(alignment - 1);
    if (size_bytes > SIM_PRIVATE_BYTES - at) {
        return NULL;
    }
    process->private_used = (uint32_t)(at + size_bytes);
    return (void *)(sim_private_base(sim.current->process) + at);
}

medley_status_t
med_port_memory_map(size_t size_bytes, void **address)
{
    void *taken = private_take(size_bytes, ALIGNMENT);
    if (!taken) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    *address = taken;
    return MEDLEY_OK;
}

/* What was given back is used again in the next run only, so that a late access meets nobody. */
void
med_port_memory_unmap(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

void *
med_port_heap_take(size_t size_bytes)
{
    return private_take(size_bytes, 16);
}

void
med_port_heap_give(void *block, size_t size_bytes)
{
    (void)block;
    (void)size_bytes;
}

/* ---- Processes ------------------------------------------------------------------------------- */

uint32_t
med_port_process_id(void)
{
    return sim_process_id(sim.current->process);
}

uint32_t
med_port_pi_space(void)
{
    return 1 + sim_space_of(sim.current->process);
}

uint32_t
med_port_thread_id(void)
{
    return sim.current->thread_id;
}

/* ---- Threads --------------------------------------------------------------------------------- */

medley_status_t
med_port_thread_start(med_port_thread *thread,
                      const med_port_thread_attributes *attributes,
                      void *(*entry)(void *),
                      void *argument)
{
    (void)attributes;
    sim_point(HERE);
    sim_fiber *fiber = sim_fiber_start(sim.current->process, entry, argument);
    fiber->mortal = sim.current->mortal;
    thread->handle = fiber->number;
    return MEDLEY_OK;
}

size_t
med_port_thread_stack_bytes(void)
{
    return 0;
}

const char *
med_port_thread_refusal(medley_status_t status)
{
    (void)status;
    return NULL;
}

medley_status_t
med_port_thread_join(med_port_thread thread, void **result)
{
    sim_point(HERE);
    const sim_fiber *fiber = &sim.fibers[thread.handle];
    if (fiber == sim.current) {
        return MEDLEY_ERR_ARGUMENT;
    }
    sim_fiber_join(fiber);
    if (result) {
        *result = fiber->result;
    }
    return MEDLEY_OK;
}

medley_status_t
med_port_thread_detach(med_port_thread thread)
{
    (void)thread;
    return MEDLEY_OK;
}

void
med_port_thread_name(const char *name)
{
    (void)name;
}

void
med_port_thread_exit(void *result)
{
    sim_fiber_end(result);
    __builtin_unreachable();
}

void *
sim_self_get(void)
{
    return sim.current->self;
}

void
med_port_self_set(void *self)
{
    sim.current->self = self;
}

medley_status_t
med_port_self_on_exit(void (*on_exit)(void *self))
{
    sim.processes[sim.current->process].on_thread_exit = on_exit;
    return MEDLEY_OK;
}

void *
sim_member_get(void)
{
    return sim.current->member;
}

void
med_port_member_set(void *member)
{
    sim.current->member = member;
}

medley_status_t
med_port_member_on_exit(void (*on_exit)(void *member))
{
    sim.processes[sim.current->process].on_member_exit = on_exit;
    return MEDLEY_OK;
}
