/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The memory of tasks. Each member has its own, made a slab at a time, and never less of it until
 * its team ends: so whoever looks at a task that is over looks at a task still. Who is through with
 * one of another member's gives it back in a list that all such push to, and its owner takes whole.
 */
#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/say.h"
#include "omp/task_depend.h"
#include "omp/task_inner.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Without it there is no way on: a task that is not executed is not what the program means. */
static _Noreturn void
give_up(void)
{
    med_say_fatal("there is no memory for tasks");
}

/* So often somebody looks whether others are through with theirs: for two seconds. */
#define LOOKS_MOST 4000u

void *
med_task_memory(size_t size_bytes)
{
    void *block = med_heap_lend(size_bytes);
    uint32_t pauses = 0;
    for (uint32_t looks = 0; !block && looks < LOOKS_MOST; looks++) {
        med_wait_pause(&pauses);
        block = med_heap_lend(size_bytes);
    }
    if (!block) {
        give_up();
    }
    return block;
}

#define DEPTH_MOST 256u /* of tasks that are executed in one another for that: stacks end */

typedef struct scarcity {
    uint32_t looks;
    uint32_t pauses;
} scarcity;

/* For who is about to make a task, and has no memory for it: one that he may execute meanwhile
 * gives back its own. True: he looks once more. False: that was often enough. */
static bool
another_ends(med_member *member, scarcity *s)
{
    if (s->looks == LOOKS_MOST) {
        return false;
    }
    if (member->depth >= DEPTH_MOST || !med_task_yield(member)) {
        s->looks++;
        med_wait_pause(&s->pauses);
    }
    return true;
}

void *
med_task_memory_or_work(med_member *member, size_t size_bytes)
{
    scarcity s = {.looks = 0};
    void *block;
    while (!(block = med_heap_lend(size_bytes))) {
        if (!another_ends(member, &s)) {
            give_up();
        }
    }
    return block;
}

med_tasking *
med_tasking_begin(med_member *member)
{
    med_tasking *tasking = med_task_memory(sizeof *tasking);
    tasking->victim = member->number + 1;
    med_task_queue_begin(&tasking->queue);
    /* R1 tasking -> A1 (task_inner.h) */
    atomic_word_store_release(&member->tasking, (uintptr_t)tasking);
    return tasking;
}

#define SLAB_HEAD 64u

static med_task *
task_of(med_task_slab *slab, uint32_t index)
{
    return (med_task *)(void *)((unsigned char *)slab + SLAB_HEAD + (size_t)index * MED_TASK_BYTES);
}

static void
slab_put(med_member *member, med_tasking *tasking, med_task_slab *slab)
{
    slab->next = tasking->slabs;
    tasking->slabs = slab;
    for (uint32_t i = 0; i < MED_TASK_SLAB; i++) {
        med_task *task = task_of(slab, i);
        task->maker = member;
        task->next = tasking->free;
        tasking->free = task;
    }
}

med_task *
med_task_take_more(med_member *member)
{
    med_tasking *tasking = med_tasking_get(member);
    scarcity s = {.looks = 0};
    do {
        /* A1 given back <- R1 (med_task_give) */
        tasking->free = (med_task *)atomic_word_exchange_acquire(&tasking->returned, 0);
        if (!tasking->free) {
            med_task_slab *slab = med_heap_lend(SLAB_HEAD + MED_TASK_SLAB * MED_TASK_BYTES);
            if (slab) {
                slab_put(member, tasking, slab);
            }
        }
    } while (!tasking->free && another_ends(member, &s) && !tasking->free);
    if (!tasking->free) {
        give_up();
    }
    return tasking->free;
}

void
med_task_give_large(med_task *task)
{
    med_heap_take_back(task->large);
    task->large = NULL;
}

static void
give_to_other(med_tasking *tasking, med_task *task)
{
    /* Relaxed: the compare-and-swap checks it, and nobody looks behind it. */
    uintptr_t first = atomic_word_load_relaxed(&tasking->returned);
    do {
        task->next = (med_task *)first;
        /* R1 given back -> A1 (med_task_take_more) */
    } while (!atomic_word_cas_release(&tasking->returned, &first, (uintptr_t)task));
}

void
med_task_give(med_member *member, med_task *task)
{
    if ((task->flags & MED_TASK_DEPENDS) && !med_depend_drop(task)) {
        return;
    }
    if (task->maker == member) {
        med_task_give_own(member, task);
    } else {
        if (task->large) {
            med_task_give_large(task);
        }
        give_to_other(med_tasking_look(task->maker), task);
    }
}

med_task_group *
med_task_group_take(med_member *member)
{
    med_tasking *tasking = med_tasking_get(member);
    med_task_group *group = tasking->free_groups;
    if (!group) {
        return med_task_memory(sizeof *group);
    }
    tasking->free_groups = group->outer;
    return group;
}

void
med_task_group_give(med_member *member, med_task_group *group)
{
    med_tasking *tasking = med_tasking_get(member);
    group->outer = tasking->free_groups;
    tasking->free_groups = group;
}

static void *
large_take(med_member *member, size_t size_bytes)
{
    scarcity s = {.looks = 0};
    void *large = med_heap_lend(size_bytes);
    while (!large && another_ends(member, &s)) {
        large = med_heap_lend(size_bytes);
    }
    if (!large) {
        give_up();
    }
    return large;
}

void *
med_task_data(med_member *member, med_task *task, size_t size, size_t align)
{
    uintptr_t room = (uintptr_t)(task + 1);
    uintptr_t data = med_task_aligned(room, align);
    if (size + (data - room) > MED_TASK_ROOM) {
        task->large = large_take(member, size + align);
        data = med_task_aligned((uintptr_t)task->large, align);
    }
    return (void *)data;
}

void
med_tasking_destroy(med_tasking *tasking)
{
    if (!tasking) {
        return;
    }
    while (tasking->slabs) {
        med_task_slab *slab = tasking->slabs;
        tasking->slabs = slab->next;
        for (uint32_t i = 0; i < MED_TASK_SLAB; i++) {
            med_depend_destroy(task_of(slab, i)->after);
            med_heap_take_back(task_of(slab, i)->ompt);
        }
        med_heap_take_back(slab);
    }
    while (tasking->free_groups) {
        med_task_group *group = tasking->free_groups;
        tasking->free_groups = group->outer;
        med_heap_take_back(group);
    }
    med_heap_take_back(tasking);
}
