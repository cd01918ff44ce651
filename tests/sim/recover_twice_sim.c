/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a dead one had, recovered by two at once, of whom one has it already while the other still
 * recovers: it stays his.
 *
 * Actors: both recover the dead one, of one kind of thing in each run, and then have it in turn. Or
 * they only end one use of his, which one of them does; or use a ring in which he had a slot to
 * fill and an element taken, which at most one of them keeps.
 */
#include "base/bit_set.h"
#include "base/lock.h"
#include "base/ring_mpmc.h"
#include "base/ring_mpsc.h"
#include "base/rwlock.h"
#include "base/state_cell.h"
#include "base/trace.h"
#include "base/units.h"
#include "scenarios.h"

#define ACTORS 2u
#define ROUNDS 2u
#define DEAD 9u /* an owner; the actors: index + 1 */
#define MEMORY_BYTES 12288u
#define CELL_AT 1024u
#define RING_AT 2048u
#define RING_BYTES 4096u
#define SET_AT 6144u
#define SET_BYTES 1024u
#define QUEUE_AT 8192u
#define QUEUE_BYTES 2048u
#define SIDES (2 + ACTORS * (ROUNDS + 1)) /* one for each time that somebody joins */
#define TRACE_AT 10240u
#define TRACE_BYTES 2048u

/* At the begin of the memory. */
typedef struct things {
    med_lock lock;
    med_lock_sleepers sleepers;
    med_rwlock rwlock;
    med_lock unit;
} things;

typedef struct notes {
    uint32_t kind;   /* + 1; as the first actor chose */
    uint32_t had_by; /* index + 1 */
    uint32_t ends;   /* of the dead one's use of an entry */
    uint32_t kept;   /* of what the dead one had taken */
    uint32_t queued; /* by the actors */
    med_bit_set_slot slot;
} notes;

typedef struct kind {
    void (*begin)(const sim_actor *actor); /* the dead one has it */
    void (*recover)(const sim_actor *actor);
    bool (*have)(const sim_actor *actor); /* false: another has it */
    void (*leave)(const sim_actor *actor);
} kind;

static void *
at(const sim_actor *actor, uint32_t offset)
{
    return (uint8_t *)actor->memory + offset;
}

static things *
things_of(const sim_actor *actor)
{
    return actor->memory;
}

/* ---- A lock, and a reader's unit of one ------------------------------------------------------ */

static void
lock_begin(const sim_actor *actor)
{
    SIM_CHECK(med_lock_try(&things_of(actor)->lock, DEAD) == MEDLEY_OK);
}

static void
lock_recover(const sim_actor *actor)
{
    things *t = things_of(actor);
    (void)med_lock_recover(&t->lock, &t->sleepers, DEAD, true, MED_PORT_SCOPE_SHARED);
}

static bool
lock_have(const sim_actor *actor)
{
    return med_lock_try(&things_of(actor)->lock, actor->index + 1) != MEDLEY_BUSY;
}

static void
lock_leave(const sim_actor *actor)
{
    things *t = things_of(actor);
    med_lock_release(&t->lock, &t->sleepers, MED_PORT_SCOPE_SHARED);
}

static void
unit_begin(const sim_actor *actor)
{
    SIM_CHECK(med_units_take_at(&things_of(actor)->unit, DEAD));
}

static void
unit_recover(const sim_actor *actor)
{
    things *t = things_of(actor);
    (void)med_rwlock_recover_reader(&t->rwlock, &t->unit, DEAD, MED_PORT_SCOPE_SHARED);
}

static bool
unit_have(const sim_actor *actor)
{
    return med_units_take_at(&things_of(actor)->unit, actor->index + 1);
}

static void
unit_leave(const sim_actor *actor)
{
    things *t = things_of(actor);
    med_lock_release(&t->unit, &t->sleepers, MED_PORT_SCOPE_SHARED);
}

/* ---- A state cell's seat --------------------------------------------------------------------- */

static med_state_cell
cell_of(const sim_actor *actor)
{
    med_state_cell cell;
    SIM_CHECK(med_state_cell_attach(at(actor, CELL_AT), RING_AT - CELL_AT, MED_PORT_SCOPE_SHARED,
                                    &cell) == MEDLEY_OK);
    return cell;
}

static void
cell_begin(const sim_actor *actor)
{
    med_state_cell cell = cell_of(actor);
    SIM_CHECK(med_state_cell_open(&cell, DEAD) == MEDLEY_OK);
}

static void
cell_recover(const sim_actor *actor)
{
    med_state_cell cell = cell_of(actor);
    (void)med_state_cell_recover(&cell, DEAD);
}

static bool
cell_have(const sim_actor *actor)
{
    med_state_cell cell = cell_of(actor);
    return med_state_cell_open(&cell, actor->index + 1) == MEDLEY_OK;
}

