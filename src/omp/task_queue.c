/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The queue: the deque of Chase and Lev, of one size. What may run together: the owner's calls, one
 * at a time, with everybody's `steal` and `has`.
 *
 * Linearisation: of a push the store of the bottom; of a steal the compare-and-swap of the top; of
 * a take the store of the bottom, or, for the last task, the compare-and-swap. Why nobody gets what
 * another has: owner and thief meet at the last task only; the owner lowers the bottom, then looks
 * at the top, the thief looks at the top, then at the bottom, all in one order of all (S1): so the
 * thief sees that the bottom is lower, or the owner that this may be the last one; then the
 * compare-and-swap decides. Two thieves' tops are in that order as well, so who stole first does
 * not hide from the owner that a second one is at the last. Numbers go round after 2^32 steals; a
 * thief would have to sleep through all of them, and wake at that very one. Marks do not, since a
 * member's implicit task has one for as long as its team is there.
 *
 * May a task be stolen by who waits? Its ancestors and its group are looked up before it is his,
 * while it may be executed and its memory be another task. If so the top has gone on, and the
 * compare-and-swap fails. Each look is an acquire of what a maker released (L1): whoever sees
 * something of the next task knows that this one was taken. An ancestor may be complete and its
 * memory another task, though the descendant is still there: `life` tells, read behind what it is
 * to vouch for. Then nothing can be told of those before it. The parent of a task that is not
 * complete is there, and so is its group.
 *
 * Progress: push and take are wait-free; a steal fails only when another succeeds.
 * Death: not known here. Model: tests/sim/omp_task_sim.c.
 */
#include "omp/task_queue.h"

static uint32_t
distance(uint32_t from, uint32_t to)
{
    return (int32_t)(to - from) > 0 ? to - from : 0;
}

/* ---- Its owner ------------------------------------------------------------------------------- */

static void
look_at_top(med_task_queue *queue)
{
    /* Relaxed: should a thief of the place's last task read the one that comes there now (A2), he
     * has seen this top as well, and gets neither. */
    uint32_t top = atomic32_load_relaxed(&queue->top);
    queue->top_at += top - queue->top_seen;
    queue->top_seen = top;
}

/* How many are there, at the most, that thieves have left. */
static uint32_t
left_of(med_task_queue *queue, uint32_t bottom)
{
    look_at_top(queue);
    return bottom - queue->top_seen;
}

void
med_task_queue_begin(med_task_queue *queue)
{
    look_at_top(queue);
    med_offer_begin(&queue->offer);
}

bool
med_task_queue_look(med_task_queue *queue, uint32_t bottom, uintptr_t maker)
{
    med_task_offer *offer = &queue->offer;
    if (offer->maker != maker) {
        med_offer_change(offer, maker);
    } else if (offer->alone > 0 &&
               (med_offer_is_unlooked(offer) || med_offer_goes_on(offer, med_port_cpu_ticks()))) {
        return true;
    }
    uint32_t top_seen = queue->top_seen;
    uint32_t left = left_of(queue, bottom);
    return med_offer_taken(offer, left, queue->top_seen - top_seen);
}

bool
med_task_queue_push(med_task_queue *queue, med_task *task)
{
    uint32_t bottom = atomic32_load_relaxed(&queue->bottom); /* relaxed: its own */
    if (bottom - queue->top_seen >= MED_TASK_QUEUE && left_of(queue, bottom) >= MED_TASK_QUEUE) {
        return false;
    }
    /* R2 place filled -> A2 (first_of) */
    atomic_word_store_release(&queue->tasks[bottom % MED_TASK_QUEUE], (uintptr_t)task);
    atomic32_store_release(&queue->bottom, bottom + 1); /* R1 task -> A1 (first_of) */
    return true;
}

/* The last one, which thieves may want. */
static bool
win_last(med_task_queue *queue, uint32_t top)
{
    uint32_t expected = top;
    bool won = atomic32_cas_relaxed(&queue->top, &expected, top + 1); /* relaxed: one of both */
    /* R1 task -> A1 (first_of): whose top is old looks at what was there */
    atomic32_store_release(&queue->bottom, top + 1);
    return won;
}

