/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Copies, in the simulator: an engine that copies at once, or as late as it is asked whether it is
 * done, so that several are done in any order; and another process's memory, as a kernel copies it.
 */
#include "engine.h"

#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))
#define HALF (1u << 15)

enum {
    NOTHING,
    DONE,
    PENDING
};

/* As whoever started it, row by row; he may be killed in between. */
static void
copy_rows(const med_port_copy *copy, uintptr_t pc)
{
    char *target = copy->target;
    const char *source = copy->source;
    for (size_t row = 0; row < copy->rows; row++) {
        sim_engine_copy(target, source, copy->row_bytes, pc);
        target += copy->target_stride_bytes;
        source += copy->source_stride_bytes;
    }
}

medley_status_t
med_port_copy_start(med_port_copy *copy)
{
    sim_point(HERE);
    copy->state = PENDING;
    if (sim_choose(SIM_MACHINE, 2, HALF) == 0) {
        copy_rows(copy, HERE);
        copy->state = DONE;
    }
    sim_cache_stir();
    return MEDLEY_OK;
}

bool
med_port_copy_done(med_port_copy *copy)
{
    sim_point(HERE);
    sim_cache_stir();
    if (copy->state == PENDING && sim_choose(SIM_MACHINE, 2, HALF) == 0) {
        copy_rows(copy, HERE);
        copy->state = DONE;
    }
    return copy->state == DONE;
}

medley_status_t
med_port_copy_wait(med_port_copy *copy)
{
    if (copy->state == NOTHING) {
        return MEDLEY_ERR_ARGUMENT;
    }
    while (!med_port_copy_done(copy)) {
        sim_pass();
    }
    return MEDLEY_OK;
}

/* ---- Another process's memory ---------------------------------------------------------------- */

static bool
is_dead(const med_port_peer *peer)
{
    return sim.processes[peer->handle].killed;
}

medley_status_t
med_port_peer_open(uint32_t process_id, med_port_peer *peer)
{
    sim_point(HERE);
    uint32_t process =
        (process_id - SIM_PROCESS_ID_FIRST) * sim_spaces() + sim_space_of(sim.current->process);
    if (process >= sim.process_count || sim.processes[process].killed) {
        return MEDLEY_ERR_PEER_DIED;
    }
    peer->handle = (intptr_t)process;
    peer->process_id = process_id;
    return peer->alive(peer->context) ? MEDLEY_OK : MEDLEY_ERR_PEER_DIED;
}

void
med_port_peer_close(med_port_peer *peer)
{
    peer->handle = -1;
}

/* Is there memory of that process? */
static bool
is_there(const med_port_peer *peer, uint64_t address, uint64_t bytes)
{
    uintptr_t view = (uintptr_t)sim_shared_address((uint32_t)peer->handle, 0);
    uintptr_t private = sim_private_base((uint32_t)peer->handle);
    const sim_process *process = &sim.processes[peer->handle];
    return (address - view < SIM_VIEW_BYTES && bytes <= SIM_VIEW_BYTES - (address - view)) ||
           (address - private < SIM_PRIVATE_BYTES &&
            bytes <= SIM_PRIVATE_BYTES - (address - private)) ||
           (address - process->globals < process->globals_bytes &&
            bytes <= process->globals_bytes - (address - process->globals));
}

/* The kernel copies: nobody can race with it, and it makes nothing visible. */
medley_status_t
med_port_peer_copy_run(med_port_peer *peer, const med_port_peer_copy *copy)
{
    for (uint32_t row = 0; row < copy->rows; row++) {
        char *local = (char *)copy->local + (size_t)row * copy->local_stride_bytes;
        uint64_t remote = copy->remote + (uint64_t)row * copy->remote_stride_bytes;
        sim_point(HERE);
        if (is_dead(peer)) {
            return MEDLEY_ERR_PEER_DIED;
        }
        if (!is_there(peer, remote, copy->row_bytes)) {
            return MEDLEY_ERR_NOT_FOUND;
        }
        if (copy->write) {
            memcpy((void *)(uintptr_t)remote, local, copy->row_bytes);
        } else {
            memcpy(local, (const void *)(uintptr_t)remote, copy->row_bytes);
        }
    }
    return peer->alive(peer->context) ? MEDLEY_OK : MEDLEY_ERR_PEER_DIED;
}