static void
cell_leave(const sim_actor *actor)
{
    med_state_cell cell = cell_of(actor);
    SIM_CHECK(med_state_cell_close(&cell, actor->index + 1) == MEDLEY_OK);
}

/* ---- The only lane of a ring ----------------------------------------------------------------- */

static med_ring_mpsc_view
ring_of(const sim_actor *actor)
{
    med_ring_mpsc_view view;
    SIM_CHECK(med_ring_mpsc_attach(&view, at(actor, RING_AT), RING_BYTES, MED_PORT_SCOPE_SHARED) ==
              MEDLEY_OK);
    return view;
}

static bool
lane_join(const sim_actor *actor, uint32_t owner)
{
    med_ring_mpsc_view view = ring_of(actor);
    med_ring_mpsc_producer producer;
    return med_ring_mpsc_producer_join(&producer, &view, owner) == MEDLEY_OK;
}

static void
lane_begin(const sim_actor *actor)
{
    SIM_CHECK(lane_join(actor, DEAD));
}

static void
lane_recover(const sim_actor *actor)
{
    med_ring_mpsc_view view = ring_of(actor);
    (void)med_ring_mpsc_recover(&view, DEAD);
}

static bool
lane_have(const sim_actor *actor)
{
    return lane_join(actor, actor->index + 1);
}

static void
lane_leave(const sim_actor *actor)
{
    med_ring_mpsc_view view = ring_of(actor);
    SIM_CHECK(med_ring_mpsc_recover(&view, actor->index + 1) == 1);
}

/* ---- The only entry of a bit set ------------------------------------------------------------- */

static med_bit_set
set_of(const sim_actor *actor)
{
    med_bit_set set;
    SIM_CHECK(med_bit_set_attach(at(actor, SET_AT), SET_BYTES, &set) == MEDLEY_OK);
    return set;
}

static bool
entry_claim(const sim_actor *actor, uint32_t owner)
{
    med_bit_set set = set_of(actor);
    uint16_t index;
    return med_bit_set_claim(&set, owner, MED_BIT_SET_LOWEST, &index, 1) == 1;
}

static void
entry_begin(const sim_actor *actor)
{
    notes *n = actor->notes;
    med_bit_set set = set_of(actor);
    SIM_CHECK(med_bit_set_take(&set, DEAD, MED_BIT_SET_LOWEST, &n->slot) == MEDLEY_OK);
}

static void
entry_recover(const sim_actor *actor)
{
    med_bit_set set = set_of(actor);
    (void)med_bit_set_recover(&set, DEAD);
}

static bool
entry_have(const sim_actor *actor)
{
    return entry_claim(actor, actor->index + 1);
}

static void
entry_leave(const sim_actor *actor)
{
    med_bit_set set = set_of(actor);
    const uint16_t index = 0;
    med_bit_set_unclaim(&set, actor->index + 1, &index, 1);
}

/* Its use, that one ends of two. */
static void
use_end(const sim_actor *actor)
{
    notes *n = actor->notes;
    med_bit_set set = set_of(actor);
    if (med_bit_set_end(&set, n->slot, DEAD) == MEDLEY_OK) {
        SIM_CHECK(n->ends++ == 0);
    }
}

static bool
is_nothing(const sim_actor *actor)
{
    (void)actor;
    return false;
}

/* ---- A ring of many sides -------------------------------------------------------------------- */

