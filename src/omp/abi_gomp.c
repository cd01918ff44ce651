/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that gcc calls (GCC 12, libgomp.h and omp-builtins.def; what each does is that
 * compiler's manual and OpenMP 5.0): bounds, steps and types are translated here, and nothing else
 * is done.
 */
#include <stdbool.h>
#include <stdint.h>

#include "omp/face.h"
#include "omp/lock.h"
#include "omp/team.h"

/* ---- Parallel -------------------------------------------------------------------------------- */

FACE void
GOMP_parallel(void (*entry)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)flags;
    med_member *leader = med_member_get();
    med_team_run(leader, med_team_threads(leader, threads), entry, data);
}

FACE void
GOMP_parallel_start(void (*entry)(void *), void *data, unsigned threads)
{
    med_member *leader = med_member_get();
    med_team_go(med_team_start(leader, med_team_threads(leader, threads), entry, data));
}

FACE void
GOMP_parallel_end(void)
{
    med_team_finish(med_member_get());
}

FACE void
GOMP_barrier(void)
{
    med_team_barrier(med_member_get());
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Iterations, of a variable that is counted modulo 2^64 whatever its sign. */
static uint64_t
count_up(uint64_t distance, uint64_t step)
{
    return distance ? (distance - 1) / step + 1 : 0;
}

static uint64_t
count_long(long start, long end, long step)
{
    if (step > 0) {
        return start < end ? count_up((uint64_t)end - (uint64_t)start, (uint64_t)step) : 0;
    }
    return start > end ? count_up((uint64_t)start - (uint64_t)end, -(uint64_t)step) : 0;
}

static uint64_t
count_ull(bool up, unsigned long long start, unsigned long long end, unsigned long long step)
{
    if (up) {
        return start < end ? count_up(end - start, step) : 0;
    }
    return start > end ? count_up(start - end, -step) : 0;
}

static bool
next(med_member *member, uint64_t *start, uint64_t *end)
{
    med_span span;
    const med_work *work = member->work;
    if (!med_work_next(member, &span)) {
        return false;
    }
    /* The loop's own end where it is the last part: start + count * step may be beyond the type. */
    const med_bounds *bounds = &work->bounds;
    *start = bounds->start + span.first * bounds->step;
    *end = span.end == work->count ? bounds->end : bounds->start + span.end * bounds->step;
    return true;
}

static bool
next_long(long *start, long *end)
{
    uint64_t first, behind;
    bool some = next(med_member_get(), &first, &behind);
    if (some) {
        *start = (long)first;
        *end = (long)behind;
    }
    return some;
}

static bool
next_ull(unsigned long long *start, unsigned long long *end)
{
    uint64_t first, behind;
    bool some = next(med_member_get(), &first, &behind);
    if (some) {
        *start = first;
        *end = behind;
    }
    return some;
}

/* The schedule that a loop has which leaves it to the program's run. */
static void
loop_of_run(const med_member *member, med_loop *loop)
{
    loop->schedule = med_schedule_of(member->icv->schedule);
    loop->chunk = member->icv->chunk;
}

static med_loop
loop_of(const med_member *member, uint64_t count, const med_schedule *schedule, uint64_t chunk)
{
    med_loop loop = {.count = count, .chunk = chunk, .schedule = schedule};
    if (!schedule) {
        loop_of_run(member, &loop);
    }
    return loop;
}

static bool
begin_long(long start,
           long end,
           long step,
           long chunk,
           const med_schedule *schedule,
           bool ordered,
           long *first,
           long *behind)
{
    med_member *member = med_member_get();
    med_loop loop = loop_of(member, count_long(start, end, step), schedule, (uint64_t)chunk);
    loop.ordered = ordered;
    const med_bounds bounds = {(uint64_t)start, (uint64_t)end, (uint64_t)step};
    med_work_begin(member, &loop, &bounds);
    return next_long(first, behind);
}

static bool
begin_ull(bool up,
          unsigned long long start,
          unsigned long long end,
          unsigned long long step,
          unsigned long long chunk,
          const med_schedule *schedule,
          bool ordered,
          unsigned long long *first,
          unsigned long long *behind)
{
    med_member *member = med_member_get();
    med_loop loop = loop_of(member, count_ull(up, start, end, step), schedule, chunk);
    loop.ordered = ordered;
    const med_bounds bounds = {start, end, step};
    med_work_begin(member, &loop, &bounds);
    return next_ull(first, behind);
}

/* One schedule's entries: `_start` and `_next`, of long and of unsigned long long. A monotonic one
 * serves where the loop allows others. */
#define LOOPS(name, schedule, ordered)                                                             \
    FACE bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long *first,   \
                                       long *behind)                                               \
    {                                                                                              \
        return begin_long(start, end, step, chunk, schedule, ordered, first, behind);              \
    }                                                                                              \
    FACE bool GOMP_loop_##name##_next(long *first, long *behind)                                   \
    {                                                                                              \
        return next_long(first, behind);                                                           \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_start(                                                        \
        bool up, unsigned long long start, unsigned long long end, unsigned long long step,        \
        unsigned long long chunk, unsigned long long *first, unsigned long long *behind)           \
    {                                                                                              \
        return begin_ull(up, start, end, step, chunk, schedule, ordered, first, behind);           \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_next(unsigned long long *first, unsigned long long *behind)   \
    {                                                                                              \
        return next_ull(first, behind);                                                            \
    }
LOOPS(static, &med_schedule_static, false)
LOOPS(dynamic, &med_schedule_dynamic, false)
LOOPS(guided, &med_schedule_guided, false)
LOOPS(nonmonotonic_dynamic, &med_schedule_dynamic, false)
LOOPS(nonmonotonic_guided, &med_schedule_guided, false)
LOOPS(ordered_static, &med_schedule_static, true)
LOOPS(ordered_dynamic, &med_schedule_dynamic, true)
LOOPS(ordered_guided, &med_schedule_guided, true)

/* Without a chunk: the program's run decides. */
#define LOOPS_OF_RUN(name, ordered)                                                                \
    FACE bool GOMP_loop_##name##_start(long start, long end, long step, long *first, long *behind) \
    {                                                                                              \
        return begin_long(start, end, step, 0, NULL, ordered, first, behind);                      \
    }                                                                                              \
    FACE bool GOMP_loop_##name##_next(long *first, long *behind)                                   \
    {                                                                                              \
        return next_long(first, behind);                                                           \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_start(bool up, unsigned long long start,                      \
                                           unsigned long long end, unsigned long long step,        \
                                           unsigned long long *first, unsigned long long *behind)  \
    {                                                                                              \
        return begin_ull(up, start, end, step, 0, NULL, ordered, first, behind);                   \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_next(unsigned long long *first, unsigned long long *behind)   \
    {                                                                                              \
        return next_ull(first, behind);                                                            \
    }
LOOPS_OF_RUN(runtime, false)
LOOPS_OF_RUN(nonmonotonic_runtime, false)
LOOPS_OF_RUN(maybe_nonmonotonic_runtime, false)
LOOPS_OF_RUN(ordered_runtime, true)

FACE void
GOMP_loop_end(void)
{
    med_member *member = med_member_get();
    med_work_end(member);
    med_team_barrier(member);
}

FACE void
GOMP_loop_end_nowait(void)
{
    med_work_end(med_member_get());
}

FACE void
GOMP_ordered_start(void)
{
    med_work_ordered(med_member_get());
}

/* The order goes on at the end of the iterations. */
FACE void
GOMP_ordered_end(void)
{
}

/* ---- Parallel loops -------------------------------------------------------------------------- */

static void
parallel_work(void (*entry)(void *),
              void *data,
              unsigned threads,
              uint64_t count,
              const med_schedule *schedule,
              uint64_t chunk,
              med_bounds bounds)
{
    med_member *leader = med_member_get();
    const med_loop loop = loop_of(leader, count, schedule, chunk);
    med_member *first = med_team_start(leader, med_team_threads(leader, threads), entry, data);
    med_team_prepare(first, &loop, &bounds);
    med_team_go(first);
    entry(data);
    med_team_finish(first);
}

static void
parallel_loop(void (*entry)(void *),
              void *data,
              unsigned threads,
              long start,
              long end,
              long step,
              const med_schedule *schedule,
              long chunk)
{
    const med_bounds bounds = {(uint64_t)start, (uint64_t)end, (uint64_t)step};
    parallel_work(entry, data, threads, count_long(start, end, step), schedule, (uint64_t)chunk,
                  bounds);
}

#define PARALLEL_LOOP(name, schedule)                                                              \
    FACE void GOMP_parallel_loop_##name(void (*entry)(void *), void *data, unsigned threads,       \
                                        long start, long end, long step, long chunk,               \
                                        unsigned flags)                                            \
    {                                                                                              \
        (void)flags;                                                                               \
        parallel_loop(entry, data, threads, start, end, step, schedule, chunk);                    \
    }
PARALLEL_LOOP(static, &med_schedule_static)
PARALLEL_LOOP(dynamic, &med_schedule_dynamic)
PARALLEL_LOOP(guided, &med_schedule_guided)
PARALLEL_LOOP(nonmonotonic_dynamic, &med_schedule_dynamic)
PARALLEL_LOOP(nonmonotonic_guided, &med_schedule_guided)

#define PARALLEL_LOOP_OF_RUN(name)                                                                 \
    FACE void GOMP_parallel_loop_##name(void (*entry)(void *), void *data, unsigned threads,       \
                                        long start, long end, long step, unsigned flags)           \
    {                                                                                              \
        (void)flags;                                                                               \
        parallel_loop(entry, data, threads, start, end, step, NULL, 0);                            \
    }
PARALLEL_LOOP_OF_RUN(runtime)
PARALLEL_LOOP_OF_RUN(nonmonotonic_runtime)
PARALLEL_LOOP_OF_RUN(maybe_nonmonotonic_runtime)

/* ---- Sections: a loop over their numbers, from 1 --------------------------------------------- */

static const med_bounds sections_bounds = {.start = 1, .step = 1};

static unsigned
section_next(med_member *member)
{
    med_span span;
    return med_work_next(member, &span) ? (unsigned)span.first + 1 : 0;
}

FACE unsigned
GOMP_sections_start(unsigned count)
{
    med_member *member = med_member_get();
    const med_loop loop = {.count = count, .chunk = 1, .schedule = &med_schedule_dynamic};
    med_work_begin(member, &loop, &sections_bounds);
    return section_next(member);
}

FACE unsigned
GOMP_sections_next(void)
{
    return section_next(med_member_get());
}

FACE void
GOMP_sections_end(void)
{
    GOMP_loop_end();
}

FACE void
GOMP_sections_end_nowait(void)
{
    GOMP_loop_end_nowait();
}

FACE void
GOMP_parallel_sections(
    void (*entry)(void *), void *data, unsigned threads, unsigned count, unsigned flags)
{
    (void)flags;
    parallel_work(entry, data, threads, count, &med_schedule_dynamic, 1, sections_bounds);
}

/* ---- Single ---------------------------------------------------------------------------------- */

FACE bool
GOMP_single_start(void)
{
    return med_team_single(med_member_get());
}

/* NULL: the caller is the one; else what that one gave to all. */
FACE void *
GOMP_single_copy_start(void)
{
    med_member *member = med_member_get();
    if (med_team_single(member)) {
        return NULL;
    }
    med_team_barrier(member);
    return member->team->copied;
}

FACE void
GOMP_single_copy_end(void *data)
{
    med_member *member = med_member_get();
    member->team->copied = data;
    med_team_barrier(member);
}

/* ---- Critical, atomic ------------------------------------------------------------------------ */

static struct {
    _Alignas(64) med_lock unnamed;
    _Alignas(64) med_lock atomic;
} locks;

FACE void
GOMP_critical_start(void)
{
    med_omp_lock_set(&locks.unnamed, med_member_get());
}

FACE void
GOMP_critical_end(void)
{
    med_omp_lock_unset(&locks.unnamed);
}

/* The compiler has a zeroed pointer for each name: the lock itself. */
FACE void
GOMP_critical_name_start(void **name)
{
    med_omp_lock_set((med_lock *)(void *)name, med_member_get());
}

FACE void
GOMP_critical_name_end(void **name)
{
    med_omp_lock_unset((med_lock *)(void *)name);
}

FACE void
GOMP_atomic_start(void)
{
    med_omp_lock_set(&locks.atomic, med_member_get());
}

FACE void
GOMP_atomic_end(void)
{
    med_omp_lock_unset(&locks.atomic);
}
