/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One life of a lock in an actor's hands. Which status may come, with others at the same lock, is
 * checked at each call.
 */
#include "mrapi_lock.h"

#include "medley/mrapi_ext.h"

mrapi_mutex_hndl_t
mrapi_mutex_make(uint32_t number, bool with_inheritance, mrapi_status_t *status)
{
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t inherits = with_inheritance ? MRAPI_TRUE : MRAPI_FALSE;
    mrapi_mutex_init_attributes(&attributes, status);
    SIM_CHECK(*status == MRAPI_SUCCESS);
    mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &inherits,
                              sizeof inherits, status);
    SIM_CHECK(*status == MRAPI_SUCCESS);
    return mrapi_mutex_create(number, &attributes, status);
}

mrapi_mutex_hndl_t
mrapi_mutex_make_locked(uint32_t number, bool with_inheritance, mrapi_key_t *key)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_make(number, with_inheritance, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    mrapi_mutex_lock(mutex, key, MRAPI_TIMEOUT_INFINITE, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    return mutex;
}

mrapi_mutex_hndl_t
mrapi_mutex_find(uint32_t number)
{
    for (;;) {
        mrapi_status_t status;
        mrapi_mutex_hndl_t mutex = mrapi_mutex_get(number, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == MRAPI_ERR_MUTEX_ID_INVALID);
        if (status == MRAPI_SUCCESS) {
            return mutex;
        }
    }
}

static bool
have(const sim_actor *actor, const mrapi_lock_kind *kind, mrapi_lock *lock)
{
    mrapi_status_t status;
    uint32_t *told = &((mrapi_notes *)actor->notes)->told[lock->which];
    if (*told && sim_random(2) == 0) {
        lock->handle = *told;
        return true;
    }
    lock->handle = kind->make(lock->which, &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == kind->exists || status == kind->limit);
        lock->handle = kind->get(lock->which, &status);
        SIM_CHECK(status == MRAPI_SUCCESS || status == kind->unknown);
    }
    if (status == MRAPI_SUCCESS) {
        *told = lock->handle;
    }
    return status == MRAPI_SUCCESS;
}

/* While the actor has it, or not; then another may have it, or have deleted it meanwhile. */
static bool
deleted(const mrapi_lock_kind *kind, const mrapi_lock *lock, bool mine)
{
    mrapi_status_t status;
    kind->destroy(lock->handle, &status);
    SIM_CHECK(status == MRAPI_SUCCESS || (status == kind->locked && (kind->of_many || !mine)) ||
              (status == kind->gone && !mine));
    return status == MRAPI_SUCCESS;
}

void
mrapi_lock_and_leave(const sim_actor *actor, const mrapi_lock_kind *kind, mrapi_lock *lock)
{
    mrapi_status_t status;
    if (!have(actor, kind, lock)) {
        return;
    }
    kind->take(lock, &status);
    if (status != MRAPI_SUCCESS) {
        SIM_CHECK(status == kind->gone);
        return;
    }
    kind->use(actor, lock);
    if (sim_random(3) == 0 && deleted(kind, lock, true)) {
        return;
    }
    kind->leave(lock, &status);
    SIM_CHECK(status == MRAPI_SUCCESS);
    if (sim_random(3) == 0) {
        (void)deleted(kind, lock, false);
    }
}
