/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock: one owner at a time, every owner in the end, death, deadlines. */
#include "base/lock.h"

#include <string.h>

#include "port/port.h"
#include "support/unit.h"

#define THREADS 6 /* on two processors: over-committed */
#define ROUNDS 20000

static med_lock lock;
static med_lock_sleepers sleepers;

static void
lock_reset(void)
{
    memset(&lock, 0, sizeof lock);
    memset(&sleepers, 0, sizeof sleepers);
}

typedef struct worker {
    med_port_thread thread;
    uint32_t owner;
    med_waiter waiter;
    uint32_t rounds; /* left */
    uint32_t timeouts;
    uint64_t patience_ns; /* 0: for ever */
    bool right;
} worker;

static med_lock_request
request_of(worker *w)
{
    return (med_lock_request){.owner = w->owner,
                              .deadline_ns = w->patience_ns ? med_port_clock_ns() + w->patience_ns
                                                            : MED_PORT_FOREVER,
                              .scope = MED_PORT_SCOPE_PROCESS,
                              .waiter = &w->waiter};
}

static atomic32 arrived; /* workers start together */
static uint32_t guarded; /* by the lock; plain on purpose: TSan sees whether it is */

static void *
work(void *argument)
{
    worker *w = argument;
    w->right = true;
    (void)atomic32_fetch_add_acq_rel(&arrived, 1);
    while (atomic32_load_acquire(&arrived) < THREADS) {
        med_port_yield();
    }
    while (w->rounds && w->right) {
        med_lock_request request = request_of(w);
        medley_status_t status = med_lock_acquire(&lock, &sleepers, &request);
        if (status == MEDLEY_TIMEOUT) {
            w->timeouts++;
            continue;
        }
        w->right = status == MEDLEY_OK && med_lock_owner(&lock) == w->owner;
        guarded++;
        if (w->rounds % 64 == 0) {
            med_port_yield(); /* the others find it held, and sleep */
        }
        w->rounds--;
        med_lock_release(&lock, &sleepers, MED_PORT_SCOPE_PROCESS);
    }
    return NULL;
}

static void
crowd(uint64_t patience_ns)
{
    static worker workers[THREADS];
    lock_reset();
    guarded = 0;
    atomic32_store_relaxed(&arrived, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] =
            (worker){.owner = i + 1, .rounds = ROUNDS, .patience_ns = i % 2 ? patience_ns : 0};
        assert_int_equal(med_port_thread_start(&workers[i].thread, NULL, work, &workers[i]),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(med_port_thread_join(workers[i].thread, NULL), MEDLEY_OK);
        assert_true(workers[i].right);
    }
    assert_int_equal(guarded, THREADS * ROUNDS);
    assert_int_equal(med_lock_owner(&lock), 0);
}

static void
one_owner_at_a_time(void **state)
{
    (void)state;
    crowd(0);
}

static void
some_give_up_and_come_back(void **state)
{
    (void)state;
    crowd(30000);
}

static void
tries(void **state)
{
    worker w = {.owner = 2, .patience_ns = 1000};
    (void)state;
    lock_reset();
    assert_true(med_lock_try_fast(&lock, 1));
    assert_false(med_lock_try_fast(&lock, 2));
    assert_int_equal(med_lock_try(&lock, 2), MEDLEY_BUSY);
    med_lock_request request = request_of(&w);
    assert_int_equal(med_lock_acquire(&lock, &sleepers, &request), MEDLEY_TIMEOUT);
    request.deadline_ns = 0;
    assert_int_equal(med_lock_acquire(&lock, &sleepers, &request), MEDLEY_BUSY);
    med_lock_give_back(&lock, &sleepers, 2, MED_PORT_SCOPE_PROCESS); /* not his */
    assert_int_equal(med_lock_owner(&lock), 1);
    med_lock_give_back(&lock, &sleepers, 1, MED_PORT_SCOPE_PROCESS);
    assert_int_equal(med_lock_try(&lock, 2), MEDLEY_OK);
    med_lock_release(&lock, &sleepers, MED_PORT_SCOPE_PROCESS);
}

static void
death_is_told_once(void **state)
{
    (void)state;
    lock_reset();
    assert_true(med_lock_try_fast(&lock, 1));
    assert_false(med_lock_recover(&lock, &sleepers, 2, true, MED_PORT_SCOPE_PROCESS));
    assert_true(med_lock_recover(&lock, &sleepers, 1, true, MED_PORT_SCOPE_PROCESS));
    assert_false(med_lock_recover(&lock, &sleepers, 1, true, MED_PORT_SCOPE_PROCESS));
    assert_int_equal(med_lock_try(&lock, 2), MEDLEY_ERR_OWNER_DIED);
    assert_int_equal(med_lock_owner(&lock), 2);
    med_lock_release(&lock, &sleepers, MED_PORT_SCOPE_PROCESS);
    assert_int_equal(med_lock_try(&lock, 3), MEDLEY_OK);
    assert_true(med_lock_recover(&lock, &sleepers, 3, false, MED_PORT_SCOPE_PROCESS));
    assert_true(med_lock_is_dead(&lock));
    assert_int_equal(med_lock_try(&lock, 4), MEDLEY_ERR_OWNER_DIED);
    assert_false(med_lock_try_fast(&lock, 4));
}

/* ---- A death found by who waits -------------------------------------------------------------- */

#define GONE 9u

static medley_status_t
recover_the_gone(void *context, uint32_t owner)
{
    const bool *usable = context;
    if (owner == GONE) {
        (void)med_lock_recover(&lock, &sleepers, GONE, *usable, MED_PORT_SCOPE_PROCESS);
    }
    return MEDLEY_OK;
}

