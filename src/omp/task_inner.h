/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of tasks have in common, and no other file needs. */
#ifndef MEDLEY_OMP_TASK_INNER_H
#define MEDLEY_OMP_TASK_INNER_H

#include "omp/cancel.h"
#include "omp/task.h"
#include "omp/task_queue.h"
#include "omp/team.h"

#ifndef MED_TASK_SLAB
#define MED_TASK_SLAB 63u /* tasks that memory is taken for at a time */
#endif
#define MED_TASK_BYTES 256u
#define MED_TASK_ROOM (MED_TASK_BYTES - sizeof(med_task)) /* for its data, behind it */

typedef struct med_task_slab {
    struct med_task_slab *next;
} med_task_slab;

/* A member's. The first part is its own but for the queue's other end; all may read the counts. */
typedef struct med_tasking {
    med_task_queue queue;
    _Alignas(64) atomic32 made[2]; /* so often, of each second phase */
    atomic32 done[2];              /* likewise: complete */
    _Alignas(64) uint32_t victim;  /* where it stole last */
    uintptr_t phase;               /* in which it made a task last */
    uint32_t puts_seen;            /* into the team's list, when it last looked there in vain */
    med_task *free;
    med_task_group *free_groups;
    med_task_slab *slabs;
    _Alignas(64) atomic_word returned; /* tasks of its slabs, from others */
} med_tasking;

/* ---- Memory: task_pool.c --------------------------------------------------------------------- */

/* The member's own, from its first use on. */
med_tasking *med_tasking_begin(med_member *member);
/* Of one that has made a task. */
static inline med_tasking *
med_tasking_own(const med_member *member)
{
    /* Relaxed: its own store. */
    return (med_tasking *)atomic_word_load_relaxed(&member->tasking);
}
static inline med_tasking *
med_tasking_get(med_member *member)
{
    med_tasking *tasking = med_tasking_own(member);
    return __builtin_expect(tasking != NULL, 1) ? tasking : med_tasking_begin(member);
}
/* Another's; NULL: it has none yet. */
static inline med_tasking *
med_tasking_look(const med_member *member)
{
    /* A1 tasking <- R1 (med_tasking_begin, task_pool.c) */
    return (med_tasking *)atomic_word_load_acquire(&member->tasking);
}

/* For ever; zeroed; given back as a block. */
void *med_task_memory(size_t size_bytes);
/* The same, by who has made a task that nobody knows of yet: where there is none it executes others
 * meanwhile, which give back theirs. */
void *med_task_memory_or_work(med_member *member, size_t size_bytes);

void med_task_give_large(med_task *task);
/* One, and more to take: there are none that it took before. Executes others when there is no
 * memory. */
med_task *med_task_take_more(med_member *member);
static inline med_task *
med_task_take_of(med_member *member, med_tasking *tasking)
{
    med_task *task = tasking->free ? tasking->free : med_task_take_more(member);
    tasking->free = task->next;
    return task;
}
static inline med_task *
med_task_take(med_member *member)
{
    return med_task_take_of(member, med_tasking_get(member));
}
/* By who took it, and nobody else knows it; without data. */
static inline void
med_task_give_bare(med_tasking *tasking, med_task *task)
{
    task->next = tasking->free;
    tasking->free = task;
}
/* The same, with what data it has. */
static inline void
med_task_give_own(med_member *member, med_task *task)
{
    if (task->large) {
        med_task_give_large(task);
    }
    med_task_give_bare(med_tasking_get(member), task);
}
/* By whatever thread. */
void med_task_give(med_member *member, med_task *task);
med_task_group *med_task_group_take(med_member *member);
/* By who took it. */
void med_task_group_give(med_member *member, med_task_group *group);
/* An alignment is a power of two, and a division takes as long as all else of a short task. */
static inline uintptr_t
med_task_aligned(uintptr_t at, size_t align)
{
    return (at + align - 1) & ~(uintptr_t)(align - 1);
}
/* So many bytes that stay with the task, which the member makes just now; likewise. */
void *med_task_data(med_member *member, med_task *task, size_t size, size_t align);

