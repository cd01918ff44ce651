/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks of OpenMP that detach: who waits for one does so until its event is fulfilled as well, by a
 * member or by a thread of no team.
 *
 * Actors: one thread, which leads a team of others that the library starts, and another thread.
 */
#include "omp_tasks.h"

#define MEMBERS 3u

static void
begin(const sim_actor *director)
{
    (void)director;
}

/* ---- Events ---------------------------------------------------------------------------------- */

#define EVENTS 4u

typedef struct detached {
    struct event_shared *all;
    uintptr_t event;
    bool is_visitors;
    uint32_t lines;
    uint32_t fulfilled;
    uint32_t behind;
    atomic_word handed; /* to the visitor: the event; or NOBODYS */
} detached;
#define NOBODYS ((uintptr_t)1)

/* All plain but what is handed over: what orders it is under test. */
typedef struct event_shared {
    detached events[2 * EVENTS];
    uint32_t round;
    bool ends_in_barrier;
} event_shared;

static void
fulfil(detached *e, uintptr_t event)
{
    e->fulfilled++;
    med_task_fulfil(event);
}

static void
hand_over(detached *e)
{
    atomic_word_store_release(&e->handed, e->event);
}

static void
execute_detached(void *data)
{
    detached *e = *(detached **)data;
    e->lines++;
    if (e->is_visitors) {
        hand_over(e);
    }
}

static void
execute_fulfil(void *data)
{
    detached *e = *(detached **)data;
    fulfil(e, e->event);
}

static void
execute_behind(void *data)
{
    detached *e = *(detached **)data;
    SIM_CHECK(e->lines == 1 && e->fulfilled == 1);
    e->behind++;
}

static void
meet_for(detached *e, void (*entry)(void *data), med_task_call call)
{
    call.entry = entry;
    call.data = &e;
    call.size = sizeof e;
    call.align = sizeof e;
    med_task_meet(med_member_get(), &call);
}

static void
meet_detached(detached *e)
{
    const med_dependence out = {(uintptr_t)e, MED_DEPEND_OUT};
    const med_dependence in = {(uintptr_t)e, MED_DEPEND_IN};
    bool waits = e->is_visitors && sim_random(3) == 0;
    meet_for(e, execute_detached,
             (med_task_call){.flags = MED_TASK_DETACHES | (waits ? MED_TASK_UNDEFERRED : 0u),
                             .event = &e->event,
                             .depends = &out,
                             .depend_count = 1});
    SIM_CHECK(!waits || e->fulfilled == 1);
    meet_for(e, execute_behind, (med_task_call){.depends = &in, .depend_count = 1});
    if (!e->is_visitors) {
        atomic_word_store_release(&e->handed, NOBODYS);
        meet_for(e, execute_fulfil, (med_task_call){.flags = 0});
    }
}

static void
events_are_over(const event_shared *s)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        const detached *e = &s->events[s->round * EVENTS + i];
        SIM_CHECK(e->lines == 1 && e->fulfilled == 1 && e->behind == 1);
    }
}

static void
meet_events(void *data)
{
    event_shared *s = data;
    med_member *member = med_member_get();
    uint32_t how = member->number == 0 ? sim_random(3) : 0;
    if (how == 1) {
        med_task_group_begin(member);
    }
    for (uint32_t i = 0; member->number == 0 && i < EVENTS; i++) {
        meet_detached(&s->events[s->round * EVENTS + i]);
    }
    if (how == 1) {
        med_task_group_end(member);
    } else if (how == 2) {
        med_task_wait(member);
    }
    if (how != 0) {
        events_are_over(s);
    }
    if (s->ends_in_barrier) {
        med_team_barrier(member);
        events_are_over(s);
    }
}

static void
lead_events(event_shared *s)
{
    for (s->round = 0; s->round < 2; s->round++) {
        for (uint32_t i = 0; i < EVENTS; i++) {
            detached *e = &s->events[s->round * EVENTS + i];
            e->all = s;
            e->is_visitors = sim_random(2);
        }
        s->ends_in_barrier = sim_random(2);
        med_team_run(med_member_get(), 1 + sim_random(MEMBERS), meet_events, s);
        events_are_over(s);
        if (med_member_get()->hot) {
            sim_no_task_is_kept(med_member_get()->hot);
        }
        if (sim_random(2)) {
            SIM_CHECK(med_team_rest(med_member_get()));
        }
    }
}

static void
visit(event_shared *s)
{
    for (uint32_t i = 0; i < 2 * EVENTS; i++) {
        detached *e = &s->events[i];
        uintptr_t event;
        while ((event = atomic_word_load_acquire(&e->handed)) == 0) {
            med_port_yield();
        }
        if (event != NOBODYS) {
            fulfil(e, event);
        }
    }
}

static void
act_events(const sim_actor *actor)
{
    event_shared *s = actor->memory;
    if (actor->index == 0) {
        lead_events(s);
    } else {
        visit(s);
    }
}

const sim_scenario sim_omp_events = {
    .name = "omp_events",
    .covers = "task_event leave_half() med_task_finish()",
    .memory_bytes = sizeof(event_shared),
    .actors = 2,
    .one_process = true,
    .waits_forever = true,
    .begin = begin,
    .act = act_events,
};
