/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The functions of OpenMP 5.0, chapter 3, that programs call by name. For Fortran each has a second
 * name, which takes its arguments by address.
 */
#include <stdbool.h>
#include <stdint.h>

#include "omp/face.h"
#include "omp/fortran.h"
#include "omp/quota.h"
#include "omp/team.h"

/* ---- Threads --------------------------------------------------------------------------------- */

FACE int
omp_get_num_threads(void)
{
    return (int)med_member_get()->team->size;
}
ASKS(int, get_num_threads)

FACE int
omp_get_thread_num(void)
{
    return (int)med_member_get()->number;
}
ASKS(int, get_thread_num)

FACE void
omp_set_num_threads(int threads)
{
    med_member_icv(med_member_get())->threads = threads > 0 ? (uint32_t)threads : 1;
}
GIVEN(set_num_threads)
LLVM_AS(omp_set_num_threads, ompc_set_num_threads)

FACE int
omp_get_max_threads(void)
{
    return (int)med_member_get()->icv->threads;
}
ASKS(int, get_max_threads)

FACE int
omp_get_num_procs(void)
{
    const med_settings *settings = med_settings_get();
    /* A thread that is bound may use its place only. */
    return (int)(settings->places.count ? settings->processors : med_quota_processors());
}
ASKS(int, get_num_procs)

FACE int
omp_get_thread_limit(void)
{
    uint32_t limit = med_member_get()->icv->thread_limit;
    return limit > INT32_MAX ? INT32_MAX : (int)limit;
}
ASKS(int, get_thread_limit)

FACE int
omp_in_parallel(void)
{
    return med_member_get()->team->active_level > 0;
}
ASKS(int, in_parallel)

FACE void
omp_set_dynamic(int dynamic)
{
    med_member_icv(med_member_get())->dynamic = dynamic != 0;
}
GIVEN(set_dynamic)
LLVM_AS(omp_set_dynamic, ompc_set_dynamic)

FACE int
omp_get_dynamic(void)
{
    return med_member_get()->icv->dynamic;
}
ASKS(int, get_dynamic)

FACE int
omp_get_cancellation(void)
{
    return med_settings_get()->cancellation;
}
ASKS(int, get_cancellation)

/* ---- Levels ---------------------------------------------------------------------------------- */

FACE void
omp_set_max_active_levels(int levels)
{
    if (levels >= 0) {
        med_member_icv(med_member_get())->active_levels_max =
            levels < (int)MED_LEVELS_MAX ? (uint32_t)levels : MED_LEVELS_MAX;
    }
}
GIVEN(set_max_active_levels)
LLVM_AS(omp_set_max_active_levels, ompc_set_max_active_levels)

FACE int
omp_get_max_active_levels(void)
{
    return (int)med_member_get()->icv->active_levels_max;
}
ASKS(int, get_max_active_levels)

FACE int
omp_get_supported_active_levels(void)
{
    return MED_LEVELS_MAX;
}
ASKS(int, get_supported_active_levels)

FACE void
omp_set_nested(int nested)
{
    med_member *member = med_member_get();
    if (nested && member->icv->active_levels_max <= 1) {
        med_member_icv(member)->active_levels_max = MED_LEVELS_MAX;
    } else if (!nested) {
        med_member_icv(member)->active_levels_max = 1;
    }
}
GIVEN(set_nested)
LLVM_AS(omp_set_nested, ompc_set_nested)

FACE int
omp_get_nested(void)
{
    const med_member *member = med_member_get();
    uint32_t most = member->icv->active_levels_max;
    return most > 1 && most > member->team->active_level; /* OpenMP 5.0, section 3.2.11 */
}
ASKS(int, get_nested)

FACE int
omp_get_level(void)
{
    return (int)med_member_get()->team->level;
}
ASKS(int, get_level)

FACE int
omp_get_active_level(void)
{
    return (int)med_member_get()->team->active_level;
}
ASKS(int, get_active_level)

