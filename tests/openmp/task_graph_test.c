/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dependences: random graphs of tasks that read and change cells, in regions of all sizes, give
 * what the same tasks give one after the other; and what else waits for dependences. */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/unit.h"

#define GRAPHS 1000
#define CELLS 12
#define TASKS 60
#define THREADS 4

/* cells[to] becomes of what it was and of two others. */
typedef struct step {
    int to, left, right;
} step;

static uint32_t seed = 1;

static int
some(int count)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)count);
}

static void
execute(uint64_t *cells, step s, uint64_t number)
{
    cells[s.to] = cells[s.to] * 31 + cells[s.left] * 7 + cells[s.right] + number;
}

static void
make(uint64_t *cells, const step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        step s = steps[i];
        if (s.to % 3 == 0) {
#pragma omp task depend(in : cells[s.left], cells[s.right]) depend(inout : cells[s.to])
            execute(cells, s, (uint64_t)i);
        } else if (i % 17 == 3) {
#pragma omp task if (0) depend(in : cells[s.left], cells[s.right]) depend(out : cells[s.to])
            execute(cells, s, (uint64_t)i);
        } else {
#pragma omp task depend(in                                                                         \
                        : cells[s.left]) depend(in                                                 \
                                                : cells[s.right]) depend(mutexinoutset             \
                                                                         : cells[s.to])
            execute(cells, s, (uint64_t)i);
        }
    }
}

static void
graphs_give_what_they_give_in_turn(void **state)
{
    (void)state;
    for (int graph = 0; graph < GRAPHS; graph++) {
        step steps[TASKS];
        uint64_t cells[CELLS], wanted[CELLS];
        int count = 1 + some(TASKS);
        for (int i = 0; i < CELLS; i++) {
            cells[i] = wanted[i] = (uint64_t)some(1000);
        }
        for (int i = 0; i < count; i++) {
            steps[i] = (step){some(CELLS), some(CELLS), some(CELLS)};
            execute(wanted, steps[i], (uint64_t)i);
        }
#pragma omp parallel num_threads(1 + graph % THREADS)
#pragma omp single
        if (graph % 2) {
            make(cells, steps, count);
        } else {
#pragma omp task
            make(cells, steps, count);
        }
        assert_memory_equal(cells, wanted, sizeof cells);
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
        cmocka_unit_test(a_wait_is_for_what_it_names),
        cmocka_unit_test(objects_and_iterators_name_cells),
        cmocka_unit_test(a_long_run_of_addresses_is_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
