/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a tool that watches the program is told (OMPT: OpenMP 5.0, section 4), as the rest of
 * src/omp sees it: one line where something happens.
 *
 * Without a tool each is a look at one word, which nobody writes, and a branch that is not taken:
 * at a word of all, or, where the member is at hand that is told of, at whether a tool knows it.
 * There are two shapes. An event is told where it happens:
 *
 *     med_ompt_work_begin(member);
 *
 * What begins and ends has a function of its own in the files of tools, which calls the plain one
 * in between; faces choose (told.h).
 *
 * A face says where the program called it, as it asks who calls: MED_CALLED, or by what told.h has.
 * That stands with the task until the event is told.
 *
 * docs/design/openmp-faces.md; ompt_inner.h has what is kept for a tool.
 */
#ifndef MEDLEY_OMP_OMPT_H
#define MEDLEY_OMP_OMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"

struct med_loop;
struct med_member;
struct med_nest_lock;
struct med_span;
struct med_task;
struct med_task_call;
struct med_team;

/* Not 0: there is a tool; or nobody has looked for one yet. */
extern __attribute__((visibility("hidden"))) atomic32 med_ompt_word;

static inline bool
med_ompt_is_on(void)
{
    /* Relaxed: which events a tool is told that comes or goes just now is nobody's promise. */
    return __builtin_expect(atomic32_load_relaxed(&med_ompt_word) != 0, 0);
}

/* Of what is called with a tool only: it stands apart from the rest. */
#define MED_OMPT_TOLD __attribute__((cold))

/* name(arguments): an event. The function that tells of it is name_told. */
#define MED_OMPT_EVENT(name, parameters, arguments)                                                \
    MED_OMPT_TOLD void name##_told parameters;                                                     \
    static inline void name parameters                                                             \
    {                                                                                              \
        if (med_ompt_is_on()) {                                                                    \
            name##_told arguments;                                                                 \
        }                                                                                          \
    }

/* ---- Where the program called ---------------------------------------------------------------- */

/* What a construct is, where the faces alone know it; numbers of omp-tools.h. */
typedef enum med_ompt_kind {
    MED_OMPT_PLAIN = 0,
    MED_OMPT_LOCK = 1,
    MED_OMPT_TEST_LOCK = 2,
    MED_OMPT_NEST_LOCK = 3,
    MED_OMPT_TEST_NEST_LOCK = 4,
    MED_OMPT_CRITICAL = 5,
    MED_OMPT_ATOMIC = 6,
    MED_OMPT_ORDERED = 7,
    MED_OMPT_BARRIER_EXPLICIT = 3,
    MED_OMPT_BARRIER_IMPLEMENTATION = 4,
    MED_OMPT_BARRIER_IMPLICIT = 2,
} med_ompt_kind;

/* As ompt_cancel_flag_t. */
typedef enum med_ompt_cancel_flag {
    MED_OMPT_CANCEL_PARALLEL = 0x01,
    MED_OMPT_CANCEL_SECTIONS = 0x02,
    MED_OMPT_CANCEL_LOOP = 0x04,
    MED_OMPT_CANCEL_TASKGROUP = 0x08,
    MED_OMPT_CANCEL_ACTIVATED = 0x10,
    MED_OMPT_CANCEL_DETECTED = 0x20,
} med_ompt_cancel_flag;

/* As ompt_work_t. */
typedef enum med_ompt_work {
    MED_OMPT_WORK_LOOP = 1,
    MED_OMPT_WORK_SECTIONS = 2,
    MED_OMPT_WORK_DISTRIBUTE = 6,
    MED_OMPT_WORK_SCOPE = 8,
} med_ompt_work;

MED_OMPT_TOLD struct med_member *med_ompt_called_told(struct med_member *member,
                                                      uint32_t kind,
                                                      const void *return_address,
                                                      void *frame);

/* ---- Threads and regions: ompt_region.c ------------------------------------------------------ */

/* The member is no more. */
void med_ompt_forget(const struct med_member *member);
/* The calling thread is a member for the first time: of an initial team, or of another one. */
MED_OMPT_EVENT(med_ompt_thread_begin, (struct med_member * member), (member))
MED_OMPT_EVENT(med_ompt_thread_end, (struct med_member * member), (member))
typedef struct med_member *(*med_ompt_start_function)(struct med_member *leader,
                                                      uint32_t threads,
                                                      void (*entry)(void *data),
                                                      void *data);
MED_OMPT_TOLD struct med_member *med_ompt_start(struct med_member *leader,
                                                uint32_t threads,
                                                void (*entry)(void *data),
                                                void *data,
                                                med_ompt_start_function start);
