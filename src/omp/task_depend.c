/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dependences. Only the task that makes them asks which of its children a new one has to wait for:
 * task_table.h.
 *
 * What others change: the list of those that wait for a task, which its completion closes, and the
 * count of those that a task waits for. What may run together: `add` of one task, by its maker,
 * with `release` of all those that it depends on. The maker counts an edge before it puts it into
 * the list, and itself until it has put in all; so the count comes to nothing once, by whoever is
 * last. Edges are in the memory of the task that waits: read before it is counted down.
 *
 * A task that nothing is left of excludes others then, or waits until it does: task_exclude.h.
 */
#include "omp/task_depend.h"

#include "mrapi/heap_lent.h"
#include "omp/task_exclude.h"
#include "omp/task_inner.h"
#include "omp/task_table.h"

/* ---- Edges ----------------------------------------------------------------------------------- */

static med_edge *
new_edge(med_task *task)
{
    med_edges *first = &task->after->edges;
    med_edges *of = first->more ? first->more : first;
    if (of->used == MED_DEPEND_EDGES) {
        of = med_task_memory(sizeof *of);
        of->more = first->more;
        first->more = of;
    }
    return &of->list[of->used++];
}

/* The task waits for the other one, should that not be complete. */
static void
wait_for(med_task *task, med_task *other)
{
    atomic_word *list = &other->after->dependents;
    if (other == task || med_depend_is_complete(other)) {
        return;
    }
    med_ompt_task_waits(task, other);
    med_edge *e = new_edge(task);
    e->task = task;
    /* Relaxed: its maker counts as well, until all edges are in. */
    (void)atomic32_fetch_add_relaxed(&task->after->blockers, 1);
    uintptr_t first = atomic_word_load_relaxed(list); /* relaxed: the compare-and-swap checks it */
    do {
        if (first == MED_DEPEND_CLOSED) {
            (void)med_depend_is_complete(other); /* what it did is seen */
            /* Relaxed: as above. */
            (void)atomic32_fetch_add_relaxed(&task->after->blockers, 0u - 1u);
            return;
        }
        e->next = (med_edge *)first;
        /* R2 edge -> A2 (med_depend_release) */
    } while (!atomic_word_cas_release(list, &first, (uintptr_t)e));
}

/* One less that the task waits for; how many are left. */
static uint32_t
unblock(med_task *task)
{
    /* A3 through with it <- R3 (unblock); R3 through with it -> A3 (unblock) */
    return atomic32_fetch_add_acq_rel(&task->after->blockers, 0u - 1u) - 1;
}

/* Nothing is left that it waits for. False: but for those that it excludes. */
static bool
may_run(med_task *task)
{
    return !(task->flags & MED_TASK_EXCLUDES) || med_exclusions_take(task);
}

void
med_depend_release(med_member *member, med_task *task)
{
    if (task->flags & MED_TASK_EXCLUDES) {
        med_exclusions_give(member, task);
    }
    /* A2 edge <- R2 (wait_for); R1 complete -> A1 (med_depend_is_complete) */
    uintptr_t list = atomic_word_exchange_acq_rel(&task->after->dependents, MED_DEPEND_CLOSED);
    med_edge *e = (med_edge *)list;
    while (e) {
        med_edge *next = e->next;
        med_task *waits = e->task;
        uint32_t left = unblock(waits);
        if (left == 0) {
            if (may_run(waits)) {
                med_task_ready(member, waits);
            }
        } else if (left == 1) {
            med_task_wake(member); /* its maker may be the one who waits */
        }
        e = next;
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void
after_begin(med_member *member, med_task *task)
{
    if (!task->after) {
        task->after = med_task_memory_or_work(member, sizeof *task->after);
    }
    /* Relaxed, these three: nobody else has it yet. */
    atomic_word_store_relaxed(&task->after->dependents, 0);
    atomic32_store_relaxed(&task->after->blockers, 1);
    atomic32_store_relaxed(&task->after->holds, 1);
    task->flags |= MED_TASK_DEPENDS;
}

static void
edges_give(med_edges *of)
{
    while (of->more) {
        med_edges *more = of->more;
        of->more = more->more;
        med_heap_take_back(more);
    }
    of->used = 0;
}

bool
med_depend_drop(med_task *task)
{
    /* A4 over <- R4 (med_depend_drop); R4 over -> A4 (med_depend_drop) */
    if (atomic32_fetch_add_acq_rel(&task->after->holds, 0u - 1u) != 1) {
        return false;
    }
    edges_give(&task->after->edges);
    return true;
}

void
med_depend_destroy(med_task_depend *after)
{
    if (after) {
        edges_give(&after->edges);
        med_exclusions_destroy(after->exclusions);
        med_heap_take_back(after);
    }
}

/* ---- A task ---------------------------------------------------------------------------------- */

void
med_depend_behind(med_task *task, med_task *const *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        wait_for(task, others[i]);
    }
}

bool
med_depend_add(med_member *member, med_task *task, const med_task_call *call)
{
    after_begin(member, task);
    med_table_put(member, task, call->depends, call->depend_count);
    return unblock(task) == 0 && may_run(task);
}

bool
med_depend_is_clear(const med_member *member, const med_task_call *call)
{
    const struct med_task_table *table = member->task->table;
    return !table || med_table_is_clear(table, call->depends, call->depend_count);
}

static bool
is_unblocked(void *context)
{
    const med_task *task = context;
    /* A3 through with it <- R3 (unblock) */
    return atomic32_load_acquire(&task->after->blockers) == 1;
}

void
med_task_wait_depend(med_member *member, const med_dependence *depends, size_t count)
{
    const struct med_task_table *table = member->task->table;
    med_task_offer_again(member);
    if (!table || med_table_is_clear(table, depends, count)) {
        return;
    }
    med_task *waits = med_task_take(member);
    waits->flags = 0;
    med_ompt_task_hide(waits);
    after_begin(member, waits);
    for (size_t i = 0; i < count; i++) {
        med_table_look(table, waits, &depends[i]);
    }
    const med_until until = {.is_over = is_unblocked, .context = waits};
    const med_bound bound = med_task_bound(member, NULL);
    med_task_until(member, &until, &bound);
    med_task_give(member, waits);
}
