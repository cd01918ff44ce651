/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dependences of OpenMP's tasks: who changes what others read or change is behind those before it,
 * and sees what they did; tasks that exclude each other run one at a time, in any order, and all of
 * them at last.
 *
 * Actors: one thread, which leads a team of others that the library starts.
 */
#include <string.h>

#include "omp_tasks.h"

#define MEMBERS 3u

static void
begin(const sim_actor *director)
{
    (void)director;
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
        const med_dependence to = {(uintptr_t)&s->cells[one->to], MED_DEPEND_OUT};
        const med_dependence from = {(uintptr_t)&s->cells[one->from], MED_DEPEND_IN};
        bool last = sim_random(2); /* where it writes what it reads this counts as one */
        const med_dependence depends[2] = {last ? from : to, last ? to : from};
        const med_task_call call = {.entry = execute_step,
                                    .data = &one,
                                    .size = sizeof one,
                                    .align = sizeof one,
                                    .depends = depends,
                                    .depend_count = 2};
        med_task_meet(member, &call);
        if (sim_random(4) == 0) {
            uint32_t before = s->steps[i].number;
            med_task_wait_depend(member, &to, 1);
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
        sim_no_task_is_kept(med_member_get()->hot);
    }
}

/* ---- Exclusion ------------------------------------------------------------------------------- */

#define NAMED 3u
#define TURNS 12u

typedef struct turn {
    struct exclude_shared *all;
    uint32_t count;
    med_dependence named[NAMED];
    uint32_t before[CELLS]; /* so many tasks change the cell before this one is made */
} turn;

/* All plain: what orders them is under test. */
typedef struct exclude_shared {
    turn turns[TURNS];
    uint32_t cells[CELLS];
    uint32_t made[CELLS];
} exclude_shared;

static uint32_t
cell_of(const turn *t, uint32_t i)
{
    return (uint32_t)((uint32_t *)t->named[i].address - t->all->cells);
}

/* Those that exclude each other come in any order; all others know how many were before. */
static void
execute_turn(void *data)
{
    turn *t = *(turn **)data;
    if (t->named[0].kind == MED_DEPEND_ALL) {
        SIM_CHECK(memcmp(t->all->cells, t->before, sizeof t->before) == 0);
        return;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t cell = cell_of(t, i);
        SIM_CHECK(t->named[i].kind == MED_DEPEND_MUTEX || t->all->cells[cell] == t->before[cell]);
        if (t->named[i].kind != MED_DEPEND_IN) {
            t->all->cells[cell]++;
        }
    }
}

/* Different cells, in any order. */
static void
make_turn(exclude_shared *s, turn *t)
{
    bool is_all = sim_random(8) == 0;
    uint32_t first = sim_random(CELLS);
    uint32_t apart = 1 + sim_random(CELLS - 1);
    t->all = s;
    t->count = 1 + sim_random(NAMED);
    memcpy(t->before, s->made, sizeof s->made);
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t cell = (first + i * apart) % CELLS;
        uint32_t kind = sim_random(8);
        t->named[i] = (med_dependence){(uintptr_t)&s->cells[cell], is_all      ? MED_DEPEND_ALL
                                                                   : kind == 0 ? MED_DEPEND_IN
                                                                   : kind == 1 ? MED_DEPEND_OUT
                                                                               : MED_DEPEND_MUTEX};
        s->made[cell] += !is_all && kind != 0;
    }
}

static void
meet_turns(void *data)
{
    exclude_shared *s = data;
    med_member *member = med_member_get();
    for (uint32_t i = 0; member->number == 0 && i < TURNS; i++) {
        turn *t = &s->turns[i];
        make_turn(s, t);
        const med_task_call call = {.entry = execute_turn,
                                    .data = &t,
                                    .size = sizeof t,
                                    .align = sizeof t,
                                    .flags = sim_random(6) ? 0 : MED_TASK_UNDEFERRED,
                                    .depends = t->named,
                                    .depend_count = t->count};
        med_task_meet(member, &call);
    }
}

static void
act_excludes(const sim_actor *actor)
{
    exclude_shared *s = actor->memory;
    for (uint32_t round = 0; round < 2; round++) {
        memset(s->cells, 0, sizeof s->cells);
        memset(s->made, 0, sizeof s->made);
        med_team_run(med_member_get(), MEMBERS, meet_turns, s);
        SIM_CHECK(memcmp(s->cells, s->made, sizeof s->cells) == 0);
        sim_no_task_is_kept(med_member_get()->hot);
    }
}

const sim_scenario sim_omp_excludes = {
    .name = "omp_excludes",
    .covers = "task_exclude",
    .memory_bytes = sizeof(exclude_shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_excludes,
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