MED_OMPT_TOLD void med_ompt_finish(struct med_member *first,
                                   void (*finish)(struct med_member *first));
/* A worker, at its gate: it is through with the region, which is over. */
MED_OMPT_EVENT(med_ompt_region_left, (struct med_member * member), (member))
MED_OMPT_TOLD bool med_ompt_is_over_told(const struct med_member *member);
/* Is there something to tell of that, which is due? */
static inline bool
med_ompt_is_over(const struct med_member *member)
{
    return med_ompt_is_on() && med_ompt_is_over_told(member);
}

MED_OMPT_TOLD void
med_ompt_lines_told(struct med_member *member, void (*entry)(void *data), void *data);
/* The region's lines, by one of its members. */
static inline void
med_ompt_lines(struct med_member *member, void (*entry)(void *data), void *data)
{
    if (med_ompt_is_on()) {
        med_ompt_lines_told(member, entry, data);
    } else {
        entry(data);
    }
}

MED_OMPT_TOLD void med_ompt_exit_frame_told(struct med_member *member, void *frame);
/* The calling function is about to call the program's lines. */
#define MED_OMPT_EXIT_FRAME(member)                                                                \
    do {                                                                                           \
        if (med_ompt_is_on()) {                                                                    \
            med_ompt_exit_frame_told(member, __builtin_frame_address(0));                          \
        }                                                                                          \
    } while (0)

/* An initial team for a target region. */
MED_OMPT_EVENT(med_ompt_initial_begin, (struct med_member * first), (first))
MED_OMPT_EVENT(med_ompt_initial_end, (struct med_member * first), (first))
/* A league of so many teams, which the member executes one after the other. */
MED_OMPT_EVENT(med_ompt_league_begin, (struct med_member * member, uint32_t teams), (member, teams))
MED_OMPT_EVENT(med_ompt_league_end, (struct med_member * member), (member))
MED_OMPT_TOLD void med_ompt_team_lines_told(struct med_member *member,
                                            uint32_t number,
                                            void (*entry)(void *data),
                                            void *data);
/* The lines of one of them. */
static inline void
med_ompt_team_lines(struct med_member *member,
                    uint32_t number,
                    void (*entry)(void *data),
                    void *data)
{
    if (med_ompt_is_on()) {
        med_ompt_team_lines_told(member, number, entry, data);
    } else {
        entry(data);
    }
}

/* ---- Tasks: ompt_task.c ---------------------------------------------------------------------- */

/* As all but its data are known. */
MED_OMPT_EVENT(med_ompt_task_made,
               (struct med_member * member,
                struct med_task *task,
                const struct med_task_call *call,
                bool is_executed_here),
               (member, task, call, is_executed_here))
/* One that will be met has so many bytes for its data. */
MED_OMPT_EVENT(med_ompt_task_data, (struct med_task * task, size_t size_bytes), (task, size_bytes))
/* To a tool it is none. */
MED_OMPT_EVENT(med_ompt_task_hide, (struct med_task * task), (task))
/* It waits for the other one. */
MED_OMPT_EVENT(med_ompt_task_waits,
               (const struct med_task *task, const struct med_task *other),
               (task, other))
/* The lines of the member's task, for which it has left `outer`; and both ends by themselves. */
MED_OMPT_TOLD void
med_ompt_task_lines(struct med_member *member, struct med_task *outer, void (*entry)(void *data));
MED_OMPT_EVENT(med_ompt_task_begin,
               (struct med_member * member, struct med_task *outer),
               (member, outer))
MED_OMPT_EVENT(med_ompt_task_end,
               (struct med_member * member, struct med_task *outer),
               (member, outer))
/* Its lines are not executed. */
MED_OMPT_EVENT(med_ompt_task_discarded,
               (struct med_member * member, struct med_task *task),
               (member, task))
/* Its event is about to be fulfilled. */
MED_OMPT_EVENT(med_ompt_task_fulfilled, (struct med_task * task), (task))
MED_OMPT_TOLD void med_ompt_task_yield(const void *return_address, void *frame);
MED_OMPT_EVENT(med_ompt_taskloop_begin,
               (struct med_member * member, uint64_t count),
               (member, count))
MED_OMPT_EVENT(med_ompt_taskloop_end, (struct med_member * member, uint64_t count), (member, count))

/* ---- Waits: ompt_sync.c ---------------------------------------------------------------------- */

