/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutexes, semaphores and reader/writer locks: those that stay each guard a pair of counters; those
 * that come and go are only taken and given back.
 */
#include "kill/random_work.h"

#include "support/unit.h"

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "port/port.h"
#include "support/process.h"

#define PAUSES_INSIDE 100 /* so that many are killed there */
#define TIMEOUT_SHORT_US 50
#define SEM 1
#define RWL 1
#define READERS 2

/* ---- What is guarded ------------------------------------------------------------------------- */

static void
pause_inside(void)
{
    for (int i = 0; i < PAUSES_INSIDE; i++) {
        med_port_cpu_relax();
    }
}

/* Between lock and unlock. `me` is not 0. */
static void
guarded_change(guarded *what, uint32_t me)
{
    bool died = medley_lock_owner_died();
    uint32_t before = atomic32_exchange_acq_rel(&what->inside, me);
    uint32_t first = atomic32_load_relaxed(&what->first);
    child_expect(died || before == 0);
    child_expect(died || atomic32_load_relaxed(&what->second) == first);
    if (died) {
        (void)atomic32_fetch_add_relaxed(&shared->deaths_told, 1);
    }
    atomic32_store_relaxed(&what->first, first + 1);
    pause_inside();
    atomic32_store_relaxed(&what->second, first + 1);
    child_expect(atomic32_exchange_acq_rel(&what->inside, 0) == me);
}

/* By one of several readers. */
static void
guarded_look(const guarded *what)
{
    bool died = medley_lock_owner_died();
    uint32_t first = atomic32_load_relaxed(&what->first);
    pause_inside();
    child_expect(died || atomic32_load_relaxed(&what->inside) == 0);
    child_expect(died || atomic32_load_relaxed(&what->second) == first);
}

static mrapi_timeout_t
any_timeout(test_random *random)
{
    return random_below(random, 4) ? MRAPI_TIMEOUT_INFINITE : TIMEOUT_SHORT_US;
}

static bool
was_had(mrapi_status_t status, mrapi_timeout_t timeout)
{
    child_expect(status == MRAPI_SUCCESS ||
                 (status == MRAPI_TIMEOUT && timeout != MRAPI_TIMEOUT_INFINITE));
    return status == MRAPI_SUCCESS;
}

static void
must(mrapi_status_t status)
{
    child_expect(status == MRAPI_SUCCESS);
}

/* ---- That stay ------------------------------------------------------------------------------- */

void
lock_mutex(const worker *me, test_random *random)
{
    mrapi_status_t status;
    mrapi_key_t key, again;
    uint32_t number = random_below(random, MUTEXES);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_get(number + 1, &status);
    must(status);
    mrapi_timeout_t timeout = any_timeout(random);
    mrapi_mutex_lock(mutex, &key, timeout, &status);
    if (!was_had(status, timeout)) {
        return;
    }
    guarded_change(&shared->by_mutex[number], med_port_thread_id());
    progress(me);
    if (number == MUTEXES - 1) {
        mrapi_mutex_lock(mutex, &again, MRAPI_TIMEOUT_INFINITE, &status);
        must(status);
        mrapi_mutex_unlock(mutex, &again, &status);
        must(status);
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    must(status);
}

void
lock_sem(const worker *me, test_random *random)
{
    mrapi_status_t status;
    mrapi_sem_hndl_t sem = mrapi_sem_get(SEM, &status);
    must(status);
    mrapi_timeout_t timeout = any_timeout(random);
    mrapi_sem_lock(sem, timeout, &status);
    if (was_had(status, timeout)) {
        guarded_change(&shared->by_sem, med_port_thread_id());
        progress(me);
        mrapi_sem_unlock(sem, &status);
        must(status);
    }
}

void
lock_rwl(const worker *me, test_random *random)
{
    mrapi_status_t status;
    mrapi_rwl_hndl_t rwl = mrapi_rwl_get(RWL, &status);
    must(status);
    mrapi_rwl_mode_t mode = random_below(random, 2) ? MRAPI_RWL_READER : MRAPI_RWL_WRITER;
    mrapi_timeout_t timeout = any_timeout(random);
    mrapi_rwl_lock(rwl, mode, timeout, &status);
    if (!was_had(status, timeout)) {
        return;
    }
    if (mode == MRAPI_RWL_READER) {
        guarded_look(&shared->by_rwl);
    } else {
        guarded_change(&shared->by_rwl, med_port_thread_id());
    }
    progress(me);
    mrapi_rwl_unlock(rwl, mode, &status);
    must(status);
}

static void
mutexes_make(void)
{
    mrapi_boolean_t yes = MRAPI_TRUE;
    for (unsigned i = 0; i < MUTEXES; i++) {
        mrapi_status_t status;
        mrapi_mutex_attributes_t attributes;
        mrapi_mutex_init_attributes(&attributes, &status);
        if (i == MUTEXES - 1) {
            mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &yes, sizeof yes,
                                      &status);
        } else if (i == MUTEXES - 2) {
            mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &yes,
                                      sizeof yes, &status);
        }
        (void)mrapi_mutex_create(i + 1, &attributes, &status);
        must(status);
    }
}

