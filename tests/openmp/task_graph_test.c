/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random graphs of tasks give what the same tasks give one after the other, in teams of all sizes:
 * with dependences of all kinds, within groups, loops of tasks, final and untied tasks, such with
 * priorities, such that detach, and regions within tasks. And what else waits for dependences. */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/unit.h"

#define GRAPHS 1000
#define CELLS 8
#define STEPS 24
#define LINE 12
#define DEPTH 2
#define THREADS 4

/* Its tasks are siblings: they name its own cells. */
typedef struct graph {
    uint32_t seed;
    int depth;
    uint64_t cells[CELLS];
    uint64_t line[LINE];  /* changed by loops of tasks */
    uint64_t seen[STEPS]; /* by those that read, and by who waits */
} graph;

typedef enum step_kind {
    WRITE,   /* inout, and what it reads: in */
    EXCLUDE, /* mutexinoutset, and likewise */
    SHARE,   /* inoutset */
    READ,
    WITHIN, /* a graph of its own, added to a cell */
    LOOP,
    WAIT, /* for a cell */
    ALL,  /* omp_all_memory */
    KINDS
} step_kind;

typedef struct step {
    step_kind kind;
    int number, to, left, right;
    uint32_t how;
} step;

/* The number of that name: the same however often it is asked for. */
static uint32_t
number_of(uint32_t seed, uint32_t name, uint32_t below)
{
    uint64_t mixed = (seed * 0x9e3779b97f4a7c15u) ^ (name * 0xd1b54a32d192ed03u);
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(mixed >> 33) % below;
}

static step
step_of(const graph *g, int number)
{
    uint32_t name = (uint32_t)number * 8;
    step s = {.number = number,
              .kind = number_of(g->seed, name, KINDS + 4) % KINDS,
              .to = (int)number_of(g->seed, name + 1, CELLS),
              .left = (int)number_of(g->seed, name + 2, CELLS),
              .right = (int)number_of(g->seed, name + 3, CELLS),
              .how = number_of(g->seed, name + 4, 8)};
    if (s.kind == WITHIN && g->depth == 0) {
        s.kind = WRITE;
    }
    return s;
}

static int
steps_of(const graph *g)
{
    return 1 + (int)number_of(g->seed, 7, STEPS);
}

static graph
graph_begin(uint32_t seed, int depth)
{
    graph g = {.seed = seed, .depth = depth};
    for (uint32_t i = 0; i < CELLS; i++) {
        g.cells[i] = i + seed % 7;
    }
    return g;
}

static uint64_t
result_of(const graph *g)
{
    uint64_t result = 0;
    for (int i = 0; i < CELLS; i++) {
        result = result * 31 + g->cells[i];
    }
    for (int i = 0; i < LINE; i++) {
        result = result * 31 + g->line[i];
    }
    for (int i = 0; i < STEPS; i++) {
        result = result * 31 + g->seen[i];
    }
    return result;
}

/* ---- One after the other --------------------------------------------------------------------- */

static void
do_write(graph *g, step s)
{
    uint64_t left = g->cells[s.left], right = g->cells[s.right];
    g->cells[s.to] = g->cells[s.to] * 31 + left * 7 + right + (uint64_t)s.number;
}

/* What those add that may change places. */
static uint64_t
added_by(const graph *g, step s)
{
    return (s.left == s.to ? 1 : g->cells[s.left]) * 5 + (uint64_t)s.number;
}

static void
do_exclude(graph *g, step s)
{
    uint64_t *cell = &g->cells[s.to];
    uint64_t was = *cell;
    *cell = was + added_by(g, s);
}

static void
do_share(graph *g, step s)
{
#pragma omp atomic
    g->cells[s.to] += (uint64_t)s.number * 3 + 1;
}

static void
do_read(graph *g, step s)
{
    g->seen[s.number] = g->cells[s.left] * 3 + g->cells[s.right];
}

static void
do_loop(graph *g, step s, int i)
{
    g->line[i] = g->line[i] * 3 + (uint64_t)(s.number + i);
}

