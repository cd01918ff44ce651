/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutexes. What may run together: everything, by any nodes.
 *
 * The lock of a plain one is base's (its edges A1 and R1), that of one with priority inheritance
 * the kernel's (mutex_pi.c). Either is taken between two looks at the handle (object.c), since the
 * row may become another mutex's meanwhile; so there are three ways to let go of it:
 *   release             by the holder, whose handle is good: nobody else can delete it meanwhile
 *   release_stale       by who took it and finds, or cannot tell, that the handle is old
 *   release_undeleted   by who took it to delete it, and could not
 *
 * depth, key and pi_owner belong to the owner; others read them to show them, and pi_owner to
 * know him (mutex_pi.c).
 *
 * Linearisation: lock and unlock, the lock's; delete, REMOVING (table.c). Progress: lock blocks, by
 * nature; unlock of a plain one is wait-free but for the kernel's wake.
 * Death: a node sets its touch bit before it first takes a lock of that chunk of rows, so its
 * recovery finds every word that may name it (med_mutex_recover_rows). A node that dies deleting a
 * mutex holds its lock, or the table's lock; either is recovered.
 * Model: models/lock.pml; with priority inheritance, models/pi.pml.
 */
#include "mrapi/mutex.h"

#include "base/log.h"
#include "mrapi/mutex_pi.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"

/* ---- Rows and handles ------------------------------------------------------------------------ */

static med_mutex_row *
row_at(const med_system *system, uint32_t index)
{
    return (med_mutex_row *)(void *)med_table_row(&system->mutexes, index);
}

static inline bool
has(const med_mutex_row *row, uint32_t attribute)
{
    return med_object_attributes(&row->object) & attribute;
}

/* Which of its two words a mutex uses is asked of the handle, never of the row, which may be
 * another mutex's by the time. */
static inline bool
is_pi(med_handle handle)
{
    return med_port_has_pi() && med_handle_kind_of(handle) == MED_HANDLE_MUTEX_PI;
}

static inline bool
is_pi_row(const med_mutex_row *row)
{
    return med_port_has_pi() && has(row, MED_MUTEX_PRIORITY_INHERITANCE);
}

static medley_status_t
row_of(const med_system *system, med_handle handle, med_mutex_row **row_out)
{
    uint32_t index = med_handle_index(handle);
    med_handle_kind kind = med_handle_kind_of(handle);
    if ((kind != MED_HANDLE_MUTEX && kind != MED_HANDLE_MUTEX_PI) ||
        index >= system->mutexes.row_count) {
        return MEDLEY_ERR_ARGUMENT;
    }
    med_mutex_row *row = row_at(system, index);
    *row_out = row;
    medley_status_t status = med_object_check(&row->object, handle);
    /* A handle of one kind for a mutex of the other was never given out. */
    bool other = status == MEDLEY_OK && is_pi_row(row) != is_pi(handle);
    return other ? MEDLEY_ERR_STALE : status;
}

static med_handle
handle_of(uint32_t attributes, uint32_t index, uint32_t generation)
{
    bool pi = attributes & MED_MUTEX_PRIORITY_INHERITANCE;
    return med_handle_make(pi ? MED_HANDLE_MUTEX_PI : MED_HANDLE_MUTEX, index, generation);
}

/* ---- Create, get, delete --------------------------------------------------------------------- */

typedef struct fill_context {
    uint32_t attributes;
    uint32_t pi_space;
} fill_context;

/* Relaxed but for the lock: published with the row (T1 in table.c). The sleepers' flag stays: it
 * may be of one who still sleeps for the row's life before. */
static void
fill(med_object *object, const void *context)
{
    const fill_context *wanted = context;
    med_mutex_row *mutex = (med_mutex_row *)(void *)object;
    atomic32_store_relaxed(&mutex->depth, 1);
    atomic32_store_relaxed(&mutex->slept, 0);
    if (med_port_has_pi()) {
        med_mutex_pi_fill(mutex, wanted->pi_space);
    }
    bool pi = wanted->attributes & MED_MUTEX_PRIORITY_INHERITANCE;
    /* R1 free -> A1 (lock.c, lock.h): who takes it by an old handle sees the row's new life. */
    atomic32_store_release(&mutex->lock.word, pi ? MED_LOCK_DEAD : 0);
}

