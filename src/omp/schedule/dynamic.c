/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dynamic: whoever wants some takes the next chunk. */
#include "omp/team.h"
#include "omp/work.h"

#define HALF_BITS (sizeof(uintptr_t) * 4)

/* Do the last steps of all members, beyond the end, stay within the word? For sure, where both
 * numbers are small: no division for each chunk. */
static bool
has_room_beyond(const med_work *work, uintptr_t chunk)
{
    return (chunk | work->members) >> (HALF_BITS - 1) == 0;
}

/* Relaxed, here and below: units are shared out, and nothing is told with them. */
static bool
take_comparing(med_work *work, uintptr_t chunk, uintptr_t *first)
{
    uintptr_t end;
    *first = atomic_word_load_relaxed(&work->next);
    do {
        if (*first >= work->units) {
            return false;
        }
        end = chunk < work->units - *first ? *first + chunk : work->units;
    } while (!atomic_word_cas_relaxed(&work->next, first, end));
    return true;
}

static bool
dynamic_next(med_work *work, med_member *member, med_units *units)
{
    (void)member;
    uintptr_t chunk = work->chunk ? work->chunk : 1;
    if (has_room_beyond(work, chunk)) {
        /* Relaxed: as above. */
        units->first = atomic_word_fetch_add_relaxed(&work->next, chunk);
        if (units->first >= work->units) {
            return false;
        }
    } else if (!take_comparing(work, chunk, &units->first)) {
        return false;
    }
    uintptr_t left = work->units - units->first;
    units->end = units->first + (chunk < left ? chunk : left);
    return true;
}

const med_schedule med_schedule_dynamic = {.name = "dynamic", .next = dynamic_next};
