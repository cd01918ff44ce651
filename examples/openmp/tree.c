/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A tree that nobody knows before he is there: a node has none to four children, by a hash of its
 * name, so subtrees are as unlike as can be. A node is a task, which waits for its children.
 */
#include "program.h"

typedef struct totals {
    long nodes, leaves;
    uint64_t names; /* their sum */
} totals;

static const int depths[] = {15, 18, 21};

static int depth;
static totals found;

/* splitmix64's finisher: every bit of the name depends on every bit of it. */
static uint64_t
child_name(uint64_t name, int child)
{
    uint64_t h = name + (uint64_t)(child + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

/* Two on average; the root has four. */
static int
children_of(uint64_t name, int level)
{
    return level == depth ? 0 : level == 0 ? 4 : (int)(name % 5);
}

static void
totals_add(totals *sum, const totals *more)
{
    sum->nodes += more->nodes;
    sum->leaves += more->leaves;
    sum->names += more->names;
}

static void
count_serial(uint64_t name, int level, totals *sum)
{
    int children = children_of(name, level);
    *sum = (totals){1, children == 0, name};
    for (int i = 0; i < children; i++) {
        totals below;
        count_serial(child_name(name, i), level + 1, &below);
        totals_add(sum, &below);
    }
}

static void
count_by_tasks(uint64_t name, int level, totals *sum)
{
    int children = children_of(name, level);
    totals below[4];
    for (int i = 0; i < children; i++) {
#pragma omp task shared(below) firstprivate(i, name, level)
        count_by_tasks(child_name(name, i), level + 1, &below[i]);
    }
    *sum = (totals){1, children == 0, name};
#pragma omp taskwait
    for (int i = 0; i < children; i++)
        totals_add(sum, &below[i]);
}

static void
run(void)
{
#pragma omp parallel
#pragma omp single
    count_by_tasks(1, 0, &found);
}

int
main(int argc, char **argv)
{
    static const program_about about = {"tree", "a tree of unlike subtrees, a task for each node",
                                        "levels", 1, 30};
    program tree = program_begin(&about, argc, argv);
    totals serial;
    depth = tree.class == PROGRAM_NO_CLASS ? (int)tree.number : depths[tree.class];
    for (int i = 0; i < tree.repeat; i++) {
        program_run_begin(&tree);
        run();
        program_run_end(&tree);
    }
    count_serial(1, 0, &serial);
    bool right =
        found.nodes == serial.nodes && found.leaves == serial.leaves && found.names == serial.names;
    return program_end(&tree, right, "%ld nodes, %ld leaves; serially %ld, %ld; sums of names, too",
                       found.nodes, found.leaves, serial.nodes, serial.leaves);
}
