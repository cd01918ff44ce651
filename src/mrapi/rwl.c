/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reader/writer locks. What may run together: everything, by any nodes.
 *
 * The lock is base's (rwlock.c, with its edges), between two looks at the handle (object.c). While
 * a node is inside under a good handle nobody else can delete the lock, since to delete it is to
 * have the writer's word and to have seen no other reader.
 *
 * Death: a node sets its touch bit before it first takes something of that chunk of rows, so its
 * recovery finds every word that may name it. A reader's unit comes back, whatever
 * MEDLEY_MUTEX_ON_DEATH says, and nobody is told: he changed nothing. A writer's word follows
 * MEDLEY_MUTEX_ON_DEATH, unless he was still waiting for readers. A node that dies deleting has the
 * word, or the table's lock; either is recovered.
 */
#include "mrapi/rwl.h"

#include "mrapi/system.h"
#include "mrapi/traced.h"

uint32_t
med_rwl_row_bytes(const med_limits *limits)
{
    return med_object_shared_row_bytes(limits);
}

/* ---- Create and get -------------------------------------------------------------------------- */

/* Relaxed but for the words that are taken: published with the row (T1 in table.c). The sleepers'
 * flag stays: see mutex.c. */
static void
fill(med_object *object, const void *context)
{
    const med_object_shared *wanted = context;
    med_rwl_row *row = (med_rwl_row *)(void *)object;
    atomic32_store_relaxed(&row->limit, wanted->limit);
    atomic32_store_relaxed(&row->lock.left.word, 0);
    atomic32_store_relaxed(&row->slept, 0);
    med_object_units_fill(object, wanted->sharers);
    /* R2 free -> A1 (rwlock.c), A2 (rwlock.c, rwlock.h): as a unit. */
    atomic32_store_release(&row->lock.writer.word, 0);
}

medley_status_t
med_rwl_create(
    med_self *self, uint32_t number, uint32_t attributes, uint32_t limit, med_handle *rwl)
{
    med_object_shared context = {.limit = limit, .sharers = self->sharers};
    if (limit == 0) {
        return MEDLEY_ERR_ARGUMENT;
    }
    if (limit > self->sharers) {
        med_limits_report(&self->system->limits, MED_LIMIT_SHARERS);
        return MEDLEY_ERR_LIMIT;
    }
    med_object_request request = {.kind = MED_KIND_RWL,
                                  .number = number,
                                  .attributes = attributes,
                                  .fill = fill,
                                  .context = &context};
    return med_object_make(self, &request, MED_HANDLE_RWL, rwl);
}

medley_status_t
med_rwl_get(med_self *self, uint32_t number, med_handle *rwl)
{
    return med_object_get(self, MED_KIND_RWL, MED_HANDLE_RWL, number, rwl);
}

static medley_status_t
row_of(const med_self *self, med_handle handle, med_rwl_row **row)
{
    med_object *object;
    medley_status_t status = med_object_of(&self->system->rwls, handle, MED_HANDLE_RWL, &object);
    if (status == MEDLEY_OK) {
        *row = (med_rwl_row *)(void *)object;
    }
    return status;
}

medley_status_t
med_rwl_attributes(const med_self *self, med_handle rwl, uint32_t *attributes)
{
    med_rwl_row *row;
    medley_status_t status = row_of(self, rwl, &row);
    return status == MEDLEY_OK ? med_object_attributes_get(&row->object, rwl, attributes) : status;
}

/* ---- Lock ------------------------------------------------------------------------------------ */

typedef struct wanted {
    med_self *self;
    med_rwl_row *row;
    med_handle handle;
} wanted;

static medley_status_t
still_there(void *context)
{
    const wanted *w = context;
    return med_object_check(&w->row->object, w->handle);
}

/* Does the word name nobody, neither living nor to be recovered? Then it was scribbled over. */
static bool
is_nobody(const wanted *w, uint32_t owner)
{
    return owner != MED_LOCK_DEAD && owner != w->self->ref &&
           med_node_look(w->self->system, owner) == MEDLEY_ERR_NOT_FOUND;
}

static void
look_at_owners(void *context)
{
    const wanted *w = context;
    const med_system *system = w->self->system;
    med_rwlock *lock = &w->row->lock;
    med_units units = med_rwl_units(w->row, w->self->sharers);
    uint32_t writer = med_lock_owner(&lock->writer);
    if (is_nobody(w, writer)) {
        bool usable = system->on_death == MED_ON_DEATH_RECOVER;
        (void)med_rwlock_recover_writer(lock, writer, usable, system->scope);
    }
    for (uint32_t i = 0; i < units.count; i++) {
        med_lock *unit = med_units_nth(&units, i);
        uint32_t reader = med_lock_owner(unit);
        if (reader == MED_LOCK_DEAD || is_nobody(w, reader)) {
            (void)med_rwlock_recover_reader(lock, unit, reader, system->scope);
        }
    }
}

static med_rwlock_request
request_of(wanted *w, uint64_t deadline_ns)
{
    return (med_rwlock_request){.lock = &w->row->lock,
                                .units = med_rwl_units(w->row, w->self->sharers),
                                .owner = w->self->ref,
                                .deadline_ns = deadline_ns,
                                .scope = w->self->scope,
                                .waiter = &w->self->waiter,
                                .still_there = still_there,
                                .each_slice = look_at_owners,
                                .context = w};
}