MED_OMPT_TOLD bool med_ompt_barrier(uint32_t kind, const void *return_address, void *frame);
MED_OMPT_TOLD bool med_ompt_barrier_of(struct med_member *member);
MED_OMPT_TOLD void med_ompt_taskwait(const void *return_address, void *frame);
/* The same by its ends: for some of the tasks. */
MED_OMPT_EVENT(med_ompt_taskwait_begin, (struct med_member * member), (member))
MED_OMPT_EVENT(med_ompt_taskwait_end, (struct med_member * member), (member))
MED_OMPT_TOLD void med_ompt_group_begin(const void *return_address, void *frame);
MED_OMPT_TOLD void med_ompt_group_end(const void *return_address, void *frame);
/* Of a loop of tasks, whose face has said from where it was called. */
MED_OMPT_TOLD void med_ompt_group_begin_of(struct med_member *member);
MED_OMPT_TOLD void med_ompt_group_end_of(struct med_member *member);
MED_OMPT_EVENT(med_ompt_reduction_begin, (struct med_member * member), (member))
MED_OMPT_EVENT(med_ompt_reduction_end, (struct med_member * member), (member))

/* ---- Exclusion: ompt_mutex.c ----------------------------------------------------------------- */

MED_OMPT_EVENT(med_ompt_lock_init, (const void *lock, uint32_t hint), (lock, hint))
MED_OMPT_EVENT(med_ompt_lock_destroy, (const void *lock), (lock))
/* By a face, of a construct of that kind, from where that was called. */
MED_OMPT_TOLD void
med_ompt_lock_set(med_lock *lock, uint32_t kind, const void *return_address, void *frame);
MED_OMPT_TOLD bool
med_ompt_lock_test(med_lock *lock, uint32_t kind, const void *return_address, void *frame);
MED_OMPT_TOLD void
med_ompt_lock_unset(med_lock *lock, uint32_t kind, const void *return_address, void *frame);
/* What `take` returns: how often the lock is set now; `give`: whether it is given back. */
typedef uint32_t (*med_ompt_take)(struct med_nest_lock *lock, struct med_member *member);
MED_OMPT_TOLD uint32_t med_ompt_nest_take(struct med_nest_lock *lock,
                                          med_ompt_take take,
                                          uint32_t kind,
                                          const void *return_address,
                                          void *frame);
MED_OMPT_TOLD void
med_ompt_nest_give(struct med_nest_lock *lock, const void *return_address, void *frame);
MED_OMPT_TOLD void med_ompt_ordered(const void *return_address, void *frame);
MED_OMPT_TOLD void med_ompt_ordered_end(const void *return_address, void *frame);

/* ---- Constructs: ompt_work.c ----------------------------------------------------------------- */

/* Told of a member that a tool knows (team.h has who that is): what begins and ends so often that
 * the look at the word is to be seen. */
#define MED_OMPT_IS_TOLD(member) __builtin_expect((member)->ompt != NULL, 0)
#define MED_OMPT_TELL_OF(member, told, ...)                                                        \
    do {                                                                                           \
        if (MED_OMPT_IS_TOLD(member)) {                                                            \
            told(__VA_ARGS__);                                                                     \
        }                                                                                          \
    } while (0)

/* What the member's construct is; and one of which it shares nothing with others. */
MED_OMPT_TOLD void med_ompt_work_begin_told(struct med_member *member);
MED_OMPT_TOLD void med_ompt_work_end_told(struct med_member *member);
MED_OMPT_TOLD void med_ompt_dispatch_told(struct med_member *member, const struct med_span *span);
#define med_ompt_work_begin(member) MED_OMPT_TELL_OF(member, med_ompt_work_begin_told, member)
#define med_ompt_work_end(member) MED_OMPT_TELL_OF(member, med_ompt_work_end_told, member)
#define med_ompt_dispatch(member, span)                                                            \
    MED_OMPT_TELL_OF(member, med_ompt_dispatch_told, member, span)
MED_OMPT_EVENT(med_ompt_part_begin,
               (struct med_member * member, uint32_t work, uint64_t count),
               (member, work, count))
MED_OMPT_EVENT(med_ompt_part_end, (struct med_member * member), (member))
MED_OMPT_TOLD bool med_ompt_single(const void *return_address, void *frame);
MED_OMPT_EVENT(med_ompt_single_end, (struct med_member * member), (member))
MED_OMPT_EVENT(med_ompt_masked, (struct med_member * member, bool is_end), (member, is_end))
MED_OMPT_EVENT(med_ompt_flush, (void), ())
/* `flags` as ompt_cancel_flag_t. */
MED_OMPT_EVENT(med_ompt_cancel, (struct med_member * member, int flags), (member, flags))
MED_OMPT_EVENT(med_ompt_error,
               (bool is_fatal, const char *text, size_t length),
               (is_fatal, text, length))

#endif
