/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Mutexes, semaphores and reader/writer locks, contended by all harts. */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "riscv.h"

#define ROUNDS 3000u

/* ---- Mutexes --------------------------------------------------------------------------------- */

static mrapi_mutex_hndl_t mutex;
static volatile uint32_t counter; /* guarded by mutex */

/* Makes `mutex`, runs the body, deletes it. */
static const char *
with_mutex(uint32_t nodes, const char *(*body)(mrapi_node_t self))
{
    mrapi_status_t status;
    mutex = mrapi_mutex_create(1, NULL, &status);
    if (status != MRAPI_SUCCESS) {
        return "a mutex is made";
    }
    const char *broken = on_nodes(nodes, body);
    mrapi_mutex_delete(mutex, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

static const char *
adds_with_key(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)self;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        if (status != MRAPI_SUCCESS) {
            return "every lock succeeds";
        }
        counter = counter + 1;
        mrapi_key_t wrong = key + 1;
        mrapi_mutex_unlock(mutex, &wrong, &status);
        if (status != MRAPI_ERR_MUTEX_KEY) {
            return "a wrong key opens nothing";
        }
        mrapi_mutex_unlock(mutex, &key, &status);
        if (status != MRAPI_SUCCESS) {
            return "the key does";
        }
    }
    return NULL;
}

static const char *
mutex_excludes_nodes(void)
{
    counter = 0;
    const char *broken = with_mutex(hart_count(), adds_with_key);
    return broken || counter == ROUNDS * hart_count() ? broken : "no addition is lost";
}

static uint32_t stage;

/* Node 1 holds it until node 0 has waited in vain. */
static const char *
waits_in_vain(mrapi_node_t self)
{
    mrapi_status_t status;
    mrapi_key_t key;
    if (self == 1) {
        mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        mrapi_atomic_store(&stage, sizeof stage, 1, &status);
        while (mrapi_atomic_load(&stage, sizeof stage, &status) != 2) {
            mrapi_yield(&status);
        }
        return NULL; /* it ends with the node */
    }
    while (mrapi_atomic_load(&stage, sizeof stage, &status) != 1) {
        mrapi_yield(&status);
    }
    uint64_t begun_ns = medley_clock_ns();
    mrapi_mutex_lock(mutex, &key, 2000, &status);
    bool in_time = status == MRAPI_TIMEOUT && medley_clock_ns() - begun_ns >= 2000000;
    bool tried = !mrapi_mutex_trylock(mutex, &key, &status) && status == MRAPI_ERR_MUTEX_LOCKED;
    mrapi_atomic_store(&stage, sizeof stage, 2, &status);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    if (!in_time || !tried) {
        return "a wait ends at its time";
    }
    return status == MRAPI_SUCCESS && medley_lock_owner_died() ? NULL
                                                               : "the next one has it, and is told";
}

static const char *
mutex_outlives_its_holder(void)
{
    stage = 0;
    return with_mutex(2, waits_in_vain);
}

static const char *
no_priority_inheritance(void)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &yes, sizeof yes,
                              &status);
    (void)mrapi_mutex_create(2, &attributes, &status);
    return status == MRAPI_ERR_NOT_SUPPORTED ? NULL : "it is not supported";
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

#define UNITS 2u

static mrapi_sem_hndl_t sem;
static uint32_t inside;

static const char *
passes_through(mrapi_node_t self)
{
    mrapi_status_t status;
    (void)self;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
        if (status != MRAPI_SUCCESS) {
            return "every lock succeeds";
        }
        if (mrapi_atomic_add(&inside, sizeof inside, 1, &status) >= UNITS) {
            return "no more are inside than there are units";
        }
        (void)mrapi_atomic_add(&inside, sizeof inside, (mrapi_uint64_t)-1, &status);
        mrapi_sem_unlock(sem, &status);
        if (status != MRAPI_SUCCESS) {
            return "every unlock succeeds";
        }
    }
    return NULL;
}

/* Node 1 ends with a unit; node 0 waits for it. */
static const char *
ends_with_a_unit(mrapi_node_t self)
{
    mrapi_status_t status;
    if (self == 1) {
        mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
        mrapi_atomic_store(&stage, sizeof stage, 1, &status);
        while (mrapi_atomic_load(&stage, sizeof stage, &status) != 2) {
            mrapi_yield(&status);
        }
        return NULL;
    }
    while (mrapi_atomic_load(&stage, sizeof stage, &status) != 1) {
        mrapi_yield(&status);
    }
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    mrapi_sem_lock(sem, 2000, &status);
    bool in_vain = status == MRAPI_TIMEOUT;
    mrapi_atomic_store(&stage, sizeof stage, 2, &status);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    mrapi_sem_unlock(sem, &status);
    mrapi_sem_unlock(sem, &status);
    return in_vain && status == MRAPI_SUCCESS ? NULL : "a wait ends at its time, and with the unit";
}

static const char *
semaphore_has_its_units(void)
{
    mrapi_status_t status;
    sem = mrapi_sem_create(1, NULL, UNITS, &status);
    inside = 0;
    stage = 0;
    const char *broken = on_nodes(hart_count(), passes_through);
    broken = broken ? broken : on_nodes(2, ends_with_a_unit);
    mrapi_sem_delete(sem, &status);
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

/* ---- Reader/writer locks --------------------------------------------------------------------- */

static mrapi_rwl_hndl_t rwl;
static volatile uint32_t twins[2]; /* guarded by rwl */

static const char *
reads_and_writes(mrapi_node_t self)
{
    mrapi_status_t status;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        bool writes = (i + self) % 4 == 0;
        mrapi_rwl_mode_t mode = writes ? MRAPI_RWL_WRITER : MRAPI_RWL_READER;
        mrapi_rwl_lock(rwl, mode, MRAPI_TIMEOUT_INFINITE, &status);
        if (status != MRAPI_SUCCESS) {
            return "every lock succeeds";
        }
        bool alike = twins[0] == twins[1];
        if (writes) {
            twins[0] = twins[0] + 1;
            twins[1] = twins[1] + 1;
        }
        mrapi_rwl_unlock(rwl, mode, &status);
        if (!alike || status != MRAPI_SUCCESS) {
            return "nobody reads what is being written";
        }
    }
    return NULL;
}

static const char *
writers_exclude_readers(void)
{
    mrapi_status_t status;
    twins[0] = twins[1] = 0;
    rwl = mrapi_rwl_create(1, NULL, hart_count(), &status);
    const char *broken = on_nodes(hart_count(), reads_and_writes);
    mrapi_rwl_delete(rwl, &status);
    if (!broken && twins[0] != ROUNDS / 4 * hart_count()) {
        return "no write is lost";
    }
    return broken || status == MRAPI_SUCCESS ? broken : "it is deleted";
}

const med_port_check lock_checks[] = {
    {"mutex excludes nodes", mutex_excludes_nodes},
    {"mutex outlives its holder", mutex_outlives_its_holder},
    {"no priority inheritance", no_priority_inheritance},
    {"semaphore has its units", semaphore_has_its_units},
    {"writers exclude readers", writers_exclude_readers},
};
const uint32_t lock_check_count = sizeof lock_checks / sizeof lock_checks[0];
