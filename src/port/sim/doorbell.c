/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Doorbells, in the simulator: rings are counted, and heard whenever the seed says. */
#include "engine.h"

#define HERE ((uintptr_t)__builtin_return_address(0))
#define BELLS_MAX 16u
#define CHANNEL (SIM_PLACES + 64u)

typedef struct bell {
    uint32_t run;
    uint64_t rings;
    sim_view rung; /* what those did who rang */
} bell;

static bell bells[BELLS_MAX];

static bell *
bell_at(med_port_doorbell handle)
{
    bool exists = handle.handle >= 0 && handle.handle < (intptr_t)BELLS_MAX;
    return exists && bells[handle.handle].run == sim.run ? &bells[handle.handle] : NULL;
}

medley_status_t
med_port_doorbell_create(med_port_doorbell *handle)
{
    sim_point(HERE);
    for (uint32_t i = 0; i < BELLS_MAX; i++) {
        if (bells[i].run != sim.run) {
            bells[i] = (bell){.run = sim.run};
            handle->handle = (intptr_t)i;
            return MEDLEY_OK;
        }
    }
    return MEDLEY_ERR_SYSTEM;
}

void
med_port_doorbell_destroy(med_port_doorbell *handle)
{
    bell *b = bell_at(*handle);
    if (b) {
        b->run = 0;
    }
    handle->handle = -1;
}

medley_status_t
med_port_doorbell_ring(med_port_doorbell handle)
{
    sim_point(HERE);
    bell *b = bell_at(handle);
    if (!b) {
        return MEDLEY_ERR_ARGUMENT;
    }
    b->rings++;
    sim_view_join(&b->rung, &sim.current->view);
    sim_step(sim.current);
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        if (sim.fibers[i].state == SIM_WAITING &&
            sim.fibers[i].waits_for == CHANNEL + (uint32_t)handle.handle) {
            sim_fiber_wake(&sim.fibers[i]);
        }
    }
    return MEDLEY_OK;
}

medley_status_t
med_port_doorbell_wait(med_port_doorbell handle, uint64_t deadline_ns, uint64_t *count)
{
    for (;;) {
        sim_point(HERE);
        bell *b = bell_at(handle);
        if (!b) {
            return MEDLEY_ERR_ARGUMENT;
        }
        /* A bell may be heard late. */
        if (b->rings != 0 && sim_choose(SIM_MACHINE, 2, 1u << 14) == 0) {
            sim_view_join(&sim.current->view, &b->rung);
            if (count) {
                *count = b->rings;
            }
            b->rings = 0;
            return MEDLEY_OK;
        }
        if (deadline_ns <= sim.now_ns) {
            return MEDLEY_TIMEOUT;
        }
        if (b->rings != 0) {
            sim_pass();
            continue;
        }
        sim.current->waits_for = CHANNEL + (uint32_t)handle.handle;
        (void)sim_fiber_wait(deadline_ns);
    }
}
