/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks of OpenMP: of a queue each task goes to one member, with all that its maker wrote; a task
 * is executed once, and what it did is seen behind what waits for it: its parent's wait, a group's
 * end, a barrier, the region's end; who waits starts none but its descendants. A task that detaches
 * is waited for until its event is fulfilled as well, by members or by a thread of no team.
 *
 * Actors: of the queue, its owner and thieves; else one thread, which leads a team of others that
 * the library starts; of events, another thread as well.
 */
#include <string.h>

#include "omp/task_inner.h"
#include "scenarios.h"

static void
begin(const sim_actor *director)
{
    (void)director;
}

/* ---- The queue ------------------------------------------------------------------------------- */

#define QUEUED 12u /* several times what it holds */

/* All plain but the queue: what orders them is under test. */
typedef struct queue_shared {
    med_task_queue queue;
    med_task tasks[QUEUED];
    uint32_t number[QUEUED];
    uint32_t had[QUEUED];
    atomic32 gone;
} queue_shared;

static void
have(queue_shared *s, const med_task *task)
{
    uint32_t index = (uint32_t)(task - s->tasks);
    SIM_CHECK(s->number[index] == index + 1);
    s->had[index]++;
    SIM_CHECK(s->had[index] == 1);
    atomic32_fetch_add_relaxed(&s->gone, 1);
}

static void
owner(queue_shared *s)
{
    const med_bound all = {.ancestor = NULL};
    uint32_t made = 0;
    while (atomic32_load_relaxed(&s->gone) < QUEUED) {
        if (made < QUEUED) {
            s->number[made] = made + 1;
            made += med_task_queue_push(&s->queue, &s->tasks[made]);
        }
        med_task *task = sim_random(3) ? NULL : med_task_queue_take(&s->queue, &all);
        if (task) {
            have(s, task);
        }
        med_port_yield();
    }
}

static void
thief(queue_shared *s)
{
    while (atomic32_load_relaxed(&s->gone) < QUEUED) {
        med_task *task = med_task_queue_steal(&s->queue, NULL);
        if (task) {
            have(s, task);
        }
        med_port_yield();
    }
}

static void
act_queue(const sim_actor *actor)
{
    queue_shared *s = actor->memory;
    if (actor->index == 0) {
        owner(s);
    } else {
        thief(s);
    }
}

/* ---- A team's -------------------------------------------------------------------------------- */

#define MEMBERS 3u
#define NODES 96u

typedef struct node {
    struct shared *all;
    struct node *parent;
    uint32_t depth;
    uint32_t done;
} node;

/* All plain: what orders them is under test. */
typedef struct shared {
    node nodes[MEMBERS][NODES];
    uint32_t nodes_made[MEMBERS];
    node *suspended[MEMBERS];
    uint32_t rounds;
    bool ends_in_barrier;
} shared;

static bool
descends(const node *of, const node *from)
{
    while (of && of != from) {
        of = of->parent;
    }
    return of == from;
}

static void grow(node *self);

static void
execute(void *data)
{
    grow(*(node **)data);
}

static node *
meet(node *parent, uint32_t depth, shared *all)
{
    med_member *member = med_member_get();
    SIM_CHECK(all->nodes_made[member->number] < NODES);
    node *child = &all->nodes[member->number][all->nodes_made[member->number]++];
    *child = (node){.all = all, .parent = parent, .depth = depth};
    const med_task_call call = {
        .entry = execute, .data = &child, .size = sizeof child, .align = sizeof child};
    med_task_meet(member, &call);
    return child;
}

static void
grow(node *self)
{
    shared *all = self->all;
    med_member *member = med_member_get();
    node *below = all->suspended[member->number];
    SIM_CHECK(!below || descends(self, below));
    const node *children[2] = {NULL, NULL};
    for (uint32_t i = 0; i < 2 && self->depth > 0; i++) {
        children[i] = meet(self, self->depth - 1, all);
    }
    if (sim_random(3)) {
        all->suspended[member->number] = self;
        med_task_wait(member);
        all->suspended[member->number] = below;
        for (uint32_t i = 0; i < 2 && self->depth > 0; i++) {
            SIM_CHECK(children[i]->done == 1);
        }
    }
    self->done++;
    SIM_CHECK(self->done == 1);
}

static void
all_are_done(const shared *s)
{
    for (uint32_t m = 0; m < MEMBERS; m++) {
        for (uint32_t i = 0; i < s->nodes_made[m]; i++) {
            SIM_CHECK(s->nodes[m][i].done == 1);
        }
    }
}

