/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Events: a task that detaches is complete when its lines are executed and its event is fulfilled.
 * It has two halves; whoever does the second one finishes it. An event is its task's address.
 *
 * Who discards such a task completes it by himself, since perhaps nobody is left who would fulfil
 * the event; and perhaps somebody has, or will. So the second half is then the memory alone: it is
 * not another task's before the event is fulfilled, or else not before the team ends.
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
    atomic32_store_relaxed(&task->halves, 0); /* relaxed: nobody else has it yet */
}

uint32_t
med_task_event_half(med_task *task, uint32_t half)
{
    /* R1 half done -> A1 (med_task_event_half, is_fulfilled); A1 half done <- R1 */
    return atomic32_fetch_or_acq_rel(&task->halves, half);
}

static bool
is_fulfilled(void *context)
{
    const med_task *task = context;
    /* A1 half done <- R1 (med_task_event_half) */
    return atomic32_load_acquire(&task->halves) == MED_TASK_HALF_EVENT;
}

void
med_task_event_wait(med_member *member, med_task *task)
{
    const med_until until = {.is_over = is_fulfilled, .context = task};
    const med_reach *reach = &member->task->reach;
    const med_bound bound = {.ancestor = reach->ancestor, .mark = reach->mark};
    med_task_until(member, &until, &bound);
}

/* As for others its event counts as one more child. */
void
med_task_event_forgo(med_member *member, med_task *task)
{
    task->children.here++;
    (void)med_task_children_left(task);
    if (med_task_event_half(task, MED_TASK_HALF_DISCARDED)) {
        med_task_release(member, task);
    }
}

/* ---- Fulfilled ------------------------------------------------------------------------------- */

/* It need not be one that the member's task may start. Then what depends on it is none either: that
 * has the same parent. */
static void
finish(med_member *member, med_task *task)
{
    const med_bound bound = med_task_bound(member, NULL);
    member->lists = !med_task_is_allowed(task, &bound);
    med_task_finish(member, task);
    member->lists = false;
}

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
        finish(member, task);
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
fulfil_as_visitor(med_member *member, med_task *task)
{
    med_member *maker = task->maker;
    med_team *team = maker->team;
    /* Who executes it at once may wait for nothing else. What is discarded never was: and then the
     * team may be in its next region by now. */
    med_wait_crowd *wait = task->flags & MED_TASK_UNDEFERRED ? &maker->barrier->wait : NULL;
    visitor_comes(team);
    uint32_t other = med_task_event_half(task, MED_TASK_HALF_EVENT);
    if (other == MED_TASK_HALF_LINES) {
        wait = &maker->barrier->wait;
        put(team, task);
    } else if (other == MED_TASK_HALF_DISCARDED) {
        med_task_release(member, task);
    }
    if (wait) {
        med_wait_crowd_wake(wait, MED_PORT_SCOPE_PROCESS);
    }
    /* R3 visitor leaves -> A3 (med_task_await_visitors) */
    (void)atomic32_fetch_add_release(&team->visitors, 0u - 1u);
}

static void
fulfil_as_member(med_member *member, med_task *task)
{
    uint32_t other = med_task_event_half(task, MED_TASK_HALF_EVENT);
    if (other == MED_TASK_HALF_LINES) {
        finish(member, task);
    } else if (other == MED_TASK_HALF_DISCARDED) {
        med_task_release(member, task);
    } else {
        med_task_wake(member); /* its runner may wait for nothing else */
    }
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
        fulfil_as_visitor(member, task);
    } else {
        fulfil_as_member(member, task);
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
