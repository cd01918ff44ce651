/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a tool is told of exclusion: locks, critical and atomic constructs, order. Faces alone call
 * this; of the runtime's own locks nothing is told.
 */
#include "omp/lock.h"
#include "omp/ompt_inner.h"

static ompt_wait_id_t
id_of(const void *lock)
{
    return (ompt_wait_id_t)(uintptr_t)lock;
}

static void
tell_acquire(const med_ompt_task *task, ompt_mutex_t kind, const void *lock)
{
    MED_OMPT_TELL(ompt_callback_mutex_acquire, kind, 0, MED_OMPT_IMPL_LOCK, id_of(lock),
                  task->called_from);
}

#define TELL(event, task, kind, lock)                                                              \
    MED_OMPT_TELL_AS(event, ompt_callback_mutex_t, kind, id_of(lock), (task)->called_from)

static ompt_state_t
state_at(ompt_mutex_t kind)
{
    switch (kind) {
    case ompt_mutex_critical:
        return ompt_state_wait_critical;
    case ompt_mutex_atomic:
        return ompt_state_wait_atomic;
    case ompt_mutex_ordered:
        return ompt_state_wait_ordered;
    default:
        return ompt_state_wait_lock;
    }
}

/* ---- Locks ----------------------------------------------------------------------------------- */

static ompt_mutex_t
kind_of(uint32_t said)
{
    return said ? (ompt_mutex_t)said : ompt_mutex_lock;
}

void
med_ompt_lock_init_told(const void *lock, uint32_t hint)
{
    med_ompt_task *task = med_ompt_current(med_member_get());
    MED_OMPT_TELL_AS(ompt_callback_lock_init, ompt_callback_mutex_acquire_t, kind_of(task->kind),
                     hint, MED_OMPT_IMPL_LOCK, id_of(lock), task->called_from);
    med_ompt_back(task);
}

void
med_ompt_lock_destroy_told(const void *lock)
{
    med_ompt_task *task = med_ompt_current(med_member_get());
    TELL(ompt_callback_lock_destroy, task, kind_of(task->kind), lock);
    med_ompt_back(task);
}

void
med_ompt_lock_set(med_lock *lock, uint32_t kind, const void *return_address, void *frame)
{
    med_member *member = med_ompt_called_told(med_member_get(), kind, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    tell_acquire(task, (ompt_mutex_t)kind, lock);
    const med_ompt_wait wait = med_ompt_wait_start(task, state_at((ompt_mutex_t)kind), id_of(lock));
    med_omp_lock_set(lock, member);
    med_ompt_wait_stop(&wait);
    TELL(ompt_callback_mutex_acquired, task, (ompt_mutex_t)kind, lock);
    med_ompt_back(task);
}

bool
med_ompt_lock_test(med_lock *lock, uint32_t kind, const void *return_address, void *frame)
{
    med_member *member = med_ompt_called_told(med_member_get(), kind, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    tell_acquire(task, (ompt_mutex_t)kind, lock);
    bool has = med_omp_lock_test(lock, member);
    if (has) {
        TELL(ompt_callback_mutex_acquired, task, (ompt_mutex_t)kind, lock);
    }
    med_ompt_back(task);
    return has;
}

void
med_ompt_lock_unset(med_lock *lock, uint32_t kind, const void *return_address, void *frame)
{
    med_member *member = med_ompt_called_told(med_member_get(), kind, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    med_omp_lock_unset(lock);
    TELL(ompt_callback_mutex_released, task, (ompt_mutex_t)kind, lock);
    med_ompt_back(task);
}

/* ---- Nestable locks -------------------------------------------------------------------------- */

uint32_t
med_ompt_nest_take(
    med_nest_lock *lock, med_ompt_take take, uint32_t kind, const void *return_address, void *frame)
{
    med_member *member = med_ompt_called_told(med_member_get(), kind, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    tell_acquire(task, (ompt_mutex_t)kind, lock);
    const med_ompt_wait wait = med_ompt_wait_start(task, ompt_state_wait_lock, id_of(lock));
    uint32_t count = take(lock, member);
    med_ompt_wait_stop(&wait);
    if (count == 1) {
        TELL(ompt_callback_mutex_acquired, task, (ompt_mutex_t)kind, lock);
    } else if (count > 1) {
        MED_OMPT_TELL(ompt_callback_nest_lock, ompt_scope_begin, id_of(lock), task->called_from);
    }
    med_ompt_back(task);
    return count;
}

void
med_ompt_nest_give(med_nest_lock *lock, const void *return_address, void *frame)
{
    med_member *member =
        med_ompt_called_told(med_member_get(), ompt_mutex_nest_lock, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    if (med_nest_lock_unset(lock)) {
        TELL(ompt_callback_mutex_released, task, ompt_mutex_nest_lock, lock);
    } else {
        MED_OMPT_TELL(ompt_callback_nest_lock, ompt_scope_end, id_of(lock), task->called_from);
    }
    med_ompt_back(task);
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Of a construct's order: where it stands in the ring. */
static const void *
order_of(const med_member *member)
{
    return member->work ? (const void *)&member->work->done : (const void *)member->team;
}

void
med_ompt_ordered(const void *return_address, void *frame)
{
    med_member *member =
        med_ompt_called_told(med_member_get(), MED_OMPT_PLAIN, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    const void *order = order_of(member);
    MED_OMPT_TELL(ompt_callback_mutex_acquire, ompt_mutex_ordered, 0, MED_OMPT_IMPL_TURN,
                  id_of(order), task->called_from);
    const med_ompt_wait wait = med_ompt_wait_start(task, ompt_state_wait_ordered, id_of(order));
    med_work_ordered(member);
    med_ompt_wait_stop(&wait);
    TELL(ompt_callback_mutex_acquired, task, ompt_mutex_ordered, order);
    med_ompt_back(task);
}

void
med_ompt_ordered_end(const void *return_address, void *frame)
{
    med_member *member =
        med_ompt_called_told(med_member_get(), MED_OMPT_PLAIN, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    med_work_ordered_end(member);
    TELL(ompt_callback_mutex_released, task, ompt_mutex_ordered, order_of(member));
    med_ompt_back(task);
}