static medley_status_t
enter(const med_rwlock_request *request, med_rwl_mode mode, uint32_t *unit)
{
    return mode == MED_RWL_READ ? med_rwlock_read(request, unit) : med_rwlock_write(request);
}

/* It was tried, and others are inside. */
static medley_status_t
try_again(wanted *w, const med_rwlock_request *request, med_rwl_mode mode)
{
    if (!med_object_look_due(w->self)) {
        return MEDLEY_BUSY;
    }
    look_at_owners(w);
    return enter(request, mode, &w->self->unit);
}

static medley_status_t
wait_for_it(const wanted *w, const med_rwlock_request *request, med_rwl_mode mode)
{
    med_self *self = w->self;
    uint32_t begun = med_object_wait_begin(self, w->handle);
    medley_status_t status = enter(request, mode, &self->unit);
    med_object_wait_end(self, begun, status, &w->row->slept);
    return status;
}

medley_status_t
med_rwl_lock(med_self *self, med_handle rwl, med_rwl_mode mode, uint64_t deadline_ns)
{
    wanted w = {.self = self, .handle = rwl};
    medley_status_t status = row_of(self, rwl, &w.row);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_object_touch(&self->tables[MED_KIND_RWL], med_handle_index(rwl));
    med_rwlock_request request = request_of(&w, 0);
    status = enter(&request, mode, &self->unit);
    if (status == MEDLEY_BUSY) {
        request.deadline_ns = deadline_ns;
        status = deadline_ns == 0 ? try_again(&w, &request, mode) : wait_for_it(&w, &request, mode);
    }
    if (status == MEDLEY_ERR_PEER_DIED) {
        return MEDLEY_ERR_OWNER_DIED; /* and nobody has it */
    }
    bool died = status == MEDLEY_ERR_OWNER_DIED;
    if (died) {
        med_traced(self->system, self->ref, MED_TRACED_OWNER_DIED, rwl, 0);
    }
    if (died || status == MEDLEY_OK) {
        self->owner_died = died;
        if (mode == MED_RWL_READ) {
            self->recent_rwl = (med_self_recent){
                .handle = rwl, .row = w.row, .unit = &request.units.words[self->unit]};
        }
        return MEDLEY_OK;
    }
    return status;
}

/* ---- Unlock ---------------------------------------------------------------------------------- */

static medley_status_t
read_end(med_self *self, med_rwl_row *row)
{
    med_units units = med_rwl_units(row, self->sharers);
    uint32_t mine = med_units_find(&units, self->ref, self->unit);
    if (mine == MED_UNITS_NONE) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    self->unit = mine;
    med_rwlock_read_end(&row->lock, &units.words[mine], self->scope);
    return MEDLEY_OK;
}

medley_status_t
med_rwl_unlock(med_self *self, med_handle rwl, med_rwl_mode mode)
{
    med_rwl_row *row;
    medley_status_t status = row_of(self, rwl, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (mode == MED_RWL_READ) {
        return read_end(self, row);
    }
    if (!med_rwlock_is_writer(&row->lock, self->ref)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    med_rwlock_write_end(&row->lock, self->scope);
    return MEDLEY_OK;
}

/* ---- Delete ---------------------------------------------------------------------------------- */

void
med_rwl_row_removed(const med_table_view *view, med_row *row)
{
    med_rwlock_wake_all(&((med_rwl_row *)(void *)row)->lock, view->scope);
}

medley_status_t
med_rwl_delete(med_self *self, med_handle rwl)
{
    wanted w = {.self = self, .handle = rwl};
    medley_status_t status = row_of(self, rwl, &w.row);
    if (status != MEDLEY_OK) {
        return status;
    }
    med_object_touch(&self->tables[MED_KIND_RWL], med_handle_index(rwl));
    look_at_owners(&w); /* a dead owner is none */
    med_rwlock_request request = request_of(&w, 0);
    status = med_rwlock_close(&request);
    if (status != MEDLEY_OK) {
        return status;
    }
    status = med_object_remove(&self->system->rwls, &w.row->object, rwl);
    if (status != MEDLEY_OK) {
        med_rwlock_reopen(&request);
    }
    return status;
}

/* ---- Death ----------------------------------------------------------------------------------- */

medley_status_t
med_rwl_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    uint32_t words = med_units_lines(system->limits.sharers) * MED_UNITS_OF_LINE;
    (void)thread_id;
    bool usable = system->on_death == MED_ON_DEATH_RECOVER;
    for (uint32_t i = first; i < first + count && i < system->rwls.row_count; i++) {
        med_rwl_row *row = (med_rwl_row *)(void *)med_table_row(&system->rwls, i);
        /* All there may be: the row may be at its next life, with fewer. */
        med_lock *units = med_object_units_at(&row->object);
        for (uint32_t unit = 0; unit < words; unit++) {
            (void)med_rwlock_recover_reader(&row->lock, &units[unit], node_ref, system->scope);
        }
        (void)med_rwlock_recover_writer(&row->lock, node_ref, usable, system->scope);
    }
    return MEDLEY_OK;
}
