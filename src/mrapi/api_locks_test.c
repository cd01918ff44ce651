/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of what all of MRAPI's locks have in common, through the public calls: mutexes,
 * semaphores, reader/writer locks for reading and for writing. They are made, found, used and
 * deleted alike; every function with every kind of wrong argument gives the code that the standard
 * names, and changes nothing. What is each one's own: api_mutex_test.c, api_sem_test.c,
 * api_rwl_test.c. Run in a private system and in a named one.
 */
#include <string.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/system.h"
#include "support/unit.h"

/* ---- The kinds ------------------------------------------------------------------------------- */

/* Of every kind: numbers and handles are one type, and a record is one word. */
typedef mrapi_mutex_attributes_t record;

typedef struct lock_kind {
    void (*init_attributes)(void *attributes, mrapi_status_t *status);
    void (*set_attribute)(
        void *attributes, mrapi_uint_t number, void *value, size_t size, mrapi_status_t *status);
    void (*get_attribute)(
        uint32_t lock, mrapi_uint_t number, void *value, size_t size, mrapi_status_t *status);
    uint32_t (*create)(uint32_t number, void *attributes, mrapi_status_t *status);
    uint32_t (*get)(uint32_t number, mrapi_status_t *status);
    void (*remove)(uint32_t lock, mrapi_status_t *status);
    void (*lock)(uint32_t lock, mrapi_timeout_t timeout, mrapi_status_t *status);
    void (*lock_until_ns)(uint32_t lock, uint64_t deadline_ns, mrapi_status_t *status);
    mrapi_boolean_t (*trylock)(uint32_t lock, mrapi_status_t *status);
    void (*unlock)(uint32_t lock, mrapi_status_t *status);
    uint32_t (*most)(const med_limits *limits);
    uint32_t any;
    uint32_t number_max;
    mrapi_uint_t flag;     /* an attribute, FALSE by default */
    mrapi_uint_t not_mine; /* an attribute of another kind */
    mrapi_status_t exists;
    mrapi_status_t number_invalid;
    mrapi_status_t limit;
    mrapi_status_t invalid;
    mrapi_status_t deleted;
    mrapi_status_t notlocked;
    const struct lock_kind *other; /* another */
} lock_kind;

/* What takes a record, with the record's type left open. */
#define RECORDS(kind)                                                                              \
    static void kind##_init_attributes(void *attributes, mrapi_status_t *status)                   \
    {                                                                                              \
        mrapi_##kind##_init_attributes(attributes, status);                                        \
    }                                                                                              \
    static void kind##_set_attribute(void *attributes, mrapi_uint_t number, void *value,           \
                                     size_t size, mrapi_status_t *status)                          \
    {                                                                                              \
        mrapi_##kind##_set_attribute(attributes, number, value, size, status);                     \
    }

RECORDS(mutex)
RECORDS(sem)
RECORDS(rwl)

/* Of the last acquisition: nobody here has two. */
static mrapi_key_t key;

static uint32_t
mutex_create(uint32_t number, void *attributes, mrapi_status_t *status)
{
    return mrapi_mutex_create(number, attributes, status);
}

static void
mutex_lock(uint32_t lock, mrapi_timeout_t timeout, mrapi_status_t *status)
{
    mrapi_mutex_lock(lock, &key, timeout, status);
}

static void
mutex_lock_until_ns(uint32_t lock, uint64_t deadline_ns, mrapi_status_t *status)
{
    medley_mutex_lock_until_ns(lock, &key, deadline_ns, status);
}

static mrapi_boolean_t
mutex_trylock(uint32_t lock, mrapi_status_t *status)
{
    return mrapi_mutex_trylock(lock, &key, status);
}

static void
mutex_unlock(uint32_t lock, mrapi_status_t *status)
{
    mrapi_mutex_unlock(lock, &key, status);
}

static uint32_t
mutexes(const med_limits *limits)
{
    return limits->mutexes;
}

static uint32_t
sem_create(uint32_t number, void *attributes, mrapi_status_t *status)
{
    return mrapi_sem_create(number, attributes, 1, status);
}

static uint32_t
semaphores(const med_limits *limits)
{
    return limits->semaphores;
}

static uint32_t
rwl_create(uint32_t number, void *attributes, mrapi_status_t *status)
{
    return mrapi_rwl_create(number, attributes, 1, status);
}

static uint32_t
rwlocks(const med_limits *limits)
{
    return limits->rwlocks;
}

