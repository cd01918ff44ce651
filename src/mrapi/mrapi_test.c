/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of MRAPI's nodes and mutexes, through the public calls: every function with every
 * kind of wrong argument gives the code that the standard names, and changes nothing. Run in a
 * private system and in a named one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "port/port.h"
#include "support/system.h"
#include "support/unit.h"

#define DOMAIN 1
#define NODE 7

static int
node_up(void **state)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)state;
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_string_equal(info.mrapi_version, "1.0");
    return 0;
}

static int
node_down(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_finalize(&status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return 0;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void
initialize_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)state;
    mrapi_initialize(DOMAIN, NODE, 0, &info, NULL); /* must not crash */
    mrapi_initialize(DOMAIN, NODE, 0, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_initialize(MRAPI_DOMAIN_INVALID, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_DOMAIN_INVALID);
    mrapi_initialize(DOMAIN, MRAPI_NODE_INVALID, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_finalize(&status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_int_equal(mrapi_node_id_get(&status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
    assert_int_equal(mrapi_domain_id_get(&status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT);
}

static void
initialize_twice(void **state)
{
    mrapi_status_t status;
    mrapi_info_t info;
    node_up(state);
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED);
    mrapi_initialize(DOMAIN, NODE + 1, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED);
    assert_int_equal(mrapi_node_id_get(&status), NODE);
    assert_int_equal(mrapi_domain_id_get(&status), DOMAIN);
    node_down(state);
    node_up(state); /* and again */
    node_down(state);
}

typedef struct other_thread {
    med_port_thread thread;
    void (*body)(void);
} other_thread;

static void *
other_thread_entry(void *argument)
{
    ((other_thread *)argument)->body();
    return NULL;
}

static void
on_other_thread(void (*body)(void))
{
    other_thread other = {.body = body};
    assert_int_equal(med_port_thread_start(&other.thread, NULL, other_thread_entry, &other),
                     MEDLEY_OK);
    assert_int_equal(med_port_thread_join(other.thread, NULL), MEDLEY_OK);
}

static void
number_is_taken(void)
{
    mrapi_status_t status;
    mrapi_info_t info;
    (void)mrapi_node_id_get(&status);
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT); /* until it adopts */
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED);
    mrapi_initialize(DOMAIN + 1, NODE, 0, &info, &status); /* another domain, another number */
    assert_int_equal(status, MRAPI_SUCCESS);
    /* ends without finalize: its number comes free with the thread */
}

static void
adopt_any(void)
{
    mrapi_node_t first = 0;
    mrapi_status_t status;
    assert_int_equal(medley_node_adopt(MRAPI_DOMAIN_INVALID, 1, NULL), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, &first), MEDLEY_OK);
    assert_int_equal(mrapi_node_id_get(&status), first);
    assert_int_equal(medley_node_adopt(DOMAIN, MEDLEY_NODE_ANY, NULL), MEDLEY_ERR_EXISTS);
}

static void
threads_are_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        on_other_thread(number_is_taken);
        on_other_thread(adopt_any);
    }
}

/* ---- Thread nodes ---------------------------------------------------------------------------- */

static void *
node_number(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    return (void *)(uintptr_t)mrapi_node_id_get(&status);
}

static void *
exits(void *argument)
{
    mrapi_status_t status;
    mrapi_thread_exit(argument, &status);
    return NULL;
}

