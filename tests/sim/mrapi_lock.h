/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the scenarios of MRAPI's locks share: each is made, found, or known by a handle that may be
 * of one that is gone; it is taken, used, left and deleted by anybody. */
#ifndef MEDLEY_TESTS_SIM_MRAPI_LOCK_H
#define MEDLEY_TESTS_SIM_MRAPI_LOCK_H

#include "mrapi.h"
#include "mrapi_actor.h"

/* With priority inheritance, or without. */
mrapi_mutex_hndl_t mrapi_mutex_make(uint32_t number, bool with_inheritance, mrapi_status_t *status);
/* That one, which nobody has, locked by who makes it. */
mrapi_mutex_hndl_t
mrapi_mutex_make_locked(uint32_t number, bool with_inheritance, mrapi_key_t *key);
/* Its handle as the system tells it, in order; of one that is there, or will be. */
mrapi_mutex_hndl_t mrapi_mutex_find(uint32_t number);

/* One that an actor is about to take. */
typedef struct mrapi_lock {
    uint32_t which; /* below MRAPI_TOLD */
    mrapi_uint32_t handle;
    mrapi_rwl_mode_t mode; /* of a reader/writer lock */
    mrapi_key_t key;       /* of a mutex */
} mrapi_lock;

/* What is done with one kind of lock, and the codes that it has. */
typedef struct mrapi_lock_kind {
    mrapi_uint32_t (*make)(uint32_t which, mrapi_status_t *status);
    mrapi_uint32_t (*get)(uint32_t which, mrapi_status_t *status);
    void (*take)(mrapi_lock *lock, mrapi_status_t *status);
    void (*use)(const sim_actor *actor, const mrapi_lock *lock);
    void (*leave)(mrapi_lock *lock, mrapi_status_t *status);
    void (*destroy)(mrapi_uint32_t handle, mrapi_status_t *status);
    mrapi_status_t exists, limit, unknown, locked, gone;
    bool of_many; /* others may have it together with the actor */
} mrapi_lock_kind;

/* Comes by it, takes it, uses it, leaves it; and deletes it now and then, with it and without. */
void mrapi_lock_and_leave(const sim_actor *actor, const mrapi_lock_kind *kind, mrapi_lock *lock);

#endif