void
staying_make(void)
{
    mrapi_status_t status;
    mutexes_make();
    (void)mrapi_sem_create(SEM, NULL, 1, &status);
    must(status);
    (void)mrapi_rwl_create(RWL, NULL, READERS, &status);
    must(status);
}

void
staying_end(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    for (unsigned i = 0; i < MUTEXES; i++) {
        mrapi_mutex_hndl_t mutex = mrapi_mutex_get(i + 1, &status);
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        must(status);
        guarded_change(&shared->by_mutex[i], 1);
        mrapi_mutex_delete(mutex, &status);
        must(status);
    }
    mrapi_sem_hndl_t sem = mrapi_sem_get(SEM, &status);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    must(status);
    guarded_change(&shared->by_sem, 1);
    mrapi_sem_delete(sem, &status);
    must(status);
    mrapi_rwl_hndl_t rwl = mrapi_rwl_get(RWL, &status);
    mrapi_rwl_lock(rwl, MRAPI_RWL_WRITER, MRAPI_TIMEOUT_INFINITE, &status);
    must(status);
    guarded_change(&shared->by_rwl, 1);
    mrapi_rwl_delete(rwl, &status);
    must(status);
}

/* ---- That come and go ------------------------------------------------------------------------ */

/* One kind of them; lock and unlock are one call. A mutex's key lives in between. */
typedef struct passing {
    uint32_t (*get)(uint32_t number, mrapi_status_t *status);
    void (*make)(uint32_t number, mrapi_status_t *status);
    void (*remove)(uint32_t handle, mrapi_status_t *status);
    void (*lock)(uint32_t handle, mrapi_status_t *status);
    void (*unlock)(uint32_t handle, mrapi_status_t *status);
    mrapi_status_t exists, locked, invalid, id_invalid;
} passing;

static mrapi_key_t mutex_key;

static void
mutex_make(uint32_t number, mrapi_status_t *status)
{
    (void)mrapi_mutex_create(number, NULL, status);
}

static void
mutex_lock(uint32_t handle, mrapi_status_t *status)
{
    mrapi_mutex_lock(handle, &mutex_key, MRAPI_TIMEOUT_INFINITE, status);
}

static void
mutex_unlock(uint32_t handle, mrapi_status_t *status)
{
    mrapi_mutex_unlock(handle, &mutex_key, status);
}

static void
sem_make(uint32_t number, mrapi_status_t *status)
{
    (void)mrapi_sem_create(number, NULL, 1 + number % 2, status);
}

static void
sem_lock(uint32_t handle, mrapi_status_t *status)
{
    mrapi_sem_lock(handle, MRAPI_TIMEOUT_INFINITE, status);
}

static void
rwl_make(uint32_t number, mrapi_status_t *status)
{
    (void)mrapi_rwl_create(number, NULL, READERS, status);
}