static void
thread_create_and_join(void **state)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = node_number};
    void *result;
    (void)state;
    for (int round = 0; round < 3; round++) {
        mrapi_thread_create(DOMAIN, 20, &parameters, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        mrapi_thread_create(DOMAIN, 20, &parameters, &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INITIALIZED); /* taken until joined */
        mrapi_thread_join(DOMAIN, 20, &result, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
        assert_int_equal((uintptr_t)result, 20);
        mrapi_thread_join(DOMAIN, 20, &result, &status);
        assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    }
    parameters = (mrapi_thread_parameters_t){.start_routine = exits, .arg = &parameters};
    mrapi_thread_create(DOMAIN, 21, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN, 21, &result, &status);
    assert_ptr_equal(result, &parameters);
}

static void
thread_wrong(void **state)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = node_number};
    mrapi_thread_parameters_t empty = {.start_routine = NULL};
    (void)state;
    mrapi_thread_create(DOMAIN, 20, &parameters, NULL);
    mrapi_thread_create(DOMAIN, 20, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_thread_create(DOMAIN, 20, &empty, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_thread_create(MRAPI_DOMAIN_INVALID, 20, &parameters, &status);
    assert_int_equal(status, MRAPI_ERR_DOMAIN_INVALID);
    mrapi_thread_create(DOMAIN, MRAPI_NODE_INVALID, &parameters, &status);
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_thread_join(DOMAIN, NODE, NULL, &status); /* the caller */
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
    mrapi_thread_exit(NULL, &status); /* not started so */
    assert_int_equal(status, MRAPI_ERR_NODE_INVALID);
}

/* ---- Mutexes --------------------------------------------------------------------------------- */

static mrapi_mutex_hndl_t
mutex_with(mrapi_uint_t attribute, mrapi_mutex_id_t number)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_set_attribute(&attributes, attribute, &yes, sizeof yes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(number, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return mutex;
}

static void
delete_mutex(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
mutex_create_and_get(void **state)
{
    mrapi_status_t status;
    (void)state;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(5, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(mrapi_mutex_get(5, &status), mutex);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(mrapi_mutex_create(5, NULL, &status), MRAPI_RETURN_VALUE_INVALID);
    assert_int_equal(status, MRAPI_ERR_MUTEX_EXISTS);
    (void)mrapi_mutex_get(6, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_ID_INVALID);
    (void)mrapi_mutex_get(MRAPI_MUTEX_ID_ANY, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_ID_INVALID);
    (void)mrapi_mutex_create(MRAPI_MAX_USER_MUTEX_ID + 1, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_ID_INVALID);
    mrapi_mutex_hndl_t any = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
    mrapi_mutex_hndl_t more = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_not_equal(any, more);
    delete_mutex(any);
    delete_mutex(more);
    delete_mutex(mutex);
    (void)mrapi_mutex_get(5, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_ID_INVALID);
}

static void
mutex_limit(void **state)
{
    mrapi_status_t status;
    mrapi_mutex_hndl_t mutexes[16];
    (void)state;
    for (int i = 0; i < TEST_MUTEXES; i++) {
        mutexes[i] = mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    (void)mrapi_mutex_create(MRAPI_MUTEX_ID_ANY, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LIMIT);
    for (int i = 0; i < TEST_MUTEXES; i++) {
        delete_mutex(mutexes[i]);
    }
    delete_mutex(mrapi_mutex_create(1, NULL, &status));
}

static void
mutex_attributes(void **state)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t value = MRAPI_FALSE;
    (void)state;
    mrapi_mutex_init_attributes(NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    memset(&attributes, 0xff, sizeof attributes); /* never initialised */
    (void)mrapi_mutex_create(5, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    memset(&attributes, 0, sizeof attributes);
    (void)mrapi_mutex_create(5, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(NULL, MRAPI_MUTEX_RECURSIVE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, NULL, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_set_attribute(&attributes, 999, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_mutex_set_attribute(&attributes, MRAPI_MUTEX_RECURSIVE, &value, 4, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);

    mrapi_mutex_hndl_t mutex = mutex_with(MRAPI_MUTEX_RECURSIVE, 5);
    mrapi_mutex_get_attribute(mutex, MRAPI_MUTEX_RECURSIVE, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(value, MRAPI_TRUE);
    mrapi_mutex_get_attribute(mutex, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(value, MRAPI_FALSE);
    mrapi_mutex_get_attribute(mutex, MRAPI_DOMAIN_SHARED, &value, sizeof value, &status);
    assert_int_equal(value, MRAPI_TRUE);
    mrapi_mutex_get_attribute(mutex, 999, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_NUM);
    mrapi_mutex_get_attribute(mutex, MRAPI_ERROR_EXT, &value, 2, &status);
    assert_int_equal(status, MRAPI_ERR_ATTR_SIZE);
    mrapi_mutex_get_attribute(mutex, MRAPI_ERROR_EXT, NULL, 1, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_get_attribute(mutex + 1, MRAPI_ERROR_EXT, &value, sizeof value, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_INVALID);
    delete_mutex(mutex);
}

static void
mutex_lock_and_unlock(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key = 0, again = 0;
    (void)state;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(5, NULL, &status);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_NOTLOCKED);
    mrapi_mutex_lock(mutex, NULL, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(medley_lock_owner_died(), 0);
    mrapi_mutex_lock(mutex, &again, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    assert_int_equal(mrapi_mutex_trylock(mutex, &again, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    mrapi_mutex_unlock(mutex, NULL, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_key_t wrong = key + 256;
    mrapi_mutex_unlock(mutex, &wrong, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_KEY);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_NOTLOCKED);
    assert_int_equal(mrapi_mutex_trylock(mutex, &again, &status), MRAPI_TRUE);
    assert_int_not_equal(key, again);
    mrapi_mutex_unlock(mutex, &key, &status); /* a former acquisition's key */
    assert_int_equal(status, MRAPI_ERR_MUTEX_KEY);
    delete_mutex(mutex); /* by its holder */
}

static void
mutex_recursion(void **state)
{
    mrapi_status_t status;
    mrapi_key_t keys[MED_MUTEX_DEPTH_MAX + 1];
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_with(MRAPI_MUTEX_RECURSIVE, 5);
    for (unsigned i = 0; i < MED_MUTEX_DEPTH_MAX; i++) {
        mrapi_mutex_lock(mutex, &keys[i], MRAPI_TIMEOUT_INFINITE, &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    mrapi_mutex_lock(mutex, &keys[MED_MUTEX_DEPTH_MAX], MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LIMIT);
    mrapi_mutex_unlock(mutex, &keys[0], &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKORDER);
    for (unsigned i = MED_MUTEX_DEPTH_MAX; i > 0; i--) {
        mrapi_mutex_unlock(mutex, &keys[i - 1], &status);
        assert_int_equal(status, MRAPI_SUCCESS);
    }
    mrapi_mutex_unlock(mutex, &keys[0], &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_NOTLOCKED);
    delete_mutex(mutex);
}

static void
mutex_stale(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    mrapi_mutex_hndl_t plain = mrapi_mutex_create(5, NULL, &status);
    mrapi_mutex_hndl_t extended = mutex_with(MRAPI_ERROR_EXT, 6);
    delete_mutex(plain);
    delete_mutex(extended);
    struct {
        mrapi_mutex_hndl_t handle;
        mrapi_status_t code;
    } cases[] = {
        {plain, MRAPI_ERR_MUTEX_INVALID},
        {extended, MRAPI_ERR_MUTEX_DELETED},
        {0, MRAPI_ERR_MUTEX_INVALID},
        {~0u, MRAPI_ERR_MUTEX_INVALID},
        {1u << 28 | 0xffff, MRAPI_ERR_MUTEX_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrapi_mutex_lock(cases[i].handle, &key, 0, &status);
        assert_int_equal(status, cases[i].code);
        assert_int_equal(mrapi_mutex_trylock(cases[i].handle, &key, &status), MRAPI_FALSE);
        assert_int_equal(status, cases[i].code);
        mrapi_mutex_unlock(cases[i].handle, &key, &status);
        assert_int_equal(status, cases[i].code);
        mrapi_mutex_delete(cases[i].handle, &status);
        assert_int_equal(status, cases[i].code);
    }
}

static void
pi_possible_or_refused(void)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    if (med_port_pi_supported()) {
        return;
    }
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MEDLEY_MUTEX_PRIORITY_INHERITANCE, &yes, sizeof yes,
                              &status);
    (void)mrapi_mutex_create(5, &attributes, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    not_possible_here("no priority-inheritance futexes");
}

/* The row that a stale handle names is another mutex's by now, of the other kind: neither is hurt.
 * */
static void
mutex_stale_handle_on_a_row_in_use(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_boolean_t pi;
    (void)state;
    pi_possible_or_refused();
    for (int i = 0; i < 2 * TEST_MUTEXES + 2; i++) {
        mrapi_mutex_hndl_t old = i % 2 ? mutex_with(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 5)
                                       : mrapi_mutex_create(5, NULL, &status);
        delete_mutex(old);
        mrapi_mutex_hndl_t all[TEST_MUTEXES];
        for (mrapi_mutex_id_t n = 0; n < TEST_MUTEXES; n++) {
            all[n] = i % 2 ? mrapi_mutex_create(n, NULL, &status)
                           : mutex_with(MEDLEY_MUTEX_PRIORITY_INHERITANCE, n);
        }
        mrapi_mutex_lock(old, &key, 1000, &status);
        assert_int_equal(status, MRAPI_ERR_MUTEX_INVALID);
        (void)mrapi_mutex_trylock(old, &key, &status);
        assert_int_equal(status, MRAPI_ERR_MUTEX_INVALID);
        for (mrapi_mutex_id_t n = 0; n < TEST_MUTEXES; n++) {
            mrapi_mutex_get_attribute(all[n], MEDLEY_MUTEX_PRIORITY_INHERITANCE, &pi, sizeof pi,
                                      &status);
            assert_int_equal(pi, i % 2 ? MRAPI_FALSE : MRAPI_TRUE);
            assert_int_equal(mrapi_mutex_trylock(all[n], &key, &status), MRAPI_TRUE);
            assert_int_equal(medley_lock_owner_died(), 0);
            delete_mutex(all[n]);
        }
    }
}

/* A thread number that a dead holder had, or that holds in another container, is not enough. */
static void
mutex_of_another_with_the_same_thread_number(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    pi_possible_or_refused();
    const med_self *self = med_self_get();
    mrapi_mutex_hndl_t mutex = mutex_with(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 5);
    med_mutex_row *row =
        (med_mutex_row *)(void *)med_table_row(&self->system->mutexes, med_handle_index(mutex));
    atomic32_store_relaxed(&row->pi_owner, self->ref + 1);
    atomic32_store_relaxed(&row->pi_word, self->thread_id);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_NOTLOCKED);
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    atomic32_store_relaxed(&row->pi_word, 0);
    uint32_t space = atomic32_load_relaxed(&row->pi_space);
    atomic32_store_relaxed(&row->pi_space, space + 1);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    atomic32_store_relaxed(&row->pi_space, space);
    delete_mutex(mutex);
}

/* What the other thread of the next tests works on. */
static mrapi_mutex_hndl_t shared_mutex;
static atomic32 stage;

static void
stage_reach(uint32_t n)
{
    atomic32_store_release(&stage, n);
}

static void
stage_await(uint32_t n)
{
    while (atomic32_load_acquire(&stage) != n) {
        med_port_yield();
    }
}

static void *
holds_until_two(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    stage_reach(1);
    stage_await(2);
    mrapi_mutex_unlock(shared_mutex, &key, &status);
    return (void *)(uintptr_t)status;
}

static void
start(mrapi_node_t node, void *(*body)(void *))
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = body};
    mrapi_thread_create(DOMAIN, node, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
}

static void
join(mrapi_node_t node, mrapi_status_t expected)
{
    mrapi_status_t status;
    void *result;
    mrapi_thread_join(DOMAIN, node, &result, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal((uintptr_t)result, expected);
}

static void
contention(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    shared_mutex = mutex;
    stage_reach(0);
    start(30, holds_until_two);
    stage_await(1);
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_IMMEDIATE, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    mrapi_mutex_lock(mutex, &key, 300, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    uint64_t deadline_ns = medley_clock_ns() + 20000000; /* long enough to sleep a slice */
    medley_mutex_lock_until_ns(mutex, &key, deadline_ns, &status);
    assert_int_equal(status, MRAPI_TIMEOUT);
    assert_true(medley_clock_ns() >= deadline_ns);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_NOTLOCKED);
    mrapi_mutex_delete(mutex, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    stage_reach(2);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    join(30, MRAPI_SUCCESS);
    delete_mutex(mutex);
}

static void
mutex_contention(void **state)
{
    mrapi_status_t status;
    (void)state;
    contention(mrapi_mutex_create(5, NULL, &status));
}

static void
mutex_contention_with_priority_inheritance(void **state)
{
    (void)state;
    pi_possible_or_refused();
    contention(mutex_with(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 5));
}

static void *
waits_for_it(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    stage_reach(1);
    mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    return (void *)(uintptr_t)status;
}

/* Until some node is seen to sleep on the mutex. */
static void
await_sleeper(mrapi_mutex_hndl_t mutex)
{
    const med_system *system = med_self_get()->system;
    const med_mutex_row *row =
        (const med_mutex_row *)(void *)med_table_row(&system->mutexes, med_handle_index(mutex));
    while (!atomic32_load_acquire(&row->sleepers.flag)) {
        med_port_yield();
    }
}

static void
mutex_deleted_under_a_waiter(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    struct {
        mrapi_mutex_hndl_t mutex;
        mrapi_status_t code;
    } cases[] = {{mrapi_mutex_create(5, NULL, &status), MRAPI_ERR_MUTEX_INVALID},
                 {mutex_with(MRAPI_ERROR_EXT, 6), MRAPI_ERR_MUTEX_DELETED}};
    for (size_t i = 0; i < 2; i++) {
        shared_mutex = cases[i].mutex;
        mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
        stage_reach(0);
        start(30, waits_for_it);
        await_sleeper(shared_mutex);
        delete_mutex(shared_mutex);
        join(30, cases[i].code);
    }
}

static void *
dies_holding(void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)argument;
    mrapi_mutex_lock(shared_mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    return (void *)(uintptr_t)status;
}

static void
holder_ends(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    shared_mutex = mutex;
    start(30, dies_holding);
    join(30, MRAPI_SUCCESS);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(medley_lock_owner_died(), 1);
    mrapi_mutex_unlock(mutex, &key, &status);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(medley_lock_owner_died(), 0); /* told once */
    delete_mutex(mutex);
}

static void
mutex_holder_ends(void **state)
{
    mrapi_status_t status;
    (void)state;
    holder_ends(mrapi_mutex_create(5, NULL, &status));
}

static void
mutex_holder_ends_with_priority_inheritance(void **state)
{
    (void)state;
    pi_possible_or_refused();
    holder_ends(mutex_with(MEDLEY_MUTEX_PRIORITY_INHERITANCE, 6));
}

static void *
gets_domain_local(void *argument)
{
    mrapi_status_t status;
    (void)argument;
    (void)mrapi_mutex_get(5, &status);
    return (void *)(uintptr_t)status;
}

static void
mutex_not_shared_between_domains(void **state)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t no = MRAPI_FALSE;
    mrapi_thread_parameters_t parameters = {.start_routine = gets_domain_local};
    void *result;
    (void)state;
    mrapi_mutex_init_attributes(&attributes, &status);
    mrapi_mutex_set_attribute(&attributes, MRAPI_DOMAIN_SHARED, &no, sizeof no, &status);
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(5, &attributes, &status);
    mrapi_thread_create(DOMAIN + 1, 30, &parameters, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mrapi_thread_join(DOMAIN + 1, 30, &result, &status);
    assert_int_equal((uintptr_t)result, MRAPI_ERR_DOMAIN_NOTSHARED);
    assert_int_equal(mrapi_mutex_get(5, &status), mutex);
    delete_mutex(mutex);
}

static void
not_a_node(void **state)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    mrapi_key_t key = 0;
    mrapi_mutex_attributes_t attributes;
    mrapi_thread_parameters_t parameters = {.start_routine = node_number};
    mrapi_boolean_t value = 0;
    (void)state;
#define GIVES_NOTINIT(call)                                                                        \
    status = MRAPI_SUCCESS;                                                                        \
    (void)(call);                                                                                  \
    assert_int_equal(status, MRAPI_ERR_NODE_NOTINIT)
    GIVES_NOTINIT(mrapi_mutex_create(1, NULL, &status));
    GIVES_NOTINIT(mrapi_mutex_get(1, &status));
    GIVES_NOTINIT(mrapi_mutex_trylock(1, &key, &status));
    GIVES_NOTINIT((mrapi_mutex_delete(1, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_lock(1, &key, 0, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_unlock(1, &key, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_init_attributes(&attributes, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_set_attribute(&attributes, 1, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_mutex_get_attribute(1, 1, &value, 1, &status), 0));
    GIVES_NOTINIT((mrapi_thread_create(1, 1, &parameters, &status), 0));
    GIVES_NOTINIT((mrapi_thread_join(1, 1, NULL, &status), 0));
    GIVES_NOTINIT((mrapi_thread_exit(NULL, &status), 0));
    GIVES_NOTINIT((medley_mutex_lock_until_ns(1, &key, 0, &status), 0));
    assert_int_equal(medley_lock_owner_died(), 0);
}

static void
status_names(void **state)
{
    char text[MRAPI_MAX_STATUS_SIZE];
    (void)state;
    assert_ptr_equal(mrapi_display_status(MRAPI_ERR_MUTEX_KEY, text, sizeof text), text);
    assert_string_equal(text, "MRAPI_ERR_MUTEX_KEY");
    (void)mrapi_display_status((mrapi_status_t)9999, text, sizeof text);
    assert_string_equal(text, "UNKNOWN");
    (void)mrapi_display_status(MRAPI_SUCCESS, text, 6);
    assert_string_equal(text, "MRAPI");
    assert_null(mrapi_display_status(MRAPI_SUCCESS, NULL, 6));
    assert_null(mrapi_display_status(MRAPI_SUCCESS, text, 0));
    for (int code = 0; code < MRAPI_STATUS_COUNT; code++) {
        (void)mrapi_display_status((mrapi_status_t)code, text, sizeof text);
        assert_int_equal(strncmp(text, "MRAPI_", 6), 0);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_wrong),
        cmocka_unit_test(initialize_twice),
        cmocka_unit_test(not_a_node),
        cmocka_unit_test(status_names),
        cmocka_unit_test_setup_teardown(threads_are_nodes, node_up, node_down),
        cmocka_unit_test_setup_teardown(thread_create_and_join, node_up, node_down),
        cmocka_unit_test_setup_teardown(thread_wrong, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_create_and_get, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_limit, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_attributes, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_lock_and_unlock, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_recursion, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_stale, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_stale_handle_on_a_row_in_use, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_of_another_with_the_same_thread_number, node_up,
                                        node_down),
        cmocka_unit_test_setup_teardown(mutex_contention, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_deleted_under_a_waiter, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_holder_ends, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_contention_with_priority_inheritance, node_up,
                                        node_down),
        cmocka_unit_test_setup_teardown(mutex_holder_ends_with_priority_inheritance, node_up,
                                        node_down),
        cmocka_unit_test_setup_teardown(mutex_not_shared_between_domains, node_up, node_down),
    };
    bool private_system = argc > 1 && strcmp(argv[1], "private") == 0;
    test_system_prepare();
    if (medley_system_open(private_system ? NULL : test_system_name()) != MEDLEY_OK) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
