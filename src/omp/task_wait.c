/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Waiting, while there are tasks: for some of them, or for all of a phase at a barrier. Who waits
 * executes what he may; when there is nothing he sleeps at the barrier's wait object, where whoever
 * puts a task in, or completes the last one that somebody waits for, wakes him.
 *
 * When is a phase over? Each member counts, by itself, what it made and what it completed. All have
 * come to the barrier, so only tasks make tasks. Who adds up first what is complete, then what was
 * made, and finds the same, knows that all are: whatever a task made was counted before the task
 * was complete (R1). Those who are through with the barrier count for the next phase, in the other
 * pair of counters; nobody is two ahead. Counts are never set back, so those of members whom the
 * region does without belong to the sum.
 *
 * At a region's end members do not wait, but go to their gates. They are called back by the first
 * task of the region's last phase (`tasked`), and help until its first member has seen that all is
 * over (`drained`); then they come to the barrier once more: so nobody looks at another's queue
 * when the team changes. They do not add up; who has nothing more to execute wakes the first
 * member, who does. Whether a phase had tasks is the same for all: it is said before the
 * barrier by whoever made the first, and never taken back.
 */
#include "omp/task_depend.h"
#include "omp/task_inner.h"

static const med_bound unbound = {.ancestor = NULL};

/* ---- To be had ------------------------------------------------------------------------------- */

static med_task *
steal(med_member *member, const med_task *ancestor)
{
    const med_team *team = member->team;
    med_tasking *own = med_tasking_get(member);
    for (uint32_t i = 0; i + 1 < team->size; i++) {
        uint32_t number = own->victim % team->size;
        med_tasking *tasking =
            number == member->number ? NULL : med_tasking_look(team->members[number]);
        med_task *task = tasking ? med_task_queue_steal(&tasking->queue, ancestor) : NULL;
        if (task) {
            return task;
        }
        own->victim = number + 1 == member->number ? number + 2 : number + 1;
    }
    return NULL;
}

static bool
may_steal(const med_member *member, const med_task *ancestor)
{
    const med_team *team = member->team;
    for (uint32_t i = 0; i < team->size; i++) {
        const med_tasking *tasking =
            i == member->number ? NULL : med_tasking_look(team->members[i]);
        if (tasking && med_task_queue_has(&tasking->queue, ancestor)) {
            return true;
        }
    }
    return false;
}

static bool
is_listed(const med_team *team)
{
    return atomic32_load_relaxed(&team->tasks.count) != 0; /* relaxed: the lock orders it */
}

med_task *
med_task_find(med_member *member, const med_bound *bound)
{
    med_task *task = NULL;
    if (is_listed(member->team)) {
        task = med_task_list_take(&member->team->tasks, member, bound->ancestor);
    }
    if (!task) {
        task = med_task_queue_take(&med_tasking_get(member)->queue, bound);
    }
    return task ? task : steal(member, bound->ancestor);
}

/* ---- Until ----------------------------------------------------------------------------------- */

typedef struct doze {
    med_member *member;
    const med_until *until;
    const med_bound *bound;
} doze;

static bool
is_called(void *context)
{
    const doze *d = context;
    return d->until->is_over(d->until->context) || is_listed(d->member->team) ||
           med_task_is_fulfilled(d->member->team) || may_steal(d->member, d->bound->ancestor);
}

static bool
is_wanted_here(void *context)
{
    return ((const doze *)context)->member->team->is_crowded;
}

/* Its own queue has nothing for it: only it puts something in. */
static void
sleep(med_member *member, const med_until *until, const med_bound *bound)
{
    doze d = {.member = member, .until = until, .bound = bound};
    med_wait_request request = {.condition = is_called,
                                .is_wanted_here = is_wanted_here,
                                .context = &d,
                                .limits = member->limits,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS};
    if (until->tally) {
        med_tally_merge(until->tally);
    }
    (void)med_wait_until(&member->barrier->wait, &member->waiter, &request);
}

