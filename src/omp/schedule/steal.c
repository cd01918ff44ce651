/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Steal: each member begins with its part of the chunks, as if they were static, and takes them
 * from the front. Whose part is empty takes the later half of what another one has left, from its
 * end: first of those that share a cache with it, where the machine says so and threads are bound.
 *
 * A part is one word, in a line of its own: its first chunk in the lower half, its end in the
 * upper one. All that is to be known of a part is in that word, so it may come back to a value that
 * it had (a compare-and-swap that finds it again is right): what it says is what is left.
 *
 * What may run together: everything, by different members. Whoever takes chunks, of its own part or
 * of another's, does so by the compare-and-swap of the part. A part that is empty is changed by its
 * member alone, who stores there what it has taken elsewhere. Lock-free.
 *
 * The last chunk is in no part. Who finds all of these empty takes it, if nobody has, and takes no
 * other behind it: so a variable that keeps the last iteration's value (lastprivate), which the
 * compilers read off what a thread executed last, is right. What somebody has just taken out of a
 * part and not yet stored in his own nobody sees: he executes it himself, or is robbed of it later.
 *
 * Nonmonotonic dynamic loops are shared out so where there is enough of them: then members take
 * chunks without taking a line from each other.
 */
#include "mrapi/heap_lent.h"
#include "omp/cores.h"
#include "omp/say.h"
#include "omp/team.h"
#include "omp/work.h"

#define HALF_BITS (sizeof(uintptr_t) * 4)
#define HALF_MOST (((uintptr_t)1 << HALF_BITS) - 1)
#define CHUNKS_OF_A_PART 64u /* where nothing is said: the last one is that small */

typedef struct med_part {
    _Alignas(64) atomic_word chunks;
    uint32_t cache; /* that its member shares with those of the same number */
} med_part;

static inline uintptr_t
first_of(uintptr_t part)
{
    return part & HALF_MOST;
}

static inline uintptr_t
end_of(uintptr_t part)
{
    return part >> HALF_BITS;
}

static inline uintptr_t
part_from(uintptr_t first, uintptr_t end)
{
    return end << HALF_BITS | first;
}

/* ---- Shared out at first --------------------------------------------------------------------- */

static void
parts_make(med_work *work, uint32_t members)
{
    if (members <= work->parts_room) {
        return;
    }
    med_heap_take_back(work->parts);
    work->parts = med_heap_lend(members * sizeof *work->parts);
    work->parts_room = members;
    if (!work->parts) {
        med_say_fatal("there is no memory for the parts of a loop");
    }
}

static void
share_out(med_work *work, const med_team *team, uintptr_t chunks)
{
    uintptr_t end = 0;
    parts_make(work, work->members);
    work->near_first = false;
    for (uint32_t i = 0; i < work->members; i++) {
        med_part *part = &work->parts[i];
        uintptr_t first = end;
        end += chunks / work->members + (i < chunks % work->members);
        /* Relaxed: what publishes the construct publishes this. */
        atomic_word_store_relaxed(&part->chunks, part_from(first, end));
        part->cache = med_cores_cache(team->members[i]);
        work->near_first |= part->cache != work->parts[0].cache;
    }
}

/* So many units at least that the chunks can be counted in half a word. */
static uintptr_t
chunk_of(const med_work *work)
{
    uintptr_t chunk = work->chunk;
    if (chunk == 0) {
        chunk = work->units / work->members / CHUNKS_OF_A_PART;
        chunk += chunk == 0;
    }
    uintptr_t chunks = (uintptr_t)med_work_groups(work->units, chunk);
    return chunks > HALF_MOST ? chunk * (uintptr_t)med_work_groups(chunks, HALF_MOST) : chunk;
}

static void
steal_begin(med_work *work, const med_team *team, const med_loop *loop)
{
    if (work->members == 1) {
        work->schedule = &med_schedule_static; /* its part is all of it */
        work->chunk = 0;
    } else if (loop->ordered || loop->dimensions) {
        work->schedule = &med_schedule_dynamic;
    } else {
        work->chunk = chunk_of(work);
        uintptr_t chunks = (uintptr_t)med_work_groups(work->units, work->chunk);
        share_out(work, team, chunks ? chunks - 1 : 0);
    }
}