medley_status_t
med_mutex_create(med_self *self, uint32_t number, uint32_t attributes, med_handle *mutex)
{
    fill_context context = {.attributes = attributes};
    if (attributes & MED_MUTEX_PRIORITY_INHERITANCE) {
        bool possible = med_port_has_pi() && med_port_pi_supported();
        context.pi_space = possible ? med_port_pi_space() : 0;
        if (context.pi_space == 0) {
            if (possible) {
                med_log_error("no mutex with priority inheritance",
                              "whose thread numbers are this process's cannot be told (/proc)");
            }
            return MEDLEY_ERR_NOT_SUPPORTED;
        }
    }
    med_object_request request = {.kind = MED_KIND_MUTEX,
                                  .number = number,
                                  .attributes = attributes,
                                  .fill = fill,
                                  .context = &context};
    uint32_t index, generation;
    medley_status_t status = med_object_create(self, &request, &index, &generation);
    if (status == MEDLEY_OK) {
        *mutex = handle_of(attributes, index, generation);
        if (is_pi(*mutex)) {
            med_mutex_pi_settle(self, row_at(self->system, index), *mutex);
        }
    }
    return status;
}

medley_status_t
med_mutex_get(med_self *self, uint32_t number, med_handle *mutex)
{
    uint32_t index, generation, attributes;
    medley_status_t status = med_object_find(self, MED_KIND_MUTEX, number, &index, &generation);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Of that life, or else it was deleted meanwhile. */
    const med_mutex_row *row = row_at(self->system, index);
    if (med_object_attributes_get(&row->object, handle_of(0, index, generation), &attributes) !=
        MEDLEY_OK) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    *mutex = handle_of(attributes, index, generation);
    return MEDLEY_OK;
}

/* ---- Take and release, either way ------------------------------------------------------------ */

static bool
is_mine(const med_self *self, const med_mutex_row *row, med_handle handle)
{
    return is_pi(handle) ? med_mutex_pi_is_mine(self, row)
                         : med_lock_is_mine(&row->lock, self->ref);
}

/* By the holder, who has it by a good handle. */
static void
release(med_self *self, med_mutex_row *row, med_handle handle)
{
    if (is_pi(handle)) {
        med_mutex_pi_release(self, row);
    } else {
        med_lock_release(&row->lock, &row->sleepers, self->system->scope);
    }
}

typedef struct holder_context {
    med_system *system;
    med_mutex_row *row;
} holder_context;

/* A lock that names nobody, neither living nor to be recovered, was scribbled over: it is taken for
 * one whose owner died. */
static medley_status_t
look_at_holder(void *context, uint32_t owner)
{
    const holder_context *holder = context;
    med_mutex_row *row = holder->row;
    if (owner != MED_LOCK_DEAD && med_node_look(holder->system, owner) == MEDLEY_ERR_NOT_FOUND) {
        bool usable = holder->system->on_death == MED_ON_DEATH_RECOVER;
        (void)med_lock_recover(&row->lock, &row->sleepers, owner, usable, holder->system->scope);
    }
    return MEDLEY_OK;
}

static medley_status_t
take_try(med_self *self, med_mutex_row *row)
{
    medley_status_t status = med_lock_try(&row->lock, self->ref);
    if (status != MEDLEY_BUSY) {
        return status;
    }
    if (!med_object_look_due(self)) {
        return MEDLEY_BUSY;
    }
    holder_context holder = {.system = self->system, .row = row};
    (void)look_at_holder(&holder, med_lock_owner(&row->lock));
    return med_lock_try(&row->lock, self->ref);
}

static medley_status_t
take_slow(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns)
{
    if (deadline_ns == 0) {
        return take_try(self, row);
    }
    holder_context holder = {.system = self->system, .row = row};
    med_lock_request request = {.owner = self->ref,
                                .deadline_ns = deadline_ns,
                                .scope = self->system->scope,
                                .waiter = &self->waiter,
                                .each_slice = look_at_holder,
                                .context = &holder};
    uint32_t begun = med_object_wait_begin(self, handle);
    medley_status_t status = med_lock_acquire(&row->lock, &row->sleepers, &request);
    med_object_wait_end(self, begun, status, &row->slept);
    return status;
}

/* MEDLEY_OK or MEDLEY_ERR_OWNER_DIED: it is held. MEDLEY_ERR_NOT_OWNER: it is held, to be released
 * at once, since nobody may have it. */
static medley_status_t
take(med_self *self, med_mutex_row *row, med_handle handle, uint64_t deadline_ns)
{
    if (is_pi(handle)) {
        return med_mutex_pi_take(self, row, handle, deadline_ns);
    }
    if (med_lock_try_fast(&row->lock, self->ref)) {
        return MEDLEY_OK;
    }
    return take_slow(self, row, handle, deadline_ns);
}

/* ---- Lock ------------------------------------------------------------------------------------ */

/* Where the node keeps the key of an inner level, until it comes to another that belongs there. */
static inline med_self_level *
level_at(med_self *self, med_handle handle, uint32_t level)
{
    return &self->levels[(handle + level) % MED_SELF_LEVELS];
}

static inline uint32_t
level_key_give(med_self *self, med_handle handle, uint32_t level)
{
    self->mutex_key += MED_MUTEX_KEY_STEP;
    uint32_t key = self->mutex_key << 8 | (2 * level - 1);
    *level_at(self, handle, level) = (med_self_level){.handle = handle, .key = key};
    return key;
}