static void
region(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    for (uint32_t round = 0; round < s->rounds; round++) {
        if (member->number == round % member->team->size) {
            (void)meet(NULL, 3, s);
        }
        if (s->ends_in_barrier) {
            med_team_barrier(member);
            all_are_done(s);
            med_team_barrier(member);
        }
    }
}

/* All memory of tasks is given back. */
static void
none_is_kept(const med_team *team)
{
    for (uint32_t i = 0; i < team->ready; i++) {
        const med_tasking *tasking = med_tasking_look(team->members[i]);
        uint32_t tasks = 0;
        if (!tasking) {
            continue;
        }
        for (const med_task_slab *slab = tasking->slabs; slab; slab = slab->next) {
            tasks += MED_TASK_SLAB;
        }
        for (const med_task *task = tasking->free; task; task = task->next) {
            tasks--;
        }
        const med_task *task = (const med_task *)atomic_word_load_relaxed(&tasking->returned);
        for (; task; task = task->next) {
            tasks--;
        }
        SIM_CHECK(tasks == 0);
    }
}

static void
act_tasks(const sim_actor *actor)
{
    shared *s = actor->memory;
    for (uint32_t i = 0; i < 2; i++) {
        memset(s->nodes_made, 0, sizeof s->nodes_made);
        s->rounds = 1 + sim_random(2);
        s->ends_in_barrier = sim_random(2);
        med_team_run(med_member_get(), 1 + sim_random(MEMBERS), region, s);
        all_are_done(s);
        if (med_member_get()->hot) {
            none_is_kept(med_member_get()->hot);
        }
    }
}

/* ---- Dependences ----------------------------------------------------------------------------- */

#define CELLS 3u
#define STEPS 14u

typedef struct step {
    struct depend_shared *all;
    uint32_t number;
    uint32_t to;
    uint32_t from;
} step;

/* All plain: what orders them is under test. */
typedef struct depend_shared {
    step steps[STEPS];
    uint32_t cells[CELLS];
    uint32_t wanted[CELLS];
} depend_shared;

static void
change(uint32_t *cells, const step *s)
{
    cells[s->to] = cells[s->to] * 3 + cells[s->from] + s->number;
}

static void
execute_step(void *data)
{
    const step *s = *(const step **)data;
    change(s->all->cells, s);
}

static void
meet_steps(void *data)
{
    depend_shared *s = data;
    med_member *member = med_member_get();
    if (member->number != 0) {
        return;
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        step *one = &s->steps[i];
        const med_dependence depends[2] = {
            {(uintptr_t)&s->cells[one->to], MED_DEPEND_OUT},
            {(uintptr_t)&s->cells[one->from], MED_DEPEND_IN},
        };
        const med_task_call call = {.entry = execute_step,
                                    .data = &one,
                                    .size = sizeof one,
                                    .align = sizeof one,
                                    .depends = depends,
                                    .depend_count = 2};
        med_task_meet(member, &call);
        if (sim_random(4) == 0) {
            uint32_t before = s->steps[i].number;
            med_task_wait_depend(member, depends, 1);
            SIM_CHECK(s->cells[one->to] >= before); /* read, while nobody writes it */
        }
        if (sim_random(8) == 0) {
            med_task_wait(member);
        }
    }
}

static void
act_depends(const sim_actor *actor)
{
    depend_shared *s = actor->memory;
    for (uint32_t round = 0; round < 2; round++) {
        memset(s->cells, 0, sizeof s->cells);
        memset(s->wanted, 0, sizeof s->wanted);
        for (uint32_t i = 0; i < STEPS; i++) {
            s->steps[i] = (step){s, i, sim_random(CELLS), sim_random(CELLS)};
            change(s->wanted, &s->steps[i]);
        }
        med_team_run(med_member_get(), MEMBERS, meet_steps, s);
        SIM_CHECK(memcmp(s->cells, s->wanted, sizeof s->cells) == 0);
        none_is_kept(med_member_get()->hot);
    }
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
            none_is_kept(med_member_get()->hot);
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

const sim_scenario sim_omp_depends = {
    .name = "omp_depends",
    .covers = "task_depend task_table",
    .memory_bytes = sizeof(depend_shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_depends,
};

const sim_scenario sim_omp_task_queue = {
    .name = "omp_task_queue",
    .covers = "task_queue",
    .memory_bytes = sizeof(queue_shared),
    .actors = 3,
    .one_process = true,
    .loads_early = true,
    .begin = begin,
    .act = act_queue,
};

const sim_scenario sim_omp_tasks = {
    .name = "omp_tasks",
    .covers = "task task_tally task_run task_group task_wait task_phase task_pool task_inner "
              "win_last() first_of() lineage_of() "
              "med_task_queue_take()",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_tasks,
};
