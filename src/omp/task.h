/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Explicit tasks: made, executed, waited for. docs/design/openmp-tasks.md.
 *
 * Words:
 *   runner     the member that executes a task, from its first to its last line: all are tied
 *   complete   its lines are executed
 *   tally      how many are not complete of those that somebody waits for: task_tally.h
 *   bound      what a member may start while a task of its own waits: that task's descendants, as
 *              far as they can be told, and in any case what it waits for
 *   phase      from one barrier of the team to the next. A barrier ends when the tasks of its phase
 *              are complete, whatever those who are through with it do already
 */
#ifndef MEDLEY_OMP_TASK_H
#define MEDLEY_OMP_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "omp/icv.h"
#include "omp/task_reduction.h"
#include "omp/task_tally.h"

struct med_member;
struct med_team;
struct med_task_depend;
struct med_task_table;

typedef struct med_task_group {
    med_tally tally;
    struct med_member *keeper; /* who started it, and waits at its end */
    atomic32 cancelled;
    bool implied; /* by a region or a construct that reduces: nobody cancels it for itself */
    struct med_task_group *outer;
    med_reductions reductions;
} med_task_group;

typedef enum med_task_flag {
    /* The first three as gcc has them. */
    MED_TASK_UNTIED = 1,
    MED_TASK_FINAL = 2,
    MED_TASK_MERGEABLE = 4,    /* says the program; nothing comes of it */
    MED_TASK_DEPENDS = 8,      /* `after` is used */
    MED_TASK_DETACHES = 16,    /* it is complete when its event is fulfilled as well */
    MED_TASK_COPIED = 32,      /* by the compiler's function: its lines destroy what that made */
    MED_TASK_EXCLUDES = 64,    /* siblings: task_exclude.h */
    MED_TASK_UNDEFERRED = 128, /* who meets it executes it, before anything else */
} med_task_flag;

struct med_task;

/* What a member may start while a task of its own waits: the descendants of that. Of what is in the
 * member's own queue those are the ones above the mark. */
typedef struct med_reach {
    const struct med_task *ancestor;
    uint64_t mark;
} med_reach;

typedef struct med_task {
    /* Who looks whether he may steal it reads these five, perhaps of another task already. */
    _Alignas(32) atomic_word parent;
    atomic32 parent_life;
    atomic32 level;    /* so many ancestors */
    atomic32 life;     /* how often the memory became a task */
    uint32_t flags;    /* not this one */
    atomic_word group; /* the innermost that it is in; or NULL: med_task_group_of */

    bool left;                /* the runner's: it has executed all of it */
    bool discarded;           /* the runner's: given up before its lines began */
    struct med_member *maker; /* whose memory it is */
    struct med_member *runner;
    void (*entry)(void *data);
    void *data;
    const med_icv *icv;
    uintptr_t phase;
    med_tally children;
    struct med_task *next;         /* in the list of free ones */
    void *large;                   /* from the heap, where `room` is too small for its data */
    struct med_task_depend *after; /* what it depends on, and what on it; or NULL */
    struct med_task_table *table;  /* what its children depend on; or NULL */
    int32_t priority;
    atomic32 halves; /* of one that detaches: those that are done, MED_TASK_HALF_... */
    union {
        struct {
            struct med_task *ahead; /* in the team's list: */
            struct med_task *behind;
        };
        med_reach reach; /* executed: the runner's */
    };
    struct med_ompt_task *ompt; /* what a tool is told of it; or NULL: kept with the memory */
} med_task;

static inline med_task_group *
med_task_group_of(const med_task *task)
{
    /* Relaxed: whoever has the task has seen who made it, and its runner alone changes it. */
    return (med_task_group *)atomic_word_load_relaxed(&task->group);
}

/* What a member may start: all that its team has, or a reach. An ancestor is not always known for
 * one (task_queue.h); a parent is, and so is the group. */
typedef struct med_bound {
    const med_task *ancestor; /* NULL: all */
    uint64_t mark;
    const med_task *parent;      /* NULL; or whose children are allowed as well; */
    const med_task_group *group; /* NULL; or the group all of which is */
} med_bound;

/* Of a team, by priority: task_list.c. */
typedef struct med_task_list {
    med_lock lock;
    atomic32 count;
    atomic32 puts; /* so many ever */
    med_task *first;
    med_task *last;
} med_task_list;

/* What a member has for tasks, from its first one on. */
struct med_tasking;