/* The level whose key it is; 0: of none. What is no longer kept is believed: a good key is never
 * refused. */
static inline uint32_t
level_had(med_self *self, const med_mutex_row *row, med_handle handle, uint32_t key)
{
    uint32_t level = ((key & MED_MUTEX_KEY_LEVEL) + 1) / 2;
    if (!(key & 1) || level == 1) {
        return key == atomic32_load_relaxed(&row->key); /* relaxed: the owner's own */
    }
    const med_self_level *at = level_at(self, handle, level);
    uint32_t difference = at->key ^ key;
    bool former = at->handle == handle && difference && !(difference & MED_MUTEX_KEY_LEVEL);
    return former ? 0 : level;
}

static medley_status_t
lock_again(med_self *self, med_mutex_row *row, med_handle handle, uint32_t *key)
{
    if (!has(row, MED_MUTEX_RECURSIVE)) {
        return MEDLEY_ERR_EXISTS;
    }
    uint32_t depth = atomic32_load_relaxed(&row->depth); /* relaxed: the owner's own */
    if (depth >= MED_MUTEX_DEPTH_MAX) {
        med_log_limit("levels of a recursive mutex", MED_MUTEX_DEPTH_MAX, NULL, NULL);
        return MEDLEY_ERR_LIMIT;
    }
    atomic32_store_relaxed(&row->depth, depth + 1); /* relaxed: as above */
    *key = level_key_give(self, handle, depth + 1);
    self->owner_died = false;
    return MEDLEY_OK;
}

/* What was taken by a handle that was old, or may be by now: the row may be another mutex's. */
static void
release_stale(med_self *self, med_mutex_row *row, med_handle handle)
{
    if (is_pi(handle)) {
        med_mutex_pi_release(self, row);
    } else {
        med_lock_give_back(&row->lock, &row->sleepers, self->ref, self->system->scope);
    }
}

/* The lock was not simply taken: why, and is it held all the same? */
static medley_status_t
lock_uncommon(med_self *self, med_mutex_row *row, med_handle handle, medley_status_t status)
{
    bool held = status == MEDLEY_OK || status == MEDLEY_ERR_NOT_OWNER ||
                (status == MEDLEY_ERR_OWNER_DIED && is_mine(self, row, handle));
    /* A3 gone <- R3 (row_removed): who found the lock dead sees that the row is on its way out. */
    (void)atomic32_load_acquire(&row->lock.word);
    /* Relaxed: compared only, and A3 came before it. */
    if (!med_handle_is_current(handle, atomic32_load_relaxed(&row->object.row.state))) {
        if (held) {
            release_stale(self, row, handle);
        }
        return med_object_check(&row->object, handle);
    }
    if (status == MEDLEY_ERR_NOT_OWNER) {
        release(self, row, handle);
        return MEDLEY_ERR_OWNER_DIED;
    }
    if (status == MEDLEY_ERR_OWNER_DIED && held) {
        med_traced(self->system, self->ref, MED_TRACED_OWNER_DIED, handle, 0);
    }
    return held ? MEDLEY_OK : status;
}

