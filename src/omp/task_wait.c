/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Waiting, while there are tasks: for some of them, or for all of a phase at a barrier. Who waits
 * executes what he may; when there is nothing he sleeps at the barrier's wait object, where whoever
 * puts a task in, or completes the last one that somebody waits for, wakes him.
 */
#include "omp/task_inner.h"
#include "omp/task_table.h"

/* ---- To be had ------------------------------------------------------------------------------- */

static med_task *
steal(med_member *member, const med_bound *bound)
{
    const med_team *team = member->team;
    med_tasking *own = med_tasking_get(member);
    for (uint32_t i = 0; i + 1 < team->size; i++) {
        uint32_t number = own->victim % team->size;
        med_tasking *tasking =
            number == member->number ? NULL : med_tasking_look(team->members[number]);
        med_task *task = tasking ? med_task_queue_steal(&tasking->queue, bound) : NULL;
        if (task) {
            return task;
        }
        own->victim = number + 1 == member->number ? number + 2 : number + 1;
    }
    return NULL;
}

static bool
may_steal(const med_member *member, const med_bound *bound)
{
    const med_team *team = member->team;
    for (uint32_t i = 0; i < team->size; i++) {
        const med_tasking *tasking =
            i == member->number ? NULL : med_tasking_look(team->members[i]);
        if (tasking && med_task_queue_has(&tasking->queue, bound)) {
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

/* Who may have none of those that are listed sleeps, until another one is. */
static bool
is_listed_for(const med_member *member, const med_bound *bound)
{
    const med_tasking *own = bound->ancestor ? med_tasking_look(member) : NULL;
    /* Relaxed: the lock orders it. */
    uint32_t puts = atomic32_load_relaxed(&member->team->tasks.puts);
    return is_listed(member->team) && !(own && own->puts_seen == puts);
}

bool
med_task_is_offered(const med_member *member, const med_bound *bound)
{
    return is_listed_for(member, bound) || med_task_is_fulfilled(member->team) ||
           may_steal(member, bound);
}

med_task *
med_task_find(med_member *member, const med_bound *bound)
{
    med_task *task = NULL;
    if (is_listed(member->team)) {
        task = med_task_list_take(&member->team->tasks, member, bound);
    }
    if (!task) {
        task = med_task_queue_take(&med_tasking_get(member)->queue, bound);
    }
    return task ? task : steal(member, bound);
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
    return d->until->is_over(d->until->context) || med_task_is_offered(d->member, d->bound);
}

static bool
is_wanted_here(void *context)
{
    return med_member_is_crowded(((const doze *)context)->member);
}

static medley_status_t
slept(void *context)
{
    med_team_slept(((const doze *)context)->member);
    return MEDLEY_OK;
}

/* Its own queue has nothing for it: only it puts something in. */
static void
sleep(med_member *member, const med_until *until, const med_bound *bound)
{
    doze d = {.member = member, .until = until, .bound = bound};
    med_wait_request request = {.condition = is_called,
                                .each_slice = slept,
                                .is_wanted_here = is_wanted_here,
                                .context = &d,
                                .limits = member->limits,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = MED_PORT_SCOPE_PROCESS};
    if (until->tally) {
        med_tally_merge(until->tally);
    }
    (void)med_wait_crowd_until(&member->barrier->wait, &member->waiter, &request);
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

void
med_task_await_clear(med_member *member, med_tally *tally, const med_task_group *group)
{
    const med_until until = {.is_over = is_clear, .context = tally, .tally = tally};
    const med_bound bound = med_task_bound(member, group);
    med_task_until(member, &until, &bound);
}

void
med_task_wait(med_member *member)
{
    med_task_offer_again(member);
    med_task_until_clear(member, &member->task->children, NULL);
    med_table_forget(member, member->task); /* all that it names is complete */
}

bool
med_task_yield(med_member *member)
{
    (void)med_task_settle(member);
    const med_bound bound = med_task_bound(member, NULL);
    med_task *task = med_task_find(member, &bound);
    if (task) {
        med_task_execute(member, task);
    }
    return task != NULL;
}
