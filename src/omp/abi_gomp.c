/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that gcc calls (GCC 12, libgomp.h and omp-builtins.def; what each does is that
 * compiler's manual and OpenMP 5.0): bounds, steps and types are translated here, and nothing else
 * is done.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "omp/abi_gomp.h"
#include "omp/cancel.h"
#include "omp/face.h"
#include "omp/say.h"
#include "omp/told.h"

/* ---- Parallel -------------------------------------------------------------------------------- */

FACE void
GOMP_parallel(void (*entry)(void *), void *data, unsigned threads, unsigned flags)
{
    med_member *leader = MED_CALLED(threads);
    leader->bind_wanted = flags & MED_GOMP_BIND_MASK;
    med_team_run(leader, med_team_threads(leader, threads), entry, data);
}
LLVM(GOMP_parallel)

FACE void
GOMP_parallel_start(void (*entry)(void *), void *data, unsigned threads)
{
    med_member *leader = MED_CALLED(threads);
    leader->bind_wanted = MED_BIND_FALSE;
    med_team_go(med_team_start(leader, med_team_threads(leader, threads), entry, data));
}
LLVM(GOMP_parallel_start)

FACE void
GOMP_parallel_end(void)
{
    med_team_finish(med_member_get());
}
LLVM(GOMP_parallel_end)

FACE void
GOMP_barrier(void)
{
    (void)med_told_barrier(MED_OMPT_BARRIER_EXPLICIT);
}
LLVM(GOMP_barrier)

/* ---- Cancellation ---------------------------------------------------------------------------- */

#define CANCEL_PARALLEL 1
#define CANCEL_LOOP 2
#define CANCEL_SECTIONS 4
#define CANCEL_TASKGROUP 8

/* As a tool is told of it. */
static int
flags_of(int which)
{
    return which & CANCEL_PARALLEL    ? MED_OMPT_CANCEL_PARALLEL
           : which & CANCEL_LOOP      ? MED_OMPT_CANCEL_LOOP
           : which & CANCEL_TASKGROUP ? MED_OMPT_CANCEL_TASKGROUP
                                      : MED_OMPT_CANCEL_SECTIONS;
}

static bool
is_cancelled(const med_member *member, int which)
{
    if (which & CANCEL_TASKGROUP) {
        return med_task_group_is_cancelled(member);
    }
    return which & (CANCEL_LOOP | CANCEL_SECTIONS) ? med_cancel_work_is(member)
                                                   : med_cancel_region_is(member);
}

static bool
cancellation_point(med_member *member, int which)
{
    bool is = is_cancelled(member, which);
    if (is) {
        med_ompt_cancel(member, flags_of(which) | MED_OMPT_CANCEL_DETECTED);
    }
    return is;
}

FACE bool
GOMP_cancellation_point(int which)
{
    return med_settings_get()->cancellation &&
           cancellation_point(MED_CALLED(MED_OMPT_PLAIN), which);
}
LLVM(GOMP_cancellation_point)

/* `wanted` false: the directive's condition does not hold, and it is a cancellation point. */
FACE bool
GOMP_cancel(int which, bool wanted)
{
    if (!med_settings_get()->cancellation) {
        return false;
    }
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (!wanted) {
        return cancellation_point(member, which);
    }
    if (which & CANCEL_PARALLEL) {
        med_cancel_region(member);
    } else if (which & CANCEL_TASKGROUP) {
        med_task_group_cancel(member);
    } else {
        med_cancel_work(member);
    }
    med_ompt_cancel(member, flags_of(which) | MED_OMPT_CANCEL_ACTIVATED);
    return true;
}
LLVM(GOMP_cancel)

FACE bool
GOMP_barrier_cancel(void)
{
    return med_told_barrier(MED_OMPT_BARRIER_EXPLICIT);
}
LLVM(GOMP_barrier_cancel)

/* ---- Regions that are worksharing constructs ------------------------------------------------- */

void
med_gomp_parallel_work_start(void (*entry)(void *),
                             void *data,
                             unsigned threads,
                             unsigned flags,
                             const med_loop *loop,
                             const med_bounds *bounds)
{
    med_member *leader = med_member_get();
    leader->bind_wanted = flags & MED_GOMP_BIND_MASK;
    med_member *first = med_team_start(leader, med_team_threads(leader, threads), entry, data);
    med_team_prepare(first, loop, bounds);
    med_team_go(first);
}

void
med_gomp_parallel_work(void (*entry)(void *),
                       void *data,
                       unsigned threads,
                       unsigned flags,
                       const med_loop *loop,
                       const med_bounds *bounds)
{
    med_gomp_parallel_work_start(entry, data, threads, flags, loop, bounds);
    med_ompt_lines(med_member_get(), entry, data);
    med_team_finish(med_member_get());
}

/* ---- Sections: a loop over their numbers, from 1 --------------------------------------------- */

static const med_bounds sections_bounds = {.start = 1, .step = 1};

static med_loop
sections_of(unsigned count)
{
    return (med_loop){.count = count,
                      .chunk = 1,
                      .by_chunks = true,
                      .schedule = &med_schedule_dynamic,
                      .is_sections = true};
}

static unsigned
section_next(med_member *member)
{
    med_span span;
    return med_work_next(member, &span) ? (unsigned)span.first + 1 : 0;
}

static unsigned
sections_start(med_member *member, unsigned count, uintptr_t *reductions, void **memory)
{
    med_loop loop = sections_of(count);
    med_gomp_begin(member, &loop, &sections_bounds, memory, reductions);
    return section_next(member);
}

/* `memory`: of so many bytes, which all members have in common; where they are, afterwards. */
FACE unsigned
GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    return sections_start(MED_CALLED(MED_OMPT_PLAIN), count, reductions, memory);
}
LLVM(GOMP_sections2_start)