static void
do_all(graph *g)
{
    for (int i = 0; i < CELLS; i++) {
        g->cells[i] = g->cells[i] * 3 + g->cells[(i + 1) % CELLS];
    }
}

static graph in_turn(uint32_t seed, int depth);

static uint32_t
seed_within(const graph *g, step s)
{
    return g->seed * 31 + (uint32_t)s.number;
}

static void
do_step(graph *g, step s)
{
    graph inner;
    switch (s.kind) {
    case WRITE:
        do_write(g, s);
        break;
    case EXCLUDE:
        do_exclude(g, s);
        break;
    case SHARE:
        do_share(g, s);
        break;
    case READ:
        do_read(g, s);
        break;
    case WITHIN:
        inner = in_turn(seed_within(g, s), g->depth - 1);
        g->cells[s.to] += result_of(&inner);
        break;
    case LOOP:
        for (int i = 0; i < LINE; i++) {
            do_loop(g, s, i);
        }
        break;
    case WAIT:
        g->seen[s.number] = g->cells[s.left];
        break;
    default:
        do_all(g);
    }
}

static graph
in_turn(uint32_t seed, int depth)
{
    graph g = graph_begin(seed, depth);
    for (int i = 0; i < steps_of(&g); i++) {
        do_step(&g, step_of(&g, i));
    }
    return g;
}

/* ---- As tasks -------------------------------------------------------------------------------- */

static void make(graph *g);

static void
make_write(graph *g, step s)
{
    omp_event_handle_t event;
    switch (s.how == 4 && omp_in_final() ? 5 : s.how) {
    case 0:
#pragma omp task if (0) depend(in                                                                  \
                               : g->cells[s.left], g->cells[s.right]) depend(inout                 \
                                                                             : g->cells[s.to])
        do_write(g, s);
        break;
    case 1:
#pragma omp task untied depend(in                                                                  \
                               : g->cells[s.left], g->cells[s.right]) depend(out                   \
                                                                             : g->cells[s.to])
        do_write(g, s);
        break;
    case 2:
#pragma omp task priority(s.number) depend(out                                                     \
                                           : g->cells[s.to])                                       \
    depend(in                                                                                      \
           : g->cells[s.left], g->cells[s.right])
        do_write(g, s);
        break;
    case 3:
#pragma omp task final(s.number % 2) mergeable depend(in                                           \
                                                      : g->cells[s.left], g->cells[s.right])       \
    depend(inout                                                                                   \
           : g->cells[s.to])
        do_write(g, s);
        break;
    case 4:
#pragma omp task detach(event) depend(in                                                           \
                                      : g->cells[s.left], g->cells[s.right])                       \
    depend(inout                                                                                   \
           : g->cells[s.to])
        do_write(g, s);
#pragma omp task firstprivate(event)
        omp_fulfill_event(event);
        break;
    default:
#pragma omp task depend(in : g->cells[s.left], g->cells[s.right]) depend(inout : g->cells[s.to])
        do_write(g, s);
    }
}

static void
make_exclude(graph *g, step s)
{
    if (s.left == s.to) {
#pragma omp task depend(mutexinoutset : g->cells[s.to])
        do_exclude(g, s);
    } else if (s.how == 0) {
#pragma omp task if (0) depend(in : g->cells[s.left]) depend(mutexinoutset : g->cells[s.to])
        do_exclude(g, s);
    } else if (s.how < 4 && s.right != s.left) { /* two at once, of which it changes one */
#pragma omp task depend(in                                                                         \
                        : g->cells[s.left]) depend(mutexinoutset                                   \
                                                   : g->cells[s.right], g->cells[s.to])
        do_exclude(g, s);
    } else if (s.how == 4) { /* so it waits for those that it excludes */
#pragma omp task depend(in                                                                         \
                        : g->cells[s.left], g->cells[s.to]) depend(mutexinoutset                   \
                                                                   : g->cells[s.to])
        do_exclude(g, s);
    } else {
#pragma omp task depend(in : g->cells[s.left]) depend(mutexinoutset : g->cells[s.to])
        do_exclude(g, s);
    }
}