#define MODE(name, mode)                                                                           \
    static void name##_lock(uint32_t lock, mrapi_timeout_t timeout, mrapi_status_t *status)        \
    {                                                                                              \
        mrapi_rwl_lock(lock, mode, timeout, status);                                               \
    }                                                                                              \
    static void name##_lock_until_ns(uint32_t lock, uint64_t deadline_ns, mrapi_status_t *status)  \
    {                                                                                              \
        medley_rwl_lock_until_ns(lock, mode, deadline_ns, status);                                 \
    }                                                                                              \
    static mrapi_boolean_t name##_trylock(uint32_t lock, mrapi_status_t *status)                   \
    {                                                                                              \
        return mrapi_rwl_trylock(lock, mode, status);                                              \
    }                                                                                              \
    static void name##_unlock(uint32_t lock, mrapi_status_t *status)                               \
    {                                                                                              \
        mrapi_rwl_unlock(lock, mode, status);                                                      \
    }

MODE(rwl_read, MRAPI_RWL_READER)
MODE(rwl_write, MRAPI_RWL_WRITER)

#define SAME_OF_EACH(kind, KIND)                                                                   \
    .init_attributes = kind##_init_attributes, .set_attribute = kind##_set_attribute,              \
    .get_attribute = mrapi_##kind##_get_attribute, .create = kind##_create,                        \
    .get = mrapi_##kind##_get, .remove = mrapi_##kind##_delete, .any = MRAPI_##KIND##_ID_ANY,      \
    .number_max = MRAPI_MAX_USER_##KIND##_ID, .exists = MRAPI_ERR_##KIND##_EXISTS,                 \
    .number_invalid = MRAPI_ERR_##KIND##_ID_INVALID, .limit = MRAPI_ERR_##KIND##_LIMIT,            \
    .invalid = MRAPI_ERR_##KIND##_INVALID, .deleted = MRAPI_ERR_##KIND##_DELETED,                  \
    .notlocked = MRAPI_ERR_##KIND##_NOTLOCKED

static const lock_kind sem;

static const lock_kind mutex = {SAME_OF_EACH(mutex, MUTEX),
                                .lock = mutex_lock,
                                .lock_until_ns = mutex_lock_until_ns,
                                .trylock = mutex_trylock,
                                .unlock = mutex_unlock,
                                .most = mutexes,
                                .flag = MRAPI_MUTEX_RECURSIVE,
                                .not_mine = MRAPI_SHMEM_SIZE,
                                .other = &sem};

static const lock_kind sem = {SAME_OF_EACH(sem, SEM),
                              .lock = mrapi_sem_lock,
                              .lock_until_ns = medley_sem_lock_until_ns,
                              .trylock = mrapi_sem_trylock,
                              .unlock = mrapi_sem_unlock,
                              .most = semaphores,
                              .flag = MRAPI_ERROR_EXT,
                              .not_mine = MRAPI_MUTEX_RECURSIVE,
                              .other = &mutex};

static const lock_kind rwl_read = {SAME_OF_EACH(rwl, RWL),
                                   .lock = rwl_read_lock,
                                   .lock_until_ns = rwl_read_lock_until_ns,
                                   .trylock = rwl_read_trylock,
                                   .unlock = rwl_read_unlock,
                                   .most = rwlocks,
                                   .flag = MRAPI_ERROR_EXT,
                                   .not_mine = MRAPI_MUTEX_RECURSIVE,
                                   .other = &mutex};

static const lock_kind rwl_write = {SAME_OF_EACH(rwl, RWL),
                                    .lock = rwl_write_lock,
                                    .lock_until_ns = rwl_write_lock_until_ns,
                                    .trylock = rwl_write_trylock,
                                    .unlock = rwl_write_unlock,
                                    .most = rwlocks,
                                    .flag = MRAPI_ERROR_EXT,
                                    .not_mine = MRAPI_MUTEX_RECURSIVE,
                                    .other = &mutex};

/* ---- What is often wanted -------------------------------------------------------------------- */

