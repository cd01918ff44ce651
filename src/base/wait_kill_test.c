/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The wait object: a waker or a sleeper is killed after any of its instructions. Whoever else
 * sleeps there learns of what was published, and wakes as ever the next time.
 */
#include "base/wait.h"
#include "support/process.h"
#include "support/step_kill.h"
#include "support/unit.h"

/* Shared. */
static struct scene {
    med_wait wait;
    atomic32 published;
} * scene;

static test_process sleeper;

/* ---- Publishing and waiting ------------------------------------------------------------------ */

static void
publish(uint32_t number)
{
    atomic32_store_release(&scene->published, number);
    med_wait_wake(&scene->wait, MED_PORT_SCOPE_SHARED);
}

static bool
is_published(void *number)
{
    return atomic32_load_acquire(&scene->published) >= *(const uint32_t *)number;
}

static medley_status_t
wait_for(uint32_t number)
{
    med_waiter waiter = {0};
    const med_wait_request request = {.condition = is_published,
                                      .context = &number,
                                      .deadline_ns = MED_PORT_FOREVER,
                                      .scope = MED_PORT_SCOPE_SHARED};
    return med_wait_until(&scene->wait, &waiter, &request);
}

/* Waits for the number it is told, says 'w' when it came. */
static int
sleeper_body(test_process *parent, void *argument)
{
    (void)argument;
    for (char number = process_hear(parent); number; number = process_hear(parent)) {
        child_expect(wait_for((uint32_t)number) == MEDLEY_OK);
        process_say(parent, 'w');
    }
    return 0;
}

static bool
flag_is_set(void)
{
    return atomic32_load_acquire(&scene->wait.word) & MED_WAIT_SLEEPS;
}

/* On return the flag is set and the sleeper in the kernel. */
static void
sleeper_sleeps(uint32_t number)
{
    process_say(&sleeper, (char)number);
    while (!flag_is_set() || !process_sleeps(sleeper.pid)) {
        med_port_yield();
    }
}

static void
set_up(void)
{
    atomic32_store_relaxed(&scene->published, 0);
}

/* A wake that has nobody's death in it: all is as ever, and the flag is clear. */
static void
check_as_ever(void)
{
    sleeper_sleeps(2);
    publish(2);
    assert_int_equal(process_hear(&sleeper), 'w');
    publish(3); /* for a flag that the sleeper set on his way out */
    assert_false(flag_is_set());
}

/* ---- A waker is killed ----------------------------------------------------------------------- */

static void
sleeper_waits_for_child(void)
{
    sleeper_sleeps(1);
}

static void
child_publishes(void)
{
    publish(1);
}

static void
check_waker_dead(void)
{
    if (atomic32_load_acquire(&scene->published) == 0) {
        publish(1);
    }
    assert_int_equal(process_hear(&sleeper), 'w');
    check_as_ever();
}

/* ---- A sleeper is killed --------------------------------------------------------------------- */

static void
child_waits(void)
{
    (void)wait_for(1);
}

static void
tester_publishes(void)
{
    publish(1);
}

/* ---- The stage ------------------------------------------------------------------------------- */

static const step_plan plans[] = {
    {.name = "publish and wake",
     .set_up = set_up,
     .operation = {.operate = child_publishes},
     .ready = sleeper_waits_for_child,
     .check = check_waker_dead},
    {.name = "sleep and be woken",
     .set_up = set_up,
     .operation = {.operate = child_waits},
     .asleep = tester_publishes,
     .check = check_as_ever},
};

int
main(void)
{
    step_kill_prepare();
    scene = process_shared_memory(sizeof *scene);
    process_start(&sleeper, sleeper_body, NULL);
    int failed = step_kill_group("wait", plans, sizeof plans / sizeof plans[0]);
    return failed + process_join(&sleeper);
}