medley_status_t
med_mutex_lock(med_self *self, med_handle mutex, uint64_t deadline_ns, uint32_t *key)
{
    med_mutex_row *row;
    medley_status_t status = row_of(self->system, mutex, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (is_mine(self, row, mutex)) {
        return lock_again(self, row, mutex, key);
    }
    med_object_touch(&self->tables[MED_KIND_MUTEX], med_handle_index(mutex));
    status = take(self, row, mutex, deadline_ns);
    bool died = status == MEDLEY_ERR_OWNER_DIED;
    /* Relaxed: the lock's acquire stands before it. */
    if (__builtin_expect(
            status != MEDLEY_OK ||
                !med_handle_is_current(mutex, atomic32_load_relaxed(&row->object.row.state)),
            0)) {
        status = lock_uncommon(self, row, mutex, status);
        if (status != MEDLEY_OK) {
            return status;
        }
    }
    self->owner_died = died;
    atomic32_store_relaxed(&row->depth, 1); /* relaxed: the owner's own */
    *key = med_mutex_key_give(self, row);
    return MEDLEY_OK;
}

/* ---- Unlock ---------------------------------------------------------------------------------- */

medley_status_t
med_mutex_unlock(med_self *self, med_handle mutex, uint32_t key)
{
    med_mutex_row *row;
    medley_status_t status = row_of(self->system, mutex, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    if (!is_mine(self, row, mutex)) {
        return MEDLEY_ERR_NOT_OWNER;
    }
    uint32_t depth = atomic32_load_relaxed(&row->depth); /* relaxed: the owner's own */
    uint32_t level = level_had(self, row, mutex, key);
    if (level != depth) {
        return level && level < depth ? MEDLEY_BUSY : MEDLEY_ERR_CORRUPT;
    }
    if (depth == 1) {
        release(self, row, mutex);
    } else {
        atomic32_store_relaxed(&row->depth, depth - 1); /* relaxed: as above */
    }
    return MEDLEY_OK;
}

medley_status_t
med_mutex_attributes(const med_self *self, med_handle mutex, uint32_t *attributes)
{
    med_mutex_row *row;
    medley_status_t status = row_of(self->system, mutex, &row);
    return status == MEDLEY_OK ? med_object_attributes_get(&row->object, mutex, attributes)
                               : status;
}

/* ---- Death ----------------------------------------------------------------------------------- */

static void
recover_plain(const med_system *system, med_mutex_row *row, uint32_t node_ref)
{
    bool usable = system->on_death == MED_ON_DEATH_RECOVER;
    (void)med_lock_recover(&row->lock, &row->sleepers, node_ref, usable, system->scope);
}

medley_status_t
med_mutex_recover_rows(
    med_system *system, uint32_t first, uint32_t count, uint32_t node_ref, uint32_t thread_id)
{
    bool graves = false;
    for (uint32_t i = first; i < first + count && i < system->mutexes.row_count; i++) {
        med_mutex_row *row = row_at(system, i);
        if (!is_pi_row(row)) {
            recover_plain(system, row, node_ref);
        }
        /* Also of a row that is a plain mutex's by now: its word may be a former one's yet. */
        if (med_port_has_pi() && !med_mutex_pi_leave(system, row, node_ref)) {
            graves = graves || (thread_id && med_mutex_pi_thread(row) == thread_id);
        }
    }
    if (graves) {
        /* What cannot be done now is done by who next wants the mutex: it needs nothing of the
         * node's, and the other locks need not wait for the table. */
        (void)med_mutex_pi_bury(system, first, count, thread_id);
    }
    return MEDLEY_OK;
}

/* ---- Delete ---------------------------------------------------------------------------------- */

void
med_mutex_row_removed(const med_table_view *view, med_row *row)
{
    med_mutex_row *mutex = (med_mutex_row *)(void *)row;
    /* Who sleeps wakes, finds the word dead, and then the row gone. With priority inheritance the
     * kernel keeps the sleepers: whoever gets the lock in the end finds the row gone.
     * R3 gone -> A3 (lock_uncommon): the row's REMOVING is seen with it. */
    atomic32_store_release(&mutex->lock.word, MED_LOCK_DEAD);
    med_lock_wake(&mutex->sleepers, UINT32_MAX, view->scope);
}

/* What was taken to be deleted, and stays: who has it next is still told of its former owner. */
static void
release_undeleted(med_self *self, med_mutex_row *row, med_handle handle, medley_status_t news)
{
    if (news == MEDLEY_OK) {
        release_stale(self, row, handle);
    } else if (is_mine(self, row, handle)) {
        if (!is_pi(handle)) {
            recover_plain(self->system, row, self->ref);
        } else {
            (void)med_mutex_pi_leave(self->system, row, self->ref);
        }
    }
}

medley_status_t
med_mutex_delete(med_self *self, med_handle mutex)
{
    med_mutex_row *row;
    medley_status_t status = row_of(self->system, mutex, &row);
    if (status != MEDLEY_OK) {
        return status;
    }
    bool held = is_mine(self, row, mutex);
    if (!held) {
        med_object_touch(&self->tables[MED_KIND_MUTEX], med_handle_index(mutex));
        self->next_look_ns = 0; /* one try must do */
        status = take(self, row, mutex, 0);
        bool dead = !is_pi(mutex) && med_lock_is_dead(&row->lock);
        if (status == MEDLEY_BUSY) {
            return status;
        }
        if (status != MEDLEY_OK && status != MEDLEY_ERR_OWNER_DIED &&
            status != MEDLEY_ERR_NOT_OWNER && !dead) {
            medley_status_t good = med_object_check(&row->object, mutex);
            return good == MEDLEY_OK ? status : good;
        }
    }
    medley_status_t news = status;
    status = med_object_remove(&self->system->mutexes, &row->object, mutex);
    if (status == MEDLEY_TIMEOUT) { /* it is there as before */
        if (!held) {
            release_undeleted(self, row, mutex, news);
        }
        return status;
    }
    /* A plain lock died with the row, unless the row was another's already. */
    if (is_mine(self, row, mutex)) {
        release_stale(self, row, mutex);
    }
    return status;
}

/* ---- For showing ----------------------------------------------------------------------------- */

uint32_t
med_mutex_holder(const med_system *system, const med_mutex_row *row)
{
    return is_pi_row(row) ? med_mutex_pi_holder(system, row) : med_lock_owner(&row->lock);
}
