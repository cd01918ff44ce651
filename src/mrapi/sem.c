/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Semaphores. What may run together: everything, by any nodes.
 *
 * Taking and giving a unit are base's (units.c; edges A1 and R1 of lock.c), between two looks at
 * the handle (object.c). While a node has a unit under a good handle nobody but itself can delete
 * the semaphore, since to delete it is to have all units first; so it gives back by a plain store.
 * Before the second look it gives back by compare-and-swap.
 *
 * Linearisation: lock, the compare-and-swap; unlock, the store; delete, REMOVING (table.c).
 * Progress: lock blocks, by nature; unlock looks at each unit once at most, wait-free but for the
 * kernel's wake. Two who delete at once take the units in one order, so one of them gets them.
 *
 * Death: a node sets its touch bit before it first takes a unit of that chunk of rows, so its
 * recovery finds every word that may name it. Units always come back, whatever
 * MEDLEY_MUTEX_ON_DEATH says: they count, and guard nothing that could be half changed; the next
 * owner is told all the same. A node that dies deleting has the units, or the table's lock; either
 * is recovered.
 * Model: models/units.pml.
 */
#include "mrapi/sem.h"

#include "mrapi/system.h"
#include "mrapi/traced.h"

uint32_t
med_sem_row_bytes(const med_limits *limits)
{
    return med_object_shared_row_bytes(limits);
}

/* ---- Create and get -------------------------------------------------------------------------- */

/* Relaxed but for the units: published with the row (T1 in table.c). The sleepers' flag stays: see
 * mutex.c. */
static void
fill(med_object *object, const void *context)
{
    const med_object_shared *wanted = context;
    med_sem_row *row = (med_sem_row *)(void *)object;
    atomic32_store_relaxed(&row->limit, wanted->limit);
    atomic32_store_relaxed(&row->slept, 0);
    med_object_units_fill(object, wanted->sharers);
}

medley_status_t
med_sem_create(
    med_self *self, uint32_t number, uint32_t attributes, uint32_t limit, med_handle *sem)
{
    med_object_shared context = {.limit = limit, .sharers = self->sharers};
    if (limit == 0 || limit > self->sharers) {
        if (limit) {
            med_limits_report(&self->system->limits, MED_LIMIT_SHARERS);
        }
        return MEDLEY_ERR_ARGUMENT;
    }
    med_object_request request = {.kind = MED_KIND_SEM,
                                  .number = number,
                                  .attributes = attributes,
                                  .fill = fill,
                                  .context = &context};
    return med_object_make(self, &request, MED_HANDLE_SEM, sem);
}

medley_status_t
med_sem_get(med_self *self, uint32_t number, med_handle *sem)
{
    return med_object_get(self, MED_KIND_SEM, MED_HANDLE_SEM, number, sem);
}

static medley_status_t
row_of(const med_self *self, med_handle handle, med_sem_row **row)
{
    med_object *object;
    medley_status_t status = med_object_of(&self->system->sems, handle, MED_HANDLE_SEM, &object);
    if (status == MEDLEY_OK) {
        *row = (med_sem_row *)(void *)object;
    }
    return status;
}

medley_status_t
med_sem_attributes(const med_self *self, med_handle sem, uint32_t *attributes)
{
    med_sem_row *row;
    medley_status_t status = row_of(self, sem, &row);
    return status == MEDLEY_OK ? med_object_attributes_get(&row->object, sem, attributes) : status;
}

/* ---- Lock ------------------------------------------------------------------------------------ */

typedef struct wanted {
    med_self *self;
    med_sem_row *row;
    med_handle handle;
    med_units units;
    bool died; /* its unit's former owner did */
} wanted;

/* Not kept after all: who has it next is still told of its former owner. */
static void
unit_back(const wanted *w, med_lock *unit, bool died)
{
    const med_self *self = w->self;
    if (died) {
        (void)med_lock_recover(unit, &w->row->sleepers, self->ref, true, self->scope);
    } else {
        med_lock_give_back(unit, &w->row->sleepers, self->ref, self->scope);
    }
}

/* One try, and whose it is that was taken. */
static medley_status_t
attempt(void *context)
{
    wanted *w = context;
    med_self *self = w->self;
    medley_status_t status = med_object_check(&w->row->object, w->handle);
    if (status != MEDLEY_OK) {
        return status;
    }
    status = med_units_take(&w->units, self->ref, self->unit, &self->unit);
    if (status == MEDLEY_BUSY) {
        return status;
    }
    w->died = status == MEDLEY_ERR_OWNER_DIED;
    status = med_object_check(&w->row->object, w->handle);
    if (status != MEDLEY_OK) {
        unit_back(w, &w->units.words[self->unit], w->died);
    }
    return status;
}

static bool
is_free(void *context)
{
    const wanted *w = context;
    return med_units_any_free(&w->units);
}

/* A unit whose owner is nobody, neither living nor to be recovered, was scribbled over. */
static medley_status_t
look_at_owners(void *context)
{
    const wanted *w = context;
    med_system *system = w->self->system;
    for (uint32_t i = 0; i < w->units.count; i++) {
        med_lock *unit = med_units_nth(&w->units, i);
        uint32_t owner = med_lock_owner(unit);
        if (owner != w->self->ref && med_node_look(system, owner) == MEDLEY_ERR_NOT_FOUND) {
            (void)med_lock_recover(unit, &w->row->sleepers, owner, true, system->scope);
        }
    }
    return MEDLEY_OK;
}

