/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What loads may return: C11's memory model, for programs that run one step after the other.
 *
 * Each atomic location keeps its last stores, in the order in which they were made, which is its
 * modification order. A load may return any of them that is not older than one that the loading
 * fiber knows of: its own, one that it has read, or one that another had made or read before
 * something that the fiber has seen of him (coherence, happens-before, sequentially consistent
 * fences). A read-modify-write reads the newest. A load that acquires joins what the store, or the
 * release sequence it belongs to, released.
 *
 * Stronger than C11: a load never returns a store that is made later (load buffering; but early.c),
 * and the order of stores to one location is the order in which they run.
 */
#include "engine.h"

#include <string.h>

#define DEPTH 8u
#define LOCATIONS_MAX (1u << 16)

typedef struct store {
    uint64_t value;
    sim_clock known;   /* when each fiber made or first read it; 0: did not */
    uint32_t total;    /* when a sequentially consistent operation first did; 0: none did */
    sim_view released; /* what a load that acquires gets */
} store;

typedef struct location {
    uint32_t place;
    uint32_t bytes;
    uint32_t count; /* stores so far */
    store stores[DEPTH];
} location;

typedef struct index_entry {
    uint32_t run;
    uint32_t location;
} index_entry;

static location locations[LOCATIONS_MAX];
static uint32_t location_count;
static index_entry places[SIM_PLACES / 4];

/* One that a fiber has made, and nobody sees yet. */
typedef struct late_store {
    bool there;
    void *address;
    uint32_t place;
    uint32_t bytes;
    uint64_t value;
    sim_view released;
    uint32_t step; /* of the fiber, when it made it */
    uint32_t age;  /* in atomic operations of the fiber */
    uintptr_t pc;
} late_store;

static late_store lates[SIM_FIBERS_MAX];
#define LATE_MAX 8u
#define LATE_CHANCE (1u << 14)

void
sim_history_begin(void)
{
    location_count = 0;
    for (uint32_t i = 0; i < SIM_FIBERS_MAX; i++) {
        lates[i].there = false;
    }
    memset(&sim.fences, 0, sizeof sim.fences);
    sim.total = 0;
}

/* ---- Locations ------------------------------------------------------------------------------- */

static uint64_t
memory_get(const void *address, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, address, bytes); /* little-endian hosts only */
    return value;
}

static void
memory_put(void *address, uint32_t bytes, uint64_t value)
{
    memcpy(address, &value, bytes);
}

static store *
newest(location *l)
{
    return &l->stores[(l->count - 1) % DEPTH];
}

/* One store, which everybody may read. */
static void
location_begin(location *l, uint32_t place, uint32_t bytes, uint64_t value)
{
    l->place = place;
    l->bytes = bytes;
    l->count = 1;
    memset(&l->stores[0], 0, sizeof l->stores[0]);
    l->stores[0].value = value;
}

static location *
location_at(const void *address, uint32_t place, uint32_t bytes)
{
    index_entry *entry = &places[place / 4];
    uint64_t value = memory_get(address, bytes);
    if (entry->run != sim.run) {
        if (location_count == LOCATIONS_MAX) {
            sim_fail(SIM_FULL, "LOCATIONS_MAX", 0, 0);
        }
        *entry = (index_entry){.run = sim.run, .location = location_count++};
        location_begin(&locations[entry->location], place, bytes, value);
    }
    location *l = &locations[entry->location];
    /* Written by means that were not seen: by a kernel, by a store of another width. */
    if (l->place != place || l->bytes != bytes || newest(l)->value != value) {
        location_begin(l, place, bytes, value);
    }
    return l;
}