/* ---- The team's list: task_list.c ------------------------------------------------------------ */

void med_task_list_put(med_task_list *list, med_member *member, med_task *task);
/* The one of the highest priority that may be started, the first of several. */
med_task *med_task_list_take(med_task_list *list, med_member *member, const med_bound *bound);

/* ---- Made: task.c ---------------------------------------------------------------------------- */

/* A task from here on, a child of the maker's own. */
static inline void
med_task_init(med_task *task, const med_task *outer, uint32_t flags)
{
    /* L1 task is another -> L1 (task_queue.c), all five; relaxed: its owner's own */
    atomic32_store_release(&task->life, atomic32_load_relaxed(&task->life) + 1);
    atomic32_store_release(&task->parent_life, atomic32_load_relaxed(&outer->life));
    atomic32_store_release(&task->level, atomic32_load_relaxed(&outer->level) + 1);
    atomic_word_store_release(&task->parent, (uintptr_t)outer);
    atomic_word_store_release(&task->group, (uintptr_t)med_task_group_of(outer));
    task->flags = flags | (outer->flags & MED_TASK_FINAL);
    task->left = false;
    task->discarded = false;
    task->phase = outer->phase;
    task->table = NULL;
    task->children.here = 0;
    /* Relaxed: it is not to be seen yet. */
    atomic32_store_relaxed(&task->children.away, 0);
}
/* What a face has made of one that is given up before it is met, and has nothing to destroy. */
void med_task_discard(med_member *member, const med_task_call *call);
/* Nothing that it depends on is left. */
void med_task_ready(med_member *member, med_task *task);

/* ---- Executed: task_run.c, task_here.c ------------------------------------------------------- */

/* Nested so deep an untied task is bound like all others: stacks end. */
#define MED_TASK_UNTIED_DEPTH 64u

/* The member's thread, which was at `outer`, executes the task from here on; */
static inline void
med_task_enter_of(med_member *member,
                  const med_tasking *tasking,
                  const med_task *outer,
                  med_task *task)
{
    task->runner = member;
    task->reach = (med_reach){task, med_task_queue_mark(&tasking->queue)};
    member->task = task;
    member->depth++;
    if (__builtin_expect(task->flags & MED_TASK_UNTIED, 0) &&
        member->depth <= MED_TASK_UNTIED_DEPTH) {
        task->reach = outer->reach;
    }
}
static inline void
med_task_enter(med_member *member, med_task *task, med_task_stand *outer)
{
    outer->task = member->task;
    outer->icv = member->icv;
    med_task_enter_of(member, med_tasking_get(member), member->task, task);
    member->icv = task->icv;
}
/* and again what it was at. */
static inline void
med_task_go_back(med_member *member, const med_task_stand *outer)
{
    member->depth--;
    member->task = outer->task;
    member->icv = outer->icv;
}
/* The runner has nothing more to do with its children. True: nobody has. */
static inline bool
med_task_children_left(med_task *task)
{
    if (med_tally_is_clear(&task->children)) {
        return true;
    }
    task->left = true;
    return med_tally_leave(&task->children);
}

/* By the member that meets it, at once. Blocks until nothing that it depends on is left. */
void med_task_meet_here(med_member *member, const med_task_call *call);

void med_task_execute(med_member *member, med_task *task);
/* What the member has put aside for its depth, in a team of one, where nobody else executes it: */
void med_task_take_up(med_member *member);
/* once it is at its own lines again. */
static inline void
med_task_back(med_member *member)
{
    if (member->put_aside && member->depth == 0) {
        med_task_take_up(member);
    }
}
/* Of a task that detaches, by whoever did the second of both: its lines are executed, and its event
 * is fulfilled. */
