/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Static: each member's iterations follow from its number. With a chunk, chunks go round; without,
 * each member has one part, and the first ones one more where parts are not equal. */
#include "omp/team.h"
#include "omp/work.h"

static bool
part_of(const med_work *work, const med_member *member, med_units *units)
{
    uintptr_t part = work->units / work->members;
    uintptr_t more = work->units % work->members;
    uintptr_t before = member->number < more ? member->number : more;
    units->first = part * member->number + before;
    units->end = units->first + part + (member->number < more);
    return member->share.rounds == 0 && units->first < units->end;
}

/* `units` holds the ones before. A number that is beyond the word is beyond the loop, too. */
static bool
chunk_next(const med_work *work, const med_member *member, med_units *units)
{
    uintptr_t before = member->share.rounds ? units->first : 0;
    uintptr_t chunks = member->share.rounds ? work->members : member->number;
    uintptr_t step;
    if (__builtin_mul_overflow(chunks, work->chunk, &step) || step >= work->units - before) {
        return false;
    }
    units->first = before + step;
    uintptr_t left = work->units - units->first;
    units->end = units->first + (work->chunk < left ? work->chunk : left);
    return true;
}

static bool
static_next(med_work *work, med_member *member, med_units *units)
{
    return work->chunk ? chunk_next(work, member, units) : part_of(work, member, units);
}

const med_schedule med_schedule_static = {.name = "static", .next = static_next};