/* ---- Taken ----------------------------------------------------------------------------------- */

static bool
chunk_give(const med_work *work, uintptr_t number, med_units *units)
{
    units->first = number * work->chunk;
    uintptr_t left = work->units - units->first;
    units->end = units->first + (work->chunk < left ? work->chunk : left);
    return true;
}

/* Relaxed, here and below: chunks are shared out, and nothing is told with them. */
static bool
rob(med_work *work, const med_part *victim_part, const med_member *member, med_units *units)
{
    atomic_word *victim = (atomic_word *)&victim_part->chunks;
    uintptr_t left = atomic_word_load_relaxed(victim);
    while (first_of(left) < end_of(left)) {
        uintptr_t end = end_of(left);
        uintptr_t from = end - (end - first_of(left) + 1) / 2;
        if (atomic_word_cas_relaxed(victim, &left, part_from(first_of(left), from))) {
            /* Relaxed: as above. */
            atomic_word_store_relaxed(&work->parts[member->number].chunks,
                                      part_from(from + 1, end));
            return chunk_give(work, from, units);
        }
    }
    return false;
}

/* Of the others, the next one first: those that are near, or those that are not. */
static bool
rob_some(med_work *work, const med_member *member, bool near, med_units *units)
{
    uint32_t cache = work->parts[member->number].cache;
    uint32_t victim = member->number;
    for (uint32_t i = 1; i < work->members; i++) {
        victim = victim + 1 < work->members ? victim + 1 : 0;
        const med_part *part = &work->parts[victim];
        if ((part->cache == cache) == near && rob(work, part, member, units)) {
            return true;
        }
    }
    return false;
}

static bool
take_last(med_work *work, med_units *units)
{
    uintptr_t none = 0;
    if (atomic_word_load_relaxed(&work->next) != 0 ||      /* relaxed: as above */
        !atomic_word_cas_relaxed(&work->next, &none, 1)) { /* relaxed: as above */
        return false;
    }
    return chunk_give(work, (work->units - 1) / work->chunk, units);
}

static bool
steal_next(med_work *work, med_member *member, med_units *units)
{
    if (units->end == work->units) {
        return false; /* that was the last one; or there are none */
    }
    atomic_word *own = &work->parts[member->number].chunks;
    uintptr_t left = atomic_word_load_relaxed(own); /* relaxed: as above */
    while (first_of(left) < end_of(left)) {
        if (atomic_word_cas_relaxed(own, &left, left + 1)) { /* relaxed: as above */
            return chunk_give(work, first_of(left), units);
        }
    }
    return rob_some(work, member, true, units) ||
           (work->near_first && rob_some(work, member, false, units)) || take_last(work, units);
}

const med_schedule med_schedule_steal = {.name = "steal", .begin = steal_begin, .next = steal_next};

/* ---- Where order is not asked for ------------------------------------------------------------ */

#define WORTH_CHUNKS 16u /* to each member: else sharing them out takes longer than it saves */

static void
nonmonotonic_begin(med_work *work, const med_team *team, const med_loop *loop)
{
    uintptr_t chunk = work->chunk ? work->chunk : 1;
    uintptr_t chunks = (uintptr_t)med_work_groups(work->units, chunk);
    bool is_worth = chunks / work->members >= WORTH_CHUNKS && chunks <= HALF_MOST;
    if (work->members > 1 && !is_worth) {
        work->schedule = &med_schedule_dynamic;
    } else {
        work->schedule = &med_schedule_steal;
        work->chunk = chunk;
        steal_begin(work, team, loop);
    }
}

/* `next` is that of what `begin` chooses. */
const med_schedule med_schedule_nonmonotonic = {
    .name = "nonmonotonic dynamic", .begin = nonmonotonic_begin, .next = steal_next};
