/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one thread at a time has: critical constructs, locks, and what is atomic by a lock. */
#include <omp.h>
#include <stdlib.h>

#include "support/unit.h"

#define THREADS 4
#define ROUNDS 20000

static void
critical_by_name(void **state)
{
    long one = 0;
    long other = 0;
    long unnamed = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical(one)
        one++;
#pragma omp critical(other)
        other++;
#pragma omp critical
        unnamed++;
    }
    assert_int_equal(one, THREADS * ROUNDS);
    assert_int_equal(other, THREADS * ROUNDS);
    assert_int_equal(unnamed, THREADS * ROUNDS);
}

static void
wide_atomics(void **state)
{
    long double sum = 0;
    (void)state;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp atomic
        sum += 1;
    }
    assert_true(sum == THREADS * ROUNDS);
}

static void
locks_exclude(void **state)
{
    omp_lock_t lock;
    long count = 0;
    long tried = 0;
    (void)state;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS) reduction(+ : tried)
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0) {
            omp_set_lock(&lock);
        } else if (!omp_test_lock(&lock)) {
            continue;
        }
        count++;
        tried++;
        omp_unset_lock(&lock);
    }
    assert_int_equal(count, tried);
    assert_true(omp_test_lock(&lock));
    assert_false(omp_test_lock(&lock));
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
}

/* A task's memory is the next one's: a lock that the first one left set is not that one's. */
static void
nestable_locks_of_ended_tasks_stay_theirs(void **state)
{
    omp_nest_lock_t lock;
    int had = 0;
    (void)state;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(1)
#pragma omp task
    omp_set_nest_lock(&lock);
#pragma omp parallel num_threads(1)
    for (int i = 0; i < 200; i++) {
#pragma omp task
        had += omp_test_nest_lock(&lock) != 0;
    }
    assert_int_equal(had, 0);
}

static void
nestable_locks_nest(void **state)
{
    omp_nest_lock_t lock;
    long count = 0;
    int wrong = 0;
    (void)state;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    for (int i = 0; i < ROUNDS / 4; i++) {
        omp_set_nest_lock(&lock);
        wrong += omp_test_nest_lock(&lock) != 2;
        count++;
        omp_unset_nest_lock(&lock);
        count++;
        omp_unset_nest_lock(&lock);
    }
    assert_int_equal(count, THREADS * (ROUNDS / 4) * 2);
    assert_int_equal(wrong, 0);
    omp_destroy_nest_lock(&lock);
}

/* There may be any number of them, and none need be destroyed. */
static void
a_million_locks(void **state)
{
    enum {
        LOCKS = 1000000
    };
    omp_lock_t *locks = malloc(LOCKS * sizeof *locks);
    int wrong = 0;
    (void)state;
    assert_non_null(locks);
    for (int i = 0; i < LOCKS; i++) {
        omp_init_lock_with_hint(&locks[i], omp_sync_hint_uncontended);
        omp_set_lock(&locks[i]);
    }
#pragma omp parallel for num_threads(2) reduction(+ : wrong)
    for (int i = 0; i < LOCKS; i += 1000) {
        wrong += omp_test_lock(&locks[i]) != 0;
    }
    assert_int_equal(wrong, 0);
    free(locks);
}

/* Its owner is a task: another one of the same thread is not. */
static void
nestable_locks_belong_to_tasks(void **state)
{
    omp_nest_lock_t lock;
    int others = -1;
    int own = -1;
    (void)state;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(1)
    {
        omp_set_nest_lock(&lock);
#pragma omp task if (0) shared(lock, others)
        others = omp_test_nest_lock(&lock);
        own = omp_test_nest_lock(&lock);
        omp_unset_nest_lock(&lock);
        omp_unset_nest_lock(&lock);
    }
    assert_int_equal(others, 0);
    assert_int_equal(own, 2);
    assert_int_equal(omp_test_nest_lock(&lock), 1);
    omp_unset_nest_lock(&lock);
    omp_destroy_nest_lock(&lock);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(critical_by_name),
        cmocka_unit_test(wide_atomics),
        cmocka_unit_test(locks_exclude),
        cmocka_unit_test(nestable_locks_of_ended_tasks_stay_theirs),
        cmocka_unit_test(nestable_locks_nest),
        cmocka_unit_test(nestable_locks_belong_to_tasks),
        cmocka_unit_test(a_million_locks),
    };
    return cmocka_run_group_tests_name("locks", tests, NULL, NULL);
}
