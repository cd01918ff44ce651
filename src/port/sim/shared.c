/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Named memories, their sections and slots, in the simulator.
 *
 * Whoever enters a section sees what all did who were in it before; whoever learns that a slot is
 * held sees what its holder did before he had it, and whoever learns that it is not what the last
 * holder did: the kernel has a lock around each. A process that dies leaves its sections and slots.
 *
 * Who asks whether a slot is held may be told what was before the last changes, as long as he knows
 * of none of them: a processor may bring in what the program reads before the question when that is
 * answered already, and the kernel's lock keeps nobody from it.
 */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))
#define NAMES_MAX 8u
#define SLOTS_MAX 16u
#define CHANGES 4u
#define NOBODY UINT32_MAX

/* Of who holds a slot. */
typedef struct change {
    uint32_t holder; /* process, or NOBODY */
    sim_clock known; /* when each fiber made or first saw it; 0: did not */
    sim_view shown;  /* what those did who held it before, and this one until he had it */
} change;

typedef struct slot {
    uint32_t count; /* changes so far, the first of which is that nobody holds it */
    change changes[CHANGES];
} slot;

typedef struct memory {
    bool used;
    bool removed; /* the name is free again; those who have it open keep it */
    char name[64];
    uint32_t place;
    uint32_t size_bytes;
    uint32_t inside; /* process in its section, or NOBODY */
    sim_view left;   /* what those did who were inside before */
    slot slots[SLOTS_MAX];
    uint32_t open_by; /* bit p: process p */
} memory;

static memory memories[NAMES_MAX];
static uint32_t shared_used; /* of the shared memory, in bytes */
static sim_view folder;      /* what those did who removed names: seen by who opens one */

static void
memory_clear(uint32_t from, uint32_t to)
{
    memset(sim_shared_address(0, from), 0, to - from);
}

void
sim_shared_begin(void)
{
    uint32_t scenario_bytes =
        (sim.scenario->memory_bytes + SIM_PAGE_BYTES - 1) & ~(SIM_PAGE_BYTES - 1);
    memory_clear(0, shared_used > scenario_bytes ? shared_used : scenario_bytes);
    shared_used = scenario_bytes;
    for (memory *m = memories; m < memories + NAMES_MAX; m++) {
        m->used = false;
        m->removed = false;
    }
    memset(&folder, 0, sizeof folder);
    sim_segments_begin();
}

uint32_t
sim_shared_take(size_t size_bytes)
{
    uint32_t bytes = ((uint32_t)size_bytes + SIM_PAGE_BYTES - 1) & ~(SIM_PAGE_BYTES - 1);
    if (size_bytes > SIM_CACHED_AT - shared_used) {
        return SIM_NOWHERE;
    }
    shared_used += bytes;
    return shared_used - bytes;
}

/* Who is waiting for a section looks again. */
static void
wake_waiters(const memory *m)
{
    uint32_t channel = SIM_PLACES + (uint32_t)(m - memories);
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        if (sim.fibers[i].state == SIM_WAITING && sim.fibers[i].waits_for == channel) {
            sim_fiber_wake(&sim.fibers[i]);
        }
    }
}

/* ---- Who holds a slot ------------------------------------------------------------------------ */

static change *
newest(slot *s)
{
    return &s->changes[(s->count - 1) % CHANGES];
}

static void
slot_begin(slot *s)
{
    s->count = 1;
    s->changes[0] = (change){.holder = NOBODY};
}

static void
know(change *c, const sim_fiber *fiber)
{
    if (c->known.at[fiber->number] == 0) {
        c->known.at[fiber->number] = fiber->view.seen.at[fiber->number];
    }
}

static void
slot_claim(slot *s, sim_fiber *fiber)
{
    sim_view_join(&fiber->view, &newest(s)->shown);
    s->count++;
    *newest(s) = (change){.holder = fiber->process, .shown = fiber->view};
    know(newest(s), fiber);
    sim_step(fiber);
}

