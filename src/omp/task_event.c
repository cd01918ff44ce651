/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Events: a task that detaches is complete when its lines are executed and its event is fulfilled.
 * It has two halves; whoever does the second one finishes it. An event is its task's address.
 *
 * What may run together: the runner, at the task's last line, with the one who fulfils. Whoever did
 * the first half touches nothing of the task any more: it may be over, and its memory another one.
 *
 * Members count what they complete by themselves, and their queues are their own; who fulfils may
 * be no member of the task's team: a thread of the program's, or a member of another team. He puts
 * the task into a list of the team, which any member takes whole that looks for work or waits.
 * While he is at it he counts as a visitor, since behind his half the team may be through with its
 * region, and destroyed: that waits until there are none.
 *
 * Progress: fulfilling is lock-free. Model: tests/sim/omp_task_sim.c.
 */
#include "omp/task_inner.h"

void
med_task_event_begin(med_task *task)
{
    atomic32_store_relaxed(&task->halves, 2); /* relaxed: nobody else has it yet */
}

bool
med_task_event_drop(med_task *task)
{
    /* R1 half done -> A1 (med_task_event_drop, is_fulfilled); A1 half done <- R1 */
    return atomic32_fetch_add_acq_rel(&task->halves, 0u - 1u) == 1;
}

static bool
is_fulfilled(void *context)
{
    const med_task *task = context;
    /* A1 half done <- R1 (med_task_event_drop) */
    return atomic32_load_acquire(&task->halves) == 1;
}

void
med_task_event_wait(med_member *member, med_task *task)
{
    const med_until until = {.is_over = is_fulfilled, .context = task};
    med_task_until(member, &until, &member->allowed);
}

/* ---- Fulfilled ------------------------------------------------------------------------------- */

static void
put(med_team *team, med_task *task)
{
    /* Relaxed: the compare-and-swap checks it, and nobody looks behind it. */
    uintptr_t first = atomic_word_load_relaxed(&team->fulfilled);
    do {
        task->next = (med_task *)first;
        /* R2 fulfilled -> A2 (med_task_settle) */
    } while (!atomic_word_cas_release(&team->fulfilled, &first, (uintptr_t)task));
}

bool
med_task_settle(med_member *member)
{
    if (!med_task_is_fulfilled(member->team)) {
        return false;
    }
    /* A2 fulfilled <- R2 (put) */
    med_task *task = (med_task *)atomic_word_exchange_acquire(&member->team->fulfilled, 0);
    bool is_some = task != NULL;
    while (task) {
        med_task *next = task->next;
        med_task_finish(member, task);
        task = next;
    }
    return is_some;
}

/* A child of fork has none of its parent's visitors: so which life of the process they are of
 * stands above their number. */
#define VISITORS_LIFE 0x10000u

static uint32_t
no_visitors(void)
{
    return med_port_process_life() * VISITORS_LIFE;
}

static bool
is_of_this_life(uint32_t visitors)
{
    return visitors / VISITORS_LIFE == no_visitors() / VISITORS_LIFE;
}

static void
visitor_comes(med_team *team)
{
    /* Relaxed, both: who destroys the team has seen the half, and so this. */
    uint32_t seen = atomic32_load_relaxed(&team->visitors);
    while (!atomic32_cas_relaxed(&team->visitors, &seen,
                                 (is_of_this_life(seen) ? seen : no_visitors()) + 1)) {
    }
}

static void
fulfil_as_visitor(med_task *task)
{
    med_wait *wait = &task->maker->barrier->wait;
    med_team *team = task->maker->team;
    visitor_comes(team);
    if (med_task_event_drop(task)) {
        put(team, task);
    }
    med_wait_wake(wait, MED_PORT_SCOPE_PROCESS);
    /* R3 visitor leaves -> A3 (med_task_await_visitors) */
    (void)atomic32_fetch_add_release(&team->visitors, 0u - 1u);
}

void
med_task_fulfil(uintptr_t event)
{
    med_task *task = (med_task *)event;
    med_member *member = med_member_get();
    if (!task) {
        return;
    }
    med_ompt_task_fulfilled(task);
    if (task->maker->team != member->team) {
        fulfil_as_visitor(task);
    } else if (med_task_event_drop(task)) {
        med_task_finish(member, task);
    } else {
        med_task_wake(member); /* its runner may wait for nothing else */
    }
}

void
med_task_await_visitors(med_team *team)
{
    uint32_t pauses = 0;
    uint32_t seen;
    do {
        seen = atomic32_load_acquire(
            &team->visitors); /* A3 visitor leaves <- R3 (fulfil_as_visitor) */
        if (seen % VISITORS_LIFE == 0 || !is_of_this_life(seen)) {
            return;
        }
        med_wait_pause(&pauses);
    } while (true);
}
