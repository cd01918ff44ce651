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

/* ---- Given up -------------------------------------------------------------------------------- */

#define GIVEN_UP 5u

typedef struct given {
    uintptr_t event;
    uint32_t lines;
    uint32_t fulfilled;
    atomic_word handed; /* to who fulfils it: the event; or NOBODYS */
} given;

typedef struct given_shared {
    given events[2 * GIVEN_UP];
    uint32_t round;
    uint32_t cancels_at;
    atomic32 visited; /* so many */
} given_shared;

/* By who met it, and by its lines: what comes first. */
static void
hand_given(given *e)
{
    atomic_word_store_release(&e->handed, e->event ? e->event : NOBODYS);
}

static void
execute_given(void *data)
{
    given *e = *(given **)data;
    e->lines++;
    hand_given(e);
}

static void
meet_given(given_shared *s, given *e)
{
    const med_dependence inout = {(uintptr_t)s, MED_DEPEND_OUT};
    const med_task_call call = {.entry = execute_given,
                                .data = &e,
                                .size = sizeof e,
                                .align = sizeof e,
                                .flags =
                                    MED_TASK_DETACHES | (sim_random(4) ? 0u : MED_TASK_UNDEFERRED),
                                .event = &e->event,
                                .depends = &inout,
                                .depend_count = sim_random(2)};
    med_task_meet(med_member_get(), &call);
    hand_given(e);
}

/* Those that have begun are waited for, with their events; the others are not. */
static void
meet_all_given(void *data)
{
    given_shared *s = data;
    med_member *member = med_member_get();
    if (member->number != 0) {
        return;
    }
    given *events = &s->events[s->round * GIVEN_UP];
    med_task_group_begin(member);
    for (uint32_t i = 0; i < GIVEN_UP; i++) {
        meet_given(s, &events[i]);
        if (s->cancels_at == i) {
            med_task_group_cancel(member);
        }
    }
    med_task_group_end(member);
    for (uint32_t i = 0; i < GIVEN_UP; i++) {
        SIM_CHECK(events[i].lines == 0 || (events[i].lines == 1 && events[i].fulfilled == 1));
    }
}

static void
lead_given(given_shared *s)
{
    for (s->round = 0; s->round < 2; s->round++) {
        s->cancels_at = sim_random(GIVEN_UP);
        med_team_run(med_member_get(), MEMBERS, meet_all_given, s);
    }
    while (atomic32_load_acquire(&s->visited) < 2 * GIVEN_UP) {
        med_port_yield();
    }
    sim_no_task_is_kept(med_member_get()->hot);
}

static void
visit_given(given_shared *s)
{
    for (uint32_t i = 0; i < 2 * GIVEN_UP; i++) {
        given *e = &s->events[i];
        uintptr_t event;
        while ((event = atomic_word_load_acquire(&e->handed)) == 0) {
            med_port_yield();
        }
        if (event != NOBODYS) {
            e->fulfilled = 1;
            med_task_fulfil(event);
        }
        atomic32_store_release(&s->visited, i + 1);
    }
}

static void
act_given(const sim_actor *actor)
{
    if (actor->index == 0) {
        lead_given(actor->memory);
    } else {
        visit_given(actor->memory);
    }
}

const sim_scenario sim_omp_events_given_up = {
    .name = "omp_events_given_up",
    .covers = "task_event",
    .memory_bytes = sizeof(given_shared),
    .actors = 2,
    .one_process = true,
    .waits_forever = true,
    .begin = begin,
    .act = act_given,
    .environment = sim_omp_cancels,
};

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
