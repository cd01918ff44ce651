/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock: one who takes it, waits for it, gives it or recovers it is killed after any of its
 * instructions. It is then free, or the dead one's and recovered; the next is told of a death
 * exactly when there was one; who sleeps gets it; and what it guards was never two owners'.
 */
#include "base/lock.h"
#include "support/process.h"
#include "support/step_kill.h"
#include "support/unit.h"

enum {
    CHILD = 1, /* who dies */
    TESTER = 2,
    SLEEPER = 3,
    DEAD = 4 /* died before */
};

/* Shared. */
static struct scene {
    med_lock lock;
    med_lock_sleepers sleepers;
    atomic32 first; /* guarded: the same as `second`, but for the owner's time between */
    atomic32 second;
    atomic32 child_is_dead;
} * scene;

static test_process sleeper;
static bool usable = true; /* after a death; else closed */

/* ---- Taking and giving ----------------------------------------------------------------------- */

/* Who waits looks whether he waits for a dead one, as all users of the lock do. */
static medley_status_t
look(void *context, uint32_t owner)
{
    (void)context;
    if (owner == CHILD && atomic32_load_acquire(&scene->child_is_dead)) {
        (void)med_lock_recover(&scene->lock, &scene->sleepers, CHILD, usable,
                               MED_PORT_SCOPE_SHARED);
    }
    return MEDLEY_OK;
}

static medley_status_t
acquire(uint32_t owner)
{
    med_waiter waiter = {0};
    const med_lock_request request = {.owner = owner,
                                      .deadline_ns = MED_PORT_FOREVER,
                                      .scope = MED_PORT_SCOPE_SHARED,
                                      .waiter = &waiter,
                                      .each_slice = look};
    return med_lock_acquire(&scene->lock, &scene->sleepers, &request);
}

static void
release(void)
{
    med_lock_release(&scene->lock, &scene->sleepers, MED_PORT_SCOPE_SHARED);
}

/* By the owner. False: somebody is, or died, between. Relaxed: the lock orders it. */
static bool
guarded_change(void)
{
    uint32_t first = atomic32_load_relaxed(&scene->first);
    bool whole = atomic32_load_relaxed(&scene->second) == first;
    atomic32_store_relaxed(&scene->first, first + 1);
    atomic32_store_relaxed(&scene->second, first + 1);
    return whole;
}

/* As one who came by it: what he was told, 'd' a death, 'o' none, 'n' nobody gets it. */
static char
use_once(uint32_t owner)
{
    medley_status_t status = acquire(owner);
    if (med_lock_is_dead(&scene->lock)) {
        return 'n';
    }
    bool whole = guarded_change();
    child_expect(whole || status == MEDLEY_ERR_OWNER_DIED);
    release();
    return status == MEDLEY_ERR_OWNER_DIED ? 'd' : 'o';
}

static int
sleeper_body(test_process *parent, void *argument)
{
    (void)argument;
    while (process_hear(parent) == 'l') {
        process_say(parent, use_once(SLEEPER));
    }
    return 0;
}

static void
sleeper_sleeps(void)
{
    process_say(&sleeper, 'l');
    while (atomic32_load_acquire(&scene->sleepers.flag) == 0 || !process_sleeps(sleeper.pid)) {
        med_port_yield();
    }
}

/* ---- Before and after ------------------------------------------------------------------------ */

static char expected; /* what the next one is to be told */

static void
set_up(void)
{
    atomic32_store_relaxed(&scene->lock.word, 0);
    atomic32_store_relaxed(&scene->sleepers.flag, 0);
    atomic32_store_relaxed(&scene->first, 0);
    atomic32_store_relaxed(&scene->second, 0);
    atomic32_store_relaxed(&scene->child_is_dead, 0);
}

static void
expect(bool death)
{
    expected = !death ? 'o' : usable ? 'd' : 'n';
}

/* The sleeper may have it already: from a child that lives. */
static void
stopped(void)
{
    expect(med_lock_owner(&scene->lock) == CHILD);
}

/* Nobody is told of a death twice, and everybody of a closed lock. */
static void
check_next(char told)
{
    assert_int_equal(told, expected);
    expected = expected == 'n' ? 'n' : 'o';
    assert_int_equal(use_once(TESTER), expected);
    assert_int_equal(med_lock_owner(&scene->lock), expected == 'n' ? MED_LOCK_DEAD : 0);
}

static void
check_by_tester(void)
{
    atomic32_store_release(&scene->child_is_dead, 1);
    check_next(use_once(TESTER));
}

static void
check_by_sleeper(void)
{
    atomic32_store_release(&scene->child_is_dead, 1);
    check_next(process_hear(&sleeper));
}

/* ---- Taken and given ------------------------------------------------------------------------- */

static void
lock_and_unlock(void)
{
    (void)acquire(CHILD);
    (void)guarded_change();
    release();
}

static void
child_locks(void)
{
    (void)acquire(CHILD);
}

static void
child_gives_back(void)
{
    med_lock_give_back(&scene->lock, &scene->sleepers, CHILD, MED_PORT_SCOPE_SHARED);
}

static bool tester_holds;

static void
tester_locks(void)
{
    assert_int_equal(acquire(TESTER), MEDLEY_OK);
    tester_holds = true;
}

static void
tester_unlocks(void)
{
    if (tester_holds) {
        release();
        tester_holds = false;
    }
}

static void
stopped_without_tester(void)
{
    tester_unlocks();
    stopped();
}

/* ---- Recovered ------------------------------------------------------------------------------- */

static void
set_up_dead(void)
{
    set_up();
    assert_int_equal(med_lock_try(&scene->lock, DEAD), MEDLEY_OK);
    atomic32_store_relaxed(&scene->first, 1); /* it died between */
}

static void
recover(void)
{
    (void)med_lock_recover(&scene->lock, &scene->sleepers, DEAD, usable, MED_PORT_SCOPE_SHARED);
}

/* Whoever recovers next does the rest. */
static void
check_recovery(void)
{
    expect(true);
    recover();
    check_by_sleeper();
}

/* ---- The stage ------------------------------------------------------------------------------- */

static const step_plan plans[] = {
    {.name = "lock and unlock",
     .set_up = set_up,
     .operation = {.operate = lock_and_unlock},
     .stopped = stopped,
     .check = check_by_tester},
    {.name = "lock, handed",
     .set_up = set_up,
     .operation = {.operate = lock_and_unlock},
     .ready = tester_locks,
     .asleep = tester_unlocks,
     .stopped = stopped_without_tester,
     .check = check_by_tester},
    {.name = "unlock, one sleeps",
     .set_up = set_up,
     .operation = {.prepare = child_locks, .operate = release},
     .ready = sleeper_sleeps,
     .stopped = stopped,
     .check = check_by_sleeper},
    {.name = "give back",
     .set_up = set_up,
     .operation = {.prepare = child_locks, .operate = child_gives_back},
     .ready = sleeper_sleeps,
     .stopped = stopped,
     .check = check_by_sleeper},
    {.name = "recover",
     .set_up = set_up_dead,
     .operation = {.operate = recover},
     .ready = sleeper_sleeps,
     .check = check_recovery},
};

/* The sleeper knows by birth whether a lock stays usable. */
static int
run(const char *name)
{
    process_start(&sleeper, sleeper_body, NULL);
    int failed = step_kill_group(name, plans, sizeof plans / sizeof plans[0]);
    return failed + process_join(&sleeper);
}

int
main(void)
{
    step_kill_prepare();
    scene = process_shared_memory(sizeof *scene);
    int failed = run("lock, then usable");
    usable = false;
    return failed + run("lock, then closed");
}
