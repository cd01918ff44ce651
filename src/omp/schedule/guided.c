/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Guided: whoever wants some takes its part of what is left, but no less than a chunk. */
#include "omp/team.h"
#include "omp/work.h"

static bool
guided_next(med_work *work, med_member *member, med_units *units)
{
    (void)member;
    uintptr_t least = work->chunk ? work->chunk : 1;
    /* Relaxed, both: units are shared out, and nothing is told with them. */
    uintptr_t first = atomic_word_load_relaxed(&work->next);
    uintptr_t end;
    do {
        uintptr_t left = work->units - first;
        if (left == 0) {
            return false;
        }
        uintptr_t part = left / work->members + (left % work->members != 0);
        part = part > least ? part : least;
        end = first + (part < left ? part : left);
    } while (!atomic_word_cas_relaxed(&work->next, &first, end));
    *units = (med_units){.first = first, .end = end};
    return true;
}

const med_schedule med_schedule_guided = {.name = "guided", .next = guided_next};
const med_schedule med_schedule_guided_monotonic = {.name = "guided", .next = guided_next};