#ifndef __clang__
/* As gcc 13 writes what gcc 12 does not know a clause for. */
static omp_depend_t
object_of(void *address, uintptr_t kind)
{
    struct {
        void *address;
        uintptr_t kind;
    } written = {address, kind};
    omp_depend_t object;
    memcpy(&object, &written, sizeof object);
    return object;
}
#endif

static void
make_share(graph *g, step s)
{
#ifdef __clang__
#pragma omp task depend(inoutset : g->cells[s.to])
    do_share(g, s);
#else
    omp_depend_t object = object_of(&g->cells[s.to], 5);
    (void)object;
#pragma omp task depend(depobj : object)
    do_share(g, s);
#endif
}

static void
make_all(graph *g)
{
#ifdef __clang__
#pragma omp task depend(inout : omp_all_memory)
    do_all(g);
#else
    omp_depend_t object = object_of(NULL, 3);
    (void)object;
#pragma omp task depend(depobj : object)
    do_all(g);
#endif
}

static void
make_within(graph *g, step s)
{
#pragma omp task depend(inout : g->cells[s.to]) final(s.how == 1)
    {
        graph inner = graph_begin(seed_within(g, s), g->depth - 1);
        if (s.how == 0) {
#pragma omp parallel num_threads(2)
#pragma omp single
            make(&inner);
        } else if (s.how < 4) {
#pragma omp taskgroup
            make(&inner);
        } else {
            make(&inner);
#pragma omp taskwait
        }
        g->cells[s.to] += result_of(&inner);
    }
}

static void
make_loop(graph *g, step s)
{
    if (s.how < 3) {
#pragma omp taskloop grainsize(3)
        for (int i = 0; i < LINE; i++) {
            do_loop(g, s, i);
        }
    } else if (s.how < 6) {
#pragma omp taskloop num_tasks(s.how) untied priority(2)
        for (int i = LINE - 1; i >= 0; i--) {
            do_loop(g, s, i);
        }
    } else {
#pragma omp taskgroup
#pragma omp taskloop nogroup if (s.how == 6)
        for (int i = 0; i < LINE; i++) {
            do_loop(g, s, i);
        }
    }
}

static void
make_wait(graph *g, step s)
{
    if (s.how == 0) {
#pragma omp taskyield
    }
    if (s.how < 3) {
#pragma omp taskwait
    } else {
#pragma omp taskwait depend(in : g->cells[s.left])
    }
    g->seen[s.number] = g->cells[s.left];
}

static void
make_step(graph *g, step s)
{
    switch (s.kind) {
    case WRITE:
        make_write(g, s);
        break;
    case EXCLUDE:
        make_exclude(g, s);
        break;
    case SHARE:
        make_share(g, s);
        break;
    case READ:
#pragma omp task depend(in : g->cells[s.left], g->cells[s.right])
        do_read(g, s);
        break;
    case WITHIN:
        make_within(g, s);
        break;
    case LOOP:
        make_loop(g, s);
        break;
    case WAIT:
        make_wait(g, s);
        break;
    default:
        make_all(g);
    }
}

static void
make(graph *g)
{
    for (int i = 0; i < steps_of(g); i++) {
        make_step(g, step_of(g, i));
    }
}

static void
graphs_give_what_they_give_in_turn(void **state)
{
    (void)state;
    omp_set_max_active_levels(2);
    for (uint32_t seed = 1; seed <= GRAPHS; seed++) {
        const graph wanted = in_turn(seed, DEPTH);
        graph g = graph_begin(seed, DEPTH);
#pragma omp parallel num_threads(1 + seed % THREADS)
#pragma omp single
        make(&g);
        if (result_of(&g) != result_of(&wanted)) {
            fail_msg("graph %u", seed);
        }
    }
}

