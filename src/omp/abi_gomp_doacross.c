/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that gcc calls for doacross loops (GCC 12, libgomp_g.h). Their variables are numbers of
 * iterations, from 0, and so are the places that are posted and waited for.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "omp/abi_gomp.h"
#include "omp/face.h"

/* ---- Loops ----------------------------------------------------------------------------------- */

static void
begin(med_loop *loop,
      unsigned dimensions,
      bool are_long,
      const void *counts,
      uintptr_t *reductions,
      void **memory)
{
    const med_bounds bounds = {.end = loop->count, .step = 1};
    loop->dimensions = dimensions;
    loop->counts_are_long = are_long;
    loop->counts = counts;
    med_gomp_begin(med_member_get(), loop, &bounds, memory, reductions);
}

static bool
start_long(unsigned dimensions,
           const long *counts,
           const med_schedule *schedule,
           long chunk,
           long *first,
           long *behind,
           uintptr_t *reductions,
           void **memory)
{
    uint64_t count = counts[0] > 0 ? (uint64_t)counts[0] : 0;
    med_loop loop = med_gomp_loop(med_member_get(), count, schedule, (uint64_t)chunk);
    begin(&loop, dimensions, true, counts, reductions, memory);
    return !first || med_gomp_next_long(first, behind);
}

static bool
start_ull(unsigned dimensions,
          const unsigned long long *counts,
          const med_schedule *schedule,
          unsigned long long chunk,
          unsigned long long *first,
          unsigned long long *behind,
          uintptr_t *reductions,
          void **memory)
{
    med_loop loop = med_gomp_loop(med_member_get(), counts[0], schedule, chunk);
    begin(&loop, dimensions, false, counts, reductions, memory);
    return !first || med_gomp_next_ull(first, behind);
}

#define STARTS(name, schedule)                                                                     \
    FACE bool GOMP_loop_doacross_##name##_start(unsigned dimensions, long *counts, long chunk,     \
                                                long *first, long *behind)                         \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return start_long(dimensions, counts, schedule, chunk, first, behind, NULL, NULL);         \
    }                                                                                              \
    FACE bool GOMP_loop_ull_doacross_##name##_start(                                               \
        unsigned dimensions, unsigned long long *counts, unsigned long long chunk,                 \
        unsigned long long *first, unsigned long long *behind)                                     \
    {                                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        return start_ull(dimensions, counts, schedule, chunk, first, behind, NULL, NULL);          \
    }                                                                                              \
    LLVM(GOMP_loop_doacross_##name##_start)                                                        \
    LLVM(GOMP_loop_ull_doacross_##name##_start)
STARTS(static, &med_schedule_static)
STARTS(dynamic, &med_schedule_dynamic)
STARTS(guided, &med_schedule_guided)

FACE bool
GOMP_loop_doacross_runtime_start(unsigned dimensions, long *counts, long *first, long *behind)
{
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    return start_long(dimensions, counts, NULL, 0, first, behind, NULL, NULL);
}
LLVM(GOMP_loop_doacross_runtime_start)

FACE bool
GOMP_loop_ull_doacross_runtime_start(unsigned dimensions,
                                     unsigned long long *counts,
                                     unsigned long long *first,
                                     unsigned long long *behind)
{
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    return start_ull(dimensions, counts, NULL, 0, first, behind, NULL, NULL);
}
LLVM(GOMP_loop_ull_doacross_runtime_start)

FACE bool
GOMP_loop_doacross_start(unsigned dimensions,
                         long *counts,
                         long kind,
                         long chunk,
                         long *first,
                         long *behind,
                         uintptr_t *reductions,
                         void **memory)
{
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    return start_long(dimensions, counts, med_gomp_schedule(kind), chunk, first, behind, reductions,
                      memory);
}
LLVM(GOMP_loop_doacross_start)

FACE bool
GOMP_loop_ull_doacross_start(unsigned dimensions,
                             unsigned long long *counts,
                             long kind,
                             unsigned long long chunk,
                             unsigned long long *first,
                             unsigned long long *behind,
                             uintptr_t *reductions,
                             void **memory)
{
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    return start_ull(dimensions, counts, med_gomp_schedule(kind), chunk, first, behind, reductions,
                     memory);
}
LLVM(GOMP_loop_ull_doacross_start)

/* ---- Iterations ------------------------------------------------------------------------------ */

/* NULL: the member is in no such loop, and nobody waits. */
static const med_doacross *
doacross_of(const med_member *member)
{
    return member->work ? member->work->doacross : NULL;
}

#define POST(name, type)                                                                           \
    FACE void name(type *numbers)                                                                  \
    {                                                                                              \
        med_member *member = med_member_get();                                                     \
        const med_doacross *doacross = doacross_of(member);                                        \
        if (!doacross) {                                                                           \
            return;                                                                                \
        }                                                                                          \
        med_spot spot = med_doacross_spot(doacross, (uint64_t)numbers[0]);                         \
        for (uint32_t i = 1; i < doacross->dimensions; i++) {                                      \
            med_doacross_spot_in(doacross, &spot, i, (uint64_t)numbers[i]);                        \
        }                                                                                          \
        med_doacross_spot_end(&spot);                                                              \
        med_doacross_post(member, &spot);                                                          \
    }                                                                                              \
    LLVM(name)
POST(GOMP_doacross_post, long)
POST(GOMP_doacross_ull_post, unsigned long long)

#define WAIT(name, type)                                                                           \
    FACE void name(type number, ...)                                                               \
    {                                                                                              \
        med_member *member = med_member_get();                                                     \
        const med_doacross *doacross = doacross_of(member);                                        \
        if (!doacross) {                                                                           \
            return;                                                                                \
        }                                                                                          \
        va_list numbers;                                                                           \
        med_spot spot = med_doacross_spot(doacross, (uint64_t)number);                             \
        va_start(numbers, number);                                                                 \
        for (uint32_t i = 1; i < doacross->dimensions; i++) {                                      \
            med_doacross_spot_in(doacross, &spot, i, (uint64_t)va_arg(numbers, type));             \
        }                                                                                          \
        va_end(numbers);                                                                           \
        med_doacross_spot_end(&spot);                                                              \
        med_doacross_wait(member, &spot);                                                          \
    }                                                                                              \
    LLVM(name)
WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, unsigned long long)