static void
rwl_read(uint32_t handle, mrapi_status_t *status)
{
    mrapi_rwl_lock(handle, MRAPI_RWL_READER, MRAPI_TIMEOUT_INFINITE, status);
}

static void
rwl_read_end(uint32_t handle, mrapi_status_t *status)
{
    mrapi_rwl_unlock(handle, MRAPI_RWL_READER, status);
}

static void
rwl_write(uint32_t handle, mrapi_status_t *status)
{
    mrapi_rwl_lock(handle, MRAPI_RWL_WRITER, MRAPI_TIMEOUT_INFINITE, status);
}

static void
rwl_write_end(uint32_t handle, mrapi_status_t *status)
{
    mrapi_rwl_unlock(handle, MRAPI_RWL_WRITER, status);
}

static const passing kinds[] = {
    {mrapi_mutex_get, mutex_make, mrapi_mutex_delete, mutex_lock, mutex_unlock,
     MRAPI_ERR_MUTEX_EXISTS, MRAPI_ERR_MUTEX_LOCKED, MRAPI_ERR_MUTEX_INVALID,
     MRAPI_ERR_MUTEX_ID_INVALID},
    {mrapi_sem_get, sem_make, mrapi_sem_delete, sem_lock, mrapi_sem_unlock, MRAPI_ERR_SEM_EXISTS,
     MRAPI_ERR_SEM_LOCKED, MRAPI_ERR_SEM_INVALID, MRAPI_ERR_SEM_ID_INVALID},
    {mrapi_rwl_get, rwl_make, mrapi_rwl_delete, rwl_read, rwl_read_end, MRAPI_ERR_RWL_EXISTS,
     MRAPI_ERR_RWL_LOCKED, MRAPI_ERR_RWL_INVALID, MRAPI_ERR_RWL_ID_INVALID},
    {mrapi_rwl_get, rwl_make, mrapi_rwl_delete, rwl_write, rwl_write_end, MRAPI_ERR_RWL_EXISTS,
     MRAPI_ERR_RWL_LOCKED, MRAPI_ERR_RWL_INVALID, MRAPI_ERR_RWL_ID_INVALID},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const passing *
any_kind(test_random *random)
{
    return &kinds[random_below(random, KINDS)];
}

static uint32_t
any_number(test_random *random)
{
    return PASSING_FIRST + random_below(random, PASSING);
}

void
make_passing(const worker *me, test_random *random)
{
    mrapi_status_t status;
    const passing *kind = any_kind(random);
    (void)me;
    kind->make(any_number(random), &status);
    child_expect(status == MRAPI_SUCCESS || status == kind->exists);
}

void
delete_passing(const worker *me, test_random *random)
{
    mrapi_status_t status;
    const passing *kind = any_kind(random);
    (void)me;
    uint32_t handle = kind->get(any_number(random), &status);
    if (status == MRAPI_SUCCESS) {
        kind->remove(handle, &status);
        child_expect(status == MRAPI_SUCCESS || status == kind->locked || status == kind->invalid);
    }
}

void
lock_passing(const worker *me, test_random *random)
{
    mrapi_status_t status;
    const passing *kind = any_kind(random);
    (void)me;
    uint32_t handle = kind->get(any_number(random), &status);
    if (status != MRAPI_SUCCESS) {
        child_expect(status == kind->id_invalid);
        return;
    }
    kind->lock(handle, &status);
    if (status == MRAPI_SUCCESS) {
        kind->unlock(handle, &status);
        must(status); /* nobody else deletes what we hold */
    } else {
        child_expect(status == kind->invalid); /* deleted meanwhile */
    }
}

void
passing_end(void)
{
    for (size_t i = 0; i < KINDS * PASSING; i++) {
        mrapi_status_t status;
        const passing *kind = &kinds[i % KINDS];
        uint32_t handle = kind->get((uint32_t)(PASSING_FIRST + i / KINDS), &status);
        if (status == MRAPI_SUCCESS) {
            kind->lock(handle, &status);
            must(status);
            kind->remove(handle, &status);
            must(status);
        }
    }
}