/* Of many that read, each sees the writer before them and none the one behind. */
static void
readers_are_between_writers(void **state)
{
    int wrong = 0;
    (void)state;
    for (int round = 0; round < 20; round++) {
        int cell = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        for (int write = 1; write <= 10; write++) {
#pragma omp task depend(out : cell) shared(cell)
            cell = write;
            for (int i = 0; i < 30; i++) {
#pragma omp task depend(in : cell) shared(cell, wrong)
                {
                    bool is_right = cell == write;
#pragma omp atomic
                    wrong += !is_right;
                }
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* The first one that excludes others waits for an event that a later one fulfils. */
static void
tasks_that_exclude_each_other_come_in_any_order(void **state)
{
    int sum = 0;
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        int x = 0, y = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : y)
            y = 1;
            for (int i = 0; i < 20; i++) {
#pragma omp task depend(in : y) depend(mutexinoutset : x)
                x += y;
            }
#pragma omp task firstprivate(event) depend(mutexinoutset : x)
            {
                x += 100;
                omp_fulfill_event(event);
            }
        }
        sum += x;
    }
    assert_int_equal(sum, THREADS * 120);
}

#ifndef __clang__
extern void GOMP_taskwait_depend_nowait(void **depend);

/* taskwait nowait depend(in: a) depend(out: b), as gcc 13 writes it. */
static void
a_wait_may_be_somebody_elses(void **state)
{
    int wrong = 0;
    (void)state;
    for (int round = 0; round < 100; round++) {
        int a = 0, b = 0;
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        {
            void *depend[] = {(void *)2, (void *)1, &b, &a};
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : a) /* leaves it to who fulfils the event */
            b = 1;
            GOMP_taskwait_depend_nowait(depend);
#pragma omp task depend(in : b) shared(wrong)
            wrong += a != 2;
#pragma omp task firstprivate(event)
            {
                a = 2;
                omp_fulfill_event(event);
            }
        }
    }
    assert_int_equal(wrong, 0);
}
#endif

static void
a_wait_is_for_what_it_names(void **state)
{
    int wrong = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        int a = 0, b = 0;
#pragma omp parallel num_threads(THREADS) shared(a, b)
#pragma omp single
        {
#pragma omp task depend(out : a) shared(a)
            a = 1;
#pragma omp task depend(inout : a) shared(a)
            a += 1;
#pragma omp task depend(out : b) shared(b)
            b = 1;
#pragma omp taskwait depend(in : a)
            wrong += a != 2;
        }
        wrong += b != 1;
    }
    assert_int_equal(wrong, 0);
}

static void
objects_and_iterators_name_cells(void **state)
{
    int wrong = 0;
    (void)state;
    for (int round = 0; round < 100; round++) {
        int cells[40] = {0};
        omp_depend_t object;
#pragma omp depobj(object) depend(inout : cells[7])
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        {
            for (int i = 0; i < 40; i++) {
#pragma omp task depend(out : cells[i])
                cells[i] = i;
            }
#pragma omp task depend(depobj : object)
            cells[7] = 100;
#pragma omp task depend(iterator(i = 0 : 40), in : cells[i]) shared(wrong)
            for (int i = 0; i < 40; i++) {
                wrong += cells[i] != (i == 7 ? 100 : i);
            }
        }
#pragma omp depobj(object) destroy
    }
    assert_int_equal(wrong, 0);
}

/* One address each: what is complete is forgotten. */
static void
a_long_run_of_addresses_is_ordered(void **state)
{
    static int cells[20000];
    int wrong = 0;
    (void)state;
    memset(cells, 0, sizeof cells);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 1; i < 20000; i++) {
#pragma omp task depend(in : cells[i - 1]) depend(out : cells[i]) shared(cells)
        cells[i] = cells[i - 1] + 1;
    }
    for (int i = 0; i < 20000; i++) {
        wrong += cells[i] != i;
    }
    assert_int_equal(wrong, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_give_what_they_give_in_turn),
        cmocka_unit_test(readers_are_between_writers),
        cmocka_unit_test(tasks_that_exclude_each_other_come_in_any_order),
#ifndef __clang__
        cmocka_unit_test(a_wait_may_be_somebody_elses),
#endif
        cmocka_unit_test(a_wait_is_for_what_it_names),
        cmocka_unit_test(objects_and_iterators_name_cells),
        cmocka_unit_test(a_long_run_of_addresses_is_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