/* The member that the caller is, or comes from, at that level; NULL: there is no such level. */
static const med_member *
ancestor(int level)
{
    const med_member *member = med_member_get();
    if (level < 0 || (uint32_t)level > member->team->level) {
        return NULL;
    }
    while (member->team->level > (uint32_t)level) {
        member = member->team->leader;
    }
    return member;
}

FACE int
omp_get_ancestor_thread_num(int level)
{
    const med_member *member = ancestor(level);
    return member ? (int)member->number : -1;
}
ASKS_OF(get_ancestor_thread_num)
LLVM_AS(omp_get_ancestor_thread_num, ompc_get_ancestor_thread_num)

FACE int
omp_get_team_size(int level)
{
    const med_member *member = ancestor(level);
    return member ? (int)member->team->size : -1;
}
ASKS_OF(get_team_size)
LLVM_AS(omp_get_team_size, ompc_get_team_size)

/* ---- Tasks ----------------------------------------------------------------------------------- */

FACE int
omp_in_final(void)
{
    return (med_member_get()->task->flags & MED_TASK_FINAL) != 0;
}
ASKS(int, in_final)

FACE int
omp_in_explicit_task(void)
{
    const med_member *member = med_member_get();
    return member->task != &member->implicit;
}
ASKS(int, in_explicit_task)

FACE int
omp_get_max_task_priority(void)
{
    return med_settings_get()->task_priority_max;
}
ASKS(int, get_max_task_priority)

/* ---- Schedule -------------------------------------------------------------------------------- */

FACE void
omp_set_schedule(unsigned kind, int chunk)
{
    unsigned plain = kind & ~MED_SCHEDULE_MONOTONIC;
    if (plain >= MED_SCHEDULE_STEAL + MED_SCHEDULE_OWN_BEYOND) {
        plain -= MED_SCHEDULE_OWN_BEYOND;
    } else if (plain >= MED_SCHEDULE_STEAL) {
        return;
    }
    if (plain == 0 || plain >= MED_SCHEDULE_KIND_COUNT) {
        return;
    }
    med_icv *icv = med_member_icv(med_member_get());
    icv->schedule = plain | (kind & MED_SCHEDULE_MONOTONIC);
    icv->chunk = chunk > 0 && plain != MED_SCHEDULE_AUTO ? (uint64_t)chunk
                                                         : med_schedule_chunk_unsaid(plain);
}

FACE void
omp_set_schedule_(const unsigned *kind, const int *chunk)
{
    omp_set_schedule(*kind, *chunk);
}
LLVM_BOTH(omp_set_schedule)
LLVM_AS(omp_set_schedule, ompc_set_schedule)

FACE void
omp_set_schedule_8_(const unsigned *kind, const int64_t *chunk)
{
    omp_set_schedule(*kind, *chunk < 0 ? 0 : (int)(*chunk > INT32_MAX ? INT32_MAX : *chunk));
}

static unsigned
schedule_number(const med_icv *icv)
{
    bool is_own = (icv->schedule & ~MED_SCHEDULE_MONOTONIC) >= MED_SCHEDULE_STEAL;
    return is_own ? icv->schedule + MED_SCHEDULE_OWN_BEYOND : icv->schedule;
}

FACE void
omp_get_schedule(unsigned *kind, int *chunk)
{
    const med_icv *icv = med_member_get()->icv;
    *kind = schedule_number(icv);
    *chunk = icv->chunk > INT32_MAX ? INT32_MAX : (int)icv->chunk;
}

FACE void
omp_get_schedule_(unsigned *kind, int *chunk)
{
    omp_get_schedule(kind, chunk);
}
LLVM_BOTH(omp_get_schedule)

FACE void
omp_get_schedule_8_(unsigned *kind, int64_t *chunk)
{
    const med_icv *icv = med_member_get()->icv;
    *kind = schedule_number(icv);
    *chunk = (int64_t)icv->chunk;
}

/* ---- Time ------------------------------------------------------------------------------------ */

FACE double
omp_get_wtime(void)
{
    return (double)med_port_clock_ns() / 1e9;
}
ASKS(double, get_wtime)

FACE double
omp_get_wtick(void)
{
    return 1e-9;
}
ASKS(double, get_wtick)