med_task *
med_task_queue_take(med_task_queue *queue, const med_bound *bound)
{
    /* Relaxed, these two: the bottom is its own, and a top that is old only costs the long way. */
    uint32_t bottom = atomic32_load_relaxed(&queue->bottom);
    uint32_t top = atomic32_load_relaxed(&queue->top);
    if (!distance(top, bottom) || (bound->ancestor && med_task_queue_mark(queue) <= bound->mark)) {
        return NULL;
    }
    bottom--;
    /* S1 bottom, then top <-> S1 (first_of) */
    atomic32_store_seq_cst(&queue->bottom, bottom);
    top = atomic32_load_seq_cst(&queue->top); /* S1 bottom, then top <-> S1 (first_of) */
    if ((int32_t)(bottom - top) < 0) {
        /* R1 task -> A1 (first_of): likewise */
        atomic32_store_release(&queue->bottom, bottom + 1);
        return NULL;
    }
    if (top == queue->top_seen && queue->offer.enough > MED_OFFER_FLOOR) {
        queue->offer.enough--;
    }
    /* Relaxed: its own store. */
    med_task *task = (med_task *)atomic_word_load_relaxed(&queue->tasks[bottom % MED_TASK_QUEUE]);
    return bottom != top || win_last(queue, top) ? task : NULL;
}

/* ---- Everybody ------------------------------------------------------------------------------- */

typedef struct lineage {
    const med_task *parent;
    uint32_t parent_life;
    uint32_t level;
    uint32_t life;
} lineage;

static lineage
lineage_of(const med_task *task)
{
    /* L1 task is another <- L1 (med_task_init, task_inner.h), all of these; `life` is the last one
     * that is read, and the first that is written */
    lineage of;
    of.level = atomic32_load_acquire(&task->level);
    of.parent = (const med_task *)atomic_word_load_acquire(&task->parent);
    of.parent_life = atomic32_load_acquire(&task->parent_life);
    of.life = atomic32_load_acquire(&task->life);
    return of;
}

/* The parent is who asks, or waits for him; or NULL. */
static bool
is_child(const lineage *of, const med_task *parent)
{
    /* Relaxed: as said. */
    return of->parent == parent && parent &&
           of->parent_life == atomic32_load_relaxed(&parent->life);
}

/* As for the ancestor. */
static bool
descends(lineage of, const med_task *ancestor)
{
    uint32_t stop = atomic32_load_relaxed(&ancestor->level) + 1; /* relaxed: likewise */
    while (of.level > stop && of.parent) {
        lineage next = lineage_of(of.parent);
        if (next.life != of.parent_life || next.level + 1 != of.level) {
            return false;
        }
        of = next;
    }
    return of.level == stop && is_child(&of, ancestor);
}

static bool
is_in(const med_task *task, const med_task_group *group)
{
    /* L1 task is another <- L1 (med_task_init, task_inner.h) */
    return group && atomic_word_load_acquire(&task->group) == (uintptr_t)group;
}

bool
med_task_is_allowed(const med_task *task, const med_bound *bound)
{
    if (!bound->ancestor) {
        return true;
    }
    const lineage of = lineage_of(task);
    return is_child(&of, bound->parent) || is_in(task, bound->group) ||
           descends(of, bound->ancestor);
}

/* NULL: there is none, or none that one may have. */
static med_task *
first_of(const med_task_queue *queue, const med_bound *bound, uint32_t *top)
{
    *top = atomic32_load_seq_cst(&queue->top); /* S1 bottom, then top <-> S1 (take) */
    /* S1 bottom, then top <-> S1 (take); A1 task <- R1 (push, take, win_last) */
    uint32_t bottom = atomic32_load_seq_cst(&queue->bottom);
    if (!distance(*top, bottom)) {
        return NULL;
    }
    /* A2 place filled <- R2 (push) */
    med_task *task = (med_task *)atomic_word_load_acquire(&queue->tasks[*top % MED_TASK_QUEUE]);
    return med_task_is_allowed(task, bound) ? task : NULL;
}

med_task *
med_task_queue_steal(med_task_queue *queue, const med_bound *bound)
{
    uint32_t top;
    med_task *task = first_of(queue, bound, &top);
    /* Relaxed: of all who want it one has it. */
    return task && atomic32_cas_relaxed(&queue->top, &top, top + 1) ? task : NULL;
}

bool
med_task_queue_has(const med_task_queue *queue, const med_bound *bound)
{
    uint32_t top;
    return first_of(queue, bound, &top) != NULL;
}
