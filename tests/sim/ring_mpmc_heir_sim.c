/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The side of a dead one, had anew by one who salvages what another dead one had taken, while a
 * third still recovers the first: he leaves alone what is claimed by that side now.
 *
 * Before it begins two have died: one with nothing but a side, the other over the only element.
 * Actors: 0 recovers the first, has his side, and recovers the second, salvaging; 1 recovers the
 * first, slowly, and has an element of his own to push.
 */
#include "base/ring_mpmc.h"
#include "scenarios.h"

#define ACTORS 2u
#define IDLE_DEAD 11u /* owners; the actors: index + 1 */
#define BUSY_DEAD 12u
#define WORDS 4u
#define MEMORY_BYTES 2048u

typedef struct message {
    uint32_t word[WORDS];
} message;

typedef struct notes {
    uint32_t kept;
} notes;

static const message old = {{1, 2, 3, 4}};
static const message other = {{5, 6, 7, 8}};

static void
view_get(const sim_actor *actor, med_ring_mpmc_view *view)
{
    SIM_CHECK(med_ring_mpmc_attach(view, actor->memory, MEMORY_BYTES, MED_PORT_SCOPE_SHARED) ==
              MEDLEY_OK);
}

static void
begin(const sim_actor *director)
{
    med_ring_mpmc_config config = {.element_bytes = sizeof(message), .capacity = 1, .sides = 3};
    med_ring_mpmc_view view;
    med_ring_mpmc_side idle, busy;
    void *taken;
    SIM_CHECK(med_ring_mpmc_init(director->memory, MEMORY_BYTES, &config) == MEDLEY_OK);
    view_get(director, &view);
    SIM_CHECK(med_ring_mpmc_join(&idle, &view, IDLE_DEAD) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_join(&busy, &view, BUSY_DEAD) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_push(&busy, &old) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_take(&busy, &taken) == MEDLEY_OK);
}

/* ---- Who salvages ---------------------------------------------------------------------------- */

static void
keep(void *context, const void *element)
{
    const sim_actor *actor = context;
    const message *m = element;
    for (uint32_t i = 0; i < WORDS; i++) {
        SIM_CHECK(m->word[i] == old.word[i]);
    }
    ((notes *)actor->notes)->kept++;
}

static void
salvage_as_heir(const sim_actor *actor, const med_ring_mpmc_view *view)
{
    sim_actor me = *actor;
    med_ring_mpmc_side side;
    (void)med_ring_mpmc_recover(view, IDLE_DEAD, NULL);
    SIM_CHECK(med_ring_mpmc_join(&side, view, actor->index + 1) == MEDLEY_OK);
    med_ring_mpmc_salvage salvage = {&side, keep, &me};
    SIM_CHECK(med_ring_mpmc_recover(view, BUSY_DEAD, &salvage) == 2);
    SIM_CHECK(med_ring_mpmc_leave(&side) == MEDLEY_OK);
}

/* ---- Who is slow ----------------------------------------------------------------------------- */

static void
recover_and_push(const sim_actor *actor, const med_ring_mpmc_view *view)
{
    med_ring_mpmc_side side;
    void *slot;
    SIM_CHECK(med_ring_mpmc_join(&side, view, actor->index + 1) == MEDLEY_OK);
    (void)med_ring_mpmc_recover(view, IDLE_DEAD, NULL);
    SIM_CHECK(med_ring_mpmc_reserve_until(&side, MED_PORT_FOREVER, &slot) == MEDLEY_OK);
    *(message *)slot = other;
    med_ring_mpmc_commit(&side);
    SIM_CHECK(med_ring_mpmc_leave(&side) == MEDLEY_OK);
}

static void
act(const sim_actor *actor)
{
    med_ring_mpmc_view view;
    view_get(actor, &view);
    (actor->index == 0 ? salvage_as_heir : recover_and_push)(actor, &view);
}

static void
end(const sim_actor *director)
{
    SIM_CHECK(((const notes *)director->notes)->kept == 1);
}

const sim_scenario sim_ring_mpmc_heir = {
    .name = "ring_mpmc_heir",
    .covers = "claim_undo()",
    .memory_bytes = MEMORY_BYTES,
    .actors = ACTORS,
    .sees_late = true,
    .begin = begin,
    .act = act,
    .end = end,
};