static med_ring_mpmc_side
side_of(const sim_actor *actor, uint32_t owner)
{
    med_ring_mpmc_view view;
    med_ring_mpmc_side side;
    SIM_CHECK(med_ring_mpmc_attach(&view, at(actor, QUEUE_AT), QUEUE_BYTES,
                                   MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_join(&side, &view, owner) == MEDLEY_OK);
    return side;
}

static void
queue_begin(const sim_actor *actor)
{
    const uint64_t old = DEAD;
    med_ring_mpmc_side side = side_of(actor, DEAD);
    void *place;
    SIM_CHECK(med_ring_mpmc_push(&side, &old) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_take(&side, &place) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_reserve(&side, &place) == MEDLEY_OK);
}

static void
keep(void *context, const void *element)
{
    notes *n = context;
    SIM_CHECK(*(const uint64_t *)element == DEAD);
    SIM_CHECK(n->kept++ == 0);
}

static void
queue_recover(const sim_actor *actor)
{
    med_ring_mpmc_side side = side_of(actor, actor->index + 1);
    const med_ring_mpmc_salvage salvage = {&side, keep, actor->notes};
    (void)med_ring_mpmc_recover(&side.view, DEAD, &salvage);
    SIM_CHECK(med_ring_mpmc_leave(&side) == MEDLEY_OK);
}

/* What the actors push they pop, or it is there in the end. */
static bool
queue_use(const sim_actor *actor)
{
    notes *n = actor->notes;
    const uint64_t mine = actor->index + 1;
    uint64_t popped;
    med_ring_mpmc_side side = side_of(actor, actor->index + 1);
    if (med_ring_mpmc_push(&side, &mine) == MEDLEY_OK) {
        n->queued++;
    }
    if (med_ring_mpmc_pop(&side, &popped) == MEDLEY_OK) {
        SIM_CHECK(popped >= 1 && popped <= ACTORS);
        n->queued--; /* maybe before it is counted */
    }
    SIM_CHECK(med_ring_mpmc_leave(&side) == MEDLEY_OK);
    return false;
}

static void
queue_check(const sim_actor *director)
{
    notes *n = director->notes;
    med_ring_mpmc_side side = side_of(director, ACTORS + 1);
    uint64_t popped;
    while (med_ring_mpmc_pop(&side, &popped) == MEDLEY_OK) {
        n->queued--;
    }
    SIM_CHECK(n->queued == 0);
}

/* ---- A slot of a trace ----------------------------------------------------------------------- */

static med_trace
trace_of(const sim_actor *actor)
{
    med_trace trace;
    SIM_CHECK(med_trace_attach(at(actor, TRACE_AT), TRACE_BYTES, &trace) == MEDLEY_OK);
    return trace;
}

static atomic32 *
writer_of(const sim_actor *actor)
{
    return &trace_of(actor).slots[0].writer;
}

static void
slot_begin(const sim_actor *actor)
{
    atomic32_store_relaxed(writer_of(actor), DEAD);
}

static void
slot_recover(const sim_actor *actor)
{
    med_trace trace = trace_of(actor);
    (void)med_trace_recover(&trace, DEAD);
}

/* As one who writes a record has it, and leaves it. */
static bool
slot_have(const sim_actor *actor)
{
    uint32_t nobody = 0;
    return atomic32_cas_acquire(writer_of(actor), &nobody, actor->index + 1);
}

static void
slot_leave(const sim_actor *actor)
{
    atomic32_store_release(writer_of(actor), 0);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const kind kinds[] = {
    {lock_begin, lock_recover, lock_have, lock_leave},
    {unit_begin, unit_recover, unit_have, unit_leave},
    {cell_begin, cell_recover, cell_have, cell_leave},
    {lane_begin, lane_recover, lane_have, lane_leave},
    {entry_begin, entry_recover, entry_have, entry_leave},
    {NULL, use_end, is_nothing, NULL},
    {queue_begin, queue_recover, queue_use, NULL},
    {slot_begin, slot_recover, slot_have, slot_leave},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void
begin(const sim_actor *director)
{
    const med_ring_mpsc_config ring = {.element_bytes = 8, .capacity = 2, .lanes = 1};
    const med_ring_mpmc_config queue = {.element_bytes = 8, .capacity = 2, .sides = SIDES};
    med_trace trace;
    med_state_cell cell;
    med_bit_set set;
    SIM_CHECK(med_state_cell_init(at(director, CELL_AT), RING_AT - CELL_AT, 8, 2,
                                  MED_PORT_SCOPE_SHARED, &cell) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpsc_init(at(director, RING_AT), RING_BYTES, &ring) == MEDLEY_OK);
    SIM_CHECK(med_bit_set_init(at(director, SET_AT), SET_BYTES, 1, &set) == MEDLEY_OK);
    SIM_CHECK(med_ring_mpmc_init(at(director, QUEUE_AT), QUEUE_BYTES, &queue) == MEDLEY_OK);
    SIM_CHECK(med_trace_init(at(director, TRACE_AT), TRACE_BYTES, 1, 2, &trace) == MEDLEY_OK);
    for (uint32_t i = 0; i < KINDS; i++) {
        if (kinds[i].begin) {
            kinds[i].begin(director);
        }
    }
}

static void
act(const sim_actor *actor)
{
    notes *n = actor->notes;
    n->kind = n->kind ? n->kind : 1 + sim_random(KINDS);
    const kind *k = &kinds[n->kind - 1];
    k->recover(actor);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (k->have(actor)) {
            SIM_CHECK(n->had_by == 0);
            n->had_by = actor->index + 1;
            med_port_yield();
            SIM_CHECK(n->had_by == actor->index + 1);
            n->had_by = 0;
            k->leave(actor);
        }
    }
}

const sim_scenario sim_recover_twice = {
    .name = "recover_twice",
    .covers = "med_lock_recover() med_rwlock_recover_reader() med_state_cell_recover() "
              "role_recover() med_bit_set_recover() med_bit_set_end() claim_undo() "
              "med_trace_recover()",
    .memory_bytes = MEMORY_BYTES,
    .actors = ACTORS,
    .begin = begin,
    .act = act,
    .end = queue_check,
};
