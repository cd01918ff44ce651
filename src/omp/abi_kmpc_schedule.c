/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schedules as clang numbers them: what each is here. */
#include "omp/abi_kmpc_loop.h"
#include "omp/say.h"

#define NONMONOTONIC (1 << 30) /* without which loops are to be monotonic */
#define MERGED 128             /* added where a loop's variables are not its iterations' own */
#define ORDERED_FIRST 64
#define ORDERED_LAST 72
#define ORDERED_MORE 32 /* than the same without */

/* By a number of iterations that the compiler does at once. */
static uint64_t
vector_of(med_loop *loop, uint64_t size)
{
    loop->vector = (uint32_t)size;
    return loop->vector;
}

/* As the environment or the program has it, and so many times as large. */
static void
put_of_run(med_loop *loop, uint32_t monotonic, uint64_t times, const med_icv *icv)
{
    loop->schedule = med_schedule_of(icv->schedule | monotonic);
    loop->chunk = icv->chunk * times;
}

/* NULL: it is as the run has it. */
static const med_schedule *
schedule_of(med_kmpc_loop_kind kind, uint32_t monotonic)
{
    switch (kind) {
    case MED_KMPC_STATIC:
    case MED_KMPC_STATIC_CHUNKED:
    case MED_KMPC_STATIC_GREEDY:
    case MED_KMPC_STATIC_BALANCED:
    case MED_KMPC_STATIC_BALANCED_CHUNKED:
    case MED_KMPC_AUTO:
        return &med_schedule_static;
    case MED_KMPC_DYNAMIC:
        return med_schedule_of(MED_SCHEDULE_DYNAMIC | monotonic);
    case MED_KMPC_STATIC_STEAL:
        return med_schedule_of(MED_SCHEDULE_STEAL | monotonic);
    case MED_KMPC_GUIDED:
    case MED_KMPC_GUIDED_SIMD:
    case MED_KMPC_TRAPEZOIDAL:
    case MED_KMPC_GUIDED_ITERATIVE:
    case MED_KMPC_GUIDED_ANALYTICAL:
        return &med_schedule_guided;
    case MED_KMPC_OF_RUN:
    case MED_KMPC_OF_RUN_SIMD:
        return NULL;
    default:
        med_say_fatal("a loop has a schedule that Medley's OpenMP lacks");
    }
}

static bool
has_no_chunk(med_kmpc_loop_kind kind)
{
    return kind == MED_KMPC_STATIC || kind == MED_KMPC_AUTO || kind == MED_KMPC_STATIC_GREEDY ||
           kind == MED_KMPC_STATIC_BALANCED;
}

static void
schedule_put(
    med_loop *loop, med_kmpc_loop_kind kind, uint32_t monotonic, uint64_t chunk, const med_icv *icv)
{
    loop->schedule = schedule_of(kind, monotonic);
    loop->chunk = has_no_chunk(kind) ? 0 : chunk;
    if (kind == MED_KMPC_OF_RUN) {
        put_of_run(loop, monotonic, 1, icv);
    } else if (kind == MED_KMPC_OF_RUN_SIMD) {
        put_of_run(loop, monotonic, chunk, icv);
        (void)vector_of(loop, icv->chunk ? icv->chunk * chunk : chunk);
    } else if (kind == MED_KMPC_GUIDED_SIMD) {
        loop->chunk = vector_of(loop, chunk);
    }
}

med_loop
med_kmpc_loop(uint64_t count, int32_t number, int64_t chunk, const med_icv *icv)
{
    med_loop loop = {.count = count};
    uint32_t monotonic = number & NONMONOTONIC ? 0 : MED_SCHEDULE_MONOTONIC;
    number &= ~MED_KMPC_MODIFIERS;
    if (number > MERGED) {
        number -= MERGED;
    }
    if (number > ORDERED_FIRST && number <= ORDERED_LAST) {
        loop.ordered = true;
        number -= ORDERED_MORE;
    }
    schedule_put(&loop, (med_kmpc_loop_kind)number, monotonic, med_kmpc_at_least_one(chunk), icv);
    return loop;
}