void
med_task_until(med_member *member, const med_until *until, const med_bound *bound)
{
    bool tells = false;
    while (!until->is_over(until->context)) {
        tells = (med_task_settle(member) && until->tells) || tells;
        med_task *task = med_task_find(member, bound);
        if (task) {
            med_task_execute(member, task);
            tells = until->tells;
            continue;
        }
        if (tells) {
            med_task_wake(member);
            tells = false;
        }
        sleep(member, until, bound);
    }
}

static bool
is_clear(void *tally)
{
    return med_tally_is_clear(tally);
}

static void
until_clear(med_member *member, med_tally *tally)
{
    if (!med_tally_is_clear(tally)) {
        const med_until until = {.is_over = is_clear, .context = tally, .tally = tally};
        med_task_until(member, &until, &member->allowed);
    }
}

void
med_task_wait(med_member *member)
{
    until_clear(member, &member->task->children);
    med_depend_forget(member, member->task); /* all that it names is complete */
}

void
med_task_yield(med_member *member)
{
    (void)med_task_settle(member);
    med_task *task = med_task_find(member, &member->allowed);
    if (task) {
        med_task_execute(member, task);
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */

void
med_task_group_begin(med_member *member)
{
    med_task_group *group = med_task_group_take(member);
    group->tally = (med_tally){.here = 0};
    group->keeper = member;
    atomic32_store_relaxed(&group->cancelled, 0); /* relaxed: nobody else has it yet */
    group->implied = false;
    group->outer = member->task->group;
    group->reductions = (med_reductions){.count = 0};
    member->task->group = group;
}

void
med_task_group_begin_implied(med_member *member)
{
    med_task_group_begin(member);
    member->task->group->implied = true;
}

void
med_task_group_end(med_member *member)
{
    med_task_group *group = member->task->group;
    until_clear(member, &group->tally);
    member->task->group = group->outer;
    med_task_group_give(member, group);
}

/* ---- The end of a phase ---------------------------------------------------------------------- */

bool
med_task_any(const med_member *member)
{
    /* Relaxed: at the end of the phase the barrier orders it; earlier it is a hint. */
    return atomic_word_load_relaxed(&member->team->tasked[member->implicit.phase % 2]) ==
           member->implicit.phase;
}

bool
med_task_calls(void *context)
{
    med_member *member = context;
    return med_task_any(member) && (is_listed(member->team) ||
                                    med_task_is_fulfilled(member->team) || may_steal(member, NULL));
}

void
med_task_help(med_member *member)
{
    (void)med_task_settle(member);
    med_task *task = med_task_find(member, &unbound);
    if (task) {
        med_task_execute(member, task);
    }
}

static bool
is_phase_over(void *context)
{
    const med_member *member = context;
    const med_team *team = member->team;
    uint32_t pair = member->implicit.phase % 2;
    uint32_t open = 0;
    for (uint32_t i = 0; i < team->ready; i++) {
        const med_tasking *tasking = med_tasking_look(team->members[i]);
        /* A1 done <- R1 (count_done, task.c) */
        open -= tasking ? atomic32_load_acquire(&tasking->done[pair]) : 0;
    }
    for (uint32_t i = 0; i < team->ready; i++) {
        const med_tasking *tasking = med_tasking_look(team->members[i]);
        /* Relaxed: made before what made it was done, or before the barrier. */
        open += tasking ? atomic32_load_relaxed(&tasking->made[pair]) : 0;
    }
    return open == 0;
}

void
med_task_drain(med_member *member)
{
    const med_until until = {.is_over = is_phase_over, .context = member};
    med_task_until(member, &until, &unbound);
    med_depend_forget(member, &member->implicit);
    med_task_wake(member); /* who saw it first tells those who sleep */
}

void
med_task_dismiss(med_member *first)
{
    /* Relaxed: they only come to the barrier once more, which orders all. */
    atomic_word_store_relaxed(&first->team->drained, first->implicit.phase);
    med_task_wake(first);
}

static bool
is_dismissed(void *context)
{
    const med_member *member = context;
    /* Relaxed: as above. */
    return atomic_word_load_relaxed(&member->team->drained) == member->implicit.phase;
}

void
med_task_serve(med_member *member)
{
    const med_until until = {.is_over = is_dismissed, .context = member, .tells = true};
    med_task_until(member, &until, &unbound);
    med_depend_forget(member, &member->implicit);
}
