/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names that clang calls for cancellation, leagues of teams, and memory. */
#include <stdbool.h>
#include <stddef.h>

#include "omp/abi_kmpc.h"
#include "omp/allocator.h"
#include "omp/cancel.h"
#include "omp/private.h"
#include "omp/teams.h"

/* ---- Cancellation ---------------------------------------------------------------------------- */

#define CANCEL_PARALLEL 1
#define CANCEL_LOOP 2
#define CANCEL_SECTIONS 3
#define CANCEL_TASKGROUP 4

/* As a tool is told of it. */
static int
flags_of(int32_t which)
{
    return which == CANCEL_PARALLEL   ? MED_OMPT_CANCEL_PARALLEL
           : which == CANCEL_LOOP     ? MED_OMPT_CANCEL_LOOP
           : which == CANCEL_SECTIONS ? MED_OMPT_CANCEL_SECTIONS
                                      : MED_OMPT_CANCEL_TASKGROUP;
}

/* Who is told so goes past what would say that it is through with the loop, or the region. */
static int32_t
leave_work(med_member *member, bool is_cancelled)
{
    if (is_cancelled && member->work) {
        med_work_end(member);
    }
    if (is_cancelled) {
        med_kmpc_reduction_leave(member, false);
    }
    return is_cancelled;
}

static int32_t
leave_region(med_member *member, bool is_cancelled)
{
    if (is_cancelled) {
        med_kmpc_reduction_leave(member, true);
    }
    return is_cancelled;
}

static bool
is_cancelled(const med_member *member, int32_t which)
{
    return which == CANCEL_TASKGROUP  ? med_task_group_is_cancelled(member)
           : which == CANCEL_PARALLEL ? med_cancel_region_is(member)
                                      : med_cancel_work_is(member);
}

FACE int32_t
__kmpc_cancellationpoint(const med_kmpc_place *place, int32_t thread, int32_t which)
{
    (void)place;
    (void)thread;
    if (!med_settings_get()->cancellation) {
        return 0;
    }
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    if (!is_cancelled(member, which)) {
        return 0;
    }
    med_ompt_cancel(member, flags_of(which) | MED_OMPT_CANCEL_DETECTED);
    return which == CANCEL_TASKGROUP  ? 1
           : which == CANCEL_PARALLEL ? leave_region(member, true)
                                      : leave_work(member, true);
}

/* What the program has asked to cancel around the calling thread. */
FACE int
kmp_get_cancellation_status(int which)
{
    return med_settings_get()->cancellation && is_cancelled(med_member_get(), which);
}

/* LLVM has it so for Fortran, too: by value. */
LLVM_AS(kmp_get_cancellation_status, kmp_get_cancellation_status_)

FACE int32_t
__kmpc_cancel(const med_kmpc_place *place, int32_t thread, int32_t which)
{
    (void)place;
    (void)thread;
    if (!med_settings_get()->cancellation) {
        return 0;
    }
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    med_ompt_cancel(member, flags_of(which) | MED_OMPT_CANCEL_ACTIVATED);
    if (which == CANCEL_TASKGROUP) {
        med_task_group_cancel(member);
        return 1;
    }
    if (which == CANCEL_PARALLEL) {
        med_cancel_region(member);
        return leave_region(member, true);
    }
    med_cancel_work(member);
    return leave_work(member, true);
}

FACE int32_t
__kmpc_cancel_barrier(const med_kmpc_place *place, int32_t thread)
{
    (void)thread;
    med_member *member = MED_CALLED(med_kmpc_barrier_kind(place));
    return leave_region(member, med_told_barrier_of(member));
}

/* ---- Leagues --------------------------------------------------------------------------------- */

static uint32_t
at_least_none(int32_t count)
{
    return count > 0 ? (uint32_t)count : 0;
}

FACE void
__kmpc_push_num_teams(const med_kmpc_place *place, int32_t thread, int32_t teams, int32_t threads)
{
    (void)place;
    (void)thread;
    med_member *member = med_member_get();
    member->teams_wanted = at_least_none(teams);
    member->teams_limit_wanted = at_least_none(threads);
}

FACE void
__kmpc_push_num_teams_51(
    const med_kmpc_place *place, int32_t thread, int32_t least, int32_t most, int32_t threads)
{
    __kmpc_push_num_teams(place, thread, most > 0 ? most : least, threads);
}

FACE void
__kmpc_fork_teams(const med_kmpc_place *place, int32_t count, med_kmpc_lines lines, ...)
{
    MED_KMPC_CALL(call);
    (void)place;
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    uint32_t teams = member->teams_wanted;
    uint32_t limit = member->teams_limit_wanted;
    member->teams_wanted = 0;
    member->teams_limit_wanted = 0;
    med_teams_run(member, teams, limit, med_kmpc_call_make, &call);
    med_kmpc_float_inherit(call.float_control);
}

/* Of what the calling task meets: clang 19, where a target construct says so. */
FACE void
__kmpc_set_thread_limit(const med_kmpc_place *place, int32_t thread, int32_t limit)
{
    (void)place;
    (void)thread;
    if (limit > 0) {
        med_member_icv(med_member_get())->thread_limit = (uint32_t)limit;
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

FACE void *
__kmpc_aligned_alloc(int32_t thread, size_t alignment, size_t size_bytes, uintptr_t allocator)
{
    (void)thread;
    return omp_aligned_alloc(alignment, size_bytes, allocator);
}

FACE void *
__kmpc_alloc(int32_t thread, size_t size_bytes, uintptr_t allocator)
{
    return __kmpc_aligned_alloc(thread, 1, size_bytes, allocator);
}

FACE void
__kmpc_free(int32_t thread, void *memory, uintptr_t allocator)
{
    (void)thread;
    (void)allocator;
    med_allocator_give(memory);
}

FACE uintptr_t
__kmpc_init_allocator(int32_t thread,
                      uintptr_t space,
                      int32_t count,
                      const med_allocator_trait *traits)
{
    (void)thread;
    return med_allocator_make(space, traits, at_least_none(count));
}

FACE void
__kmpc_destroy_allocator(int32_t thread, uintptr_t allocator)
{
    (void)thread;
    med_allocator_destroy(allocator);
}

FACE uintptr_t
__kmpc_get_default_allocator(int32_t thread)
{
    (void)thread;
    return med_member_get()->icv->allocator;
}

FACE void
__kmpc_set_default_allocator(int32_t thread, uintptr_t allocator)
{
    (void)thread;
    if (allocator != MED_ALLOCATOR_NULL) {
        med_member_icv(med_member_get())->allocator = allocator;
    }
}

/* ---- Threadprivate variables ----------------------------------------------------------------- */

FACE void
__kmpc_threadprivate_register(const med_kmpc_place *place,
                              void *variable,
                              void *(*make)(void *copy),
                              void *(*copy)(void *to, void *from),
                              void (*destroy)(void *copy))
{
    (void)place;
    (void)copy;
    med_private_register(variable, make, destroy);
}

FACE void *
__kmpc_threadprivate(const med_kmpc_place *place, int32_t thread, void *variable, size_t size)
{
    (void)place;
    (void)thread;
    return med_private_get(med_member_get(), variable, size);
}

/* A thread's table is as quick as what the compiler offers to keep. */
FACE void *
__kmpc_threadprivate_cached(
    const med_kmpc_place *place, int32_t thread, void *variable, size_t size, void ***kept)
{
    (void)kept;
    return __kmpc_threadprivate(place, thread, variable, size);
}
