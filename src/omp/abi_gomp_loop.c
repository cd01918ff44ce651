/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that gcc calls for worksharing loops (GCC 12, libgomp_g.h): bounds, steps and types are
 * translated here. Iterations are counted modulo 2^64, whatever the sign of the variable.
 */
#include <stdbool.h>
#include <stdint.h>

#include "omp/abi_gomp.h"
#include "omp/cancel.h"
#include "omp/face.h"
#include "omp/team.h"

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Iterations, of a variable that is counted modulo 2^64 whatever its sign. */
static uint64_t
count_up(uint64_t distance, uint64_t step)
{
    return distance ? (distance - 1) / step + 1 : 0;
}

uint64_t
med_gomp_count_long(long start, long end, long step)
{
    if (step > 0) {
        return start < end ? count_up((uint64_t)end - (uint64_t)start, (uint64_t)step) : 0;
    }
    return start > end ? count_up((uint64_t)start - (uint64_t)end, -(uint64_t)step) : 0;
}

uint64_t
med_gomp_count_ull(bool up,
                   unsigned long long start,
                   unsigned long long end,
                   unsigned long long step)
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

bool
med_gomp_next_long(long *start, long *end)
{
    uint64_t first, behind;
    bool some = next(med_member_get(), &first, &behind);
    if (some) {
        *start = (long)first;
        *end = (long)behind;
    }
    return some;
}

bool
med_gomp_next_ull(unsigned long long *start, unsigned long long *end)
{
    uint64_t first, behind;
    bool some = next(med_member_get(), &first, &behind);
    if (some) {
        *start = first;
        *end = behind;
    }
    return some;
}

const med_schedule med_gomp_of_run_monotonic = {.name = "of the run, monotonic"};

med_loop
med_gomp_loop(const med_member *member,
              uint64_t count,
              const med_schedule *schedule,
              uint64_t chunk)
{
    uint32_t kind = member->icv->schedule;
    if (schedule == MED_GOMP_OF_RUN) {
        schedule = med_schedule_of(kind);
    } else if (schedule == &med_gomp_of_run_monotonic) {
        schedule = med_schedule_of(kind | MED_SCHEDULE_MONOTONIC);
    } else {
        return (med_loop){.count = count, .chunk = chunk, .schedule = schedule};
    }
    return (med_loop){.count = count, .chunk = member->icv->chunk, .schedule = schedule};
}

static bool
begin_long(long start,
           long end,
           long step,
           long chunk,
           const med_schedule *schedule,
           bool ordered,
           long *first,
           long *behind,
           const void *code)
{
    med_member *member = med_member_get();
    med_loop loop =
        med_gomp_loop(member, med_gomp_count_long(start, end, step), schedule, (uint64_t)chunk);
    loop.ordered = ordered;
    loop.code = code;
    const med_bounds bounds = {(uint64_t)start, (uint64_t)end, (uint64_t)step};
    med_work_begin(member, &loop, &bounds);
    med_ompt_work_begin(member);
    return med_gomp_next_long(first, behind);
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
          unsigned long long *behind,
          const void *code)
{
    med_member *member = med_member_get();
    med_loop loop =
        med_gomp_loop(member, med_gomp_count_ull(up, start, end, step), schedule, chunk);
    loop.ordered = ordered;
    loop.code = code;
    const med_bounds bounds = {start, end, step};
    med_work_begin(member, &loop, &bounds);
    med_ompt_work_begin(member);
    return med_gomp_next_ull(first, behind);
}

/* Where the program has called an entry. */
#define HERE __builtin_return_address(0)

