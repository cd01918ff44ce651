/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Exclusions. What may run together: taking, by whoever makes a task ready, and giving, by whoever
 * completes one, of all tasks.
 *
 * Nobody waits here, and no member has an exclusion, but tasks: one that has to wait for it is put
 * into its list, and who gives it back hands it to the one that has waited longest, and goes on for
 * that. Why all of them run at last: a task takes its exclusions in the order of their addresses,
 * so the one that has the last of all that are taken waits for none; and what has all of its own is
 * ready, and stands in some queue like any other.
 *
 * Linearisation: the compare-and-swap of the word, or the exchange of its list. Whoever has an
 * exclusion has the tasks that were taken out of its list, too.
 *
 * Progress: lock-free. Model: tests/sim/omp_depend_sim.c.
 */
#include "omp/task_exclude.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/task_depend.h"
#include "omp/task_inner.h"

struct med_exclusion {
    atomic_word word;  /* FREE, TAKEN, or taken, and the last one that has come to wait */
    med_task *waiting; /* his who has it: those that wait for longer, the longest first */
    atomic32 holds;    /* of its memory: by its address, by tasks */
};
#define FREE ((uintptr_t)0)
#define TAKEN ((uintptr_t)1)

struct med_exclusions {
    uint32_t count;
    uint32_t room;
    uint32_t had; /* so many of them, the first */
    med_exclusion *list[];
};
#define LIST_FIRST 4u

/* ---- Named ----------------------------------------------------------------------------------- */

static med_exclusions *
make_room(med_exclusions *of)
{
    if (of && of->count < of->room) {
        return of;
    }
    uint32_t room = of ? of->room * 2 : LIST_FIRST;
    med_exclusions *larger = med_task_memory(sizeof *larger + room * sizeof(med_exclusion *));
    if (of) {
        memcpy(larger, of, sizeof *of + of->count * sizeof(med_exclusion *));
        med_heap_take_back(of);
    }
    larger->room = room;
    return larger;
}

void
med_exclusions_add(med_task *task, med_exclusion **one)
{
    if (!*one) {
        *one = med_task_memory(sizeof **one);
        atomic32_store_relaxed(&(*one)->holds, 1); /* relaxed: nobody else has it yet */
    }
    /* Relaxed: the address has it as well. */
    (void)atomic32_fetch_add_relaxed(&(*one)->holds, 1);
    med_exclusions *of = make_room(task->after->exclusions);
    uint32_t at = of->count++;
    for (; at > 0 && of->list[at - 1] > *one; at--) {
        of->list[at] = of->list[at - 1];
    }
    of->list[at] = *one;
    task->after->exclusions = of;
    task->flags |= MED_TASK_EXCLUDES;
}

void
med_exclusion_drop(med_exclusion *one)
{
    /* A3 over <- R3 (med_exclusion_drop); R3 over -> A3 (med_exclusion_drop) */
    if (one && atomic32_fetch_add_acq_rel(&one->holds, 0u - 1u) == 1) {
        med_heap_take_back(one);
    }
}

void
med_exclusions_destroy(med_exclusions *of)
{
    med_heap_take_back(of);
}

/* ---- Taken ----------------------------------------------------------------------------------- */

/* False: it waits, and is not the caller's any more. */
static bool
take(med_exclusion *one, med_task *task)
{
    uintptr_t seen = atomic_word_load_relaxed(&one->word); /* relaxed: both below check it */
    for (;;) {
        if (seen == FREE) {
            /* A1 given back <- R1 (give) */
            if (atomic_word_cas_acquire(&one->word, &seen, TAKEN)) {
                return true;
            }
        } else {
            task->next = seen == TAKEN ? NULL : (med_task *)seen;
            /* R2 waits -> A2 (give) */
            if (atomic_word_cas_release(&one->word, &seen, (uintptr_t)task)) {
                return false;
            }
        }
    }
}

bool
med_exclusions_take(med_task *task)
{
    med_exclusions *of = task->after->exclusions;
    while (of->had < of->count) {
        if (!take(of->list[of->had], task)) {
            return false;
        }
        of->had++;
    }
    return true;
}

/* ---- Given back ------------------------------------------------------------------------------ */

static med_task *
reversed(med_task *list)
{
    med_task *last = NULL;
    while (list) {
        med_task *next = list->next;
        list->next = last;
        last = list;
        list = next;
    }
    return last;
}

/* The task that has it now; NULL: none. */
static med_task *
give(med_exclusion *one)
{
    if (!one->waiting) {
        uintptr_t taken = TAKEN;
        if (atomic_word_cas_release(&one->word, &taken, FREE)) { /* R1 given back -> A1 (take) */
            return NULL;
        }
        /* A2 waits <- R2 (take) */
        one->waiting = reversed((med_task *)atomic_word_exchange_acquire(&one->word, TAKEN));
    }
    med_task *next = one->waiting;
    one->waiting = next->next;
    return next;
}

void
med_exclusions_give(med_member *member, med_task *task)
{
    med_exclusions *of = task->after->exclusions;
    for (uint32_t i = 0; i < of->count; i++) {
        med_task *next = give(of->list[i]);
        if (next) {
            next->after->exclusions->had++;
            if (med_exclusions_take(next)) {
                med_task_ready(member, next);
            }
        }
        med_exclusion_drop(of->list[i]);
    }
    of->count = 0;
    of->had = 0;
}
