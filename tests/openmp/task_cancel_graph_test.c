/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random groups of tasks, in one another, of which some are given up (OMP_CANCELLATION is set by
 * who starts this): in those that are not each task is executed once, in the others once or never,
 * from its begin to its end or to where it looks whether it is given up; behind a group's end none
 * is at work, and dependences held. In teams of all sizes, regions and loops given up in between.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/random.h"
#include "support/unit.h"

#define GROUPS 1000
#define STEPS 16
#define DEPTH 3
#define CELLS 3
#define THREADS 5

typedef enum step_kind {
    PLAIN,
    DEPENDS, /* a link of a chain */
    LOOKS,   /* whether it is given up, in its middle */
    WITHIN,  /* a group of its own */
    LOOP,    /* of tasks, in the group */
    GIVE_UP,
    GIVE_UP_SELDOM,
    KINDS
} step_kind;

/* What a group's tasks have in common; plain where they are ordered, else by atomic operations. */
typedef struct group {
    int count;
    step_kind kinds[STEPS];
    uint32_t seeds[STEPS];
    bool is_given_up; /* by one of its steps, whenever that comes */
    bool is_over;
    int begun[STEPS];
    int ended[STEPS];
    int chain[CELLS]; /* links are numbered from 1 on, for each cell; those that were executed: */
    int links[CELLS];
    int looped;
    int wrong;
} group;

static void
note(int *count)
{
#pragma omp atomic
    ++*count;
}

static group
group_of(uint32_t seed, int depth)
{
    group g = {.count = 0};
    test_random numbers = {.state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
    g.count = 1 + (int)(random_word(&numbers) % STEPS);
    for (int i = 0; i < g.count; i++) {
        g.kinds[i] = random_word(&numbers) % KINDS;
        g.seeds[i] = random_word(&numbers);
        if (g.kinds[i] == WITHIN && depth == 0) {
            g.kinds[i] = PLAIN;
        }
        if (g.kinds[i] == GIVE_UP_SELDOM || (g.kinds[i] == GIVE_UP && g.seeds[i] % 3)) {
            g.kinds[i] = PLAIN;
        }
        g.is_given_up |= g.kinds[i] == GIVE_UP;
    }
    return g;
}

static int group_run(uint32_t seed, int depth);

static void
begin(group *g, int step)
{
    note(&g->begun[step]);
    if (g->is_over) {
        note(&g->wrong);
    }
}

/* A link comes behind all before it that are not given up: so numbers only rise. */
static void
link_execute(group *g, int step, int cell, int number)
{
    begin(g, step);
    if (g->chain[cell] >= number) {
        note(&g->wrong);
    }
    g->chain[cell] = number;
    g->links[cell]++;
    note(&g->ended[step]);
}

static void
step_make(group *g, int step, int depth)
{
    int cell = (int)(g->seeds[step] % CELLS);
    switch (g->kinds[step]) {
    case DEPENDS:
#pragma omp task depend(inout : g->chain[cell]) firstprivate(step, cell)
        link_execute(g, step, cell, step + 1);
        break;
    case LOOKS:
#pragma omp task firstprivate(step)
    {
        begin(g, step);
#pragma omp cancellation point taskgroup
        note(&g->ended[step]);
    } break;
    case WITHIN:
#pragma omp task firstprivate(step, depth)
    {
        begin(g, step);
        if (group_run(g->seeds[step], depth - 1)) {
            note(&g->wrong);
        }
        note(&g->ended[step]);
    } break;
    case LOOP:
        begin(g, step);
#pragma omp taskloop grainsize(2) nogroup
        for (int i = 0; i < 6; i++) {
            note(&g->looped);
        }
        note(&g->ended[step]);
        break;
    case GIVE_UP:
#pragma omp task firstprivate(step)
    {
        begin(g, step);
        note(&g->ended[step]);
#pragma omp cancel taskgroup
        note(&g->wrong);
    } break;
    default:
#pragma omp task firstprivate(step)
    {
        begin(g, step);
        note(&g->ended[step]);
    }
    }
}

/* What is wrong with it when it is over. */
static int
group_judge(const group *g)
{
    int wrong = g->wrong, loops = 0, links[CELLS] = {0};
    for (int i = 0; i < g->count; i++) {
        bool may_stop = g->is_given_up && g->kinds[i] == LOOKS;
        wrong += g->begun[i] > 1 || g->ended[i] > g->begun[i];
        wrong += g->ended[i] < g->begun[i] && !may_stop;
        wrong += !g->is_given_up && g->ended[i] != 1;
        loops += g->kinds[i] == LOOP;
        links[g->seeds[i] % CELLS] += g->kinds[i] == DEPENDS;
    }
    for (int i = 0; i < CELLS; i++) {
        wrong += g->is_given_up ? g->links[i] > links[i] : g->links[i] != links[i];
    }
    return wrong + (g->is_given_up ? g->looped > 6 * loops : g->looped != 6 * loops);
}

static int
group_run(uint32_t seed, int depth)
{
    group g = group_of(seed, depth);
#pragma omp taskgroup
    for (int i = 0; i < g.count; i++) {
        step_make(&g, i, depth);
    }
    g.is_over = true;
    return group_judge(&g);
}

static void
groups_are_given_up_and_others_are_not(void **state)
{
    (void)state;
    if (!omp_get_cancellation()) {
        fail_msg("to be started with OMP_CANCELLATION=true");
    }
    for (uint32_t seed = 0; seed < GROUPS; seed++) {
        int wrong = 0;
#pragma omp parallel num_threads(1 + seed % THREADS) reduction(+ : wrong)
        {
            if (seed % 2) { /* several trees at once, or one */
                wrong += group_run(seed * 64 + (uint32_t)omp_get_thread_num(), DEPTH);
            } else {
#pragma omp single nowait
                wrong += group_run(seed, DEPTH);
            }
        }
        if (wrong) {
            fail_msg("seed %u: %d", (unsigned)seed, wrong);
        }
    }
}

/* A region is given up while its groups are at work; the next one is whole. */
static void
regions_are_given_up_beside_them(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < GROUPS / 4; seed++) {
        int wrong = 0, executed = 0;
#pragma omp parallel num_threads(2 + seed % THREADS)
        {
            int number = omp_get_thread_num();
            if (number == (int)(seed % 3)) {
#pragma omp cancel parallel
            }
#pragma omp taskgroup
            for (int i = 0; i < 8; i++) {
#pragma omp task shared(executed)
                note(&executed);
            }
#pragma omp cancellation point parallel
#pragma omp barrier
        }
#pragma omp parallel num_threads(2 + seed % THREADS) reduction(+ : wrong)
        wrong += group_run(seed, 1);
        assert_int_equal(wrong, 0);
        assert_true(executed <= 8 * (2 + (int)(seed % THREADS)));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_given_up_and_others_are_not),
        cmocka_unit_test(regions_are_given_up_beside_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