typedef enum med_depend_kind {
    MED_DEPEND_IN = 1,
    MED_DEPEND_OUT = 2,   /* and inout */
    MED_DEPEND_MUTEX = 4, /* mutexinoutset */
    MED_DEPEND_SET = 5,   /* inoutset */
    MED_DEPEND_ALL = 6,   /* out, of whatever its siblings name: omp_all_memory */
} med_depend_kind;

typedef struct med_dependence {
    uintptr_t address;
    med_depend_kind kind;
} med_dependence;

/* As a face has it from the compiler. */
typedef struct med_task_call {
    void (*entry)(void *data);
    void *data;
    void (*copy)(void *to, void *from); /* NULL: bytes are enough */
    size_t size;
    size_t align;
    uint32_t flags;
    int32_t priority;
    const med_dependence *depends; /* so many */
    size_t depend_count;
    uintptr_t *event; /* of one that detaches: what fulfils it, said before `prepare` is called */
    /* NULL; or changes what the task has of the data. */
    void (*prepare)(void *data, const void *context);
    const void *context;
    /* NULL; or of med_task_make, its data filled in: nothing is said of them here. */
    med_task *made;
} med_task_call;

/* What a member goes back to when a task is over. */
typedef struct med_task_stand {
    med_task *task;
    const med_icv *icv;
    med_icv own_icv;
} med_task_stand;

/* ---- For faces ------------------------------------------------------------------------------- */

void med_task_meet(struct med_member *member, const med_task_call *call);
/* Nested so deep no task is executed where it is met, but those that have to be: each may make the
 * next one. */
#define MED_TASK_DEPTH 128u
/* Would one that the member met now be executed at once, since its queue has enough of them, or
 * nobody else is there? */
bool med_task_is_plenty(struct med_member *member);
/* One that will be met, or thrown away, with room for its data: task->data. */
med_task *med_task_make(struct med_member *member, size_t size, size_t align);
void med_task_throw(struct med_member *member, med_task *made);
/* Such a one will detach, as its call is to say again: what fulfils it, from now on. */
uintptr_t med_task_detach(med_task *made);
/* The same in two halves, of one that the caller executes between them. */
void med_task_begin(struct med_member *member, const med_task_call *call, med_task_stand *outer);
void med_task_end(struct med_member *member, const med_task_stand *outer);
/* Blocks until the children of the member's task are complete. */
void med_task_wait(struct med_member *member);
/* Until those are that a task of these dependences would wait for. */
void med_task_wait_depend(struct med_member *member, const med_dependence *depends, size_t count);
/* Executes another task, if there is one that may be started: true. */
bool med_task_yield(struct med_member *member);
/* Once for each event, by whatever thread; of one that was given up as long as its team stands. */
void med_task_fulfil(uintptr_t event);

/* The same for all tasks made between the two, and for those that these made. */
void med_task_group_begin(struct med_member *member);
/* Of what is no task group itself: cancelled with the one around it. */
void med_task_group_begin_implied(struct med_member *member);
void med_task_group_end(struct med_member *member);
/* Of the innermost group that the member's task is in: those that have not begun never do. Where
 * OMP_CANCELLATION is true only, as all that is given up. */
void med_task_group_cancel(struct med_member *member);
/* Or the region that it is in. */
bool med_task_group_is_cancelled(const struct med_member *member);

/* Phases begin with MED_TASK_PHASE_FIRST; who has none has this. */
#define MED_TASK_PHASE_NONE 1u
#define MED_TASK_PHASE_FIRST 2u

/* ---- For teams ------------------------------------------------------------------------------- */

/* Were there tasks in the member's phase? Nobody's answer changes once all have come to its end. */
bool med_task_any(const struct med_member *member);
/* For med_barrier_await: is there a task that the member, at a barrier, may execute? */
bool med_task_calls(void *member);
/* Executes such tasks until it finds none, its own as well: who waits elsewhere may wait for them,
 * and not be allowed to steal them. */
void med_task_help(struct med_member *member);
/* Blocks, executing tasks, until those of the member's phase are complete. All have come. */
void med_task_drain(struct med_member *member);
/* The team's threads, at their gates, are done with it: by its first member, behind a drain. */
void med_task_dismiss(struct med_member *first);
/* Blocks, executing tasks, until that. */
void med_task_serve(struct med_member *member);
/* Blocks until no thread of another team is about to fulfil an event of this one. */
void med_task_await_visitors(struct med_team *team);
/* The member ends. */
void med_tasking_destroy(struct med_tasking *tasking);

#endif
