/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock of a table: who inserts and removes excludes the others by it. It blocks, with a
 * patience: a holder who is stopped costs each caller that long once, and then a moment each time,
 * as long as the same holder has it.
 *
 * Death of the holder: his process's recovery marks the lock, and the next holder repairs the index
 * (table_index.c) before anything else. Where there are no processes nobody dies inside, and there
 * is no repair.
 * Model: models/lock.pml; models/table.pml for the repair.
 */
#include "mrapi/table_lock.h"

#include <stdbool.h>

#include "mrapi/node.h"
#include "mrapi/table_index.h"
#include "port/port.h"

/* ---- Patience -------------------------------------------------------------------------------- */
/* Relaxed: whichever holder is remembered, it decides on the length of a wait only. */

/* For one who was waited for in vain. Who goes on is done with it in 2 ms, if it is the largest
 * repair there is. */
#define PATIENCE_LEFT_NS 100000000u

static uint64_t
deadline_ns(const med_table_view *view)
{
    if (!med_port_has_processes() || view->patience_ns == 0) {
        return MED_PORT_FOREVER;
    }
    uint32_t given_up = atomic32_load_relaxed(view->given_up);
    bool again = given_up && given_up == med_lock_owner(&view->table->lock);
    return med_port_clock_ns() + (again ? PATIENCE_LEFT_NS : view->patience_ns);
}

static medley_status_t
give_up(const med_table_view *view)
{
    uint32_t holder = med_lock_owner(&view->table->lock);
    if (atomic32_load_relaxed(view->given_up) != holder || holder == 0) {
        atomic32_store_relaxed(view->given_up, holder);
        if (view->on_stuck) {
            view->on_stuck(view, holder);
        }
    }
    return MEDLEY_TIMEOUT;
}

static void
had(const med_table_view *view)
{
    if (med_port_has_processes() && view->given_up && atomic32_load_relaxed(view->given_up)) {
        atomic32_store_relaxed(view->given_up, 0);
    }
}

/* ---- For who looks --------------------------------------------------------------------------- */
/* Relaxed: for showing. */

/* Of the calling thread: a node knows it, else it costs a system call. */
static uint32_t
thread_id(void)
{
    const med_self *self = med_self_get();
    return self ? self->thread_id : med_port_thread_id();
}

static void
show_holder(const med_table_view *view)
{
    if (med_port_has_processes() && view->scope == MED_PORT_SCOPE_SHARED) {
        atomic32_store_relaxed(&view->table->holder_thread, thread_id());
        atomic64_store_relaxed(&view->table->held_since_ns, med_port_clock_common_ns());
    }
}

static void
show_nobody(const med_table_view *view)
{
    if (med_port_has_processes() && view->scope == MED_PORT_SCOPE_SHARED) {
        atomic64_store_relaxed(&view->table->held_since_ns, 0);
    }
}

/* ---- The lock -------------------------------------------------------------------------------- */

/* A lock that names nobody, neither living nor to be recovered, was scribbled over. */
static medley_status_t
look_at_holder(void *context, uint32_t owner)
{
    const med_table_view *view = context;
    medley_status_t status = view->on_slice ? view->on_slice(view->context, owner) : MEDLEY_OK;
    if (status != MEDLEY_ERR_NOT_FOUND) {
        return status;
    }
    (void)med_lock_recover(&view->table->lock, &view->table->sleepers, owner, true, view->scope);
    return MEDLEY_OK;
}

medley_status_t
med_table_lock(const med_table_view *view)
{
    if (!med_port_has_threads()) {
        return MEDLEY_OK; /* whoever comes is alone */
    }
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = view->process_ref,
                                .deadline_ns = deadline_ns(view),
                                .scope = view->scope,
                                .waiter = &waiter,
                                .each_slice = med_port_has_processes() ? look_at_holder : NULL,
                                .context = (void *)(uintptr_t)view};
    medley_status_t status = med_lock_acquire(&view->table->lock, &view->table->sleepers, &request);
    if (med_port_has_processes() && status == MEDLEY_TIMEOUT) {
        return give_up(view);
    }
    had(view);
    if (med_port_has_processes() && status == MEDLEY_ERR_OWNER_DIED) {
        if (med_lock_is_dead(&view->table->lock)) {
            return MEDLEY_ERR_CORRUPT; /* nobody marks a table's lock so */
        }
        show_holder(view);
        med_table_index_repair(view);
        return MEDLEY_OK;
    }
    if (status == MEDLEY_OK) {
        show_holder(view);
    }
    return status;
}

void
med_table_unlock(const med_table_view *view)
{
    if (!med_port_has_threads()) {
        return;
    }
    show_nobody(view);
    med_lock_release(&view->table->lock, &view->table->sleepers, view->scope);
}