void med_task_finish(med_member *member, med_task *task);
/* Likewise; it was discarded, and is complete already: its memory. */
void med_task_release(med_member *member, med_task *task);

/* ---- Groups: task_group.c -------------------------------------------------------------------- */

/* The innermost one, from that on outwards, that somebody may give up. */
static inline med_task_group *
med_task_group_cancellable(const med_task_group *group)
{
    while (group && group->implied) {
        group = group->outer;
    }
    return (med_task_group *)group;
}

/* Is the group given up, or the region, so that tasks that have not begun never do? */
static inline bool
med_task_is_discarded(const med_member *member, const med_task_group *group)
{
    if (__builtin_expect(!member->team->cancels, 1)) {
        return false;
    }
    group = med_task_group_cancellable(group);
    /* Relaxed: a program that needs to know when has to say so. */
    return (group && atomic32_load_relaxed(&group->cancelled)) || med_cancel_region_is(member);
}

/* ---- Events: task_event.c -------------------------------------------------------------------- */

/* Of a task that detaches: what is done. */
#define MED_TASK_HALF_EVENT 1u
#define MED_TASK_HALF_LINES 2u
#define MED_TASK_HALF_DISCARDED 4u /* instead of its lines */

void med_task_event_begin(med_task *task);
/* A half is done. Which the other one was; 0: that is not done yet. */
uint32_t med_task_event_half(med_task *task, uint32_t half);
/* Blocks until the event is fulfilled. */
void med_task_event_wait(med_member *member, med_task *task);
/* The runner is through with one that it has discarded, whatever becomes of the event. */
void med_task_event_forgo(med_member *member, med_task *task);
/* Finishes what threads of other teams have fulfilled. False: there was nothing. */
bool med_task_settle(med_member *member);
static inline bool
med_task_is_fulfilled(const med_team *team)
{
    return atomic_word_load_relaxed(&team->fulfilled) != 0; /* relaxed: who takes them acquires */
}

/* ---- Waiting: task_wait.c -------------------------------------------------------------------- */

typedef struct med_until {
    bool (*is_over)(void *context);
    void *context;
    med_tally *tally; /* NULL; or that of the member's which it turns on */
    bool tells;       /* what it executes may be the last that somebody else waits for */
} med_until;

/* Blocks, executing what the bound allows. */
void med_task_until(med_member *member, const med_until *until, const med_bound *bound);
/* The same, until nothing is left of a tally that the member keeps: of its task's children, or of
 * the group. */
void med_task_await_clear(med_member *member, med_tally *tally, const med_task_group *group);
static inline void
med_task_until_clear(med_member *member, med_tally *tally, const med_task_group *group)
{
    if (!med_tally_is_clear(tally)) { /* often there is nothing to wait for */
        med_task_await_clear(member, tally, group);
    }
}
/* The member's task waits for what it has made, and offers what it makes next. */
static inline void
med_task_offer_again(const med_member *member)
{
    med_tasking *tasking = med_tasking_own(member);
    if (tasking) {
        med_offer_pause(&tasking->queue.offer, med_task_queue_name(member->task));
    }
}
/* What the member's task may start while it waits: for siblings, or for the group. */
static inline med_bound
med_task_bound(const med_member *member, const med_task_group *group)
{
    return (med_bound){.ancestor = member->task->reach.ancestor,
                       .mark = member->task->reach.mark,
                       .parent = member->task,
                       .group = group};
}
/* A task for the member; NULL: there is none. */
med_task *med_task_find(med_member *member, const med_bound *bound);
/* Is there something that it has not put there itself, nor, where not all is allowed, looked at in
 * vain? */
bool med_task_is_offered(const med_member *member, const med_bound *bound);
/* Of all who wait for something of tasks. */
static inline void
med_task_wake(const med_member *member)
{
    med_wait_crowd_wake(&member->barrier->wait, MED_PORT_SCOPE_PROCESS);
}

#endif
