/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Small programs, one to a file, to see what each pays for what it uses (scripts/footprint.sh).
 * Built for the target, not run.
 */
#ifndef MEDLEY_TESTS_BARE_FOOTPRINT_H
#define MEDLEY_TESTS_BARE_FOOTPRINT_H

#include "medley/medley.h"
#include "medley/mrapi_ext.h"

int main(void);

static mrapi_status_t status;

static inline void
begin(void)
{
    mrapi_info_t info;
    mrapi_initialize(1, 1, 0, &info, &status);
}

static inline int
end(void)
{
    mrapi_finalize(&status);
    return (int)status;
}

static inline void
use_mutex(void)
{
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(1, NULL, &status);
    mutex = mrapi_mutex_get(1, &status);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    (void)mrapi_mutex_trylock(mutex, &key, &status);
    mrapi_mutex_unlock(mutex, &key, &status);
    mrapi_mutex_delete(mutex, &status);
}

static inline void
use_semaphore(void)
{
    mrapi_sem_hndl_t sem = mrapi_sem_create(1, NULL, 2, &status);
    sem = mrapi_sem_get(1, &status);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    (void)mrapi_sem_trylock(sem, &status);
    mrapi_sem_unlock(sem, &status);
    mrapi_sem_delete(sem, &status);
}

#endif