static uint32_t
make(const lock_kind *kind, uint32_t number)
{
    mrapi_status_t status;
    uint32_t lock = kind->create(number, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return lock;
}

static uint32_t
make_with(const lock_kind *kind, uint32_t number, mrapi_uint_t attribute, mrapi_boolean_t value)
{
    mrapi_status_t status;
    record attributes;
    kind->init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    kind->set_attribute(&attributes, attribute, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    uint32_t lock = kind->create(number, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return lock;
}

static void
gone(const lock_kind *kind, uint32_t lock)
{
    mrapi_status_t status;
    kind->remove(lock, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
not_found(const lock_kind *kind, uint32_t number)
{
    mrapi_status_t status;
    assert_int_equal(kind->get(number, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, kind->number_invalid);
}

static void
not_made(const lock_kind *kind, uint32_t number, void *attributes, mrapi_status_t code)
{
    mrapi_status_t status;
    assert_int_equal(kind->create(number, attributes, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, code);
}

/* ---- The tests, of each kind ----------------------------------------------------------------- */

static void
create_and_get(void **state)
{
    const lock_kind *kind = *state;
    mrapi_status_t status;
    uint32_t lock = make(kind, 5);
    assert_int_equal(kind->get(5, &status), lock);
    assert_int_equal(status, MRAPI_SUCCESS);
    not_made(kind, 5, NULL, kind->exists);
    not_found(kind, 6);
    not_found(kind, kind->any);
    not_made(kind, kind->number_max + 1, NULL, kind->number_invalid);
    uint32_t any = make(kind, kind->any);
    uint32_t more = make(kind, kind->any);
    assert_int_not_equal(any, more);
    gone(kind, any);
    gone(kind, more);
    gone(kind, lock);
    not_found(kind, 5);
}

/* All that users may choose are as good as each other; none above is found. */
static void
numbers(void **state)
{
    const lock_kind *kind = *state;
    const uint32_t good[] = {0, 0x40000000, 0xdeadbabe, 0xdeadbeef, kind->number_max};
    mrapi_status_t status;
    uint32_t any = make(kind, kind->any);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint32_t lock = make(kind, good[i]);
        assert_int_equal(kind->get(good[i], &status), lock);
        gone(kind, lock);
    }
    uint32_t most = kind->most(&med_self_get()->system->limits);
    for (uint32_t above = 1; above <= 2 * most; above++) {
        not_found(kind, kind->number_max + above);
    }
    gone(kind, any);
}

static void
limits(void **state)
{
    const lock_kind *kind = *state;
    uint32_t locks[64];
    uint32_t most = kind->most(&med_self_get()->system->limits);
    assert_in_range(most, 1, 64);
    for (uint32_t i = 0; i < most; i++) {
        locks[i] = make(kind, kind->any);
    }
    not_made(kind, kind->any, NULL, kind->limit);
    for (uint32_t i = 0; i < most; i++) {
        gone(kind, locks[i]);
    }
    gone(kind, make(kind, 1));
}

/* Never initialised, or as another kind's. */
static void
attributes_of_nothing(void **state)
{
    const lock_kind *kind = *state;
    mrapi_status_t status;
    mrapi_boolean_t value = MRAPI_FALSE;
    record attributes[3];
    kind->init_attributes(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    kind->set_attribute(NULL, kind->flag, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    memset(&attributes[0], 0, sizeof attributes[0]);
    memset(&attributes[1], 0xff, sizeof attributes[1]);
    kind->other->init_attributes(&attributes[2], &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        not_made(kind, 5, &attributes[i], MRAPI_ERR_PARAMETER);
        kind->set_attribute(&attributes[i], kind->flag, &value, sizeof value, &status);
        assert_int_equal(status, MRAPI_ERR_PARAMETER);
    }
}

static void
attributes_wrong(void **state)
{
    const lock_kind *kind = *state;
    mrapi_status_t status;
    mrapi_boolean_t value = MRAPI_FALSE;
    record attributes;
    kind->init_attributes(&attributes, &status);
    kind->set_attribute(&attributes, kind->not_mine, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    kind->set_attribute(&attributes, 999, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    kind->set_attribute(&attributes, kind->flag, &value, 4, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    kind->set_attribute(&attributes, kind->flag, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
}

static void
attributes_asked_for(void **state)
{
    const lock_kind *kind = *state;
    mrapi_status_t status;
    mrapi_boolean_t value = MRAPI_FALSE;
    uint32_t lock = make_with(kind, 5, kind->flag, MRAPI_TRUE);
    kind->get_attribute(lock, kind->flag, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(value, MRAPI_TRUE);
    kind->get_attribute(lock, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(value, kind->flag == MRAPI_ERROR_EXT ? MRAPI_TRUE : MRAPI_FALSE);
    kind->get_attribute(lock, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(value, MRAPI_TRUE);
    kind->get_attribute(lock, 999, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    kind->get_attribute(lock, MRAPI_ERROR_EXT, &value, 2, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    kind->get_attribute(lock, MRAPI_ERROR_EXT, NULL, 1, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    kind->get_attribute(lock + 1, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(status, kind->invalid);
    gone(kind, lock);
}

/* Every function that takes one. */
static void
bad_handle(const lock_kind *kind, uint32_t lock, mrapi_status_t code)
{
    mrapi_status_t status;
    mrapi_boolean_t value;
    kind->get_attribute(lock, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(status, code);
    kind->lock(lock, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, code);
    kind->lock(lock, MRAPI_TIMEOUT_IMMEDIATE, &status);
    assert_int_equal(status, code);
    kind->lock_until_ns(lock, ~UINT64_C(0), &status);
    assert_int_equal(status, code);
    assert_int_equal(kind->trylock(lock, &status), MRAPI_FALSE);
    assert_int_equal(status, code);
    kind->unlock(lock, &status);
    assert_int_equal(status, code);
    kind->remove(lock, &status);
    assert_int_equal(status, code);
}

static void
stale(void **state)
{
    const lock_kind *kind = *state;
    uint32_t plain = make(kind, 5);
    uint32_t extended = make_with(kind, 6, MRAPI_ERROR_EXT, MRAPI_TRUE);
    gone(kind, plain);
    gone(kind, extended);
    bad_handle(kind, plain, kind->invalid);
    bad_handle(kind, extended, kind->deleted);
    bad_handle(kind, 0, kind->invalid);
    bad_handle(kind, ~0u, kind->invalid);
    bad_handle(kind, plain | 0xffffu, kind->invalid);
    bad_handle(kind, 1u << 28 | 0xffffu, kind->invalid);
    uint32_t others = make(kind->other, 5);
    bad_handle(kind, others, kind->invalid);
    gone(kind->other, others);
}

static void *
gets_it(void *argument)
{
    const lock_kind *kind = argument;
    mrapi_status_t status;
    (void)kind->get(5, &status);
    return (void *)(uintptr_t)status;
}

static void
domains(void **state)
{
    const lock_kind *kind = *state;
    const mrapi_status_t expected[] = {MRAPI_ERR_DOMAIN_NOTSHARED, MRAPI_SUCCESS};
    mrapi_status_t status;
    for (mrapi_boolean_t is_shared = 0; is_shared < 2; is_shared++) {
        uint32_t lock = make_with(kind, 5, MRAPI_DOMAIN_SHARED, is_shared);
        mrapi_thread_parameters_t parameters = {.start_routine = gets_it, .arg = *state};
        void *result;
        mrapi_thread_create(DOMAIN + 1, 30, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_thread_join(DOMAIN + 1, 30, &result, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal((uintptr_t)result, expected[is_shared]);
        assert_int_equal(kind->get(5, &status), lock);
        gone(kind, lock);
    }
}

static void
without_a_node(void **state)
{
    const lock_kind *kind = *state;
    mrapi_status_t status;
    record attributes;
    mrapi_boolean_t value = 0;
    GIVES_NOTINIT((kind->init_attributes(&attributes, &status), 0));
    GIVES_NOTINIT((kind->set_attribute(&attributes, 2, &value, 1, &status), 0));
    GIVES_NOTINIT((kind->get_attribute(1, 2, &value, 1, &status), 0));
    GIVES_NOTINIT(kind->create(1, NULL, &status));
    GIVES_NOTINIT(kind->get(1, &status));
    GIVES_NOTINIT((kind->remove(1, &status), 0));
    GIVES_NOTINIT((kind->lock(1, 0, &status), 0));
    GIVES_NOTINIT((kind->lock_until_ns(1, 0, &status), 0));
    GIVES_NOTINIT(kind->trylock(1, &status));
    GIVES_NOTINIT((kind->unlock(1, &status), 0));
}

/* Nothing is done. */
static void
without_a_status(void **state)
{
    const lock_kind *kind = *state;
    mrapi_status_t status;
    uint32_t lock = make(kind, 5);
    kind->lock(lock, 0, NULL);
    kind->lock_until_ns(lock, 0, NULL);
    assert_int_equal(kind->trylock(lock, NULL), MRAPI_FALSE);
    kind->unlock(lock, &status);
    assert_int_equal(status, kind->notlocked);
    kind->lock(lock, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    kind->unlock(lock, NULL);
    kind->remove(lock, NULL);
    kind->init_attributes(NULL, NULL);
    kind->set_attribute(NULL, 0, NULL, 0, NULL);
    kind->get_attribute(lock, 0, NULL, 0, NULL);
    assert_int_equal(kind->get(5, NULL), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(kind->create(6, NULL, NULL), MRAPI_RETURN_VALUE_INVALID);
    not_found(kind, 6);
    kind->unlock(lock, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    gone(kind, lock);
}

#define OF(kind, test, up, down)                                                                   \
    {                                                                                              \
#kind ": " #test, test, up, down, (void *)&kind                                            \
    }
#define OF_EACH(test, up, down)                                                                    \
    OF(mutex, test, up, down), OF(sem, test, up, down), OF(rwl_read, test, up, down),              \
        OF(rwl_write, test, up, down)

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        OF_EACH(create_and_get, node_up, node_down),
        OF_EACH(numbers, node_up, node_down),
        OF_EACH(limits, node_up, node_down),
        OF_EACH(attributes_of_nothing, node_up, node_down),
        OF_EACH(attributes_wrong, node_up, node_down),
        OF_EACH(attributes_asked_for, node_up, node_down),
        OF_EACH(stale, node_up, node_down),
        OF_EACH(domains, node_up, node_down),
        OF_EACH(without_a_node, NULL, NULL),
        OF_EACH(without_a_status, node_up, node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
