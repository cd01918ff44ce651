/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A side of the ring that is given up, had by another, and recovered when that one has died, while
 * the store by which its former owner gave back a slot is still on its way: that store undoes
 * nobody's claim.
 *
 * Before it begins the only element is taken. Actors: 0 took it, gives it back, and leaves; 1 has
 * the side next, and dies; 2 recovers him, and then pushes an element, and pops it. Threads of one
 * process, so that sides can be theirs before they begin.
 */
#include "base/ring_mpmc.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 3u
#define LOOKS 6u
#define MEMORY_BYTES 2048u
#define ELEMENT 5u

/* Owners. */
#define LEAVER 1u
#define NEXT 2u
#define RECOVERER 3u

typedef struct notes {
    med_ring_mpmc_view view;
    med_ring_mpmc_side leaver;
    med_ring_mpmc_side recoverer;
} notes;

static void
begin(const sim_actor *director)
{
    notes *n = director->notes;
    const med_ring_mpmc_config config = {
        .element_bytes = sizeof(uint32_t), .capacity = 1, .sides = 2};
    const uint32_t first = 0;
    void *taken;
    SIM_CHECK(med_ring_mpmc_init(director->memory, MEMORY_BYTES, &config) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_attach(&n->view, director->memory, MEMORY_BYTES,
                                   MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_join(&n->recoverer, &n->view, RECOVERER) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_join(&n->leaver, &n->view, LEAVER) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_push(&n->leaver, &first) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_take(&n->leaver, &taken) == MEDLEY_OK);
}

static void
give_back_and_leave(notes *n)
{
    med_ring_mpmc_release(&n->leaver);
    SIM_CHECK(med_ring_mpmc_leave(&n->leaver) == MEDLEY_OK);
    for (uint32_t i = 0; i < LOOKS; i++) {
        (void)atomic32_load_relaxed(&n->view.owners[0]); /* relaxed: only to be there still */
    }
}

static void
come_and_die(const notes *n)
{
    med_ring_mpmc_side side;
    while (med_ring_mpmc_join(&side, &n->view, NEXT) != MEDLEY_OK) {
        med_port_yield();
    }
}

static void
recover_and_use(notes *n)
{
    const uint32_t pushed = ELEMENT;
    uint32_t popped;
    (void)sim_join(NEXT - 1);
    SIM_CHECK(med_ring_mpmc_recover(&n->view, NEXT, NULL) != 0);
    while (med_ring_mpmc_push(&n->recoverer, &pushed) != MEDLEY_OK) {
        med_port_yield();
    }
    SIM_CHECK(med_ring_mpmc_pop(&n->recoverer, &popped) == MEDLEY_OK && popped == ELEMENT);
    SIM_CHECK(med_ring_mpmc_leave(&n->recoverer) == MEDLEY_OK);
}

static void
act(const sim_actor *actor)
{
    notes *n = actor->notes;
    switch (actor->index + 1) {
    case LEAVER:
        give_back_and_leave(n);
        break;
    case NEXT:
        come_and_die(n);
        break;
    default:
        recover_and_use(n);
    }
}

const sim_scenario sim_ring_mpmc_late = {
    .name = "ring_mpmc_late",
    .covers = "med_ring_mpmc_leave()",
    .memory_bytes = MEMORY_BYTES,
    .actors = ACTORS,
    .one_process = true,
    .sees_late = true,
    .stores_late = true,
    .begin = begin,
    .act = act,
};