/* By that fiber, or by the death of its process: then by all of its fibers. */
static void
slot_drop(slot *s, const sim_fiber *fiber, bool dies)
{
    sim_view shown = newest(s)->shown;
    s->count++;
    *newest(s) = (change){.holder = NOBODY, .shown = shown};
    for (uint32_t i = 0; i < sim.fiber_count; i++) {
        const sim_fiber *other = &sim.fibers[i];
        if (other == fiber || (dies && other->process == fiber->process)) {
            sim_view_join(&newest(s)->shown, &other->view);
            know(newest(s), other);
        }
    }
}

static change *
slot_look(slot *s)
{
    uint32_t most = (s->count < CHANGES ? s->count : CHANGES) - 1;
    uint32_t wanted = 0;
    if (!sim.alone && most != 0) {
        wanted = sim_choose(SIM_OLD, CHANGES, sim.settings.old_chance);
    }
    change *c = newest(s);
    for (uint32_t back = 1; back <= wanted && back <= most &&
                            !sim_clock_covers_any(&sim.current->view.seen, &c->known);
         back++) {
        c = &s->changes[(s->count - 1 - back) % CHANGES];
    }
    know(c, sim.current);
    return c;
}

/* ---- Death ----------------------------------------------------------------------------------- */

void
sim_shared_process_died(const sim_fiber *fiber)
{
    uint32_t process = fiber->process;
    for (memory *m = memories; m < memories + NAMES_MAX; m++) {
        if (m->used && m->inside == process) {
            m->inside = NOBODY;
            wake_waiters(m);
        }
        if (m->used) {
            sim_view_join(&m->left, &fiber->view);
        }
        for (uint32_t i = 0; m->used && i < SLOTS_MAX; i++) {
            if (newest(&m->slots[i])->holder == process) {
                slot_drop(&m->slots[i], fiber, true);
            }
        }
        m->open_by &= ~(1u << process);
    }
}

/* ---- Names and sections ---------------------------------------------------------------------- */

bool
med_port_shared_name_valid(const char *name)
{
    return name && *name && *name != '.' && strlen(name) <= MED_PORT_NAME_MAX;
}

static memory *
memory_named(const char *name)
{
    for (memory *m = memories; m < memories + NAMES_MAX; m++) {
        if (m->used && !m->removed && strcmp(m->name, name) == 0) {
            return m;
        }
    }
    return NULL;
}

static memory *
memory_make(const char *name)
{
    for (memory *m = memories; m < memories + NAMES_MAX; m++) {
        bool forgotten = m->removed && m->open_by == 0 && m->inside == NOBODY;
        if (!m->used || forgotten) {
            *m = (memory){.used = true};
            (void)snprintf(m->name, sizeof m->name, "%s", name);
            m->place = SIM_NOWHERE;
            m->inside = NOBODY;
            for (uint32_t i = 0; i < SLOTS_MAX; i++) {
                slot_begin(&m->slots[i]);
            }
            return m;
        }
    }
    sim_fail(SIM_FULL, "NAMES_MAX", 0, 0);
}

static memory *
memory_of(const med_port_shared *shared)
{
    return &memories[shared->handle];
}

/* Is this process in any section? */
static bool
is_inside_any(uint32_t process)
{
    for (const memory *m = memories; m < memories + NAMES_MAX; m++) {
        if (m->used && m->inside == process) {
            return true;
        }
    }
    return false;
}

static medley_status_t
section_enter(memory *m, uint64_t deadline_ns)
{
    sim_fiber *me = sim.current;
    while (m->inside != NOBODY || is_inside_any(me->process)) {
        if (deadline_ns <= sim.now_ns) {
            return MEDLEY_TIMEOUT;
        }
        if (m->inside == NOBODY) {
            sim_pass(); /* another thread of this process is in another one */
            continue;
        }
        me->waits_for = SIM_PLACES + (uint32_t)(m - memories);
        (void)sim_fiber_wait(deadline_ns);
    }
    m->inside = me->process;
    sim_view_join(&me->view, &m->left);
    return MEDLEY_OK;
}

static void
section_leave(memory *m)
{
    m->inside = NOBODY;
    sim_view_join(&m->left, &sim.current->view);
    sim_step(sim.current);
    wake_waiters(m);
}