typedef struct mourner {
    med_port_thread thread;
    uint32_t owner;
    bool usable;
    medley_status_t status;
} mourner;

static void *
mourn(void *argument)
{
    mourner *m = argument;
    med_waiter waiter = {.spin_ns = 0};
    med_lock_request request = {.owner = m->owner,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS,
                                .waiter = &waiter,
                                .each_slice = recover_the_gone,
                                .context = &m->usable};
    m->status = med_lock_acquire(&lock, &sleepers, &request);
    if (m->usable) {
        med_lock_release(&lock, &sleepers, MED_PORT_SCOPE_PROCESS);
    }
    return NULL;
}

static uint32_t
mourners_told(bool usable)
{
    static mourner mourners[THREADS];
    uint32_t told = 0;
    lock_reset();
    assert_true(med_lock_try_fast(&lock, GONE));
    for (uint32_t i = 0; i < THREADS; i++) {
        mourners[i] = (mourner){.owner = i + 1, .usable = usable};
        assert_int_equal(med_port_thread_start(&mourners[i].thread, NULL, mourn, &mourners[i]),
                         MEDLEY_OK);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(med_port_thread_join(mourners[i].thread, NULL), MEDLEY_OK);
        told += mourners[i].status == MEDLEY_ERR_OWNER_DIED;
    }
    return told;
}

static void
waiters_recover_a_dead_owner(void **state)
{
    (void)state;
    assert_int_equal(mourners_told(true), 1);
    assert_int_equal(med_lock_owner(&lock), 0);
    assert_int_equal(mourners_told(false), THREADS);
}

/* ---- Wakes in vain --------------------------------------------------------------------------- */

static atomic32 gave_up;

static void *
wakes_in_vain(void *argument)
{
    while (!atomic32_load_acquire(&gave_up)) {
        med_lock_wake(&sleepers, 1, MED_PORT_SCOPE_PROCESS);
        med_port_yield();
    }
    return argument;
}

static medley_status_t
others_have_it(void *context)
{
    (void)context;
    return MEDLEY_BUSY;
}

static medley_status_t
finds_a_death(void *context)
{
    (void)context;
    return MEDLEY_ERR_PEER_DIED;
}

/* As when of many units all but one are a dead owner's, and others get that one each time. More
 * than once: a waker who has lost his processor lets a slice end. */
static void
owners_are_looked_at_between_wakes(void **state)
{
    enum {
        WAITS = 12,
        PATIENCE_NS = 2000000000
    };
    med_port_thread waker;
    med_waiter waiter = {.spin_ns = 0};
    bool right = true;
    (void)state;
    lock_reset();
    atomic32_store_relaxed(&gave_up, 0);
    assert_int_equal(med_port_thread_start(&waker, NULL, wakes_in_vain, NULL), MEDLEY_OK);
    for (uint32_t i = 0; i < WAITS && right; i++) {
        const med_contest contest = {.attempt = others_have_it,
                                     .each_slice = finds_a_death,
                                     .deadline_ns = med_port_clock_ns() + PATIENCE_NS,
                                     .scope = MED_PORT_SCOPE_PROCESS,
                                     .waiter = &waiter};
        right = med_contest_run(&contest, &sleepers) == MEDLEY_ERR_PEER_DIED &&
                med_port_clock_ns() < contest.deadline_ns;
    }
    atomic32_store_release(&gave_up, 1);
    assert_int_equal(med_port_thread_join(waker, NULL), MEDLEY_OK);
    assert_true(right);
}

static void *
holds_for_a_while(void *argument)
{
    worker *w = argument;
    const med_lock_request request = request_of(w);
    w->right = med_lock_acquire(&lock, &sleepers, &request) == MEDLEY_OK;
    atomic32_store_release(&arrived, 1);
    med_port_delay_ns(5000000); /* many times what anybody spins by himself */
    med_lock_release(&lock, &sleepers, MED_PORT_SCOPE_PROCESS);
    return NULL;
}

/* Who asks to spin for longer than it takes does not sleep, where there is another processor. */
static void
spins_as_long_as_asked(void **state)
{
    static const med_wait_limits long_ones = {.least_ns = 4000000000, .most_ns = UINT64_MAX};
    static worker holder, waiter;
    med_port_scheduling scheduling;
    (void)state;
    lock_reset();
    med_port_scheduling_get(&scheduling);
    holder.owner = 1;
    waiter.owner = 2;
    atomic32_store_relaxed(&arrived, 0);
    assert_int_equal(med_port_thread_start(&holder.thread, NULL, holds_for_a_while, &holder),
                     MEDLEY_OK);
    while (atomic32_load_acquire(&arrived) == 0) {
        med_port_yield();
    }
    med_lock_request request = request_of(&waiter);
    request.limits = &long_ones;
    assert_int_equal(med_lock_acquire(&lock, &sleepers, &request), MEDLEY_OK);
    med_lock_release(&lock, &sleepers, MED_PORT_SCOPE_PROCESS);
    assert_int_equal(med_port_thread_join(holder.thread, NULL), MEDLEY_OK);
    assert_true(holder.right);
    assert_true(waiter.waiter.sleeps == 0 || scheduling.processors == 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tries),
        cmocka_unit_test(one_owner_at_a_time),
        cmocka_unit_test(some_give_up_and_come_back),
        cmocka_unit_test(death_is_told_once),
        cmocka_unit_test(waiters_recover_a_dead_owner),
        cmocka_unit_test(owners_are_looked_at_between_wakes),
        cmocka_unit_test(spins_as_long_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