static medley_status_t
try_once(wanted *w)
{
    medley_status_t status = attempt(w);
    if (status == MEDLEY_BUSY && med_object_look_due(w->self)) {
        (void)look_at_owners(w);
        status = attempt(w);
    }
    return status;
}

static medley_status_t
wait_for_one(wanted *w, uint64_t deadline_ns)
{
    med_self *self = w->self;
    if (deadline_ns == MED_PORT_FOREVER &&
        med_units_held_by(&w->units, self->ref) == w->units.count) {
        return MEDLEY_ERR_EXISTS;
    }
    med_contest contest = {.attempt = attempt,
                           .any_free = w->units.count > 1 ? is_free : NULL,
                           .each_slice = look_at_owners,
                           .context = w,
                           .deadline_ns = deadline_ns,
                           .scope = self->scope,
                           .waiter = &self->waiter};
    uint32_t begun = med_object_wait_begin(self, w->handle);
    medley_status_t status = med_contest_run(&contest, &w->row->sleepers);
    med_object_wait_end(self, begun, status, &w->row->slept);
    return status;
}

medley_status_t
med_sem_lock(med_self *self, med_handle sem, uint64_t deadline_ns)
{
    med_sem_row *row;
    medley_status_t status = row_of(self, sem, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_object_touch(&self->tables[MED_KIND_SEM], med_handle_index(sem));
    wanted w = {
        .self = self, .row = row, .handle = sem, .units = med_sem_units(row, self->sharers)};
    status = deadline_ns == 0 ? try_once(&w) : wait_for_one(&w, deadline_ns);
    if (status == MEDLEY_OK) {
        self->owner_died = w.died;
        if (w.died) {
            med_traced(self->system, self->ref, MED_TRACED_OWNER_DIED, sem, 0);
        }
        self->recent_sem =
            (med_self_recent){.handle = sem, .row = row, .unit = &w.units.words[self->unit]};
    }
    return status;
}

/* ---- Unlock ---------------------------------------------------------------------------------- */

medley_status_t
med_sem_unlock(med_self *self, med_handle sem)
{
    med_sem_row *row;
    medley_status_t status = row_of(self, sem, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_units units = med_sem_units(row, self->sharers);
    uint32_t mine = med_units_find(&units, self->ref, self->unit);
    if (mine == MED_UNITS_NONE) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    self->unit = mine;
    med_lock_release(&units.words[mine], &row->sleepers, self->scope);
    return MEDLEY_OK;
}

/* ---- Delete ---------------------------------------------------------------------------------- */

void
med_sem_row_removed(const med_table_view *view, med_row *row)
{
    med_sem_row *sem = (med_sem_row *)(void *)row;
    /* Who sleeps finds the row gone: REMOVING stands before the flag (B2 in lock.c). */
    med_lock_wake(&sem->sleepers, UINT32_MAX, view->scope);
}

/* What a deletion took. */
typedef struct taken {
    uint32_t units;
    uint32_t died; /* of so many of them the last owner did */
    bool all;      /* none is left to others */
} taken;

/* Of the own units as many as were taken, and as many with news of a death: which, is of no
 * account. */
static void
give_back(const wanted *w, taken t)
{
    for (uint32_t i = 0; i < w->units.count && t.units; i++) {
        med_lock *unit = med_units_nth(&w->units, i);
        if (med_lock_is_mine(unit, w->self->ref)) {
            unit_back(w, unit, t.died);
            t.died -= t.died > 0;
            t.units--;
        }
    }
}

/* All units that the node has not, in one order. */
static taken
take_all(const wanted *w)
{
    taken t = {.all = true};
    for (uint32_t i = 0; i < w->units.count && t.all; i++) {
        if (med_lock_is_mine(med_units_nth(&w->units, i), w->self->ref)) {
            continue;
        }
        medley_status_t status = med_lock_try(med_units_nth(&w->units, i), w->self->ref);
        t.all = status != MEDLEY_BUSY;
        t.units += t.all;
        t.died += status == MEDLEY_ERR_OWNER_DIED;
    }
    return t;
}

medley_status_t
med_sem_delete(med_self *self, med_handle sem)
{
    med_sem_row *row;
    medley_status_t status = row_of(self, sem, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* All there may be, since the next life may have more: who reads its limit and looks still for
     * this one finds none of them free before he sees that this one is over (R1, object.c). */
    wanted w = {.self = self,
                .row = row,
                .handle = sem,
                .units = {.words = med_object_units_at(&row->object),
                          .count = self->sharers,
                          .lines = med_units_lines(self->sharers)}};
    med_object_touch(&self->tables[MED_KIND_SEM], med_handle_index(sem));
    (void)look_at_owners(&w); /* a dead owner is none */
    taken t = take_all(&w);
    status = t.all ? med_object_remove(&self->system->sems, &row->object, sem) : MEDLEY_BUSY;
    if (status != MEDLEY_OK) {
        give_back(&w, t);
    }
    return status;
}

/* ---- Death ----------------------------------------------------------------------------------- */

medley_status_t
med_sem_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    uint32_t words = med_units_lines(system->limits.sharers) * MED_UNITS_OF_LINE;
    (void)thread_id;
    for (uint32_t i = first; i < first + count && i < system->sems.row_count; i++) {
        med_sem_row *row = (med_sem_row *)(void *)med_table_row(&system->sems, i);
        /* All there may be: the row may be at its next life, with fewer. */
        med_lock *units = med_object_units_at(&row->object);
        for (uint32_t unit = 0; unit < words; unit++) {
            (void)med_lock_recover(&units[unit], &row->sleepers, node_ref, true, system->scope);
        }
    }
    return MEDLEY_OK;
}