static void
opened(med_port_shared *shared, const memory *m, const char *name)
{
    shared->handle = m - memories;
    shared->size_bytes = m->size_bytes;
    (void)snprintf(shared->name, sizeof shared->name, "%s", name);
    (void)snprintf(shared->path, sizeof shared->path, "%s", name);
}

static medley_status_t
open_until(const char *name, uint64_t deadline_ns, bool make, med_port_shared *shared)
{
    sim_fiber *me = sim.current;
    *shared = (med_port_shared){.handle = -1};
    if (!med_port_shared_name_valid(name)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    for (;;) {
        sim_point(HERE);
        memory *m = memory_named(name);
        sim_view_join(&me->view, &folder);
        if (!m && !make) {
            return MEDLEY_ERR_NOT_FOUND;
        }
        m = m ? m : memory_make(name);
        if (m->open_by >> me->process & 1) {
            return MEDLEY_ERR_EXISTS;
        }
        if (section_enter(m, deadline_ns) != MEDLEY_OK) {
            return MEDLEY_TIMEOUT;
        }
        if (m->removed || strcmp(m->name, name) != 0) { /* while we waited */
            section_leave(m);
            continue;
        }
        m->open_by |= 1u << me->process;
        opened(shared, m, name);
        shared->in_section = true;
        return MEDLEY_OK;
    }
}

medley_status_t
med_port_shared_open_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    return open_until(name, deadline_ns, true, shared);
}

medley_status_t
med_port_shared_open_existing_until(const char *name, uint64_t deadline_ns, med_port_shared *shared)
{
    return open_until(name, deadline_ns, false, shared);
}

/* As on Linux: what is there when a slot was found held. */
medley_status_t
med_port_shared_open_aside(const char *name, med_port_shared *shared)
{
    *shared = (med_port_shared){.handle = -1};
    for (;;) {
        sim_point(HERE);
        memory *m = memory_named(name);
        if (!m) {
            return MEDLEY_ERR_NOT_FOUND;
        }
        uint32_t me = 1u << sim.current->process;
        if (m->open_by & me) {
            return MEDLEY_ERR_EXISTS;
        }
        m->open_by |= me;
        shared->handle = m - memories;
        bool held = med_port_slot_any_held(shared);
        if (held && !m->removed) {
            opened(shared, m, name);
            return MEDLEY_OK;
        }
        m->open_by &= ~me;
        shared->handle = -1;
        if (!held) {
            return MEDLEY_EMPTY;
        }
    }
}

medley_status_t
med_port_shared_resize(med_port_shared *shared, size_t size_bytes)
{
    memory *m = memory_of(shared);
    sim_point(HERE);
    m->place = sim_shared_take(size_bytes);
    if (m->place == SIM_NOWHERE) {
        return MEDLEY_ERR_NO_MEMORY;
    }
    m->size_bytes = (uint32_t)size_bytes;
    shared->size_bytes = size_bytes;
    return MEDLEY_OK;
}

medley_status_t
med_port_shared_map(med_port_shared *shared)
{
    const memory *m = memory_of(shared);
    shared->address =
        m->place == SIM_NOWHERE ? NULL : sim_shared_address(sim.current->process, m->place);
    return shared->address ? MEDLEY_OK : MEDLEY_ERR_ARGUMENT;
}

medley_status_t
med_port_shared_lock_until(med_port_shared *shared, uint64_t deadline_ns)
{
    sim_point(HERE);
    medley_status_t status = section_enter(memory_of(shared), deadline_ns);
    shared->in_section = status == MEDLEY_OK;
    return status;
}

void
med_port_shared_unlock(med_port_shared *shared)
{
    sim_point(HERE);
    if (shared->in_section) {
        shared->in_section = false;
        section_leave(memory_of(shared));
    }
}

medley_status_t
med_port_shared_remove(med_port_shared *shared)
{
    sim_point(HERE);
    memory_of(shared)->removed = true;
    sim_view_join(&folder, &sim.current->view);
    sim_step(sim.current);
    return MEDLEY_OK;
}

