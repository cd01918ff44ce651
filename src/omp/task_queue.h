/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A member's tasks that wait to be executed. It puts them in and takes them out at one end, the
 * last one first; others steal at the other, the first one first.
 */
#ifndef MEDLEY_OMP_TASK_QUEUE_H
#define MEDLEY_OMP_TASK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "omp/task.h"
#include "omp/task_offer.h"

typedef struct med_task_queue {
    _Alignas(64) atomic32 top;    /* the first one's place */
    _Alignas(64) atomic32 bottom; /* behind the last one's; its owner writes it */
    /* The owner's, which nobody else reads: the top, no further than it is; */
    _Alignas(64) uint32_t top_seen;
    uint64_t top_at; /* that, as a number that does not go round; */
    med_task_offer offer;
    _Alignas(64) atomic_word tasks[MED_TASK_QUEUE];
} med_task_queue;

/* Its owner only, these. False: it is full. */
bool med_task_queue_push(med_task_queue *queue, med_task *task);
/* The last one; NULL: there is none that the bound allows. */
med_task *med_task_queue_take(med_task_queue *queue, const med_bound *bound);
/* What others took before tells nothing any more. */
void med_task_queue_begin(med_task_queue *queue);
#define MED_PHASE_SHIFT (sizeof(uintptr_t) * 5) /* above what addresses and lives take */
/* One and no other, in one phase; a guess. */
static inline uintptr_t
med_task_queue_name(const med_task *maker)
{
    /* Relaxed: its runner asks. */
    return (uintptr_t)maker + atomic32_load_relaxed(&maker->life) +
           (maker->phase << MED_PHASE_SHIFT);
}

/* It has so many that others will not miss one that is executed instead of put in, of those that
 * this task makes. */
bool med_task_queue_look(med_task_queue *queue, uint32_t bottom, uintptr_t maker);
static inline bool
med_task_queue_has_enough(med_task_queue *queue, const med_task *maker)
{
    med_task_offer *offer = &queue->offer;
    /* Relaxed, both: the owner's own; a top that is old is looked at again when there is less. */
    uint32_t bottom = atomic32_load_relaxed(&queue->bottom);
    if (bottom - queue->top_seen < offer->enough) {
        return false;
    }
    if (atomic32_load_relaxed(&queue->top) != queue->top_seen || offer->alone > 0) {
        return med_task_queue_look(queue, bottom, med_task_queue_name(maker));
    }
    med_offer_untouched(offer, med_task_queue_name(maker));
    return true;
}
/* What stands below it now was there before all that is to come. */
static inline uint64_t
med_task_queue_mark(const med_task_queue *queue)
{
    /* Relaxed: the owner's own; it is never below a top that has been seen. */
    return queue->top_at + (atomic32_load_relaxed(&queue->bottom) - queue->top_seen);
}

/* Anybody, both. The first one; NULL: there is none, it is not allowed, or somebody else was
 * quicker. */
med_task *med_task_queue_steal(med_task_queue *queue, const med_bound *bound);
/* Would that be worth a try? */
bool med_task_queue_has(const med_task_queue *queue, const med_bound *bound);

/* Of a task that cannot go away meanwhile. Where several ancestors in a row are complete, the first
 * of them may be forgotten, and those before them with it. */
bool med_task_is_allowed(const med_task *task, const med_bound *bound);

#endif
