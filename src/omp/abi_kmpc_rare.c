/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names of LLVM's library that no clang calls, but others do: its library for devices,
 * libomptarget, which is silent about what it does not find and then jumps there; Intel's
 * compilers; programs that have learnt them.
 */
#include <stddef.h>
#include <stdint.h>

#include "omp/abi_kmpc.h"
#include "omp/crew.h"

/* ---- What libomptarget asks ------------------------------------------------------------------ */

/* As it numbers them. */
FACE int
__kmpc_get_target_offload(void)
{
    static const int numbers[] = {
        [MED_OFFLOAD_DISABLED] = 0, [MED_OFFLOAD_DEFAULT] = 1, [MED_OFFLOAD_MANDATORY] = 2};
    return numbers[med_settings_get()->offload];
}

/* Whether the calling task may be put back until a device has done its part. It waits for that
 * instead, as one does that is undeferred. */
FACE bool
__kmpc_omp_has_task_team(int32_t thread)
{
    (void)thread;
    return false;
}

/* So there is no place for what it would be put back with. */
FACE void **
__kmpc_omp_get_target_async_handle_ptr(int32_t thread)
{
    (void)thread;
    return NULL;
}

/* ---- Barriers that one goes on from ---------------------------------------------------------- */

/* All come; the primary thread is told to go on, and the others wait until it is through. */
FACE int32_t
__kmpc_barrier_master(const med_kmpc_place *place, int32_t thread)
{
    (void)thread;
    (void)med_told_barrier(med_kmpc_barrier_kind(place));
    if (med_member_get()->number == 0) {
        return 1;
    }
    (void)med_told_barrier(med_kmpc_barrier_kind(place));
    return 0;
}

FACE void
__kmpc_end_barrier_master(const med_kmpc_place *place, int32_t thread)
{
    (void)thread;
    (void)med_told_barrier(med_kmpc_barrier_kind(place));
}

/* The others do not wait. */
FACE int32_t
__kmpc_barrier_master_nowait(const med_kmpc_place *place, int32_t thread)
{
    (void)thread;
    (void)med_told_barrier(med_kmpc_barrier_kind(place));
    return med_member_get()->number == 0;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

FACE void *
__kmpc_calloc(int32_t thread, size_t count, size_t size_bytes, uintptr_t allocator)
{
    (void)thread;
    return omp_calloc(count, size_bytes, allocator);
}

FACE void *
__kmpc_realloc(int32_t thread,
               void *memory,
               size_t size_bytes,
               uintptr_t allocator,
               uintptr_t allocator_before)
{
    (void)thread;
    return omp_realloc(memory, size_bytes, allocator, allocator_before);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* What is pushed holds for one region. */
FACE void
__kmpc_pop_num_threads(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}
