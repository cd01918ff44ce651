/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files of clang's loops have in common: its numbers of schedules, and iterations. Bounds
 * are both within the loop; iterations are counted from 0, modulo 2^64, whatever the variable's
 * type.
 */
#ifndef MEDLEY_OMP_ABI_KMPC_LOOP_H
#define MEDLEY_OMP_ABI_KMPC_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/abi_kmpc.h"
#include "omp/work.h"

/* ---- Schedules: abi_kmpc_schedule.c ---------------------------------------------------------- */

#define MED_KMPC_MODIFIERS (3 << 29) /* monotonic, nonmonotonic */

typedef enum med_kmpc_loop_kind {
    MED_KMPC_STATIC_CHUNKED = 33,
    MED_KMPC_STATIC = 34,
    MED_KMPC_DYNAMIC = 35,
    MED_KMPC_GUIDED = 36,
    MED_KMPC_OF_RUN = 37,
    MED_KMPC_AUTO = 38,
    MED_KMPC_TRAPEZOIDAL = 39,
    MED_KMPC_STATIC_GREEDY = 40,
    MED_KMPC_STATIC_BALANCED = 41,
    MED_KMPC_GUIDED_ITERATIVE = 42,
    MED_KMPC_GUIDED_ANALYTICAL = 43,
    MED_KMPC_STATIC_STEAL = 44,
    MED_KMPC_STATIC_BALANCED_CHUNKED = 45,
    MED_KMPC_GUIDED_SIMD = 46,
    MED_KMPC_OF_RUN_SIMD = 47,
    MED_KMPC_TEAMS_CHUNKED = 91,
    MED_KMPC_TEAMS = 92
} med_kmpc_loop_kind;

static inline uint64_t
med_kmpc_at_least_one(int64_t chunk)
{
    return chunk > 0 ? (uint64_t)chunk : 1;
}

/* A loop of that number of clang's. */
med_loop med_kmpc_loop(uint64_t count, int32_t number, int64_t chunk, const med_icv *icv);

/* ---- Iterations ------------------------------------------------------------------------------ */

/* Where the program has called an entry. */
#define MED_KMPC_HERE __builtin_return_address(0)

/* From the first value to the last one, where there is any. */
static inline uint64_t
med_kmpc_count(uint64_t first, uint64_t last, int64_t step)
{
    if (step == 1) {
        return last - first + 1;
    }
    return step > 0 ? (last - first) / (uint64_t)step + 1 : (first - last) / -(uint64_t)step + 1;
}

#define MED_KMPC_IS_EMPTY(first, last, step) ((step) > 0 ? (first) > (last) : (first) < (last))

/* Of them, as values of the loop's variable: as far as that is wide. */
typedef struct med_kmpc_values {
    uint64_t first;
    uint64_t last;
    uint64_t stride;
    bool has_last;
} med_kmpc_values;

/* For each type of a variable: how names end, it, and that of a step. */
#define MED_KMPC_TYPES(names)                                                                      \
    names(4, int32_t, int32_t) names(4u, uint32_t, int32_t) names(8, int64_t, int64_t)             \
        names(8u, uint64_t, int64_t)

/* ---- Parts: abi_kmpc_part.c ------------------------------------------------------------------ */

#define MED_KMPC_PARTS(suffix, type, signed_type)                                                  \
    void __kmpc_for_static_init_##suffix(                                                          \
        const med_kmpc_place *place, int32_t thread, int32_t kind, int32_t *has_last, type *first, \
        type *last, signed_type *stride, signed_type step, signed_type chunk);
MED_KMPC_TYPES(MED_KMPC_PARTS)

#endif
