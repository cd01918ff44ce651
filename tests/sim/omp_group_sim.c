/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Groups of OpenMP's tasks: who ends one has waited for all tasks made in it, and for those that
 * these made, whoever executed them, tied or not, by priority or not, though all members wait so
 * at a time. Of a group that is given up those run on that have begun, and what is met in it behind
 * that never begins.
 *
 * Actors: one thread, which leads a team of others that the library starts.
 */
#include <string.h>

#include "omp_tasks.h"

#define MEMBERS 3u
#define DEPTH 4u
#define NODES (MEMBERS * 30u)
#define CHILDREN 2u

/* All plain: what orders them is under test. */
typedef struct node {
    struct shared *all;
    struct node *children[CHILDREN];
    uint32_t depth;
    uint32_t begun;
    uint32_t done;
    bool is_late; /* met in a group that its maker had given up */
} node;

typedef struct shared {
    node nodes[MEMBERS][NODES];
    uint32_t nodes_made[MEMBERS];
    bool gives_up; /* some group */
    bool all_wait;
} shared;

static void
begin(const sim_actor *director)
{
    (void)director;
}

static void grow(node *self);

static void
execute(void *data)
{
    grow(*(node **)data);
}

static node *
meet(shared *all, uint32_t depth, bool is_late)
{
    med_member *member = med_member_get();
    SIM_CHECK(all->nodes_made[member->number] < NODES);
    node *child = &all->nodes[member->number][all->nodes_made[member->number]++];
    *child = (node){.all = all, .depth = depth, .is_late = is_late};
    const med_task_call call = {.entry = execute,
                                .data = &child,
                                .size = sizeof child,
                                .align = sizeof child,
                                .flags = sim_random(3) ? 0u : MED_TASK_UNTIED,
                                .priority = sim_random(2) ? 0 : (int32_t)sim_random(3)};
    med_task_meet(member, &call);
    return child;
}

static void
is_over(const node *of)
{
    SIM_CHECK(of->done == of->begun && (of->done == 1 || of->all->gives_up));
    for (uint32_t i = 0; i < CHILDREN && of->children[i]; i++) {
        is_over(of->children[i]);
    }
}

static void
group(node *self)
{
    med_member *member = med_member_get();
    bool gives_up = false;
    med_task_group_begin(member);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        self->children[i] = meet(self->all, self->depth - 1, gives_up);
        if (self->all->gives_up && sim_random(4) == 0) {
            gives_up = true;
            med_task_group_cancel(member);
        }
    }
    med_task_group_end(member);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        is_over(self->children[i]);
    }
}

static void
children(node *self)
{
    for (uint32_t i = 0; i < CHILDREN && self->depth > 0; i++) {
        self->children[i] = meet(self->all, self->depth - 1, false);
    }
    if (sim_random(3) == 0) {
        med_task_wait(med_member_get());
        for (uint32_t i = 0; i < CHILDREN && self->children[i]; i++) {
            const node *child = self->children[i];
            SIM_CHECK(child->done == child->begun && (child->done == 1 || self->all->gives_up));
        }
    }
}

static void
grow(node *self)
{
    SIM_CHECK(!self->is_late);
    self->begun++;
    if (self->depth > 0 && sim_random(4) == 0) {
        group(self);
    } else {
        children(self);
    }
    self->done++;
}

static void
region(void *data)
{
    shared *s = data;
    node root = {.all = s, .depth = DEPTH};
    if (s->all_wait || med_member_get()->number == 0) {
        group(&root);
    }
}

static void
act_groups(const sim_actor *actor)
{
    shared *s = actor->memory;
    for (uint32_t round = 0; round < 2; round++) {
        memset(s->nodes_made, 0, sizeof s->nodes_made);
        s->gives_up = sim_random(2);
        s->all_wait = sim_random(2);
        med_team_run(med_member_get(), MEMBERS, region, s);
        sim_no_task_is_kept(med_member_get()->hot);
    }
}

const sim_scenario sim_omp_groups = {
    .name = "omp_groups",
    .covers = "task_group task_list",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_groups,
    .environment = sim_omp_cancels,
};
