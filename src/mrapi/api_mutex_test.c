/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Conformance of what is MRAPI's mutexes' own, through the public calls: keys, levels, priority
 * inheritance. What all locks have in common: api_locks_test.c. Run in a private system and in a
 * named one.
 */
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/mutex.h"
#include "mrapi/system.h"
#include "support/api.h"
#include "support/system.h"
#include "support/unit.h"

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
    medley_mutex_lock_until_ns(mutex, NULL, 0, &status);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    assert_int_equal(mrapi_mutex_trylock(mutex, NULL, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_PARAMETER);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    assert_int_equal(medley_lock_owner_died(), 0);
    mrapi_mutex_lock(mutex, &again, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED);
    mrapi_mutex_lock(mutex, &again, MRAPI_TIMEOUT_IMMEDIATE, &status);
    assert_int_equal(status, MRAPI_ERR_MUTEX_LOCKED); /* at once, whatever the timeout */
    medley_mutex_lock_until_ns(mutex, &again, 0, &status);
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
    mrapi_key_t *none = &keys[MED_MUTEX_DEPTH_MAX];
    assert_int_equal(mrapi_mutex_trylock(mutex, none, &status), MRAPI_FALSE);
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

static mrapi_key_t
locked(mrapi_mutex_hndl_t mutex)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    return key;
}

static mrapi_status_t
unlocked(mrapi_mutex_hndl_t mutex, mrapi_key_t key)
{
    mrapi_status_t status;
    mrapi_mutex_unlock(mutex, &key, &status);
    return status;
}

static void
mutex_keys_of_two(void **state)
{
    (void)state;
    mrapi_status_t status;
    mrapi_mutex_hndl_t one = mrapi_mutex_create(5, NULL, &status);
    mrapi_mutex_hndl_t other = mrapi_mutex_create(6, NULL, &status);
    mrapi_key_t key = locked(one);
    mrapi_key_t others = locked(other);
    assert_int_not_equal(key, others);
    assert_int_equal(unlocked(other, key), MRAPI_ERR_MUTEX_KEY);
    assert_int_equal(unlocked(one, others), MRAPI_ERR_MUTEX_KEY);
    assert_int_equal(unlocked(other, others), MRAPI_SUCCESS);
    assert_int_equal(unlocked(one, key), MRAPI_SUCCESS);
    delete_mutex(other);
    delete_mutex(one);
}

/* A level that is come to again has another key, however often deeper ones are. */
static void
mutex_keys_of_levels(void **state)
{
    (void)state;
    mrapi_mutex_hndl_t mutex = mutex_with(MRAPI_MUTEX_RECURSIVE, 5);
    mrapi_key_t former = 0;
    for (int round = 0; round < 2; round++) {
        mrapi_key_t outer = locked(mutex);
        mrapi_key_t left = locked(mutex);
        assert_int_not_equal(outer, left);
        assert_int_equal(unlocked(mutex, left), MRAPI_SUCCESS);
        mrapi_key_t inner = locked(mutex);
        assert_int_not_equal(inner, left);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(unlocked(mutex, locked(mutex)), MRAPI_SUCCESS);
        }
        assert_int_equal(unlocked(mutex, left), MRAPI_ERR_MUTEX_KEY);
        assert_int_equal(unlocked(mutex, former), MRAPI_ERR_MUTEX_KEY);
        assert_int_equal(unlocked(mutex, outer), MRAPI_ERR_MUTEX_LOCKORDER);
        assert_int_equal(unlocked(mutex, inner), MRAPI_SUCCESS);
        assert_int_equal(unlocked(mutex, inner), MRAPI_ERR_MUTEX_KEY);
        assert_int_equal(unlocked(mutex, outer), MRAPI_SUCCESS);
        former = inner;
    }
    delete_mutex(mutex);
}

/* More levels at once than a node keeps the keys of, of mutexes that share the places: a good key
 * is never refused. */
static void
mutex_keys_of_many_levels(void **state)
{
    enum {
        MUTEXES = MED_SELF_LEVELS + 1,
        LEVELS = 20
    };
    mrapi_mutex_hndl_t mutexes[MUTEXES];
    mrapi_key_t keys[LEVELS][MUTEXES];
    (void)state;
    for (unsigned m = 0; m < MUTEXES; m++) {
        mutexes[m] = mutex_with(MRAPI_MUTEX_RECURSIVE, 5 + m);
    }
    for (unsigned level = 0; level < LEVELS; level++) {
        for (unsigned m = 0; m < MUTEXES; m++) {
            keys[level][m] = locked(mutexes[m]);
        }
    }
    for (unsigned level = LEVELS; level-- > 0;) {
        for (unsigned m = 0; m < MUTEXES; m++) {
            assert_int_equal(unlocked(mutexes[m], keys[level][m] ^ 1u), MRAPI_ERR_MUTEX_KEY);
            assert_int_equal(unlocked(mutexes[m], keys[level][m]), MRAPI_SUCCESS);
        }
    }
    for (unsigned m = 0; m < MUTEXES; m++) {
        delete_mutex(mutexes[m]);
    }
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
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_TRUE);
    assert_int_equal(medley_lock_owner_died(), 1); /* the number was a dead thread's */
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    uint32_t space = atomic32_load_relaxed(&row->pi_space);
    atomic32_store_relaxed(&row->pi_space, space + 1);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    assert_int_equal(mrapi_mutex_trylock(mutex, &key, &status), MRAPI_FALSE);
    assert_int_equal(status, MRAPI_ERR_NOT_SUPPORTED);
    atomic32_store_relaxed(&row->pi_space, space);
    delete_mutex(mutex);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mutex_lock_and_unlock, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_recursion, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_keys_of_two, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_keys_of_levels, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_keys_of_many_levels, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_stale_handle_on_a_row_in_use, node_up, node_down),
        cmocka_unit_test_setup_teardown(mutex_of_another_with_the_same_thread_number, node_up,
                                        node_down),
    };
    if (!system_up(argc, argv)) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (medley_system_close() != MEDLEY_OK);
}