/* One schedule's entries: `_start` and `_next`, of long and of unsigned long long. */
#define LOOPS(name, schedule, ordered)                                                             \
    FACE bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long *first,   \
                                       long *behind)                                               \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return begin_long(start, end, step, chunk, schedule, ordered, first, behind, HERE);        \
    }                                                                                              \
    FACE bool GOMP_loop_##name##_next(long *first, long *behind)                                   \
    {                                                                                              \
        return med_gomp_next_long(first, behind);                                                  \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_start(                                                        \
        bool up, unsigned long long start, unsigned long long end, unsigned long long step,        \
        unsigned long long chunk, unsigned long long *first, unsigned long long *behind)           \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return begin_ull(up, start, end, step, chunk, schedule, ordered, first, behind, HERE);     \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_next(unsigned long long *first, unsigned long long *behind)   \
    {                                                                                              \
        return med_gomp_next_ull(first, behind);                                                   \
    }                                                                                              \
    LLVM(GOMP_loop_##name##_start)                                                                 \
    LLVM(GOMP_loop_##name##_next)                                                                  \
    LLVM(GOMP_loop_ull_##name##_start)                                                             \
    LLVM(GOMP_loop_ull_##name##_next)
LOOPS(static, &med_schedule_static, false)
LOOPS(dynamic, &med_schedule_dynamic, false)
LOOPS(guided, &med_schedule_guided_monotonic, false)
LOOPS(nonmonotonic_dynamic, &med_schedule_nonmonotonic, false)
LOOPS(nonmonotonic_guided, &med_schedule_guided, false)
LOOPS(ordered_static, &med_schedule_static, true)
LOOPS(ordered_dynamic, &med_schedule_dynamic, true)
LOOPS(ordered_guided, &med_schedule_guided_monotonic, true)

/* Without a chunk: the program's run decides. */
#define LOOPS_OF_RUN(name, of_run, ordered)                                                        \
    FACE bool GOMP_loop_##name##_start(long start, long end, long step, long *first, long *behind) \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return begin_long(start, end, step, 0, of_run, ordered, first, behind, HERE);              \
    }                                                                                              \
    FACE bool GOMP_loop_##name##_next(long *first, long *behind)                                   \
    {                                                                                              \
        return med_gomp_next_long(first, behind);                                                  \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_start(bool up, unsigned long long start,                      \
                                           unsigned long long end, unsigned long long step,        \
                                           unsigned long long *first, unsigned long long *behind)  \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return begin_ull(up, start, end, step, 0, of_run, ordered, first, behind, HERE);           \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name##_next(unsigned long long *first, unsigned long long *behind)   \
    {                                                                                              \
        return med_gomp_next_ull(first, behind);                                                   \
    }                                                                                              \
    LLVM(GOMP_loop_##name##_start)                                                                 \
    LLVM(GOMP_loop_##name##_next)                                                                  \
    LLVM(GOMP_loop_ull_##name##_start)                                                             \
    LLVM(GOMP_loop_ull_##name##_next)
LOOPS_OF_RUN(runtime, &med_gomp_of_run_monotonic, false)
LOOPS_OF_RUN(nonmonotonic_runtime, MED_GOMP_OF_RUN, false)
LOOPS_OF_RUN(maybe_nonmonotonic_runtime, MED_GOMP_OF_RUN, false)
LOOPS_OF_RUN(ordered_runtime, &med_gomp_of_run_monotonic, true)

/* ---- Loops that name their schedule, and want more ------------------------------------------- */

#define KIND_OF_RUN 0
#define KIND_OF_RUN_NONMONOTONIC 4
#define KIND_MONOTONIC (~0x7fffffffl)

const med_schedule *
med_gomp_schedule(long kind)
{
    long plain = kind & ~KIND_MONOTONIC;
    uint32_t monotonic = kind & KIND_MONOTONIC ? MED_SCHEDULE_MONOTONIC : 0;
    if (plain == KIND_OF_RUN || plain == KIND_OF_RUN_NONMONOTONIC) {
        return monotonic ? &med_gomp_of_run_monotonic : MED_GOMP_OF_RUN;
    }
    return med_schedule_of((uint32_t)plain | monotonic);
}

/* Without `first` the members share out the iterations themselves. */
static bool
start_long(long start,
           long end,
           long step,
           long kind,
           long chunk,
           bool ordered,
           long *first,
           long *behind,
           uintptr_t *reductions,
           void **memory,
           const void *code)
{
    med_member *member = med_member_get();
    med_loop loop = med_gomp_loop(member, med_gomp_count_long(start, end, step),
                                  med_gomp_schedule(kind), (uint64_t)chunk);
    loop.ordered = ordered;
    loop.code = code;
    const med_bounds bounds = {(uint64_t)start, (uint64_t)end, (uint64_t)step};
    med_gomp_begin(member, &loop, &bounds, memory, reductions);
    return !first || med_gomp_next_long(first, behind);
}

static bool
start_ull(bool up,
          unsigned long long start,
          unsigned long long end,
          unsigned long long step,
          long kind,
          unsigned long long chunk,
          bool ordered,
          unsigned long long *first,
          unsigned long long *behind,
          uintptr_t *reductions,
          void **memory,
          const void *code)
{
    med_member *member = med_member_get();
    med_loop loop = med_gomp_loop(member, med_gomp_count_ull(up, start, end, step),
                                  med_gomp_schedule(kind), chunk);
    loop.ordered = ordered;
    loop.code = code;
    const med_bounds bounds = {start, end, step};
    med_gomp_begin(member, &loop, &bounds, memory, reductions);
    return !first || med_gomp_next_ull(first, behind);
}

#define STARTS(name, ordered)                                                                      \
    FACE bool GOMP_loop_##name(long start, long end, long step, long kind, long chunk,             \
                               long *first, long *behind, uintptr_t *reductions, void **memory)    \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return start_long(start, end, step, kind, chunk, ordered, first, behind, reductions,       \
                          memory, HERE);                                                           \
    }                                                                                              \
    FACE bool GOMP_loop_ull_##name(bool up, unsigned long long start, unsigned long long end,      \
                                   unsigned long long step, long kind, unsigned long long chunk,   \
                                   unsigned long long *first, unsigned long long *behind,          \
                                   uintptr_t *reductions, void **memory)                           \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return start_ull(up, start, end, step, kind, chunk, ordered, first, behind, reductions,    \
                         memory, HERE);                                                            \
    }                                                                                              \
    LLVM(GOMP_loop_##name)                                                                         \
    LLVM(GOMP_loop_ull_##name)
STARTS(start, false)
STARTS(ordered_start, true)

/* ---- Through it ------------------------------------------------------------------------------ */

FACE void
GOMP_loop_end(void)
{
    (void)med_gomp_end(MED_CALLED(MED_OMPT_PLAIN));
}
LLVM(GOMP_loop_end)

FACE void
GOMP_loop_end_nowait(void)
{
    med_work_end(MED_CALLED(MED_OMPT_PLAIN));
}
LLVM(GOMP_loop_end_nowait)

FACE bool
GOMP_loop_end_cancel(void)
{
    return med_gomp_end(MED_CALLED(MED_OMPT_PLAIN));
}
LLVM(GOMP_loop_end_cancel)

FACE void
GOMP_ordered_start(void)
{
    med_told_ordered();
}
LLVM(GOMP_ordered_start)

/* The order goes on at the end of the iterations. */
FACE void
GOMP_ordered_end(void)
{
    med_told_ordered_end();
}
LLVM(GOMP_ordered_end)

/* ---- Parallel loops -------------------------------------------------------------------------- */

/* `go`: what becomes of the region. */
static void
parallel_loop(void (*go)(void (*entry)(void *),
                         void *data,
                         unsigned threads,
                         unsigned flags,
                         const med_loop *loop,
                         const med_bounds *bounds),
              void (*entry)(void *),
              void *data,
              unsigned threads,
              unsigned flags,
              long start,
              long end,
              long step,
              const med_schedule *schedule,
              long chunk)
{
    const med_bounds bounds = {(uint64_t)start, (uint64_t)end, (uint64_t)step};
    med_loop loop = med_gomp_loop(med_member_get(), med_gomp_count_long(start, end, step), schedule,
                                  (uint64_t)chunk);
    loop.code = (const void *)(uintptr_t)entry;
    go(entry, data, threads, flags, &loop, &bounds);
}

#define PARALLEL_LOOP(name, schedule)                                                              \
    FACE void GOMP_parallel_loop_##name(void (*entry)(void *), void *data, unsigned threads,       \
                                        long start, long end, long step, long chunk,               \
                                        unsigned flags)                                            \
    {                                                                                              \
        MED_CALLED_ONLY(threads);                                                                  \
        parallel_loop(med_gomp_parallel_work, entry, data, threads, flags, start, end, step,       \
                      schedule, chunk);                                                            \
    }                                                                                              \
    LLVM(GOMP_parallel_loop_##name)
PARALLEL_LOOP(static, &med_schedule_static)
PARALLEL_LOOP(dynamic, &med_schedule_dynamic)
PARALLEL_LOOP(guided, &med_schedule_guided_monotonic)
PARALLEL_LOOP(nonmonotonic_dynamic, &med_schedule_nonmonotonic)
PARALLEL_LOOP(nonmonotonic_guided, &med_schedule_guided)

#define PARALLEL_LOOP_OF_RUN(name, of_run)                                                         \
    FACE void GOMP_parallel_loop_##name(void (*entry)(void *), void *data, unsigned threads,       \
                                        long start, long end, long step, unsigned flags)           \
    {                                                                                              \
        MED_CALLED_ONLY(threads);                                                                  \
        parallel_loop(med_gomp_parallel_work, entry, data, threads, flags, start, end, step,       \
                      of_run, 0);                                                                  \
    }                                                                                              \
    LLVM(GOMP_parallel_loop_##name)
PARALLEL_LOOP_OF_RUN(runtime, &med_gomp_of_run_monotonic)
PARALLEL_LOOP_OF_RUN(nonmonotonic_runtime, MED_GOMP_OF_RUN)
PARALLEL_LOOP_OF_RUN(maybe_nonmonotonic_runtime, MED_GOMP_OF_RUN)

/* As old programs have it, which call the region themselves and then GOMP_parallel_end. */
#define PARALLEL_LOOP_START(name, schedule)                                                        \
    FACE void GOMP_parallel_loop_##name##_start(void (*entry)(void *), void *data,                 \
                                                unsigned threads, long start, long end, long step, \
                                                long chunk)                                        \
    {                                                                                              \
        MED_CALLED_ONLY(threads);                                                                  \
        parallel_loop(med_gomp_parallel_work_start, entry, data, threads, 0, start, end, step,     \
                      schedule, chunk);                                                            \
    }                                                                                              \
    LLVM(GOMP_parallel_loop_##name##_start)
PARALLEL_LOOP_START(static, &med_schedule_static)
PARALLEL_LOOP_START(dynamic, &med_schedule_dynamic)
PARALLEL_LOOP_START(guided, &med_schedule_guided_monotonic)

FACE void
GOMP_parallel_loop_runtime_start(
    void (*entry)(void *), void *data, unsigned threads, long start, long end, long step)
{
    MED_CALLED_ONLY(threads);
    parallel_loop(med_gomp_parallel_work_start, entry, data, threads, 0, start, end, step,
                  &med_gomp_of_run_monotonic, 0);
}
LLVM(GOMP_parallel_loop_runtime_start)