FACE unsigned
GOMP_sections_start(unsigned count)
{
    return sections_start(MED_CALLED(MED_OMPT_PLAIN), count, NULL, NULL);
}
LLVM(GOMP_sections_start)

FACE unsigned
GOMP_sections_next(void)
{
    return section_next(med_member_get());
}
LLVM(GOMP_sections_next)

FACE void
GOMP_sections_end(void)
{
    (void)med_gomp_end(MED_CALLED(MED_OMPT_PLAIN));
}
LLVM(GOMP_sections_end)

FACE void
GOMP_sections_end_nowait(void)
{
    med_work_end(MED_CALLED(MED_OMPT_PLAIN));
}
LLVM(GOMP_sections_end_nowait)

FACE bool
GOMP_sections_end_cancel(void)
{
    return med_gomp_end(MED_CALLED(MED_OMPT_PLAIN));
}
LLVM(GOMP_sections_end_cancel)

FACE void
GOMP_parallel_sections(
    void (*entry)(void *), void *data, unsigned threads, unsigned count, unsigned flags)
{
    const med_loop loop = sections_of(count);
    MED_CALLED_ONLY(threads);
    med_gomp_parallel_work(entry, data, threads, flags, &loop, &sections_bounds);
}
LLVM(GOMP_parallel_sections)

FACE void
GOMP_parallel_sections_start(void (*entry)(void *), void *data, unsigned threads, unsigned count)
{
    const med_loop loop = sections_of(count);
    MED_CALLED_ONLY(threads);
    med_gomp_parallel_work_start(entry, data, threads, 0, &loop, &sections_bounds);
}
LLVM(GOMP_parallel_sections_start)

/* ---- Single ---------------------------------------------------------------------------------- */

FACE bool
GOMP_single_start(void)
{
    return med_told_single();
}
LLVM(GOMP_single_start)

/* NULL: the caller is the one; else what that one gave to all. */
FACE void *
GOMP_single_copy_start(void)
{
    return med_told_single() ? NULL : med_team_copy_take(med_member_get());
}
LLVM(GOMP_single_copy_start)

FACE void
GOMP_single_copy_end(void *data)
{
    med_team_copy_give(MED_CALLED(MED_OMPT_PLAIN), data);
}
LLVM(GOMP_single_copy_end)

/* ---- Critical, atomic ------------------------------------------------------------------------ */

static struct {
    _Alignas(64) med_lock lock;
} unnamed;

FACE void
GOMP_critical_start(void)
{
    med_told_lock_set(&unnamed.lock, MED_OMPT_CRITICAL);
}
LLVM(GOMP_critical_start)

FACE void
GOMP_critical_end(void)
{
    med_told_lock_unset(&unnamed.lock, MED_OMPT_CRITICAL);
}
LLVM(GOMP_critical_end)

/* The compiler has a zeroed pointer for each name: the lock itself. */
FACE void
GOMP_critical_name_start(void **name)
{
    med_told_lock_set((med_lock *)(void *)name, MED_OMPT_CRITICAL);
}
LLVM(GOMP_critical_name_start)

FACE void
GOMP_critical_name_end(void **name)
{
    med_told_lock_unset((med_lock *)(void *)name, MED_OMPT_CRITICAL);
}
LLVM(GOMP_critical_name_end)

FACE void
GOMP_atomic_start(void)
{
    med_told_lock_set(med_omp_atomic_lock(), MED_OMPT_ATOMIC);
}
LLVM(GOMP_atomic_start)

FACE void
GOMP_atomic_end(void)
{
    med_told_lock_unset(med_omp_atomic_lock(), MED_OMPT_ATOMIC);
}
LLVM(GOMP_atomic_end)

/* ---- What a program says --------------------------------------------------------------------- */

#define ENCOUNTERED "error directive encountered"
#define TO_THE_END SIZE_MAX

static void
text_of(const char *text, size_t length, const char **line, size_t *bytes)
{
    *line = text ? ENCOUNTERED ": " : ENCOUNTERED;
    *bytes = text && length == TO_THE_END ? strlen(text) : text ? length : 0;
}

FACE void
GOMP_warning(const char *text, size_t length)
{
    const char *line;
    text_of(text, length, &line, &length);
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    med_ompt_error(false, text, length);
    med_say_text(line, text, length);
}
LLVM(GOMP_warning)

FACE void
GOMP_error(const char *text, size_t length)
{
    const char *line;
    text_of(text, length, &line, &length);
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    med_ompt_error(true, text, length);
    med_say_text_fatal(line, text, length);
}
LLVM(GOMP_error)
