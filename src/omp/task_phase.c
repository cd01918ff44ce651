/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The end of a phase. When is it over? Each member counts, by itself, what it made and what it
 * completed. All have come to the barrier, so only tasks make tasks. Who adds up first what is
 * complete, then what was made, and finds the same, knows that all are: whatever a task made was
 * counted before the task was complete (R1). Those who are through with the barrier count for the
 * next phase, in the other pair of counters; nobody is two ahead. Counts are never set back, so
 * those of members whom the region does without belong to the sum.
 *
 * At a region's end members do not wait, but go to their gates. They are called back by the first
 * task of the region's last phase (`tasked`), and help until its first member has seen that all is
 * over (`drained`); then they come to the barrier once more: so nobody looks at another's queue
 * when the team changes. They do not add up; who has nothing more to execute wakes the first
 * member, who does. Whether a phase had tasks is the same for all: it is said before the
 * barrier by whoever made the first, and never taken back.
 */
#include "omp/task_inner.h"
#include "omp/task_table.h"

static const med_bound unbound = {.ancestor = NULL};

bool
med_task_any(const med_member *member)
{
    /* Relaxed: at the end of the phase the barrier orders it; earlier it is a hint. */
    return atomic_word_load_relaxed(&member->team->tasked[member->implicit.phase % 2]) ==
           member->implicit.phase;
}

static bool
has_own(const med_member *member)
{
    const med_tasking *tasking = med_tasking_look(member);
    return tasking && med_task_queue_has(&tasking->queue, &unbound);
}

bool
med_task_calls(void *context)
{
    med_member *member = context;
    return med_task_any(member) && (has_own(member) || med_task_is_offered(member, &unbound));
}

void
med_task_help(med_member *member)
{
    med_task *task = NULL;
    do {
        (void)med_task_settle(member);
        task = med_task_find(member, &unbound);
        if (task) {
            med_task_execute(member, task);
        }
    } while (task);
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
        /* A1 done <- R1 (count_done, task_run.c) */
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
    med_table_forget(member, &member->implicit);
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
    med_table_forget(member, &member->implicit);
}