void
med_port_shared_close(med_port_shared *shared)
{
    sim_point(HERE);
    if (shared->handle < 0) {
        return;
    }
    memory *m = memory_of(shared);
    uint32_t process = sim.current->process;
    if (shared->in_section) {
        section_leave(m);
    }
    for (uint32_t i = 0; i < SLOTS_MAX; i++) {
        if (newest(&m->slots[i])->holder == process) {
            med_port_slot_drop(shared, i);
        }
    }
    m->open_by &= ~(1u << process);
    *shared = (med_port_shared){.handle = -1};
}

void
med_port_shared_forget(med_port_shared *shared)
{
    (void)shared; /* nobody forks here */
}

void
med_port_shared_on_lost(void (*handler)(const char *name))
{
    (void)handler; /* nobody takes handles away here */
}

medley_status_t
med_port_shared_list(bool (*visit)(const char *name, void *context), void *context)
{
    for (const memory *m = memories; m < memories + NAMES_MAX; m++) {
        if (m->used && !m->removed && !visit(m->name, context)) {
            break;
        }
    }
    return MEDLEY_OK;
}

bool
med_port_shared_section_look(const med_port_shared *shared,
                             uint32_t *process_id,
                             uint64_t *since_ns)
{
    const memory *m = memory_of(shared);
    sim_point(HERE);
    *process_id = 0;
    *since_ns = 0;
    return m->inside != NOBODY && m->inside != sim.current->process;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

medley_status_t
med_port_slot_claim(med_port_shared *shared, uint32_t number)
{
    sim_point(HERE);
    if (number >= SLOTS_MAX) {
        sim_fail(SIM_FULL, "SLOTS_MAX", HERE, 0);
    }
    slot *s = &memory_of(shared)->slots[number];
    uint32_t process = sim.current->process;
    if (newest(s)->holder != NOBODY && newest(s)->holder != process) {
        return MEDLEY_BUSY;
    }
    slot_claim(s, sim.current);
    return MEDLEY_OK;
}

void
med_port_slot_drop(med_port_shared *shared, uint32_t number)
{
    sim_point(HERE);
    slot *s = &memory_of(shared)->slots[number];
    if (newest(s)->holder == sim.current->process) {
        slot_drop(s, sim.current, false);
        sim_step(sim.current);
    }
}

/* Who holds it, but for the asker; NOBODY. */
static uint32_t
holder_of(memory *m, uint32_t number)
{
    const change *c = slot_look(&m->slots[number]);
    sim_view_join(&sim.current->view, &c->shown);
    return c->holder == sim.current->process ? NOBODY : c->holder;
}

bool
med_port_slot_held(const med_port_shared *shared, uint32_t number)
{
    sim_point(HERE);
    return holder_of(memory_of(shared), number) != NOBODY;
}

uint32_t
med_port_slot_process(const med_port_shared *shared, uint32_t number)
{
    sim_point(HERE);
    uint32_t holder = holder_of(memory_of(shared), number);
    bool seen = holder != NOBODY && sim_space_of(holder) == sim_space_of(sim.current->process);
    return seen ? sim_process_id(holder) : 0;
}

bool
med_port_slot_any_held(const med_port_shared *shared)
{
    sim_point(HERE);
    for (uint32_t i = 0; i < SLOTS_MAX; i++) {
        if (holder_of(memory_of(shared), i) != NOBODY) {
            return true;
        }
    }
    return false;
}

/* None of its processes exits: they leave, or die. */
void
med_port_slot_exits(med_port_shared *shared, uint32_t number)
{
    (void)shared;
    (void)number;
}

bool
med_port_slot_any_stays(const med_port_shared *shared)
{
    return med_port_slot_any_held(shared);
}

/* No program of the simulator can lose one. */
bool
med_port_slot_lost(const med_port_shared *shared, uint32_t number, uint32_t process_id)
{
    (void)shared;
    (void)number;
    (void)process_id;
    return false;
}

medley_status_t
med_port_slot_keep(med_port_shared *shared, uint32_t number)
{
    (void)shared;
    (void)number;
    return MEDLEY_OK;
}
