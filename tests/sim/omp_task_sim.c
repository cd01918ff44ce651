/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks of OpenMP: of a queue each task goes to one member, with all that its maker wrote; a task
 * is executed once, and what it did is seen behind what waits for it: its parent's wait, a group's
 * end, a barrier, the region's end; who waits starts none but its descendants.
 *
 * Actors: of the queue, its owner and thieves; else one thread, which leads a team of others that
 * the library starts.
 */
#include <string.h>

#include "omp_tasks.h"

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
    const med_bound all = {.ancestor = NULL};
    while (atomic32_load_relaxed(&s->gone) < QUEUED) {
        med_task *task = med_task_queue_steal(&s->queue, &all);
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

void
sim_no_task_is_kept(const med_team *team)
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
            sim_no_task_is_kept(med_member_get()->hot);
        }
    }
}

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