void
sim_history_forget(uint32_t place, uint32_t bytes)
{
    sim_early_touch(place, bytes);
    for (uint32_t at = place / 4; at <= (place + bytes - 1) / 4; at++) {
        places[at].run = 0;
    }
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static bool
acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

static bool
releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* What orders anything behind the fiber's stores tells its steps apart. */
void
sim_step(sim_fiber *fiber)
{
    sim_history_settle(fiber);
    uint32_t step = ++fiber->view.happened.at[fiber->number];
    fiber->view.seen.at[fiber->number] = step;
}

void
sim_fence(sim_fiber *fiber, int order)
{
    if (acquires(order)) {
        sim_early_fence(fiber);
        sim_view_join(&fiber->view, &fiber->pending);
    }
    if (order == __ATOMIC_SEQ_CST) {
        sim_clock_join(&fiber->view.seen, &sim.fences);
        sim.fences = fiber->view.seen;
        fiber->view.total = sim.total;
    }
    if (releases(order)) {
        fiber->released = fiber->view;
        sim_step(fiber);
    }
}

/* The fiber has read the store. */
static void
take_in(sim_fiber *me, store *s, int order)
{
    if (s->known.at[me->number] == 0) {
        s->known.at[me->number] = me->view.seen.at[me->number];
    }
    if (acquires(order)) {
        sim_view_join(&me->view, &s->released);
    } else {
        sim_view_join(&me->pending, &s->released);
    }
    if (order == __ATOMIC_SEQ_CST && s->total == 0) {
        s->total = ++sim.total;
    }
}

/* A load that returned the newest before it was made has read it since. */
static void
early_look(const sim_fiber *writer, location *l)
{
    store *s = newest(l);
    uint32_t step = sim_early_stored(writer, l->place, l->bytes, s->value);
    if (step) {
        uint32_t reader = sim.order->early->fiber;
        s->known.at[reader] = step;
        sim_view_join(&sim.fibers[reader].pending, &s->released);
    }
}

/* `before`: the store whose release sequence this one continues, or NULL. */
static void
append(sim_fiber *me, location *l, uint64_t value, int order, const store *before)
{
    sim_view released = releases(order) ? me->view : me->released;
    if (before) {
        sim_view_join(&released, &before->released);
    }
    l->count++;
    store *s = newest(l);
    memset(&s->known, 0, sizeof s->known);
    s->known.at[me->number] = me->view.seen.at[me->number];
    s->value = value;
    s->released = released;
    s->total = order == __ATOMIC_SEQ_CST ? ++sim.total : 0;
    early_look(me, l);
    if (releases(order)) {
        sim_step(me);
    }
}

/* ---- Late stores ----------------------------------------------------------------------------- */

void
sim_history_settle(const sim_fiber *fiber)
{
    late_store *late = &lates[fiber->number];
    if (!late->there) {
        return;
    }
    late->there = false;
    location *l = location_at(late->address, late->place, late->bytes);
    l->count++;
    store *s = newest(l);
    *s = (store){.value = late->value, .released = late->released};
    s->known.at[fiber->number] = late->step;
    early_look(fiber, l);
    memory_put(late->address, late->bytes, late->value);
    sim_trace(SIM_DID_STORE, late->place, late->value, late->pc);
}

/* Before an atomic operation: the fiber's own stores to the place come before it. */
static void
late_look(uint32_t place, uint32_t bytes)
{
    sim_early_touch(place, bytes);
    late_store *late = &lates[sim.current->number];
    if (late->there && (late->place / 8 == place / 8 || ++late->age > LATE_MAX)) {
        sim_history_settle(sim.current);
    }
}

/* May a store come later than operations behind it? Then it has been noted. */
static bool
is_late(void *address, uint32_t place, uint32_t bytes, uint64_t value, int order, uintptr_t pc)
{
    sim_fiber *me = sim.current;
    if (!sim.settings.stores_late || sim.alone || order == __ATOMIC_SEQ_CST ||
        sim_choose(SIM_MACHINE, 2, LATE_CHANCE) == 0) {
        return false;
    }
    sim_history_settle(me);
    late_store late = {.there = true,
                       .address = address,
                       .place = place,
                       .bytes = bytes,
                       .value = value,
                       .released = releases(order) ? me->view : me->released,
                       .step = me->view.seen.at[me->number],
                       .pc = pc};
    if (releases(order)) {
        sim_step(me);
    }
    lates[me->number] = late;
    return true;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* How many stores before the newest this fiber may still read. What is sequentially consistent is
 * in the one order of all that is: so it reads nothing older than what such an operation before it
 * had to do with, or what a fence before it shows. */
static uint32_t
older_allowed(const sim_fiber *me, const location *l, int order)
{
    bool in_total = order == __ATOMIC_SEQ_CST;
    uint32_t total = in_total ? sim.total : me->view.total;
    uint32_t most = (l->count < DEPTH ? l->count : DEPTH) - 1;
    for (uint32_t back = 0; back < most; back++) {
        const store *s = &l->stores[(l->count - 1 - back) % DEPTH];
        if (sim_clock_covers_any(&me->view.seen, &s->known) ||
            (s->total != 0 && s->total <= total) ||
            (in_total && sim_clock_covers_any(&sim.fences, &s->known))) {
            return back;
        }
    }
    return most;
}

/* The store that a load reads. */
static store *
choose_store(location *l, int order, bool *old)
{
    uint32_t back = 0;
    if (!sim.alone && l->count > 1) {
        back = sim_choose(SIM_OLD, DEPTH, sim.settings.old_chance);
        if (back != 0) {
            uint32_t most = older_allowed(sim.current, l, order);
            back = back < most ? back : most;
        }
    }
    *old = back != 0;
    return &l->stores[(l->count - 1 - back) % DEPTH];
}

uint64_t
sim_history_load(void *address, uint32_t place, uint32_t bytes, int order, uintptr_t pc)
{
    late_look(place, bytes);
    sim_race_check(place, bytes, SIM_READS_ATOMICALLY, pc);
    location *l = location_at(address, place, bytes);
    bool old;
    store *s = choose_store(l, order, &old);
    uint64_t value = s->value;
    if (order == __ATOMIC_RELAXED && sim_early_load(place, bytes, &value)) {
        sim_trace_load(place, value, false, pc);
        return value;
    }
    take_in(sim.current, s, order);
    sim_trace_load(place, value, old, pc);
    return value;
}

void
sim_history_store(
    void *address, uint32_t place, uint32_t bytes, uint64_t value, int order, uintptr_t pc)
{
    late_look(place, bytes);
    sim_race_check(place, bytes, SIM_WRITES_ATOMICALLY, pc);
    if (is_late(address, place, bytes, value, order, pc)) {
        return;
    }
    location *l = location_at(address, place, bytes);
    append(sim.current, l, value, order, NULL);
    memory_put(address, bytes, value);
    sim_trace(SIM_DID_STORE, place, value, pc);
}

uint64_t
sim_history_change(void *address,
                   uint32_t place,
                   uint32_t bytes,
                   sim_change change,
                   uint64_t operand,
                   int order,
                   uintptr_t pc)
{
    late_look(place, bytes);
    sim_race_check(place, bytes, SIM_WRITES_ATOMICALLY, pc);
    location *l = location_at(address, place, bytes);
    store *s = newest(l);
    uint64_t before = s->value;
    uint64_t after = change(before, operand) & UINT64_MAX >> (64 - 8 * bytes);
    take_in(sim.current, s, order);
    append(sim.current, l, after, order, s);
    memory_put(address, bytes, after);
    sim_trace(SIM_DID_CHANGE, place, memory_get(address, bytes), pc);
    return before;
}

/* A failure is a load, and may return an old value that differs. */
bool
sim_history_swap(void *address,
                 uint32_t place,
                 uint32_t bytes,
                 uint64_t *expected,
                 uint64_t desired,
                 int order,
                 int failure_order,
                 uintptr_t pc)
{
    late_look(place, bytes);
    location *l = location_at(address, place, bytes);
    bool old;
    store *s = choose_store(l, failure_order, &old);
    if (s->value == *expected) {
        s = newest(l);
        old = false;
    }
    if (s->value != *expected) {
        sim_race_check(place, bytes, SIM_READS_ATOMICALLY, pc);
        take_in(sim.current, s, failure_order);
        *expected = s->value;
        sim_trace_load(place, s->value, old, pc);
        return false;
    }
    sim_race_check(place, bytes, SIM_WRITES_ATOMICALLY, pc);
    take_in(sim.current, s, order);
    append(sim.current, l, desired, order, s);
    memory_put(address, bytes, desired);
    sim_trace(SIM_DID_CHANGE, place, desired, pc);
    return true;
}
